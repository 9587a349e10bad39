"""Other ways to write a relation: some that mean the same by construction, and some that may mean another thing."""

from dataclasses import replace

from tests.strategies import chance, pick

from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import And, ColumnRef, Compare, Comparison, IsIn, Not, Or
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)

MIRRORED = {Comparison.LESS: Comparison.GREATER, Comparison.EQUAL: Comparison.EQUAL}


def shuffled(random, items):
    return tuple(random.sample(list(items), len(items)))


def again(random, condition):
    """Another way to write a condition."""
    if chance(random, 4):
        return Not(again(random, Not(condition)))
    match condition:
        case And(conditions) | Or(conditions):
            return type(condition)(tuple(again(random, inner) for inner in shuffled(random, conditions)))
        case Compare(comparison, left, right) if comparison in MIRRORED:
            return Compare(MIRRORED[comparison], right, left)
        case IsIn(value, values):
            return IsIn(value, shuffled(random, values))
        case _:
            return condition


def reworded(random, relation):
    """The same rows under the same names, written in another way."""
    match relation:
        case Filter(child, And((first, *rest))) if rest:
            inner = Filter(reworded(random, child), again(random, And(tuple(rest))))
            return _renamed_and_back(random, Filter(inner, again(random, first)))
        case Filter(child, condition):
            return _renamed_and_back(random, Filter(reworded(random, child), again(random, condition)))
        case Select(child, columns):
            return _renamed_and_back(random, Select(reworded(random, child), columns))
        case Join() | SemiJoin():
            return _rebuilt(random, replace(relation, on=shuffled(random, relation.on)))
        case Grouped():
            return _rebuilt(random, relation)
        case _:
            return _renamed_and_back(random, _rebuilt(random, relation))


def _rebuilt(random, relation):
    sides = {name: getattr(relation, name) for name in ("child", "other", "left", "right") if hasattr(relation, name)}
    if isinstance(relation, Source | PeoplePart):
        return relation
    return replace(relation, **{name: reworded(random, side) for name, side in sides.items()})


def _renamed_and_back(random, relation):
    """Behind two steps that only rename, now and then."""
    if not chance(random, 3):
        return relation
    names = {name: f"r{place}_{name}" for place, name in enumerate(shape_of(relation).columns)}
    there = Select(relation, tuple((new, ColumnRef(old)) for old, new in names.items()))
    return Select(there, tuple((old, ColumnRef(new)) for old, new in names.items()))


def changed(random, relation):
    """Some step of a relation changed in a way that may or may not matter."""
    steps = [name for name in ("child", "other", "left", "right") if hasattr(relation, name)]
    if steps and not isinstance(relation, PeoplePart) and chance(random, 2):
        name = pick(random, steps)
        return replace(relation, **{name: changed(random, getattr(relation, name))})
    options = (relation, *_variants(random, relation))
    return pick(random, options[1:] or options)


def _variants(random, relation):
    match relation:
        case Select(child, columns):
            return Select(child, shuffled(random, columns)), Select(child, _exchanged(columns))
        case Filter(child, condition):
            return Filter(child, Not(condition)), Filter(Filter(child, condition), condition), child
        case Distinct(child):
            return child, Distinct(relation), Distinct(_fewer(child))
        case BoundRows(child, most):
            return BoundRows(child, most + 1), BoundRows(_reversed(child), most), BoundRows(relation, most)
        case Grouped(child, keys, columns):
            return Grouped(child, shuffled(random, keys), shuffled(random, columns)), Grouped(child, keys[:-1], columns)
        case Join():
            kind = pick(random, tuple(JoinKind))
            return replace(relation, kind=kind), replace(relation, right=_reversed(relation.right))
        case SemiJoin():
            return replace(relation, negated=not relation.negated), replace(relation, other=_reversed(relation.other))
        case UnionAll(left, right) | Intersect(left, right) | Except(left, right):
            return *(kind(left, right) for kind in (UnionAll, Intersect, Except)), type(relation)(right, left)
        case _:
            return Distinct(relation), _reversed(relation)


def _exchanged(columns):
    """The first two columns under each other's names."""
    if len(columns) == 1:
        return columns
    (first, one), (second, other), *rest = columns
    return ((first, other), (second, one), *rest)


def _fewer(relation):
    """Without the last column."""
    names = list(shape_of(relation).columns)
    return Select(relation, tuple((name, ColumnRef(name)) for name in names[:-1] or names))


def _reversed(relation):
    """The same columns in another order."""
    names = list(shape_of(relation).columns)
    return Select(relation, tuple((name, ColumnRef(name)) for name in reversed(names)))
