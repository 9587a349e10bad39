"""Queries as they are sent: what is asked, on which terms, and what is made of each answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any, Final, TypeAlias, TypedDict

from sfumato.client.calls import Exchange, posted, shown
from sfumato.client.problems import Answer
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.numeric.rationals import Number, exact, flag, positive_integer
from sfumato.privacy.codec import Json, decode_guarantee, rational
from sfumato.privacy.guarantees import Guarantee
from sfumato.query.planning.questions import Presented
from sfumato.query.printing.describe import described
from sfumato.query.sql.parsing import statements_of
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.measurements import LAWS, Law
from sfumato.session.releases.release import Release
from sfumato.session.wire.questions import encode_question

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""The values of `$1`, or of `:name`."""


class Terms(TypedDict, total=False):
    """On which terms something is asked."""

    epsilon: Number | None
    error: Mapping[str, Number] | None
    delta: Number
    mechanism: Law | None
    confidence: Number | None
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """One query of a dataset, or several that are answered together.

    Attributes:
        dataset: Whom they are about.
        texts: The queries as people read them.
        bodies: The queries as they are sent.
        is_batch: Whether they are answered together.
    """

    dataset: str
    texts: tuple[str, ...]
    bodies: tuple[Mapping[str, Json], ...]
    is_batch: bool = False

    @classmethod
    def sql(cls, dataset: str, sql: str, *, parameters: Parameters = (), intervals: bool = False) -> "Inquiry":
        """A SELECT statement.

        Raises:
            ParameterError: It is no text, or a parameter cannot be sent.
        """
        body: dict[str, Json] = {"sql": of_kind(sql, "sql", str, "a SELECT statement, as text")}
        if parameters:
            body["parameters"] = _parameters(parameters)
        if flag(intervals, "intervals"):
            body["intervals"] = True
        return cls(dataset=dataset, texts=(sql,), bodies=(body,))

    @classmethod
    def frame(cls, dataset: str, question: Presented) -> "Inquiry":
        """What a frame asks."""
        return cls(dataset=dataset, texts=(described(question),), bodies=({"plan": encode_question(question)},))

    @property
    def text(self) -> str:
        """The queries as people read them, as one text."""
        return "; ".join(text.rstrip().removesuffix(";") for text in self.texts)

    def cost(self, terms: Terms) -> Exchange[Guarantee]:
        """What a release costs."""
        return self._estimate(terms, lambda found: decode_guarantee(found["cost"]))

    def errors(self, terms: Terms) -> Exchange[tuple[tuple[Forecast, ...], ...]]:
        """The predicted error of each column of each query."""
        return self._estimate(terms, lambda found: tuple(tuple(map(_forecast, one)) for one in found["errors"]))

    def explain(self, terms: Terms) -> Exchange[str]:
        """The plan as text."""
        return self._estimate(terms, lambda found: str(found["explain"]))

    def least_epsilon(self, terms: Terms) -> Exchange[Fraction]:
        """The smallest ε that meets target errors."""
        return self._estimate(terms, lambda found: rational(found["epsilon"]))

    def from_releases(self, terms: Terms) -> Exchange[tuple[Release, ...]]:
        """What stored answers say."""
        return self._posted("from-releases", terms, shown)

    def dry_run(self, terms: Terms) -> Exchange[tuple[Release, ...]]:
        """Answers on rows that are made up."""
        return self._posted("dry-run", terms, shown)

    def release(self, terms: Terms, idempotency_key: str | None) -> Exchange[tuple[Release, ...]]:
        """The answers, charged once however often this is sent."""
        return self._posted("ask", terms, shown, key=checked_key(idempotency_key))

    def _estimate(self, terms: Terms, read: Callable[[Any], Any]) -> Exchange[Any]:
        return self._posted("estimate", terms, lambda answer: read(answer.document()))

    def _posted(
        self, what: str, terms: Terms, read: Callable[[Answer], Any], *, key: str | None = None
    ) -> Exchange[Any]:
        bodies: list[Json] = [dict(body) for body in self.bodies]
        asked: dict[str, Json] = {"queries": bodies} if self.is_batch else dict(self.bodies[0])
        return posted(self.dataset, what, asked | _stated(terms), read, key=key)


_LONGEST_KEY: Final = 200


def checked_key(idempotency_key: str | None) -> str:
    """A key under which nothing is charged twice: the given one, or a new one.

    Raises:
        ParameterError: It cannot be sent.
    """
    wanted = f"printable ASCII of 1 to {_LONGEST_KEY} characters, without spaces at its ends"
    key = random_bytes(16).hex() if idempotency_key is None else idempotency_key
    of_kind(key, "idempotency_key", str, wanted)
    if not key.isascii() or not key.isprintable() or key != key.strip() or not 0 < len(key) <= _LONGEST_KEY:
        raise ParameterError("idempotency_key", key, f"must be {wanted}")
    return key


def together(questions: object, query: Callable[[str], Any], kind: type[Any]) -> Inquiry:
    """Several queries that are answered together.

    Args:
        questions: Statements or queries; or a text with several statements.
        query: Makes a query of a statement.
        kind: The class of queries.

    Raises:
        ParameterError: One is neither, or there is none.
    """
    several: Any = statements_of(questions) if isinstance(questions, str) else questions
    each = [query(one) if isinstance(one, str) else one for one in listed(several, "questions", of="queries")]
    wrong = next((type(one).__name__ for one in each if not isinstance(one, kind)), None)
    if wrong is not None or len({one.asked.dataset for one in each}) != 1 or any(one.asked.is_batch for one in each):
        raise ParameterError("questions", wrong or len(each), "must be queries of one dataset, at least one")
    texts, bodies = (tuple(getattr(one.asked, name)[0] for one in each) for name in ("texts", "bodies"))
    return Inquiry(dataset=each[0].asked.dataset, texts=texts, bodies=bodies, is_batch=True)


def _stated(terms: Terms) -> dict[str, Json]:
    """Terms as JSON: numbers as texts, so that no reader rounds them."""
    stated: dict[str, Json] = {
        name: str(exact(value, name))
        for name, value in (
            ("epsilon", terms.get("epsilon")), ("delta", terms.get("delta")), ("confidence", terms.get("confidence"))
        )
        if value is not None
    }  # fmt: skip
    targets, law, size = terms.get("error"), terms.get("mechanism"), terms.get("size")
    if targets is not None:
        limits = of_kind(targets, "error", Mapping, "the largest error of a column, such as {'n': 25}")
        stated["error"] = {
            of_kind(name, "error", str, "columns, as texts"): str(exact(limit, f"error of {name}"))
            for name, limit in limits.items()
        }
    if law is not None:
        if not is_one_of(law, LAWS):
            raise ParameterError("mechanism", law, f"must be one of: {', '.join(LAWS)}")
        stated["mechanism"] = law
    if size is not None:
        stated["size"] = positive_integer(size, "size")
    return stated


def _parameters(values: object) -> Json:
    """The values of parameters as JSON, which has neither days nor fractions."""
    match values:
        case Mapping():
            return {of_kind(name, "parameters", str, "names, as texts"): _value(own) for name, own in values.items()}
        case Sequence() if not isinstance(values, str | bytes):
            return [_value(own) for own in values]
        case _:
            raise ParameterError("parameters", type(values).__name__, "must be a sequence for $1, a mapping for :name")


def _value(value: object) -> Json:
    match value:
        case None:
            raise NotPrivateError("NULL", "a comparison with NULL is never true", "Write IS NULL.")
        case bool() | int() | str():
            return value
        case float() if abs(value) < inf:
            return float(value)
        case Decimal() | Fraction() if float(value) == value or Fraction(repr(float(value))) == value:
            return float(value)
        case _:
            requirement = "must be a number with up to 15 digits, text or a truth; write days and times into the query"
            raise ParameterError("parameters", type(value).__name__, requirement)


def _forecast(found: Any) -> Forecast:
    width = found["half_width"]
    return Forecast(
        column=str(found["column"]), half_width=inf if width == "infinite" else float(width),
        assumption=str(found["assumption"]),
    )  # fmt: skip
