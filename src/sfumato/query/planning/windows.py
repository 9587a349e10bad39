"""Windows over the rows of an answer: percent of a total, running sums, ranks; what each is, and what is known of it.

They read released numbers alone, so they cost nothing. Rows are those that HAVING leaves, before LIMIT. Beside them the
windows of sub-queries, over the rows of one unit.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.units import NO_TIES, UNIT, ties_of
from sfumato.query.model.expressions import Expression
from sfumato.query.model.facts import Facts, merged
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.relations import Relation, RowFunction, RowWindow

MAX_ROWS_AWAY: Final = 100
"""How many rows before or after it a frame of ROWS may begin or end, unless it has all of them."""

MAX_PLACES: Final = 1_000
"""How many rows LAG and LEAD may go, and how many parts NTILE may make."""


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What answers are sorted by."""

    value: Expression
    descending: bool = False


class WindowFunction(StrEnum):
    """What a window computes for each row."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    PERCENT_RANK = "percent_rank"
    CUME_DIST = "cume_dist"
    NTILE = "ntile"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"
    LAST_VALUE = "last_value"
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsFrame:
    """Rows from so many before a row to so many after it; None for all there are."""

    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A function of rows that agree in some expressions, in an order.

    Attributes:
        function: What is computed.
        value: Of what; None for ranks, and for COUNT(*).
        default: What LAG and LEAD are where there is no such row; None is NULL.
        number: How many rows LAG and LEAD go, or how many parts NTILE makes.
        partition: What the rows have in common.
        order: What they are sorted by; rows that are equal by it stay in the order of the answer.
        frame: Which rows are read, in ROWS; None for all, or with an order for those up to the last that is equal.
    """

    function: WindowFunction
    value: Expression | None = None
    default: Expression | None = None
    number: int = 1
    partition: tuple[Expression, ...] = ()
    order: tuple[OrderKey, ...] = ()
    frame: RowsFrame | None = None

    @property
    def arguments(self) -> tuple[Expression, ...]:
        """What it reads of the rows that it is computed of."""
        return tuple(argument for argument in (self.value, self.default) if argument is not None)

    @property
    def places(self) -> tuple[Expression, ...]:
        """What decides which rows these are."""
        return (*self.partition, *(key.value for key in self.order))


_INTEGERS: Final = frozenset({
    WindowFunction.ROW_NUMBER, WindowFunction.RANK, WindowFunction.DENSE_RANK, WindowFunction.NTILE,
    WindowFunction.COUNT,
})  # fmt: skip
_FLOATS: Final = frozenset({
    WindowFunction.PERCENT_RANK, WindowFunction.CUME_DIST, WindowFunction.SUM, WindowFunction.AVG,
})  # fmt: skip
_OF_NUMBERS: Final = frozenset({WindowFunction.SUM, WindowFunction.AVG})
_MOVES: Final = frozenset({WindowFunction.LAG, WindowFunction.LEAD})
_OF_ORDER: Final = frozenset({
    WindowFunction.ROW_NUMBER, WindowFunction.RANK, WindowFunction.DENSE_RANK, WindowFunction.PERCENT_RANK,
    WindowFunction.CUME_DIST, WindowFunction.NTILE,
})  # fmt: skip
"""What reads the order of rows alone."""

WITH_FRAMES: Final = frozenset(WindowFunction) - _MOVES - _OF_ORDER
"""What reads the rows of a frame; all else means nothing without ORDER BY."""


def check_window(window: Window) -> None:
    """Refuse a window that has not just what its function needs.

    Raises:
        ParameterError: It lacks a value or an order, has a value, a default, a number or a frame that its function does
            not read, or a number is out of its range.
    """
    function, name = window.function, window.function.value.upper()
    if function not in WITH_FRAMES and not window.order:
        raise ParameterError(name, "a window", "must say the order of rows: OVER (ORDER BY …)")
    if function is not WindowFunction.COUNT and (window.value is None) is not (function in _OF_ORDER):
        raise ParameterError(name, "a window", "must be of a value, unless it is a rank")
    if window.default is not None and function not in _MOVES:
        raise ParameterError(name, "a default", "belongs to LAG and LEAD")
    least = 0 if function in _MOVES else 1
    most = MAX_PLACES if function in _MOVES or function is WindowFunction.NTILE else 1
    if not least <= window.number <= most:
        raise ParameterError(name, window.number, f"must be from {least} to {most}")
    if window.frame is not None:
        ends = [end for end in (window.frame.before, window.frame.after) if end is not None]
        if function not in WITH_FRAMES or any(not 0 <= end <= MAX_ROWS_AWAY for end in ends):
            raise ParameterError(name, "a frame", f"belongs to aggregates, and reaches at most {MAX_ROWS_AWAY} rows")


def window_facts(window: Window, columns: Mapping[str, Facts]) -> Facts:
    """What is known of what a window computes over columns of known facts.

    A sum is a FLOAT, of whole numbers too: a share of it is a fraction.

    Raises:
        ParameterError: It mixes kinds, or reads a column that does not exist.
    """
    for place in window.places:
        facts_of(place, columns)
    values = [facts_of(argument, columns) for argument in window.arguments]
    if window.function in _OF_NUMBERS and values[0].kind not in NUMBERS:
        raise ParameterError(window.function.value, f"a {values[0].kind}", "must be of numbers")
    if window.function in _INTEGERS:
        return Facts(kind=Kind.INTEGER)
    if window.function in _FLOATS:
        return Facts(kind=Kind.FLOAT, resolution=None)
    return replace(merged(values), nullable=True, values=None)


def window_sql(window: Window, written: Callable[[Expression], str]) -> str:
    """A window as people read it.

    Example:
        >>> from sfumato.query.model.expressions import ColumnRef
        >>> from sfumato.query.printing.expression_sql import expression_sql
        >>> running = Window(function=WindowFunction.SUM, value=ColumnRef("n"), order=(OrderKey(ColumnRef("day")),))
        >>> window_sql(running, expression_sql)
        'SUM(n) OVER (ORDER BY day)'
    """
    function = window.function
    arguments = [written(window.value)] if window.value is not None else []
    if function is WindowFunction.NTILE or (function in _MOVES and (window.number, window.default) != (1, None)):
        arguments.append(str(window.number))
    if window.default is not None:
        arguments.append(written(window.default))
    if function is WindowFunction.COUNT and not arguments:
        arguments = ["*"]
    order = ", ".join(written(key.value) + " DESC" * key.descending for key in window.order)
    clauses = [
        f"PARTITION BY {', '.join(map(written, window.partition))}" if window.partition else "",
        f"ORDER BY {order}" if order else "",
        "" if window.frame is None else _frame_sql(window.frame),
    ]
    return f"{function.value.upper()}({', '.join(arguments)}) OVER ({' '.join(filter(None, clauses))})"


def _frame_sql(frame: RowsFrame) -> str:
    ends = []
    for count, side in ((frame.before, "PRECEDING"), (frame.after, "FOLLOWING")):
        ends.append("CURRENT ROW" if count == 0 else f"{'UNBOUNDED' if count is None else count} {side}")
    return f"ROWS BETWEEN {ends[0]} AND {ends[1]}"


def row_window(
    child: Relation, *, name: str, function: RowFunction, order: tuple[tuple[str, bool], ...],
    value: str | None = None, distance: int = 1, within: Iterable[str] = (),
) -> RowWindow:  # fmt: skip
    """Rows with a column more, of the rows of their unit before or after them.

    Units are kept apart anyway, so what holds the unit is not named in `within`.

    Raises:
        ParameterError: It has no order, lacks a value or has one that its function does not read, or goes too far.
    """
    shown_as = function.value.upper()
    if not order:
        raise ParameterError(shown_as, "a window", "must say the order of rows: OVER (… ORDER BY …)")
    if (value is None) is (function in _OF_VALUES):
        raise ParameterError(shown_as, value, "must be of a value, unless it is a rank")
    if not (0 <= distance <= MAX_PLACES if function in _GO else distance == 1):
        raise ParameterError(shown_as, distance, f"must go from 0 to {MAX_PLACES} rows, and LAG and LEAD alone")
    ties = ties_of(child)
    others = tuple(dict.fromkeys(column for column in within if UNIT not in ties.get(column, NO_TIES)))
    return RowWindow(
        child=child, name=name, function=function, value=value, order=order, distance=distance, within=others
    )  # fmt: skip


_GO: Final = frozenset({RowFunction.LAG, RowFunction.LEAD})
_OF_VALUES: Final = _GO | {RowFunction.FIRST_VALUE}
