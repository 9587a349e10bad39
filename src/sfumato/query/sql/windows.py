"""OVER in SQL: over the rows of an answer, which reads released numbers alone, or in a sub-query over those of a unit.

Beside them what ORDER BY says.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import Metric
from sfumato.query.analysis.units import NO_TIES, determines_unit, ties_of
from sfumato.query.model.expressions import ColumnRef, Expression, IsNull, Null
from sfumato.query.model.relations import Relation, RowFunction, Select, fresh
from sfumato.query.planning.windows import (
    MAX_PLACES,
    MAX_ROWS_AWAY,
    WITH_FRAMES,
    OrderKey,
    RowsFrame,
    Window,
    WindowFunction,
    check_window,
    row_window,
)
from sfumato.query.sql.context import Context, Scope, Visible, name_of, scope_of, unit_columns
from sfumato.query.sql.expressions.scalars import Scalars
from sfumato.query.sql.parsing import require_only, shown, unnested

_RANKS: Final[Mapping[type[exp.Expr], WindowFunction]] = {
    exp.RowNumber: WindowFunction.ROW_NUMBER, exp.Rank: WindowFunction.RANK, exp.DenseRank: WindowFunction.DENSE_RANK,
    exp.PercentRank: WindowFunction.PERCENT_RANK, exp.CumeDist: WindowFunction.CUME_DIST,
}  # fmt: skip
_OF_ONE: Final[Mapping[type[exp.Expr], WindowFunction]] = {
    exp.FirstValue: WindowFunction.FIRST_VALUE, exp.LastValue: WindowFunction.LAST_VALUE,
    exp.Sum: WindowFunction.SUM, exp.Avg: WindowFunction.AVG, exp.Min: WindowFunction.MIN, exp.Max: WindowFunction.MAX,
}  # fmt: skip
_MOVES: Final[Mapping[type[exp.Expr], WindowFunction]] = {
    exp.Lag: WindowFunction.LAG, exp.Lead: WindowFunction.LEAD,
}  # fmt: skip


def write_names_out(select: exp.Select) -> None:
    """OVER w becomes the window that WINDOW calls w.

    Raises:
        ParameterError: WINDOW calls none so.
    """
    windows = list(select.find_all(exp.Window))
    if not windows:
        return
    named = {window.name.lower(): window for window in select.args.get("windows") or []}
    for node in windows:
        name = node.args.get("alias")
        if name is None or node.arg_key == "windows" or node.find_ancestor(exp.Select) is not select:
            continue
        if name.name.lower() not in named:
            raise ParameterError("WINDOW", name.name, "must be named behind WINDOW")
        window = named[name.name.lower()]
        node.set("alias", None)
        for clause in ("partition_by", "order", "spec"):
            if window.args.get(clause):
                node.set(clause, [one.copy() for one in window.args[clause]] if clause == "partition_by"
                         else window.args[clause].copy())  # fmt: skip
    select.set("windows", None)


def window_of(scalars: Scalars, node: exp.Window) -> Window:
    """The window that a node means, over what `scalars` lowers.

    Raises:
        NotPrivateError: It is not supported.
        ParameterError: A number is out of its range.
    """
    if any(inner is not node for inner in node.find_all(exp.Window)):
        raise NotPrivateError(
            shown(node), "a window of windows is not supported", "Use keys and aggregates in OVER, as in SUM(COUNT(*))."
        )
    require_only(node, {"this", "partition_by", "order", "spec", "over"})
    order = node.args.get("order")
    partition = tuple(scalars.lower(part) for part in node.args.get("partition_by") or [])
    keys = () if order is None else order_keys(scalars, order)
    called = node.this
    match called:
        case _ if type(called) in _RANKS:
            require_only(called, ())
            made = Window(function=_RANKS[type(called)], partition=partition, order=keys)
        case _ if type(called) in _MOVES:
            made = _moved(scalars, called, partition, keys)
        case exp.Ntile():
            require_only(called, {"this"})
            count = scalars.whole(called.this, lower=1, upper=MAX_PLACES, name="NTILE")
            made = Window(function=WindowFunction.NTILE, number=count, partition=partition, order=keys)
        case _:
            made = _of_frame(scalars, node, partition, keys)
    if made.function not in WITH_FRAMES and node.args.get("spec") is not None:
        raise NotPrivateError(shown(node), "this function has no frame", "Leave ROWS out.")
    check_window(made)
    return made


def _moved(
    scalars: Scalars, called: exp.Expr, partition: tuple[Expression, ...], keys: tuple[OrderKey, ...]
) -> Window:  # fmt: skip
    """LAG(x, 1, 0)."""
    require_only(called, {"this", "offset", "default"})
    offset, default = called.args.get("offset"), called.args.get("default")
    return Window(
        function=_MOVES[type(called)], value=scalars.lower(called.this), partition=partition, order=keys,
        number=1 if offset is None else scalars.whole(offset, lower=0, upper=MAX_PLACES, name="offset"),
        default=None if default is None or isinstance(default, exp.Null) else scalars.lower(default),
    )  # fmt: skip


def _of_frame(
    scalars: Scalars, node: exp.Window, partition: tuple[Expression, ...], keys: tuple[OrderKey, ...]
) -> Window:  # fmt: skip
    """An aggregate of released numbers, or the first or last of them."""
    called, frame = node.this, _frame(scalars, node)
    if isinstance(called, exp.Count) and isinstance(called.this, exp.Star):
        return Window(function=WindowFunction.COUNT, partition=partition, order=keys, frame=frame)
    function = WindowFunction.COUNT if isinstance(called, exp.Count) else _OF_ONE.get(type(called))
    if function is None or isinstance(called.this, exp.Distinct) or called.expressions:
        raise NotPrivateError(
            shown(node), "this is no window over released numbers",
            "Use SUM, AVG, COUNT, MIN, MAX, RANK, DENSE_RANK, ROW_NUMBER, NTILE, LAG, LEAD, FIRST_VALUE or LAST_VALUE.",
        )  # fmt: skip
    require_only(called, {"this", "big_int"})
    return Window(
        function=function, value=scalars.lower(called.this), partition=partition, order=keys, frame=frame
    )  # fmt: skip


def _frame(scalars: Scalars, node: exp.Window) -> RowsFrame | None:
    """ROWS BETWEEN … AND …; that of RANGE which is the default is none of its own."""
    spec = node.args.get("spec")
    if spec is None:
        return None
    require_only(spec, {"kind", "start", "start_side", "end", "end_side"})
    kind, end = spec.args.get("kind"), spec.args.get("end") or "CURRENT ROW"
    starts = (spec.args.get("start"), spec.args.get("start_side") or "")
    ends = (end, spec.args.get("end_side") or "")
    if kind == "RANGE" and starts[0] == "UNBOUNDED" and ends[0] == "CURRENT ROW":
        return None
    if kind != "ROWS" and not starts[0] == ends[0] == "UNBOUNDED":
        raise NotPrivateError(shown(node), "frames of RANGE and GROUPS are not supported", "Write ROWS BETWEEN …")
    if starts[1] == "FOLLOWING" or ends[1] == "PRECEDING":
        raise NotPrivateError(
            shown(node), "this frame does not hold its own row", "Let it begin at PRECEDING and end at FOLLOWING."
        )
    return RowsFrame(before=_rows_away(scalars, starts[0]), after=_rows_away(scalars, ends[0]))


def _rows_away(scalars: Scalars, end: object) -> int | None:
    match end:
        case "UNBOUNDED":
            return None
        case "CURRENT ROW":
            return 0
        case exp.Expr():
            return scalars.whole(end, lower=0, upper=MAX_ROWS_AWAY, name="ROWS")
        case _:
            raise ParameterError("ROWS", str(end), "must be UNBOUNDED, CURRENT ROW, or a number of rows")


def with_row_windows(context: Context, scope: Scope, nodes: Iterable[exp.Expr]) -> Scope:
    """The rows with a column for each window over the rows of a unit; the nodes then name these columns.

    Args:
        context: What the query may name.
        scope: Its rows.
        nodes: What it selects of them.

    Raises:
        NotPrivateError: A window is of rows of several people, or is not supported.
        ParameterError: It names what does not exist, or a number is out of its range.
    """
    for node in nodes:
        inside = node.walk(prune=lambda inner: isinstance(inner, exp.Query | exp.Window))
        for window in [inner for inner in inside if isinstance(inner, exp.Window)]:
            scope, label = _with_row_window(context, scope, window)
            window.replace(exp.Column(this=exp.to_identifier(label, quoted=True)))
    return scope


_ROW_FUNCTIONS: Final[Mapping[type[exp.Expr], RowFunction]] = {
    exp.RowNumber: RowFunction.ROW_NUMBER, exp.Rank: RowFunction.RANK, exp.DenseRank: RowFunction.DENSE_RANK,
    exp.Lag: RowFunction.LAG, exp.Lead: RowFunction.LEAD, exp.FirstValue: RowFunction.FIRST_VALUE,
}  # fmt: skip


def _with_row_window(context: Context, scope: Scope, node: exp.Window) -> tuple[Scope, str]:
    """The rows with one more column, and what the query calls it."""
    called, function = node.this, _ROW_FUNCTIONS.get(type(node.this))
    if function is None:
        raise NotPrivateError(
            shown(node), "this window over the rows of a unit is not supported",
            "Use ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD or FIRST_VALUE, or join a sub-query with GROUP BY.",
        )  # fmt: skip
    require_only(node, {"this", "partition_by", "order", "over"})
    require_only(called, {"this", "offset"} if called.this else ())
    scalars = context.of_rows(scope)
    order = node.args.get("order")
    keys = () if order is None else order_keys(scalars, order)
    columns = _Columns(scope)
    within = [columns.of(scalars.lower(part)) for part in node.args.get("partition_by") or []]
    _require_unit(scope, within, node)
    ordered = tuple((columns.of(key.value), key.descending) for key in keys)
    value = columns.of(scalars.lower(called.this)) if called.this else None
    offset = called.args.get("offset")
    label = fresh(name_of(node), [*columns.names, *(visible.label for visible in scope.visible)])
    made = row_window(
        columns.relation, name=label, function=function, value=value, order=ordered, within=within,
        distance=1 if offset is None else scalars.whole(offset, lower=0, upper=MAX_PLACES, name="offset"),
    )  # fmt: skip
    return scope_of(made, [*scope.visible, Visible("", label, label, merged=True)], shown_as=shown(node)), label


class _Columns:
    """The columns of some rows, and more for expressions over them."""

    def __init__(self, scope: Scope) -> None:
        self._relation, self._own = scope.relation, tuple(scope.shape.columns)
        self._added: dict[Expression, str] = {}

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return [*self._own, *self._added.values()]

    @property
    def relation(self) -> Relation:
        """The rows with all of them."""
        if not self._added:
            return self._relation
        own = ((name, ColumnRef(name)) for name in self._own)
        return Select(self._relation, (*own, *((name, value) for value, name in self._added.items())))

    def of(self, value: Expression) -> str:
        """The column that an expression is, or a new one."""
        if isinstance(value, ColumnRef):
            return value.name
        if value not in self._added:
            self._added[value] = fresh("key", self.names)
        return self._added[value]


def _require_unit(scope: Scope, within: Sequence[str], node: exp.Window) -> None:
    """A window in a sub-query is of the rows of one unit, or of public ones."""
    ties = ties_of(scope.relation)
    is_own = scope.shape.metric is Metric.UNITS and any(determines_unit(ties.get(name, NO_TIES)) for name in within)
    if not is_own and scope.shape.metric is not Metric.PUBLIC:
        names = " or ".join(unit_columns(scope)) if scope.shape.metric is Metric.UNITS else ""
        raise NotPrivateError(
            shown(node), "a window over single rows compares the rows of several people",
            f"Add {names} to PARTITION BY." if names else "Use it over the groups of GROUP BY.",
        )  # fmt: skip


def order_keys(scalars: Scalars, order: exp.Order) -> tuple[OrderKey, ...]:
    """What ORDER BY of a window says."""
    require_only(order, {"expressions"})
    return tuple(
        key for ordered in order.expressions for key in ordered_by(ordered, scalars.lower(unnested(ordered.this)))
    )


def ordered_by(ordered: exp.Ordered, value: Expression) -> Iterable[OrderKey]:
    """A value to sort by, before it whether it is NULL if that decides otherwise than that NULL counts as largest."""
    require_only(ordered, {"this", "desc", "nulls_first"})
    descending, nulls_first = bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))
    if nulls_first is not descending and not isinstance(value, Null):
        yield OrderKey(IsNull(value), descending=nulls_first)
    yield OrderKey(value, descending)
