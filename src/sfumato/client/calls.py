"""Requests as values: what is sent, and what is made of the answer. Whoever sends them, they are built once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from sfumato.client.problems import FEW_TRIES, TRIES, Answer
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, of_kind
from sfumato.privacy.budgets import Budget
from sfumato.privacy.codec import Json, decode_budget
from sfumato.query.model.relations import Relation
from sfumato.session.releases.documents import decode_release
from sfumato.session.releases.release import Release
from sfumato.session.wire.questions import decode_relations

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Generic[T_co]):
    """A request that can be sent again without doing anything twice.

    Attributes:
        path: Behind `/v1/`.
        read: What the answer to it means.
        method: Of HTTP.
        body: What is sent, as JSON.
        parameters: What stands behind the `?`.
        key: Under which the server knows it again.
        tries: How often it is sent, at most.
    """

    path: str
    read: Callable[[Answer], T_co]
    method: str = "GET"
    body: Json = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    tries: int = FEW_TRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteDataset:
    """A dataset that one has a role on.

    Attributes:
        name: What requests call it.
        roles: Such as ``"analyst"``.
        privacy_unit: Whom the guarantee protects.
        policy_version: Of the owner's declarations.
        data_version: Of the data.
    """

    name: str
    roles: tuple[str, ...]
    privacy_unit: str
    policy_version: str
    data_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteAccount:
    """An account as it stood when the server was asked.

    Attributes:
        name: With its parents: ``hospital/cardiology/ann``.
        budget: The most that may be spent, in total or in each window.
        spent: What was spent, with a window within it.
        remaining: What is left; a parent may have less.
        window: How often the budget comes back; None for never.
        state: Open, closed or suspended.
    """

    name: str
    budget: Budget
    spent: Budget
    remaining: Budget
    window: str | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRelease:
    """An answer that the account was shown before.

    Attributes:
        id: By which it is fetched again, at no cost.
        at: When it was shown first.
        question: The query as people read it.
    """

    id: str
    at: str
    question: str


def datasets() -> Exchange[tuple[RemoteDataset, ...]]:
    """The datasets that one has a role on."""
    return Exchange(path="datasets", read=lambda answer: tuple(map(_dataset, answer.document())))


def named(dataset: str | None) -> str | None:
    """The name of a dataset, if one is stated.

    Raises:
        ParameterError: It is no text.
    """
    return None if dataset is None else of_kind(dataset, "dataset", str, "the name of a dataset, as text")


def chosen(found: Iterable[RemoteDataset], wanted: str | None) -> str:
    """The dataset that is wanted, or the only one.

    Raises:
        ParameterError: There is none, or which is meant is not said.
    """
    names = [one.name for one in found]
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted not in names:
        shown = ", ".join(names) or "none; ask an owner for a role on one"
        raise ParameterError("dataset", wanted, f"must be one of: {shown}")
    return str(wanted)


def account_name(dataset: str) -> Exchange[str]:
    """The account that one's queries are charged to."""

    def read(answer: Answer) -> str:
        name = answer.document()["account"]
        if name is None:
            raise ParameterError("dataset", dataset, "charges no account of yours; ask an owner for one")
        return str(name)

    return Exchange(path=_of(dataset), read=read)


def relations(dataset: str) -> Exchange[Mapping[str, Relation]]:
    """The relation behind each name of a table or a view."""
    return Exchange(
        path=f"{_of(dataset)}/relations", read=lambda answer: decode_relations(answer.document()["relations"])
    )


def table_name(name: str | None, relations: Mapping[str, Any]) -> str:
    """The table that is wanted, or the only one.

    Raises:
        ParameterError: There is none of this name, or which is meant is not said.
    """
    wanted = next(iter(relations)) if name is None and len(relations) == 1 else name
    if wanted is None or not is_one_of(wanted, relations):
        raise ParameterError("table", name, f"must be one of: {', '.join(relations)}")
    return wanted


def label(dataset: str) -> Exchange[Mapping[str, Any]]:
    """The privacy label of a dataset."""
    return Exchange(path=f"{_of(dataset)}/label", read=lambda answer: dict(answer.document()))


def account(dataset: str, name: str) -> Exchange[RemoteAccount]:
    """An account of a dataset, by its full name."""

    def read(answer: Answer) -> RemoteAccount:
        found = next((one for one in answer.document() if one["name"] == name), None)
        if found is None:
            raise ParameterError("account", name, "must be an account of the dataset that you may see")
        return _account(found)

    return Exchange(path=f"{_of(dataset)}/accounts", read=read)


def releases(dataset: str, after: str | None) -> Exchange[tuple[ListedRelease, ...]]:
    """Answers that the account was shown before, the oldest first: at most a hundred, after one of them."""
    parameters = {"dataset": dataset} | ({} if after is None else {"after": of_kind(after, "after", str, "an id")})
    return Exchange(
        path="releases", parameters=parameters,
        read=lambda answer: tuple(
            ListedRelease(id=str(one["id"]), at=str(one["at"]), question=str(one["question"]))
            for one in answer.document()
        ),
    )  # fmt: skip


def release(identifier: str) -> Exchange[Release]:
    """An answer as it was first shown."""
    name = quote(of_kind(identifier, "id", str, "that of a release"), safe="")
    return Exchange(
        path=f"releases/{name}", read=lambda answer: replace(decode_release(answer.document()), reused=True)
    )


def shown(answer: Answer) -> tuple[Release, ...]:
    """The answers to some queries."""
    found = tuple(map(decode_release, answer.document()["releases"]))
    stated = answer.headers.get("sfumato-reused")
    return found if stated is None else tuple(replace(one, reused=stated == "true") for one in found)


def posted(
    dataset: str, what: str, body: Json, read: Callable[[Answer], T_co], *, key: str | None = None
) -> Exchange[T_co]:
    """A request about some queries of a dataset."""
    return Exchange(path=f"{_of(dataset)}/{what}", method="POST", body=body, read=read, key=key, tries=TRIES)


def _of(dataset: str) -> str:
    return f"datasets/{quote(dataset, safe='')}"


def _dataset(found: Any) -> RemoteDataset:
    return RemoteDataset(
        name=str(found["name"]), roles=tuple(map(str, found["roles"])), privacy_unit=str(found["privacy_unit"]),
        policy_version=str(found["policy_version"]), data_version=str(found["data_version"]),
    )  # fmt: skip


def _account(found: Any) -> RemoteAccount:
    window = found["window"]
    return RemoteAccount(
        name=str(found["name"]), budget=decode_budget(found["budget"]), spent=decode_budget(found["spent"]),
        remaining=decode_budget(found["remaining"]), window=None if window is None else str(window),
        state=str(found["state"]),
    )  # fmt: skip
