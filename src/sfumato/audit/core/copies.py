"""Many runs in one query: a database is copied, and the query groups by the number of the copy.

A session charges groups of different people once, whatever their number. So a query that groups by the copy returns as
many independent runs as there are copies, through the public interface of a curator that knows nothing of the audit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Final, TypeAlias

from sfumato.audit.core.outputs import Outputs, label, plain
from sfumato.audit.core.runs import MOST_SAMPLES
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import called, listed, of_kind, whole

Row: TypeAlias = Mapping[str, Any]
_MOST_NUMBERED: Final = 1 << 32
"""The most copies for which units that are numbers stay different."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCopies:
    """A mechanism that asks one query about many copies of a database, which a public key numbers.

    Called with a database (its rows) and a count, it makes copies 0, 1, …, count − 1. Each has every row, with the
    copy's number in another column, and its own units: unit u of copy c becomes the text ``c:u``, or the number
    c + 2³²·u, so a unit's name never depends on other units or on the number of copies. One output is the answer about
    one copy: its records without that column, as sorted tuples of their values; ``()`` if there are none.

    **Guarantee**: if `ask` has (ε, δ)-differential privacy for a unit, and answers about each copy from its rows alone
    with independent noise, then outputs are independent, and one output has (ε, δ)-differential privacy for neighboring
    databases. Proof: proofs/audit/core/copies.md.

    Edge cases: with LIMIT or a ranking of copies, the answer about one copy depends on the rows of others, so a true
    claim may be refuted. Bugs that need a query with a single group, or few, are missed: audit such queries run by
    run. A copy of no rows does not occur in the rows that `ask` receives; take the keys from `at_once`, never from the
    rows.

    Args:
        ask: From the rows of all copies to the records of one query that groups by the copy.
        copy: The column that numbers the copies, in rows and in records.
        unit: The column that identifies the privacy unit; None if each row is a unit.
        at_once: The most copies in one query; None for all. `ask` is called as often as necessary.

    Raises:
        ParameterError: A row is not a mapping, lacks the unit or already has the column; or a record is of another
            copy.

    Example:
        >>> def ask(rows):  # an exact curator; a real one adds noise
        ...     return [{"copy": copy, "n": sum(row["copy"] == copy for row in rows)} for copy in range(3)]
        >>> DatabaseCopies(ask=ask)(({"age": 30}, {"age": 40}), 3)
        (((2,),), ((2,),), ((2,),))

    References:
        [McS09] for parallel composition.
    """

    ask: Callable[[list[dict[str, Any]]], Iterable[Row]]
    copy: str = "copy"
    unit: str | None = None
    at_once: int | None = None

    def __post_init__(self) -> None:
        called(self.ask, "ask", "a function of the rows of all copies")
        of_kind(self.copy, "copy", str, "the name of a column, as text")
        of_kind(self.unit, "unit", (str, NoneType), "the name of a column, as text, or None")
        if self.at_once is not None:
            whole(self.at_once, "at_once", least=1, most=MOST_SAMPLES)

    def __call__(self, database: Iterable[Row], count: int, /) -> Outputs:
        """The answers about `count` copies, one output each."""
        if isinstance(database, str | bytes | Mapping) or not isinstance(database, Iterable):
            raise ParameterError("database", type(database).__name__, "must be a list of rows")
        count = whole(count, "count", least=0, most=2 * MOST_SAMPLES)
        rows, step = tuple(database), self.at_once or max(count, 1)
        for row in rows:
            self._check(row)
        return tuple(
            output
            for start in range(0, count, step)
            for output in self._answers(rows, min(step, count - start), least=step)
        )

    def _answers(self, rows: tuple[Row, ...], count: int, *, least: int) -> list[tuple[Any, ...]]:
        """The outputs of one query; with a fixed number of copies, its answer may include copies without rows."""
        outputs: list[list[tuple[Any, ...]]] = [[] for _ in range(max(count, least))]
        for record in listed(self.ask(list(self._copies(rows, count))), "ask(rows)", of="records"):
            outputs[self._number_of(record, len(outputs))].append(
                tuple(plain(value) for name, value in record.items() if name != self.copy)
            )
        return [tuple(sorted(records, key=label)) for records in outputs[:count]]

    def _copies(self, rows: tuple[Row, ...], count: int) -> Iterator[dict[str, Any]]:
        for number in range(count):
            for row in rows:
                copied = {**row, self.copy: number}
                if self.unit is not None:
                    copied[self.unit] = _renamed(row[self.unit], number)
                yield copied

    def _check(self, row: Any) -> None:
        if not isinstance(row, Mapping) or self.copy in row:
            raise ParameterError("database", "a row", f"must be a mapping without a column {self.copy!r}")
        if self.unit is not None and self.unit not in row:
            raise ParameterError("database", "a row", f"must identify its unit in {self.unit!r}")

    def _number_of(self, record: Any, copies: int) -> int:
        number = plain(record.get(self.copy)) if isinstance(record, Mapping) else None
        if isinstance(number, int) and 0 <= number < copies:
            return number
        raise ParameterError(
            "ask", record, f"must return records with the number of a copy, 0 to {copies - 1}, in {self.copy!r}"
        )


def _renamed(unit: Any, number: int) -> Any:
    """The name of a unit in one copy; a missing unit stays missing."""
    if unit is None:
        return None
    if isinstance(unit, int) and not isinstance(unit, bool):
        return number + _MOST_NUMBERED * unit
    return f"{number}:{unit}"
