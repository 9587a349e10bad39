"""The header of BigQuery's private queries: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, …)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from sqlglot import Token, TokenType

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import exact, positive_integer
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.relations import Relation, tables_of
from sfumato.query.model.schema import Limits
from sfumato.query.sql.parsing import tokens_of

_HEADER: Final = ("SELECT", "WITH", "DIFFERENTIAL_PRIVACY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the header of a query says; None where it says nothing.

    Attributes:
        epsilon: The ε of the whole query, for whoever releases it.
        delta: Its δ.
        max_groups_contributed: How many groups of one unit count.
        max_rows_contributed: How many rows of one unit count, over all groups.
        privacy_unit_column: The column of the privacy unit, which must be the declared one.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    max_groups_contributed: int | None = None
    max_rows_contributed: int | None = None
    privacy_unit_column: str | None = None

    @property
    def limits(self) -> Limits | None:
        """The limits of one unit that the header asks for."""
        if self.max_groups_contributed is None and self.max_rows_contributed is None:
            return None
        return Limits(max_groups_per_unit=self.max_groups_contributed, max_rows_per_unit=self.max_rows_contributed)

    def check_unit(self, relation: Relation) -> None:
        """Refuse another privacy unit than the owner's.

        Raises:
            NotPrivateError: The header names another column.
        """
        if self.privacy_unit_column is None:
            return
        units = [table.unit.column for table in tables_of(relation) if isinstance(table.unit, UnitColumn)]
        if self.privacy_unit_column.lower() not in {unit.lower() for unit in units}:
            raise NotPrivateError(
                f"privacy_unit_column = {self.privacy_unit_column}", "the owner says who is protected",
                f"Leave it out, or write {' or '.join(dict.fromkeys(units)) or 'it only where rows have owners'}.",
            )  # fmt: skip


def parse_options(text: str) -> tuple[Options, str]:
    """What the header of a query says, and the query without it.

    Raises:
        ParameterError: The header does not parse, or an option has a value that it cannot have.
        NotPrivateError: There is an option that is not known.

    Example:
        >>> parse_options("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) COUNT(*) FROM people")[0].epsilon
        Fraction(1, 2)
    """
    if _HEADER[-1] not in str(text).upper():
        return Options(), text
    tokens = tokens_of(text)
    words = [token.text.upper() for token in tokens]
    starts = [place for place in range(len(words)) if tuple(words[place : place + len(_HEADER)]) == _HEADER]
    if not starts:
        return Options(), text
    if len(starts) > 1:
        raise ParameterError(
            "sql", f"{len(starts)} headers", "must have one WITH DIFFERENTIAL_PRIVACY, for the whole query"
        )
    types = [token.token_type for token in tokens[: starts[0]]]
    if types.count(TokenType.L_PAREN) > types.count(TokenType.R_PAREN):
        raise ParameterError("sql", "a header inside of parentheses", "must have it in the outermost SELECT")
    first, last = starts[0] + 1, starts[0] + len(_HEADER) - 1
    options = Options()
    if words[last + 1 : last + 3] == ["OPTIONS", "("]:
        inner = last + 3
        last = next((p for p in range(inner, len(tokens)) if tokens[p].token_type is TokenType.R_PAREN), -1)
        if last < 0:
            raise ParameterError("OPTIONS", "(…", "must be closed by a parenthesis")
        options = _read(tokens[inner:last], text)
    return options, f"{text[: tokens[first].start]} {text[tokens[last].end + 1 :]}"


def _read(tokens: Sequence[Token], text: str) -> Options:
    """The options that are listed as name = value."""
    options, seen = Options(), set()
    for part in _parts(tokens):
        name = part[0].text.lower()
        written = text[part[0].start : part[-1].end + 1]
        if len(part) < _SHORTEST or part[1].token_type is not TokenType.EQ:
            raise ParameterError("OPTIONS", written, "must be a list of name = value")
        if name not in _READERS:
            known = ", ".join(_READERS)
            raise NotPrivateError(written, "this option is unknown", f"The options are: {known}.")
        if name in seen:
            raise ParameterError("OPTIONS", name, "must have each option once")
        value = part[2].text if len(part) == _SHORTEST else text[part[2].start : part[-1].end + 1]
        options = _READERS[name](options, value)
        seen.add(name)
    return options


def _parts(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens between commas."""
    part: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.COMMA and part:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _count(value: str, name: str) -> int:
    count = exact(value, name)
    return positive_integer(int(count) if count.denominator == 1 else value, name)


_SHORTEST: Final = 3  # name, =, value
_READERS: Final[Mapping[str, Callable[[Options, str], Options]]] = {
    "epsilon": lambda options, value: replace(options, epsilon=exact(value, "epsilon")),
    "delta": lambda options, value: replace(options, delta=exact(value, "delta")),
    "max_groups_contributed": lambda options, value: replace(
        options, max_groups_contributed=_count(value, "max_groups_contributed")
    ),
    "max_rows_contributed": lambda options, value: replace(
        options, max_rows_contributed=_count(value, "max_rows_contributed")
    ),
    "privacy_unit_column": lambda options, value: replace(options, privacy_unit_column=value),
}
"""What each option adds to those before it."""
