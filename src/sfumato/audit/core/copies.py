"""Many runs for the price of one question: a database is copied into worlds, and the answer tells of each world apart.

A session charges groups of different people once, whatever their number. So a question that groups by the world gives
as many independent runs as there are worlds, through the public face of a curator who need not know of the audit.
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
_NUMBERED_APART: Final = 1 << 32
"""Units that are numbers keep room for so many worlds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worlds:
    """A mechanism that asks one question about many copies of a database, told apart by a public key.

    Called with a database (its rows) and a count, it numbers worlds 0, 1, …, count − 1. Each has a copy of every row,
    with its number in a column more, and with units of its own: unit u of world w becomes the text ``w:u``, or the
    number w + 2³²·u, so that what a unit is called never depends on other units or on how many worlds there are. What
    is said of a world is one output: its records without that column, as tuples of their values, sorted; ``()`` if
    nothing is.

    **Guarantee**: if `ask` has (ε, δ)-differential privacy for a unit, and answers about each world by its rows alone
    with noise of its own, then outputs are independent, and one output has (ε, δ)-differential privacy for neighbouring
    databases. Proof: proofs/audit/core/copies.md.

    Edge cases: an answer that is cut (LIMIT) or ranks worlds tells of a world by the rows of others, so a mechanism may
    be refuted that keeps its promise. What only happens without groups, or with few, is not seen: audit such
    questions one by one. A world without rows is nowhere in what `ask` gets; let it take its keys from `at_once`, never
    from the rows.

    Args:
        ask: Gets the rows of all worlds, asks one question that groups by the world, and gives the records.
        world: The column that numbers worlds, in rows and in records.
        unit: The column that names the unit; None if each row is a unit.
        at_once: The most worlds in one question; None for all. With it `ask` is called as often as need be.

    Raises:
        ParameterError: Rows that are no mappings, lack the unit or have the world already; records of other worlds.

    Example:
        >>> def ask(rows):  # an exact curator; a real one adds noise
        ...     return [{"world": world, "n": sum(row["world"] == world for row in rows)} for world in range(3)]
        >>> Worlds(ask=ask)(({"age": 30}, {"age": 40}), 3)
        (((2,),), ((2,),), ((2,),))

    References:
        [McS09] for parallel composition.
    """

    ask: Callable[[list[dict[str, Any]]], Iterable[Row]]
    world: str = "world"
    unit: str | None = None
    at_once: int | None = None

    def __post_init__(self) -> None:
        called(self.ask, "ask", "a function of the rows of all worlds")
        of_kind(self.world, "world", str, "the name of a column, as text")
        of_kind(self.unit, "unit", (str, NoneType), "the name of a column, as text, or None")
        if self.at_once is not None:
            whole(self.at_once, "at_once", least=1, most=MOST_SAMPLES)

    def __call__(self, database: Iterable[Row], count: int, /) -> Outputs:
        """What is said of each of so many worlds."""
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
        """What is said of each world in one answer; an answer of a fixed number of worlds may tell of empty ones."""
        told: list[list[tuple[Any, ...]]] = [[] for _ in range(max(count, least))]
        for record in listed(self.ask(list(self._copies(rows, count))), "what ask gives", of="records"):
            told[self._world_of(record, len(told))].append(
                tuple(plain(value) for name, value in record.items() if name != self.world)
            )
        return [tuple(sorted(records, key=label)) for records in told[:count]]

    def _copies(self, rows: tuple[Row, ...], count: int) -> Iterator[dict[str, Any]]:
        for world in range(count):
            for row in rows:
                copy = {**row, self.world: world}
                if self.unit is not None:
                    copy[self.unit] = _apart(row[self.unit], world)
                yield copy

    def _check(self, row: Any) -> None:
        if not isinstance(row, Mapping) or self.world in row:
            raise ParameterError("database", "a row", f"must be a mapping without a column {self.world!r}")
        if self.unit is not None and self.unit not in row:
            raise ParameterError("database", "a row", f"must name its unit in {self.unit!r}")

    def _world_of(self, record: Any, worlds: int) -> int:
        world = plain(record.get(self.world)) if isinstance(record, Mapping) else None
        if isinstance(world, int) and 0 <= world < worlds:
            return world
        raise ParameterError(
            "ask", record, f"must give records with the number of a world, 0 to {worlds - 1}, in {self.world!r}"
        )


def _apart(unit: Any, world: int) -> Any:
    """The name of a unit in one world; nobody stays nobody."""
    if unit is None:
        return None
    if isinstance(unit, int) and not isinstance(unit, bool):
        return world + _NUMBERED_APART * unit
    return f"{world}:{unit}"
