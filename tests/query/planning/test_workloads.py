"""Workloads over tiny histograms: which cell every row is in, and how far one unit moves what is measured."""

from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from tests.query.brute_force import SALTS
from tests.query.test_tiny_databases import PlainRows

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import ArrowData
from sfumato.mechanisms.workloads.workload_mechanism import _joined, _measured
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Except, Filter, Select, Source, UnionAll
from sfumato.query.model.schema import Limits, Table, boolean, integer, text
from sfumato.query.model.statement import LatticeValue, RowCount, StepSum
from sfumato.query.planning.axes import Want, axis_of
from sfumato.query.planning.workloads import Marginal, base_of, drafted, is_bounded_once
from sfumato.session.releases.releasing import exact_histogram

COLUMNS = {"k": text(), "v": integer(), "b": boolean()}
PEOPLE = Table(
    name="t", columns={"u": text(), **COLUMNS}, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=2)
)  # fmt: skip
ROWS = Table(name="t", columns=COLUMNS)
KEYS = [("k", Kind.TEXT, ("x", "y")), ("v", Kind.INTEGER, (3, 1, 2)), ("b", Kind.BOOLEAN, (False, True))]
AXES = [axis_of(ColumnRef(name), kind, [Want(values)]) for name, kind, values in KEYS]
TOTAL = StepSum(
    LatticeValue(value=ColumnRef("v"), resolution=Fraction(1), lower=-2, upper=3, offset=0, nullable=True)
)  # fmt: skip
CELLS = [{"k": k, "v": v, "b": b} for k, v, b in product(("x", None, "z"), (1, -9, None), (True, None))]
OWN = [list(own) for size in range(3) for own in combinations_with_replacement(CELLS[::3], size)]


def wanted(*axes, running=(), section=0):
    wants = {axis: Want(KEYS[axis][2]) for axis in axes}
    return Marginal(section=section, component=0, axes=axes, wants=wants, running=running, weight=Fraction(1))


PAIRS = (wanted(0, 1), wanted(0, 2, section=1), wanted(1, running=(1,), section=2), wanted(section=3))


def draft(rows, *, measure=None, noise="gaussian", relation=ADD_OR_REMOVE_ONE, tables=PAIRS):
    limits = Limits() if rows is not PEOPLE else PEOPLE.limits
    base = Source(rows) if isinstance(rows, Table) else rows
    return drafted(base, measure or RowCount(), AXES, tables, limits=limits, neighboring_relation=relation, noise=noise)


def histogram(one, records):
    columns = tuple(records[0]) if records else ("u", *COLUMNS)
    engine = ReferenceEngine({"t": ArrowData(PlainRows(records), columns)})
    return exact_histogram(one.statement, lambda statement: engine.run(statement, salt=SALTS[0]))


def measured(one, records):
    """What noise is added to."""
    names = tuple(name for name, _ in one.plan.columns)
    table = np.asarray(histogram(one, records)).reshape([size for _, size in one.plan.columns])
    return _joined([_measured({names: table}, each) for each in one.plan.strategy.measurements]).astype(object)


def test_every_row_is_in_a_cell_and_those_that_are_not_listed_in_the_last_of_an_axis():
    found = np.asarray(histogram(draft(ROWS), CELLS)).reshape(3, 4, 3)
    assert found.sum() == len(CELLS)
    for place, record in enumerate(CELLS):
        alone = np.asarray(histogram(draft(ROWS), [record])).reshape(3, 4, 3)
        at = (
            {"x": 0, "y": 1}.get(record["k"], 2),
            {1: 0, 2: 1, 3: 2}.get(record["v"], 3),
            {False: 0, True: 1}.get(record["b"], 2),
        )
        assert np.argwhere(alone).tolist() == [list(at)], place


@pytest.mark.parametrize(
    ("kind", "values", "other"),
    [
        (Kind.INTEGER, (-(2**63), 2**63 - 1), 2**63 - 2),
        (Kind.INTEGER, (-(2**63), 2**63 - 2, 2**63 - 1), 2**63 - 3),
        (Kind.INTEGER, (1 - 2**63, 2**63 - 1), -(2**63)),
        (Kind.DATE, (date.min, date.max), date.max - timedelta(days=1)),
        (Kind.DATE, (date.min + timedelta(days=1), date.max), date.min),
    ],
)
def test_where_both_ends_are_listed_the_value_for_others_is_between_them(kind, values, other):
    assert axis_of(ColumnRef("k"), kind, [Want(values)]).cells == (*values, other)


def test_days_and_texts_have_another_value_that_is_not_listed():
    first, last = date(2026, 1, 1), date.max
    days = axis_of(ColumnRef("d"), Kind.DATE, [Want((last, first))])
    assert days.cells == (first, last, date(2025, 12, 31))
    assert axis_of(ColumnRef("k"), Kind.TEXT, [Want(("other", "other'"))]).cells == ("other", "other'", "other''")


def claims(one, moved):
    need = one.need.sensitivity
    assert np.abs(moved).sum() <= need.l1
    assert (moved**2).sum() <= need.l2**2
    assert (moved != 0).sum() <= need.l0


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("measure", [RowCount(), TOTAL], ids=["count", "sum"])
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE], ids=lambda one: one.value)
def test_all_pairs_of_tiny_databases_of_people_are_within_the_claim(noise, measure, relation):
    """A unit with more rows than its limit among them, whose rows the finest cells share."""
    one = draft(PEOPLE, measure=measure, noise=noise, relation=relation)
    many = [*OWN, CELLS[:4], CELLS[::2]]
    first = [measured(one, [row | {"u": "a"} for row in own]) for own in many]
    beside = [row | {"u": "b"} for row in CELLS[:2]]
    both = [measured(one, [row | {"u": "a"} for row in own] + beside) for own in many]
    for found in (first, both):
        starts = found[:1] if relation is ADD_OR_REMOVE_ONE else found
        for start, end in product(starts, found):
            claims(one, end - start)


V_IS_1 = Compare(Comparison.EQUAL, ColumnRef("v"), Literal(Fraction(1)))
RELATIONS = {
    "rows": Source(ROWS),
    "a filter": Filter(Source(ROWS), V_IS_1),
    "rows twice": UnionAll(Source(ROWS), Source(ROWS)),
    "rows but others": Except(UnionAll(Source(ROWS), Source(ROWS)), Filter(Source(ROWS), V_IS_1)),
}


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE], ids=lambda one: one.value)
def test_all_pairs_of_tiny_databases_of_rows_are_within_the_claim(name, relation):
    """One more row may take a row away, where relations are subtracted."""
    one = draft(RELATIONS[name], relation=relation)
    for base in OWN[:8]:
        rows = [measured(one, [*base, row]) for row in CELLS[::2]]
        starts = [measured(one, base)] if relation is ADD_OR_REMOVE_ONE else rows
        for start, end in product(starts, rows):
            claims(one, end - start)


@pytest.mark.parametrize(("name", "adds"), [("rows", True), ("a filter", True), ("rows but others", False)])
def test_only_rows_of_one_table_are_surely_added(name, adds):
    assert draft(RELATIONS[name]).plan.unit.is_nonnegative == adds


def test_the_brute_force_sees_a_unit_that_is_not_bounded():
    one = draft(PEOPLE)
    unit = [row | {"u": row["k"]} for row in CELLS[:1] * 3]
    loose = measured(one, [row | {"u": f"{place}"} for place, row in enumerate(unit)])
    with pytest.raises(AssertionError):
        claims(one, loose - measured(one, []))


def test_columns_that_are_computed_on_top_are_read_over_the_rows_below():
    rows = Select(Source(ROWS), (("k", ColumnRef("k")), ("w", ColumnRef("v"))))
    assert base_of(rows) == (Source(ROWS), {"k": ColumnRef("k"), "w": ColumnRef("v")})
    assert base_of(Source(ROWS))[1]["v"] == ColumnRef("v")


def test_limits_on_groups_mean_something_else_by_other_keys():
    assert is_bounded_once(Limits(max_rows_per_unit=3))
    assert not is_bounded_once(Limits(max_groups_per_unit=3, max_rows_per_unit=4))
    assert not is_bounded_once(Limits(max_rows_per_group_per_unit=3, max_rows_per_unit=4))


def test_a_histogram_of_too_many_cells_is_none():
    long = Want(tuple(range(1000)))
    axes = [axis_of(ColumnRef("v"), Kind.INTEGER, [long])] * 2
    found = drafted(
        Source(ROWS), RowCount(), axes, [wanted(0), wanted(1, section=1)], limits=Limits(),
        neighboring_relation=ADD_OR_REMOVE_ONE, noise="gaussian",
    )  # fmt: skip
    assert found is None
