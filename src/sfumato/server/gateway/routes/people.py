"""Routes of people, their roles, their keys, and the log of what everybody did."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, StrictBool

from sfumato.errors import ForbiddenError, NotFoundError
from sfumato.server.gateway.access import Anybody, Caller, Guarded, account_of
from sfumato.server.identity.acts import WrittenAct
from sfumato.server.identity.keys import ApiKey, NewKey
from sfumato.server.identity.people import Action, Grant, KeyScope, Person, Role

router = APIRouter(prefix="/v1", tags=["people"], route_class=Guarded)

_MOST: Final = 1_000
_LAST: Final = 2**63 - 1


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be a moment of the years 1 to 9999 in UTC") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A moment that names its time zone."""


class NewPerson(BaseModel):
    """Somebody who may then be given roles and keys."""

    model_config = ConfigDict(extra="forbid")

    name: str
    display_name: str = ""
    is_platform_admin: StrictBool = False


class ChangedPerson(BaseModel):
    """What is to be changed of a person."""

    model_config = ConfigDict(extra="forbid")

    display_name: str | None = None
    is_platform_admin: StrictBool | None = None
    is_active: StrictBool | None = None


class NewGrant(BaseModel):
    """A role on a dataset; an analyst's queries are charged to an account, such as ``adult/ann``."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    role: Role
    account: str = ""


class WantedKey(BaseModel):
    """An API key, for oneself or, by an admin, for somebody else."""

    model_config = ConfigDict(extra="forbid")

    person: str | None = None
    name: str = ""
    scopes: list[KeyScope] = list(KeyScope)
    expires: Moment | None = None


class Rotation(BaseModel):
    """Until when the old secret works beside the new one."""

    model_config = ConfigDict(extra="forbid")

    old_until: Moment | None = None


@router.get("/me")
def me(who: Anybody) -> dict[str, Any]:
    """Whoever asks, with their roles and the scopes of the key that they use."""
    with who.doing(Action.READ_SELF) as doing:
        principal = doing.principal
        return {
            "name": principal.name, "is_platform_admin": principal.is_platform_admin,
            "scopes": sorted(map(str, principal.scopes)), "grants": list(map(_grant, principal.grants)),
        }  # fmt: skip


@router.get("/people")
def people(who: Anybody) -> list[dict[str, Any]]:
    """Everybody, with their roles."""
    with who.doing(Action.READ_EVERYBODY):
        return [_person(who, one) for one in who.gateway.people.people()]


@router.post("/people", status_code=201)
def add_person(new: NewPerson, who: Anybody) -> dict[str, Any]:
    """Add a person, without any role."""
    with who.doing(Action.MANAGE_PEOPLE, target=new.name):
        added = who.gateway.people.add(new.name, display_name=new.display_name, is_platform_admin=new.is_platform_admin)
        return _person(who, added)


@router.patch("/people/{name}")
def change_person(name: str, changed: ChangedPerson, who: Anybody) -> dict[str, Any]:
    """Change a person; the keys of one who is not active are refused from now on."""
    with who.doing(Action.MANAGE_PEOPLE, target=name):
        return _person(who, who.gateway.people.change(name, **changed.model_dump()))


@router.post("/people/{name}/grants", status_code=201)
def grant(name: str, new: NewGrant, who: Anybody) -> list[dict[str, Any]]:
    """Give a person a role on a dataset: admins make owners, owners make analysts and auditors."""
    with _granting(who, new.dataset, new.role, name):
        if new.role is Role.ANALYST and new.account not in {"", new.dataset}:
            # In full, so that a name of another dataset is never taken for an account of this one.
            dataset, _, path = new.account.partition("/")
            if dataset != new.dataset or not path:
                raise NotFoundError("account", new.account)
            account_of(who.gateway, dataset, path)
        who.gateway.people.grant(name, Grant(new.dataset, new.role, new.account))
        return list(map(_grant, who.gateway.people.grants(name)))


@router.delete("/people/{name}/grants/{dataset}")
def revoke_grant(name: str, dataset: str, role: Role, who: Anybody) -> list[dict[str, Any]]:
    """Take a role on a dataset away."""
    with _granting(who, dataset, role, name):
        who.gateway.people.revoke(name, dataset, role)
        return list(map(_grant, who.gateway.people.grants(name)))


@router.get("/datasets/{dataset}/people")
def people_of(dataset: str, who: Anybody) -> list[dict[str, Any]]:
    """Who has which role on a dataset, for its owners."""
    with who.doing(Action.READ_PEOPLE, dataset):
        return [{"person": name, **_grant(one)} for name, one in who.gateway.people.grants_on(dataset)]


@router.get("/keys")
def keys(who: Anybody) -> list[dict[str, Any]]:
    """The keys of whoever asks, for admins those of everybody; never their secrets."""
    with who.doing(Action.READ_SELF) as doing:
        person = None if doing.principal.may(Action.MANAGE_KEYS) else doing.principal.name
        return [_key(one) for one in who.gateway.keys.list(person)]


@router.post("/keys", status_code=201)
def make_key(wanted: WantedKey, who: Anybody) -> dict[str, Any]:
    """Make an API key; its secret is shown this once. One's own ends no later than what asks for it may give."""
    principal, person = who.principal, wanted.person or who.principal.name
    ends = principal.keys_end if person == principal.name else None
    expires = ends if wanted.expires is None or (ends is not None and wanted.expires > ends) else wanted.expires
    with _keeping(who, person, target=person):
        return _shown_once(
            who.gateway.keys.make(
                person, name=wanted.name, scopes=wanted.scopes, expires=expires,
                within=principal.scopes if person == principal.name else frozenset(KeyScope),
            )
        )  # fmt: skip


@router.post("/keys/{key}/rotate")
def rotate_key(key: str, rotation: Rotation, who: Anybody) -> dict[str, Any]:
    """Give a key a new secret, which is shown this once; one of one's own only by a key that may do as much."""
    found = _seen(who, key)
    with _keeping(who, found.person, target=key):
        missing = found.scopes - who.principal.scopes
        if found.person == who.principal.name and missing:
            raise ForbiddenError("rotate a key", f"use a key that has the scopes {', '.join(sorted(missing))} itself")
        return _shown_once(who.gateway.keys.rotate(key, old_until=rotation.old_until))


@router.delete("/keys/{key}", status_code=204)
def revoke_key(key: str, who: Anybody) -> Response:
    """Refuse a key from now on, on every gateway."""
    with _keeping(who, _seen(who, key).person, target=key):
        who.gateway.keys.revoke(key)
        return Response(status_code=204)


@router.get("/acts")
def acts(
    who: Anybody,
    after: Annotated[int, Query(ge=0, le=_LAST)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
    dataset: str | None = None,
) -> list[dict[str, Any]]:
    """What people did, in order: for admins all of it, for owners and auditors what was done with their datasets."""
    with _reading_acts(who, dataset) as seen:
        found = who.gateway.acts.read(after=after, limit=limit, datasets=seen)
        return [_act(one) for one in found]


@router.get("/acts/verify")
def verify_acts(who: Anybody) -> dict[str, Any]:
    """Whether the log is as it was written: note its length and its head elsewhere."""
    with _reading_acts(who, None), who.gateway.places.taken(who.principal.name):
        chain = who.gateway.acts.verify()
        return {"length": chain.length, "head": chain.head, "broken": chain.broken}


@contextmanager
def _reading_acts(who: Caller, dataset: str | None) -> Iterator[frozenset[str] | None]:
    """Inside, they read acts with some datasets; with None all."""
    names = None if dataset is None else [dataset]
    if dataset is None and not who.principal.may(Action.READ_ACTS):
        names = [name for name in who.gateway.curator.datasets if who.principal.may(Action.READ_ACTS, name)]
    with who.doing(Action.READ_ACTS, names[0] if names else None):
        yield None if names is None else frozenset(names)


@contextmanager
def _granting(who: Caller, dataset: str, role: Role, name: str) -> Iterator[None]:
    action = Action.GRANT_OWNER if role is Role.OWNER else Action.GRANT_ROLES
    with who.doing(action, dataset, target=name):
        yield


@contextmanager
def _keeping(who: Caller, person: str, *, target: str) -> Iterator[None]:
    """Inside, they make or change a key of a person: their own, or as an admin anybody's."""
    action = Action.MANAGE_OWN_KEYS if person == who.principal.name else Action.MANAGE_KEYS
    with who.doing(action, target=target):
        yield


def _seen(who: Caller, key: str) -> ApiKey:
    """A key of one's own, or for an admin anybody's.

    Raises:
        NotFoundError: There is none, or it is another's.
    """
    found = None
    with suppress(NotFoundError):
        found = who.gateway.keys.key(key)
    if found is None or (found.person != who.principal.name and not who.principal.may(Action.MANAGE_KEYS)):
        raise who.refused(Action.MANAGE_OWN_KEYS, "key", key)
    return found


def _grant(grant: Grant) -> dict[str, str]:
    return {"dataset": grant.dataset, "role": str(grant.role), "account": grant.account}


def _person(who: Caller, person: Person) -> dict[str, Any]:
    return {
        "name": person.name, "display_name": person.display_name, "is_platform_admin": person.is_platform_admin,
        "is_active": person.is_active, "grants": list(map(_grant, who.gateway.people.grants(person.name))),
    }  # fmt: skip


def _key(key: ApiKey) -> dict[str, Any]:
    moments = {name: getattr(key, name) for name in ("created", "expires", "last_used", "revoked")}
    return {
        "id": key.id, "person": key.person, "name": key.name, "scopes": sorted(map(str, key.scopes)),
        **{name: None if at is None else at.isoformat() for name, at in moments.items()},
    }  # fmt: skip


def _shown_once(made: NewKey) -> dict[str, str]:
    return {"id": made.id, "token": made.token}


def _act(written: WrittenAct) -> dict[str, Any]:
    act = written.act
    return {
        "number": written.number, "at": written.at.isoformat(), "person": act.person, "action": str(act.action),
        "dataset": act.dataset, "target": act.target, "outcome": str(act.outcome), "query_hash": act.query_hash,
        "hash": written.hash,
    }  # fmt: skip
