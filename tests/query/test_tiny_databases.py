"""All pairs of neighbors among all tiny databases: nothing is left to chance."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from tests.query.brute_force import SALTS, assert_within, rows_of_relation, sums_of, without

from sfumato.engines.base import aligned, groups
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import ArrowData
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.analysis.stability import moved_rows, sensitivity
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import (
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
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, text
from sfumato.query.model.statement import (
    CellCount,
    KeyColumn,
    LatticeValue,
    RowCount,
    Statement,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
    Values,
)


class PlainRows:
    """Rows as the reference engine reads them from Arrow, without the time it takes to make a table."""

    def __init__(self, rows):
        self._rows = rows

    def to_pylist(self):
        return self._rows


V, K = ColumnRef("v"), ColumnRef("k")
V_ABOVE_0 = Compare(Comparison.GREATER, V, Literal(Fraction(0)))
TINY_ROWS = [{"k": key, "v": value} for key in ("x", "y") for value in (-3, None, 10)]
TINY_UNITS = [list(own) for size in range(3) for own in combinations_with_replacement(TINY_ROWS, size)]
TINY_LIMITS = (
    Limits(max_rows_per_unit=1),
    Limits(max_rows_per_unit=2),
    Limits(max_rows_per_unit=2, max_groups_per_unit=1),
    Limits(max_rows_per_group_per_unit=1),
    Limits(max_groups_per_unit=1, max_rows_per_group_per_unit=2),
)


def steps(*, nullable=True):
    return LatticeValue(value=V, resolution=Fraction(1), lower=-2, upper=5, offset=1, nullable=nullable)


MEASURES = (RowCount(), ValueCount((V,)), UnitCount(), StepSum(steps()), StepSum(steps(nullable=False)),
            StepProduct(steps(), steps()))  # fmt: skip
KEYS = (KeyColumn(name="k", values=("x", "y")),)


def tiny_statements(limits):
    table = Table(name="t", columns={"u": text(), "k": text(), "v": integer()}, unit=UnitColumn("u"), limits=limits)
    source = Source(table)
    for rows, keys, cell in (
        (source, KEYS, None),
        (Filter(source, V_ABOVE_0), (), None),
        (source, (), Values(value=K, values=("x", "y"))),
        (Distinct(source), KEYS, Values(value=V, values=(-3, 10))),
    ):
        yield Statement(rows=rows, keys=keys, measures=MEASURES, limits=limits, cell=cell)
    yield Statement(
        rows=source, keys=KEYS, measures=(CellCount(), RowCount(), UnitCount()), limits=limits,
        cell=Values(value=V, values=None),
    )  # fmt: skip


def all_tiny_answers(statement, units):
    """The answer to every database of so many units, each with any of the tiny sets of rows: an axis for each unit."""
    found = []
    for database in product(TINY_UNITS, repeat=units):
        data = [row | {"u": f"u{index}"} for index, own in enumerate(database) for row in own]
        engine = ReferenceEngine({"t": ArrowData(PlainRows(data), ("u", "k", "v"))})
        found.append(aligned(statement, engine.run(statement, salt=SALTS[0]).open_for_noise(), groups(statement)))
    return np.array(found, dtype=np.int64).reshape(*(len(TINY_UNITS),) * units, *found[0].shape)


def largest_moves(answers, units, relation):
    """The largest L1, squared L2 and L0 over all pairs that differ in one unit, for each measure."""
    moved = []
    for axis in range(units):
        ordered = np.moveaxis(answers, axis, 0)
        starts = ordered[:1] if relation is ADD_OR_REMOVE_ONE else ordered  # the first of the tiny sets is empty
        moved += [np.abs(ordered - start).reshape(-1, *answers.shape[units:]) for start in starts]
    steps_moved = np.concatenate(moved)
    return steps_moved.sum(1).max(0), (steps_moved**2).sum(1).max(0), (steps_moved != 0).sum(1).max(0)


@pytest.mark.parametrize("limits", TINY_LIMITS)
@pytest.mark.parametrize("number", range(5))
def test_all_pairs_of_tiny_databases_of_two_units_are_within_the_claim(limits, number):
    statement = list(tiny_statements(limits))[number]
    answers = all_tiny_answers(statement, 2)
    for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        l1, l2_squared, l0 = largest_moves(answers, 2, relation)
        for index, measure in enumerate(statement.measures):
            claim = sensitivity(statement, measure, neighboring_relation=relation)
            assert l1[index] <= claim.l1
            assert l2_squared[index] <= claim.l2**2
            assert l0[index] <= claim.l0


def test_the_brute_force_sees_a_bound_that_is_not_enforced():
    loose, tight = (next(tiny_statements(Limits(max_rows_per_unit=most))) for most in (2, 1))
    l1, _, _ = largest_moves(all_tiny_answers(loose, 1), 1, ADD_OR_REMOVE_ONE)
    assert l1[0] > sensitivity(tight, RowCount(), neighboring_relation=ADD_OR_REMOVE_ONE).l1


# Rows that are units: every multiset of up to three of four rows.

ROWS = Source(Table(name="t", columns={"k": text(), "v": integer(0, 2)}))
OTHER = Select(ROWS, (("j", K), ("w", V)))
CODES = Source(
    Table(name="p", columns={"code": text(), "size": integer()}, unit=PUBLIC, matches={("code",): 2})
)  # fmt: skip
PUBLIC_ROWS = [{"code": "x", "size": size} for size in range(3)] + [{"code": None, "size": 1}]
ALL_ROWS = [{"k": key, "v": value} for key in ("x", None) for value in (1, 2)]
DATABASES = [list(own) for size in range(4) for own in combinations_with_replacement(ALL_ROWS, size)]


def by(rows, *keys, name="n", of=V):
    return Grouped(rows, keys, (Folded(name, Fold.SUM, of),))


def keyed(kind):
    return Join(left=by(ROWS, "k"), right=by(OTHER, "j", name="m", of=ColumnRef("w")), on=(("k", "j"),), kind=kind)


F1_OPERATORS = {
    # PINQ's, with the most rows that move in any pair of these databases
    "where": (Filter(ROWS, Compare(Comparison.EQUAL, V, Literal(Fraction(1)))), 1),
    "select": (Select(ROWS, (("k", K),)), 1),
    "distinct": (Distinct(ROWS), 1),
    "group by": (by(ROWS, "k"), 2),
    "group by twice": (Grouped(by(ROWS, "k"), ("n",), (Folded("m", Fold.COUNT, K),)), 3),
    "join of groups": (keyed(JoinKind.INNER), 2),
    "left join of groups": (keyed(JoinKind.LEFT), 2),
    "join with a public table": (Join(left=ROWS, right=CODES, on=(("k", "code"),)), 2),
    "left join with a public table": (Join(left=ROWS, right=CODES, on=(("k", "code"),), kind=JoinKind.LEFT), 2),
    "concat": (UnionAll(ROWS, OTHER), 2),
    "union": (Distinct(UnionAll(ROWS, OTHER)), 1),
    "intersect": (Intersect(ROWS, UnionAll(ROWS, ROWS)), 1),
    "except": (Except(UnionAll(ROWS, ROWS), ROWS), 1),
    "except of groups": (Except(Select(ROWS, (("k", K), ("n", V))), by(ROWS, "k")), 2),
    "partition": (PeoplePart(child=ROWS, by="v", values=(1, 2), value=1, max_parts_per_unit=1, salt="00"), 1),
    "exists in a public table": (SemiJoin(child=ROWS, other=CODES, on=(("k", "code"),), negated=True), 1),
}


@pytest.mark.parametrize("operator", F1_OPERATORS)
def test_f1_e6_no_operator_moves_more_rows_than_it_is_said_to_and_what_it_does_move_is_known(operator):
    relation, attained = F1_OPERATORS[operator]
    found = [all_rows(relation, own) for own in DATABASES]
    most = 0
    for before, after in product(range(len(DATABASES)), repeat=2):
        if is_one_less(DATABASES[before], DATABASES[after]):
            most = max(most, difference(found[before], found[after]))
    assert most == attained <= moved_rows(relation)


def all_rows(relation, own):
    return rows_of_relation(relation, {"t": own, "p": PUBLIC_ROWS})


def is_one_less(first, second):
    """Whether the second database is the first with one row more."""
    counts = [Counter(tuple(row.items()) for row in own) for own in (first, second)]
    return len(second) == len(first) + 1 and not counts[0] - counts[1]


def difference(first, second):
    """The size of the symmetric difference of two multisets."""
    return ((first - second) + (second - first)).total()


# A chain of tables: what a unit owns below it is what its own rows lead to.

ORDERS = Table(
    name="orders", columns={"who": text(), "id": integer()}, unit=UnitColumn("who"), limits=Limits(max_rows_per_unit=1)
)
LINES = Table(
    name="lines", columns={"order": integer(), "item": integer()}, unit=UnitPath("order", ORDERS, "id"),
    limits=Limits(max_rows_per_unit=2), matches={("item",): 1},
)  # fmt: skip
CHAIN = (ORDERS, LINES)
LINES_WITH_ORDERS = Join(left=Source(LINES), right=Source(ORDERS), on=(("order", "id"),))
OF_CHAIN = {
    "lines": (Source(LINES), "order"),
    "lines and their orders": (LINES_WITH_ORDERS, "order"),
    "lines without an order": (SemiJoin(child=Source(LINES), other=Source(ORDERS), on=(), negated=True), "order"),
    "orders and all lines": (Join(left=Source(ORDERS), right=Source(LINES), on=(), kind=JoinKind.LEFT), "id"),
    "lines of a unit": (Grouped(Source(LINES), (), (Folded("n", Fold.COUNT_ROWS),)), "n"),
}


@cache
def chains():
    """All databases of two units with up to two orders, which they may share, and lines of two orders."""
    orders = [{"who": who, "id": order} for who in ("a", "b") for order in (1, 2)]
    lines = [{"order": order, "item": item} for order in (1, 2) for item in (1, 2)]
    subsets = [
        [list(own) for size in range(most + 1) for own in combinations_with_replacement(rows, size)]
        for rows, most in ((orders, 3), (lines, 2))
    ]
    return [dict(zip(("orders", "lines"), pair, strict=True)) for pair in product(*subsets)]


@pytest.mark.parametrize("name", OF_CHAIN)
def test_all_tiny_chains_are_within_the_claim(name):
    relation, key = OF_CHAIN[name]
    statement = Statement(
        rows=relation, keys=(KeyColumn(name=key, values=(1, 2)),), measures=(RowCount(), UnitCount()),
        limits=Limits(max_rows_per_unit=2, max_groups_per_unit=1),
    )  # fmt: skip
    for database in chains():
        answers = [chain_answer(statement, without(CHAIN, database, unit)) for unit in (None, "a", "b")]
        assert_within(statement, answers[0], answers[1], ADD_OR_REMOVE_ONE)
        assert_within(statement, answers[0], answers[2], ADD_OR_REMOVE_ONE)
        assert_within(statement, answers[1], answers[2], REPLACE_ONE)


def chain_answer(statement, database):
    sources = {table.name: ArrowData(PlainRows(database[table.name]), tuple(table.columns)) for table in CHAIN}
    return sums_of(statement, sources, "reference")
