"""The heart of the matter: no neighbour moves any measure further than its `Sensitivity` says. Brute force."""

import os
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.running import SALT, exact, plain, question
from tests.strategies import questions, rows, storages, stored, tables

from sfumato.errors import UnboundedSensitivityError
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, EachRow, UnitColumn
from sfumato.query.compile import compile_plan
from sfumato.query.expressions import And
from sfumato.query.measures import RowCount
from sfumato.query.relations import Bound, Filter, Part, Source
from sfumato.query.schema import Limits, Table, integer, text
from sfumato.query.stability import Contribution, contribution, sensitivity

MORE = 10 if os.environ.get("SFUMATO_FULL_SIZE") else 1
RELATIONS = (ADD_OR_REMOVE_ONE, REPLACE_ONE)
SLOW_DATA = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def sensitivities(asked, relation):
    return compile_plan(asked, PureDP(1), neighboring_relation=relation).sensitivities


def assert_within(first, second, claimed):
    """No column of measures moves further than claimed in L1, L2 or number of groups."""
    for index, bound in enumerate(claimed):
        moved = [abs(one[index] - other[index]) for one, other in zip(first, second, strict=True)]
        assert sum(moved) <= bound.l1
        assert sum(step * step for step in moved) <= bound.l2**2
        assert sum(1 for step in moved if step) <= bound.l0


@st.composite
def neighbours(draw, table, relation):
    """Two databases that differ in one unit, which may be a heavy one, and how they are stored."""
    storage = draw(storages())
    others = draw(st.lists(rows(storage), max_size=6))
    if isinstance(table.unit, EachRow):
        changed = [[draw(rows(storage))], [draw(rows(storage))] if relation is REPLACE_ONE else []]
    else:
        others = [row for row in others if row["u"] != "a"]
        changed = [draw(_one_unit(storage)), draw(_one_unit(storage)) if relation is REPLACE_ONE else []]
    return (*(stored(others + own, storage) for own in changed),)


@st.composite
def _one_unit(draw, storage):
    """Rows of the unit "a": a few, or one of them hundreds of times."""
    repeats = st.integers(1, 3) | st.sampled_from([100, 300])
    drawn = draw(st.lists(st.tuples(rows(storage), repeats), max_size=5))
    return [row | {"u": "a"} for row, times in drawn for _ in range(times)]


@st.composite
def trials(draw):
    table, relation = draw(tables()), draw(st.sampled_from(RELATIONS))
    first, second = draw(neighbours(table, relation))
    return draw(questions(table)), relation, first, second


@given(trials())
@settings(SLOW_DATA, max_examples=400 * MORE)
def test_no_neighbour_moves_a_measure_further_on_the_reference_engine(trial):
    asked, relation, first, second = trial
    assert_within(exact("reference", asked, first), exact("reference", asked, second), sensitivities(asked, relation))


@given(trials())
@settings(SLOW_DATA, max_examples=60 * MORE)
def test_no_neighbour_moves_a_measure_further_on_duckdb(trial):
    asked, relation, first, second = trial
    assert_within(exact("duckdb", asked, first), exact("duckdb", asked, second), sensitivities(asked, relation))


TINY_ROWS = [{"k": key, "v": value} for key in ("x", "y") for value in (-3, None, 10)]
TINY_UNITS = [list(own) for size in range(3) for own in combinations_with_replacement(TINY_ROWS, size)]
TINY_LIMITS = (
    Limits(max_rows_per_unit=1),
    Limits(max_rows_per_unit=2),
    Limits(max_rows_per_unit=2, max_groups_per_unit=1),
    Limits(max_rows_per_group_per_unit=1),
    Limits(max_groups_per_unit=1, max_rows_per_group_per_unit=2),
)
TINY_QUESTIONS = (
    "SELECT COUNT(*), COUNT(v), SUM(v), AVG(v) FROM t GROUP BY k",
    "SELECT COUNT(*), SUM(v) FROM t WHERE v > 0",
)


def tiny_table(limits, *, nullable=True):
    columns = {"u": text(), "k": text(values=["x", "y"]), "v": integer(-2, 5, nullable=nullable)}
    return Table(name="t", columns=columns, unit=UnitColumn("u"), limits=limits)


def all_tiny_answers(asked, units):
    """The exact answer of every database of so many units, each with any of the tiny sets of rows."""
    answers = []
    for database in product(TINY_UNITS, repeat=units):
        data = [row | {"u": f"u{index}"} for index, own in enumerate(database) for row in own]
        answers.append(exact("reference", asked, plain(data, ["u", "k", "v"])))
    shape = (len(TINY_UNITS),) * units
    return np.array(answers, dtype=np.int64).reshape(*shape, *np.shape(answers[0]))


def largest_moves(answers, units, relation):
    """The largest L1, squared L2 and L0 over all pairs that differ in one unit, for each measure."""
    moves = []
    for axis in range(units):
        ordered = np.moveaxis(answers, axis, 0)
        starts = ordered[:1] if relation is ADD_OR_REMOVE_ONE else ordered  # the first of the tiny sets is empty
        moves += [np.abs(ordered - start).reshape(-1, *answers.shape[units:]) for start in starts]
    moved = np.concatenate(moves)
    return moved.sum(1).max(0), (moved**2).sum(1).max(0), (moved != 0).sum(1).max(0)


def assert_all_within(asked, units):
    answers = all_tiny_answers(asked, units)
    for relation in RELATIONS:
        l1, l2_squared, l0 = largest_moves(answers, units, relation)
        for index, bound in enumerate(sensitivities(asked, relation)):
            assert l1[index] <= bound.l1
            assert l2_squared[index] <= bound.l2**2
            assert l0[index] <= bound.l0


@pytest.mark.parametrize("sql", TINY_QUESTIONS)
@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("limits", TINY_LIMITS)
def test_all_pairs_of_tiny_databases_of_two_units_are_within_the_claim(limits, nullable, sql):
    assert_all_within(question(sql, tiny_table(limits, nullable=nullable)), units=2)


def test_all_pairs_of_tiny_databases_of_three_units_are_within_the_claim():
    assert_all_within(question(TINY_QUESTIONS[0], tiny_table(TINY_LIMITS[2])), units=3)


def test_the_brute_force_sees_a_bound_that_is_not_enforced():
    asked = question("SELECT SUM(v) FROM t", tiny_table(Limits(max_rows_per_unit=2)))
    claimed = sensitivities(question("SELECT SUM(v) FROM t", tiny_table(Limits(max_rows_per_unit=1))), REPLACE_ONE)
    l1, _, _ = largest_moves(all_tiny_answers(asked, 1), 1, REPLACE_ONE)
    assert l1[0] > claimed[0].l1


def each_row(**columns):
    columns = {"k": text(values=["x", "y", "z"])} | columns
    return Table(name="t", columns=columns, unit=EACH_ROW, keeps_rows=True)


ROOT_2 = sqrt_up(Fraction(2))
EXACT_CLAIMS = [
    # statistic and clauses, relation, (l1, l2, l0) of each measure
    ("COUNT(*) FROM t", ADD_OR_REMOVE_ONE, [(1, 1, 1)]),
    ("COUNT(*) FROM t", REPLACE_ONE, [(0, 0, 1)]),
    ("COUNT(*) FROM t WHERE v > 3", ADD_OR_REMOVE_ONE, [(1, 1, 1)]),
    ("COUNT(*) FROM t WHERE v > 3", REPLACE_ONE, [(1, 1, 1)]),
    ("COUNT(*) FROM t GROUP BY k", ADD_OR_REMOVE_ONE, [(1, 1, 1)]),
    ("COUNT(*) FROM t GROUP BY k", REPLACE_ONE, [(2, ROOT_2, 2)]),
    ("SUM(v) FROM t", ADD_OR_REMOVE_ONE, [(7, 7, 1)]),
    ("SUM(v) FROM t", REPLACE_ONE, [(10, 10, 1)]),
    ("SUM(p) FROM t", ADD_OR_REMOVE_ONE, [(9, 9, 1)]),
    ("SUM(p) FROM t", REPLACE_ONE, [(9, 9, 1)]),
    ("SUM(n) FROM t", ADD_OR_REMOVE_ONE, [(9, 9, 1)]),
    ("SUM(n) FROM t", REPLACE_ONE, [(5, 5, 1)]),
    ("SUM(n) FROM t WHERE k = 'x'", REPLACE_ONE, [(9, 9, 1)]),
    ("SUM(v) FROM t GROUP BY k", REPLACE_ONE, [(14, 14, 2)]),
    ("AVG(p) FROM t", ADD_OR_REMOVE_ONE, [(1, 1, 1), (3, 3, 1)]),
    ("AVG(n) FROM t", REPLACE_ONE, [(0, 0, 1), (5, 5, 1)]),
]


@pytest.mark.parametrize(("sql", "relation", "claims"), EXACT_CLAIMS)
def test_the_sensitivity_of_simple_questions_is_the_one_of_the_texts(sql, relation, claims):
    table = each_row(v=integer(-3, 7), p=integer(4, 9), n=integer(4, 9, nullable=False))
    found = sensitivities(question(f"SELECT {sql}", table), relation)
    assert [(s.l1, s.l2, s.l0) for s in found] == claims


ATTAINED = [
    ("COUNT(*) FROM t", ADD_OR_REMOVE_ONE, [], [("x", 0)]),
    ("COUNT(*) FROM t WHERE v > 3", REPLACE_ONE, [("x", 0)], [("x", 7)]),
    ("COUNT(*) FROM t GROUP BY k", REPLACE_ONE, [("x", 0)], [("y", 0)]),
    ("SUM(v) FROM t", ADD_OR_REMOVE_ONE, [], [("x", 10**9)]),
    ("SUM(v) FROM t", REPLACE_ONE, [("x", -(10**9))], [("x", 10**9)]),
    ("SUM(p) FROM t", REPLACE_ONE, [("x", None)], [("x", 9)]),
    ("SUM(n) FROM t", REPLACE_ONE, [("x", None)], [("x", 9)]),
]


@pytest.mark.parametrize(("sql", "relation", "before", "after"), ATTAINED)
@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_the_sensitivity_is_attained_so_that_no_noise_is_wasted(engine, sql, relation, before, after):
    table = each_row(v=integer(-3, 7), p=integer(4, 9), n=integer(4, 9, nullable=False))
    asked = question(f"SELECT {sql}", table)
    first, second = (exact(engine, asked, keyed_values(own)) for own in (before, after))
    moved = sum(abs(one[0] - other[0]) for one, other in zip(first, second, strict=True))
    assert moved == sensitivities(asked, relation)[0].l1


def keyed_values(pairs):
    values = pa.array([value for _, value in pairs], pa.int64())
    return pa.table({"k": pa.array([key for key, _ in pairs], pa.string()), "v": values, "p": values, "n": values})


def limited(**limits):
    return Table(name="t", columns={"u": text()}, unit=UnitColumn("u"), limits=Limits(**limits))


@pytest.mark.parametrize(
    ("limits", "group_count", "l1", "l2_squared", "l0"),
    [
        ({"max_rows_per_unit": 5}, 1, 5, 25, 1),
        ({"max_rows_per_unit": 5}, 3, 5, 25, 3),
        ({"max_rows_per_unit": 5, "max_rows_per_group_per_unit": 2}, 9, 5, 4 + 4 + 1, 5),
        ({"max_groups_per_unit": 2, "max_rows_per_group_per_unit": 3}, 9, 6, 18, 2),
        ({"max_groups_per_unit": 4, "max_rows_per_group_per_unit": 3}, 2, 6, 18, 2),
        ({"max_rows_per_group_per_unit": 3}, 4, 12, 36, 4),
        ({"max_rows_per_unit": 2, "max_groups_per_unit": 7, "max_rows_per_group_per_unit": 1}, 9, 2, 2, 2),
    ],
)
def test_the_limits_of_a_unit_bound_the_norms_of_a_histogram(limits, group_count, l1, l2_squared, l0):
    table = limited(**limits)
    found = sensitivity(
        Bound(Source(table), table.limits), RowCount(), group_count=group_count,
        neighboring_relation=ADD_OR_REMOVE_ONE, grouped=group_count > 1,
    )  # fmt: skip
    assert (found.l1, found.l2, found.l0) == (l1, sqrt_up(Fraction(l2_squared)), l0)


def test_a_unit_that_nothing_bounds_is_refused_with_what_to_declare():
    with pytest.raises(UnboundedSensitivityError, match=r"t\.u.*max_rows_per_unit"):
        sensitivity(
            Source(limited(max_rows_per_unit=1)), RowCount(), group_count=1, neighboring_relation=ADD_OR_REMOVE_ONE,
            grouped=False,
        )  # fmt: skip


def test_only_unfiltered_rows_that_are_units_are_known_to_be_there():
    table = each_row()
    part = Part(child=Source(table), by="k", values=("x",), value="x", max_parts_per_unit=1, salt=SALT)
    assert contribution(Source(table)) == Contribution(rows=1, rows_per_group=1, groups=1, always_one=True)
    assert not contribution(Filter(Source(table), And(()))).always_one
    assert not contribution(part).always_one


def test_a_source_that_may_leave_lines_out_is_not_known_to_keep_its_rows():
    assert not contribution(Source(replace(each_row(), keeps_rows=False))).always_one
