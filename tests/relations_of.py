"""Random relations over a policy, of every node, well shaped by construction; and expressions over their columns."""

from fractions import Fraction
from itertools import count

from tests.strategies import chance, pick

from sfumato.query.analysis.bounding import matches_of
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)

CONSTANTS = {
    Kind.INTEGER: tuple(map(Fraction, (0, 1, 2, -3, 2**53 + 1))),
    Kind.FLOAT: (Fraction(1, 2), Fraction(-7, 3)),
    Kind.TEXT: ("x", "é", ""),
    Kind.BOOLEAN: (True, False),
}
MOST_COLUMNS = 8


class Growing:
    """What relations are drawn from: names that are used once, and a salt for what samples."""

    def __init__(self, random, policy):
        self.random, self.policy = random, policy
        self._numbers = count()

    def name(self, like="x"):
        """A new name; it ends as the column does that it stands for, so that columns of one origin can meet."""
        return f"c{next(self._numbers)}{like[-1]}"

    def pick(self, options):
        return pick(self.random, options)

    def chance(self, one_in):
        return chance(self.random, one_in)


def columns(relation):
    """The kinds of the columns of a relation, by name."""
    return {name: facts.kind for name, facts in shape_of(relation).columns.items()}


def private(grow, depth):
    """A relation of units, or of rows that are units, at most so deep."""
    if depth <= 0:
        return _source(grow)
    made = grow.pick(_OF_UNITS if grow.policy.has_owners else _OF_ROWS)(grow, depth - 1)
    return made if len(shape_of(made).columns) <= MOST_COLUMNS else _narrowed(grow, made)


def public(grow, depth):
    """A relation of public tables alone."""
    source = Source(grow.pick(grow.policy.public))
    if depth <= 0 or grow.chance(2):
        return source
    return grow.pick((_filter, _distinct, _select))(grow, 0, source)


def _source(grow):
    table = grow.pick(grow.policy.private)
    if not grow.chance(8):
        return Source(table)
    by, values = grow.pick(((f"{table.name}k", ("x", "y")), (f"{table.name}j", (1, 2, 3))))
    most = grow.pick((1, 2)) if table.has_owners else 1
    return PeoplePart(
        child=Source(table), by=by, values=values, value=grow.pick(values), max_parts_per_unit=most, salt="0" * 32
    )


def _filter(grow, depth, child=None):
    """Some rows; more often than not, most of them."""
    child = child or private(grow, depth)
    own = columns(child)
    chosen = condition(grow, own)
    most = Not(IsNull(ColumnRef(grow.pick(tuple(own)))))
    return Filter(child, chosen if grow.chance(3) else Or((chosen, most)))


def _select(grow, depth, child=None):
    child = child or private(grow, depth)
    own = columns(child)
    kept = [(grow.name(name), ColumnRef(name)) for name in own if grow.chance(2)]
    made = [(grow.name(), expression(grow, own, grow.pick(tuple(Kind)[:4]))) for _ in range(grow.pick((1, 2)))]
    return Select(child, (*kept, *made)[:MOST_COLUMNS])


def _narrowed(grow, child):
    own = [name for name in columns(child) if grow.chance(2)] or list(columns(child))
    return Select(child, tuple((name, ColumnRef(name)) for name in own[:MOST_COLUMNS]))


def _renamed(grow, child):
    """The relation with other names, so that it can be joined with any."""
    return Select(child, tuple((grow.name(name), ColumnRef(name)) for name in columns(child)))


def _distinct(grow, depth, child=None):
    child = child or private(grow, depth)
    return Distinct(_narrowed(grow, child))


def _bound(grow, depth):
    return BoundRows(private(grow, depth), grow.pick((1, 2, 3)))


def _in_order(grow, depth):
    child = private(grow, depth)
    own = tuple(columns(child))
    order = tuple((grow.pick(own), grow.chance(2)) for _ in range(grow.pick((1, 2))))
    function = grow.pick(tuple(RowFunction))
    is_moved = function in {RowFunction.LAG, RowFunction.LEAD, RowFunction.FIRST_VALUE}
    value = grow.pick(own) if is_moved else None
    return RowWindow(
        child=child, name=grow.name(value or "x"), function=function, value=value, order=order,
        distance=grow.pick((1, 1, 0, 2)), within=tuple(name for name in own if grow.chance(4)),
    )  # fmt: skip


def _grouped(grow, depth, child=None):
    child = child or private(grow, depth)
    keys = [name for name in columns(child) if grow.chance(4)]
    return Grouped(child, tuple(keys), _folds(grow, child))


def _folds(grow, child):
    own = columns(child)
    folds = [Folded(grow.name(), Fold.COUNT_ROWS)]
    for _ in range(grow.pick((0, 1, 2))):
        fold = grow.pick((Fold.COUNT, Fold.COUNT_DISTINCT, Fold.MIN, Fold.MAX, Fold.SUM, Fold.MEAN))
        kind = grow.pick((Kind.INTEGER, Kind.FLOAT))
        value = _clamped(grow, own, kind) if fold in {Fold.SUM, Fold.MEAN} else expression(grow, own, kind)
        folds.append(Folded(grow.name(), fold, value))
    return tuple(folds)


def _clamped(grow, own, kind):
    ends = [Literal(Fraction(end)) for end in (-2, 3)]
    return Call(Function.LEAST, (Call(Function.GREATEST, (expression(grow, own, kind), ends[0])), ends[1]))


def _pairs(grow, left, right, *, mixed=False):
    """Columns that a join may compare, at most two; mostly of one origin, where values are equal now and then."""
    rights = columns(right)
    found = [
        (first, second)
        for first, kind in columns(left).items()
        for second, other in rights.items()
        if kind is other or (mixed and {kind, other} == NUMBERS)
    ]
    found = [(first, second) for first, second in found if first[-1] == second[-1] or grow.chance(8)]
    return tuple({grow.pick(found): None for _ in range(grow.pick((0, 0, 1, 1, 2)))}) if found else ()


def _join_units(grow, depth):
    left, right = private(grow, depth), _renamed(grow, private(grow, depth - 1))
    return Join(left=left, right=right, on=_pairs(grow, left, right), kind=grow.pick(tuple(JoinKind)))


def _join_public(grow, depth):
    """A join with a public table by columns of which it is declared how many rows they match; or with its groups."""
    left, right = private(grow, depth), public(grow, 1)
    if grow.chance(3):
        right = Grouped(right, tuple(name for name in columns(right) if grow.chance(4)), _folds(grow, right))
        needed = right.keys
    else:
        found = [names for source in grow.policy.public for names in source.matches]
        needed = next((names for names in found if matches_of(right, frozenset(names))), ())
    renamed = _renamed(grow, right)
    new_names = {expression.name: name for name, expression in renamed.columns}
    kinds, own = columns(right), columns(left)
    on = []
    for name in needed:
        partners = [column for column, kind in own.items() if kind is kinds[name]]
        if not partners:
            return _semi_joined_public(grow, left)
        on.append((grow.pick(partners), new_names[name]))
    if matches_of(renamed, frozenset(second for _, second in on)) is None:
        return _semi_joined_public(grow, left)
    return Join(left=left, right=renamed, on=tuple(on), kind=grow.pick(tuple(JoinKind)))


def _join_groups(grow, depth):
    """Rows that are units are joined only as groups that have the keys of the join."""
    first, second = private(grow, depth), _renamed(grow, private(grow, depth - 1))
    on = _pairs(grow, first, second)
    left, right = (
        Grouped(side, tuple(dict.fromkeys(pair[index] for pair in on)), _folds(grow, side))
        for index, side in enumerate((first, second))
    )
    return Join(left=left, right=right, on=on, kind=grow.pick(tuple(JoinKind)))


def _semi_join_public(grow, depth):
    return _semi_joined_public(grow, private(grow, depth))


def _semi_joined_public(grow, child):
    other = public(grow, 1)
    return SemiJoin(child=child, other=other, on=_pairs(grow, child, other, mixed=True), negated=grow.chance(2))


def _semi_join_units(grow, depth):
    child, other = private(grow, depth), private(grow, depth - 1)
    return SemiJoin(child=child, other=other, on=_pairs(grow, child, other, mixed=True), negated=grow.chance(2))


def _set_operation(grow, depth):
    """Two relations cut to columns of the same kinds; the right side is often made of the left, so that rows meet."""
    left = private(grow, depth)
    right = _filter(grow, 0, left) if grow.chance(2) else private(grow, depth - 1)
    kinds = columns(left)
    chosen = [name for name in kinds if grow.chance(3)] or list(kinds)[:2]
    matching = [(grow.name(name), _like(grow, columns(right), name, kinds[name])) for name in chosen]
    sides = Select(left, tuple((name, ColumnRef(name)) for name in chosen)), Select(right, tuple(matching))
    return grow.pick((UnionAll, Intersect, Except))(*sides)


def _like(grow, own, like, kind):
    """A column of one origin and kind with another; or of its kind, or of the other kind of numbers."""
    kinds = NUMBERS if kind in NUMBERS and grow.chance(4) else {kind}
    found = [name for name, own_kind in own.items() if own_kind in kinds]
    found = [name for name in found if name[-1] == like[-1]] or found
    return ColumnRef(grow.pick(found)) if found else Null(kind)


_ALIKE = (_filter, _select, _join_public, _semi_join_public, _set_operation, _distinct, _grouped)
_OF_ROWS = (*_ALIKE, _join_groups)
_OF_UNITS = (*_ALIKE, _bound, _join_units, _semi_join_units, _in_order)


def condition(grow, own, depth=2):
    """An expression of kind BOOLEAN over columns of known kinds."""
    shape = grow.pick(("compare", "compare", "in", "null", "truth", "not", "and", "or")[: 5 if depth <= 0 else 8])
    match shape:
        case "compare":
            kind = grow.pick(tuple(CONSTANTS))
            sides = expression(grow, own, kind, depth - 1), expression(grow, own, kind, 0)
            return Compare(grow.pick(tuple(Comparison)), *sides)
        case "in":
            kind = grow.pick(tuple(CONSTANTS))
            return IsIn(expression(grow, own, kind, 0), tuple(map(Literal, CONSTANTS[kind][:2])))
        case "null":
            return IsNull(ColumnRef(grow.pick(tuple(own))))
        case "truth":
            return expression(grow, own, Kind.BOOLEAN, 0)
        case "not":
            return Not(condition(grow, own, depth - 1))
        case _:
            inner = tuple(condition(grow, own, depth - 1) for _ in range(grow.pick((2, 1, 3))))
            return And(inner) if shape == "and" else Or(inner)


def expression(grow, own, kind, depth=2):
    """An expression of a kind over columns of known kinds."""
    found = [name for name, own_kind in own.items() if own_kind is kind]
    if found and (depth <= 0 or not grow.chance(2)):
        return ColumnRef(grow.pick(found))
    if depth <= 0 or grow.chance(4):
        return Literal(grow.pick(CONSTANTS[kind]))
    if grow.chance(6):
        branch = condition(grow, own, depth - 1), expression(grow, own, kind, depth - 1)
        return Case((branch,), expression(grow, own, kind, depth - 1))
    return _CALLS[kind](grow, own, depth - 1)


def _number(grow, own, depth, kind):
    function = grow.pick((Function.ADD, Function.MULTIPLY, Function.GREATEST, Function.DIVIDE, Function.COALESCE))
    return Call(function, (expression(grow, own, kind, depth), expression(grow, own, kind, depth)))


def _text(grow, own, depth):
    if grow.chance(2):
        return Call(Function.TO_TEXT, (expression(grow, own, Kind.INTEGER, depth),))
    return Call(Function.TRIM, (expression(grow, own, Kind.TEXT, depth),))


_CALLS = {
    Kind.INTEGER: lambda grow, own, depth: _number(grow, own, depth, Kind.INTEGER),
    Kind.FLOAT: lambda grow, own, depth: _number(grow, own, depth, Kind.FLOAT),
    Kind.TEXT: _text,
    Kind.BOOLEAN: lambda grow, own, depth: IsNull(expression(grow, own, Kind.FLOAT, depth)),
}
