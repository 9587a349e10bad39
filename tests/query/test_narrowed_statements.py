"""Random statements under conditions that narrow them: exact answers stay what they were, and noise has what it needs.

Each statement is made twice: by the facts that conditions narrow, and by those that are declared. Between the two no
sum and no group may differ, whatever a table holds; and no unit moves a narrowed sum further than is claimed of it.
"""

from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction
from math import prod
from random import Random
from unittest.mock import patch

import pytest
from tests.query.brute_force import (
    SALTS,
    Trial,
    answer,
    assert_claims,
    assert_same_within,
    sample,
    tables_read,
    turned,
    units_of,
    without,
    without_row,
)
from tests.relations_of import Growing, columns, condition, expression, private
from tests.sizes import FULL_SIZE
from tests.strategies import database, limits, pick, policy

from sfumato.errors import UnboundedSensitivityError
from sfumato.query.analysis import inference, shape
from sfumato.query.analysis.keys import listed_values
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import And, Case, ColumnRef, Compare, Comparison, IsIn, Literal, Not, Null, Or
from sfumato.query.model.facts import Edition
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.relations import Filter, Fold, Folded, Grouped, Join, JoinKind, Select, UnionAll
from sfumato.query.model.schema import MAX_STEPS, Limits
from sfumato.query.model.statement import (
    KeyColumn,
    LatticeValue,
    RowCount,
    Statement,
    StepSum,
    UnitCount,
    ValueCount,
    steps_of,
)

COUNT = 4_000 if FULL_SIZE else 1_200
CHUNKS = 20
MOST_GROUPS = 200
NEAR = {
    Kind.INTEGER: (0, 1, 2, 3, 7, -3, 39, Fraction(5, 2)),
    Kind.FLOAT: (0, 1, 3, Fraction(1, 4), Fraction(26, 100), Fraction(1, 3), Fraction(-5, 2), Fraction(-7, 3)),
    Kind.TEXT: ("x", "y", "", "é"),
    Kind.BOOLEAN: (True, False),
    Kind.DATE: (date(2026, 1, 31), date(1, 1, 1), date(9999, 12, 31)),
}
"""Constants near to what tables hold."""


def constant(grow, kind):
    value = grow.pick(NEAR[kind])
    return Literal(value if isinstance(value, str | bool | date) else Fraction(value))


def where(grow, own, depth=2):
    """A condition that mostly compares columns with constants."""
    kinds = {name: kind for name, kind in own.items() if kind in NEAR}
    shape = grow.pick(("compare", "compare", "in", "any", "and", "or", "not")[: 4 if depth <= 0 or not kinds else 7])
    if shape == "any" or not kinds:
        return condition(grow, own, 1)
    name = grow.pick(tuple(kinds))
    value = expression(grow, own, kinds[name], 1) if kinds[name] in NUMBERS and grow.chance(3) else ColumnRef(name)
    match shape:
        case "compare":
            sides = (value, constant(grow, kinds[name]))
            return Compare(grow.pick(tuple(Comparison)), *(sides if grow.chance(2) else sides[::-1]))
        case "in":
            return IsIn(value, tuple(constant(grow, kinds[name]) for _ in range(grow.pick((1, 2, 3)))))
        case "not":
            return Not(where(grow, own, depth - 1))
        case _:
            inner = tuple(where(grow, own, depth - 1) for _ in range(grow.pick((2, 2, 3))))
            return And(inner) if shape == "and" else Or(inner)


def filtered(grow, child):
    return Filter(child, where(grow, columns(child)))


def above(grow, child):
    """Something above a condition, through which facts pass or do not."""
    own = columns(child)
    match grow.pick(("nothing", "nothing", "rename", "case", "left join", "inner join", "union", "groups", "twice")):
        case "rename":
            names = [name for name in own if not grow.chance(4)] or list(own)
            return Select(child, tuple((grow.name(name), ColumnRef(name)) for name in names[::-1]))
        case "case":
            return Select(child, (*((name, ColumnRef(name)) for name in own), (grow.name(), branches(grow, own))))
        case "left join" | "inner join" as kind if grow.policy.has_owners:
            right = Select(child, tuple((grow.name(name), ColumnRef(name)) for name in own))
            left = filtered(grow, private(grow, 0)) if grow.chance(2) else private(grow, 0)
            kind = JoinKind.LEFT if kind == "left join" else JoinKind.INNER
            return Join(left=left, right=right, on=grow.pick(((), pairs(left, right))), kind=kind)
        case "union":
            return UnionAll(child, filtered(grow, child))
        case "groups":
            keys = tuple(name for name in own if grow.chance(3))
            counted = Grouped(child, keys, (Folded(grow.name("n"), Fold.COUNT_ROWS), *sums(grow, child)))
            return filtered(grow, counted) if grow.chance(2) else counted
        case "twice":
            return filtered(grow, child)
        case _:
            return child


def pairs(left, right):
    """A pair of columns of one kind and origin, if there is one."""
    kinds = columns(right)
    both = [(a, b) for a, kind in columns(left).items() for b, other in kinds.items() if kind is other]
    return tuple(pair for pair in both if pair[0][-1] == pair[1][-1] and pair[0][-1] in "kj")[:1]


def branches(grow, own):
    kind = grow.pick((Kind.INTEGER, Kind.FLOAT))
    values = [expression(grow, own, kind, 1) for _ in range(3)]
    return Case(tuple((where(grow, own, 1), value) for value in values[:2]), grow.pick((values[2], Null(kind))))


def sums(grow, child):
    """Sums of columns that are bounded by what is declared of them, so that they may be asked by either rules."""
    first = shape_of(child, Edition.FIRST).columns
    names = [name for name, facts in first.items() if facts.kind in NUMBERS and is_summed(facts)]
    return tuple(Folded(grow.name(), grow.pick((Fold.SUM, Fold.MEAN)), ColumnRef(name)) for name in names[:1])


def is_summed(facts):
    interval = facts.interval
    return interval.is_bounded and max(abs(interval.lower), abs(interval.upper)) / facts.lattice < MAX_STEPS / 4


def statements(random, drawn):
    """A statement by narrowed facts, and the same by declared ones; how much the first was narrowed."""
    grow = Growing(random, drawn)
    try:
        rows = above(grow, filtered(grow, private(grow, grow.pick((0, 0, 1, 2)))))
        shapes = shape_of(rows), declared_shape(rows)
    except UnboundedSensitivityError:  # a join with a table of which only the rows in one group are limited
        return statements(random, drawn)
    lists = {
        name: [listed_values(one.column(name)) for one in shapes]
        for name, facts in shapes[0].columns.items()
        if facts.kind is not Kind.FLOAT
    }
    changed = [name for name, (own, first) in lists.items() if own != first] or list(lists)
    count = grow.pick((0, 1, 1, 2)) if lists else 0
    names = sorted({grow.pick(grow.pick((changed, changed, list(lists)))) for _ in range(count)})
    keys = [tuple(KeyColumn(name=name, values=lists[name][at]) for name in names) for at in (0, 1)]
    if any(prod(len(key.values or (None,)) for key in own) > MOST_GROUPS for own in keys):
        return statements(random, drawn)
    measures = [[RowCount(), UnitCount()], [RowCount(), UnitCount()]]
    narrowed = Counter(keys=keys[0] != keys[1])
    for name, facts in shapes[0].columns.items():
        first = shapes[1].column(name)
        present = [(ColumnRef(name),) if one.nullable else () for one in (facts, first)]
        if is_summed(facts) and facts.kind in NUMBERS:
            steps = steps_of(ColumnRef(name), facts, bounds=None, what=name, centered=grow.chance(2))
            wide = widened(steps, first)
            narrowed["sums"] += (steps.lower, steps.upper) != (wide.lower, wide.upper)
            for own, one in zip(measures, (steps, wide), strict=True):
                own.append(StepSum(one))
        for own, one in zip(measures, present, strict=True):
            own.append(ValueCount(one))
        narrowed["nulls"] += present[0] != present[1]
    own_limits = limits_for(random, drawn, keys)
    both = [
        Statement(rows=rows, keys=own, measures=tuple(some), limits=own_limits)
        for own, some in zip(keys, measures, strict=True)
    ]
    return *both, narrowed


def declared_shape(rows):
    """What is known of rows if conditions say nothing."""
    shape._shape_of.cache_clear()
    try:
        with patch.object(inference, "narrowed", return_value={}):
            return shape_of(rows)
    finally:
        shape._shape_of.cache_clear()


def widened(steps, first):
    """The same lattice between the ends that are declared, as far as there are any."""
    ends = [(first.interval.lower, -MAX_STEPS), (first.interval.upper, MAX_STEPS)]
    lower, upper = (
        far if end is None else max(-MAX_STEPS, min(MAX_STEPS, (end / steps.resolution + Fraction(1, 2)).__floor__()))
        for end, far in ends
    )
    return LatticeValue(
        value=steps.value, resolution=steps.resolution, lower=lower, upper=upper, offset=steps.offset,
        nullable=first.nullable,
    )  # fmt: skip


def limits_for(random, drawn, keys):
    if not drawn.has_owners:
        return Limits()
    made = limits(random)
    is_private = any(key.values is None for own in keys for key in own)
    return replace(made, max_groups_per_unit=made.max_groups_per_unit or 2) if is_private else made


def trials(random, name):
    """The trials of both statements, on the same databases; and how much was narrowed."""
    drawn = policy(random)
    asked, declared, narrowed = statements(random, drawn)
    tables = tables_read(drawn, asked)
    whole = database(random, drawn, tables=tables)
    if drawn.has_owners:
        lesser = [without(tables, whole, unit) for unit in sample(random, sorted(units_of(tables, whole), key=str))]
    else:
        read = [table.name for table in tables if not table.is_public and whole[table.name]]
        table = pick(random, read) if read else None
        lesser = [without_row(whole, table, at) for at in sample(random, range(len(whole[table])))] if read else []
    made = Trial(name, drawn, asked, whole, tuple(map(turned, lesser)), pick(random, SALTS), compares_whole=True)
    return made, replace(made, statement=declared), narrowed


def seeded(chunk, of=CHUNKS):
    for seed in range(chunk, COUNT, of):
        yield trials(Random(seed), f"seed {seed}")  # noqa: S311 # a plan and its data


@pytest.mark.essential
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_conditions_change_no_exact_answer_and_no_unit_moves_a_narrowed_one_further_than_is_claimed(chunk):
    narrowed = Counter()
    for asked, declared, found in seeded(chunk):
        answers = [answer(asked, rows_of) for rows_of in (asked.whole, *asked.lesser)]
        assert answers[0] == answer(declared, declared.whole), asked.name
        assert_claims(asked, answers)
        narrowed += found
    assert min(narrowed["sums"], narrowed["keys"], narrowed["nulls"]) >= 2, narrowed


@pytest.mark.parametrize("chunk", range(5 * CHUNKS))
def test_engines_agree_on_narrowed_statements(chunk):
    for asked, _, _ in seeded(chunk, of=5 * CHUNKS):
        assert_same_within(asked, "duckdb")
