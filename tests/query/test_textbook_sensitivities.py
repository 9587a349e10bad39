"""What is claimed of simple questions is what the texts say, and some pair of neighbors attains it."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.query.brute_force import moves, sums_of

from sfumato.engines.sources.sources import ArrowData
from sfumato.errors import UnboundedSensitivityError
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.analysis.stability import Reach, moved_rows, reach_of, sensitivity
from sfumato.query.model.expressions import TRUE, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import (
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer, text
from sfumato.query.model.statement import (
    Bins,
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

V, K = ColumnRef("v"), ColumnRef("k")
KEYS = ("x", "y", "z")
BY_K = (KeyColumn(name="k", values=KEYS),)
PRIVATE_K = (KeyColumn(name="k", values=None),)
ROWS = Source(Table(name="t", columns={"k": text(values=KEYS), "v": integer()}, keeps_rows=True))
CODES = Source(Table(name="p", columns={"code": text(), "size": integer()}, unit=PUBLIC, matches={("code",): 3}))
V_ABOVE_3 = Compare(Comparison.GREATER, V, Literal(Fraction(3)))
ROOT_2, ROOT_3, ROOT_7 = (sqrt_up(Fraction(square)) for square in (2, 3, 7))


def owned(keys=KEYS, **limits):
    columns = {"u": text(), "k": text(values=keys), "v": integer()}
    return Source(Table(name="t", columns=columns, unit=UnitColumn("u"), limits=Limits(**limits)))


def asked(measure, rows=ROWS, keys=(), cell=None):
    limits = rows.table.limits if isinstance(rows, Source) else Limits()
    return Statement(rows=rows, keys=keys, measures=(measure,), cell=cell, limits=limits)


def claimed(statement, relation=ADD_OR_REMOVE_ONE):
    found = sensitivity(statement, statement.measures[0], neighboring_relation=relation)
    return found.l1, found.l2, found.l0


def steps(lower, upper, *, nullable=True, offset=0):
    return LatticeValue(value=V, resolution=Fraction(1), lower=lower, upper=upper, offset=offset, nullable=nullable)


def total(lower, upper, **choices):
    return StepSum(steps(lower, upper, **choices))


COUNT = RowCount()
FILTERED = Filter(ROWS, V_ABOVE_3)
TEXTBOOK = [
    # MISSION C1
    (asked(COUNT), (1, 1, 1), (0, 0, 1)),
    (asked(UnitCount()), (1, 1, 1), (0, 0, 1)),
    (asked(COUNT, FILTERED), (1, 1, 1), (1, 1, 1)),
    (asked(ValueCount((V,))), (1, 1, 1), (1, 1, 1)),
    # MISSION C2
    (asked(COUNT, keys=BY_K), (1, 1, 1), (2, ROOT_2, 2)),
    (asked(COUNT, keys=PRIVATE_K), (1, 1, 1), (2, ROOT_2, 2)),
    (asked(COUNT, cell=Values(value=K, values=KEYS)), (1, 1, 1), (2, ROOT_2, 2)),
    (asked(COUNT, cell=Bins(steps=steps(17, 90), width=8)), (1, 1, 1), (2, ROOT_2, 2)),
    # MISSION C4
    (asked(total(-3, 7)), (7, 7, 1), (10, 10, 1)),
    (asked(total(4, 9)), (9, 9, 1), (9, 9, 1)),
    (asked(total(4, 9, nullable=False)), (9, 9, 1), (5, 5, 1)),
    (asked(total(4, 9, nullable=False), FILTERED), (9, 9, 1), (9, 9, 1)),
    (asked(total(0, 100, offset=50)), (50, 50, 1), (100, 100, 1)),
    (asked(StepProduct(steps(-3, 7), steps(-3, 7))), (49, 49, 1), (49, 49, 1)),
    (asked(total(4, 9), keys=BY_K), (9, 9, 1), (18, sqrt_up(Fraction(162)), 2)),
    (asked(total(-3, 7), keys=BY_K), (7, 7, 1), (14, sqrt_up(Fraction(100 + 16)), 2)),
    (asked(CellCount(), cell=Values(value=K, values=None)), (1, 1, 1), (1, 1, 1)),
]


@pytest.mark.parametrize(("statement", "added", "replaced"), TEXTBOOK)
def test_c1_to_c4_a_row_that_is_a_unit_moves_answers_as_the_texts_say(statement, added, replaced):
    assert claimed(statement) == added
    assert claimed(statement, REPLACE_ONE) == replaced


SYMPTOMS = ("fever", "cough", "breath", "fatigue", "headache", "throat", "diarrhea")
PATIENTS = owned(SYMPTOMS, max_rows_per_group_per_unit=1)
BY_SYMPTOM = (KeyColumn(name="k", values=SYMPTOMS),)


def test_c3_a_patient_with_all_seven_symptoms_moves_their_histogram_by_7_and_root_7():
    statement = asked(COUNT, PATIENTS, BY_SYMPTOM)
    assert claimed(statement) == (7, ROOT_7, 7)
    assert claimed(statement, REPLACE_ONE) == (7, ROOT_7, 7)


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
    keys = (KeyColumn(name="v", values=tuple(range(group_count))),)
    assert claimed(asked(COUNT, owned(**limits), keys)) == (l1, sqrt_up(Fraction(l2_squared)), l0)


@pytest.mark.parametrize(
    ("measure", "limits", "l1", "l2_squared", "l0"),
    [
        (COUNT, {"max_rows_per_unit": 1}, 2, 2, 2),
        (COUNT, {"max_rows_per_unit": 3}, 6, 18, 3),
        (COUNT, {"max_groups_per_unit": 2, "max_rows_per_group_per_unit": 2}, 6, 12, 3),
        (COUNT, {"max_rows_per_unit": 3, "max_rows_per_group_per_unit": 2}, 6, 2 * (4 + 1), 3),
        (UnitCount(), {"max_rows_per_unit": 9}, 3, 3, 3),
        (total(-1, 2), {"max_rows_per_unit": 1}, 4, 9 + 1, 2),
    ],
)
def test_a_unit_that_takes_the_place_of_another_moves_no_group_by_more_than_one_of_them_can(
    measure, limits, l1, l2_squared, l0
):
    found = claimed(asked(measure, owned(**limits), BY_K), REPLACE_ONE)
    assert found == (l1, sqrt_up(Fraction(l2_squared)), l0)


LISTED, ALL = Values(value=K, values=KEYS), Values(value=K, values=None)
SOME_ROWS = owned(max_rows_per_unit=5)


@pytest.mark.parametrize(
    ("statement", "l1", "l2_squared", "l0"),
    [
        (asked(UnitCount(), SOME_ROWS), 1, 1, 1),
        (asked(UnitCount(), SOME_ROWS, BY_K), 3, 3, 3),
        (asked(UnitCount(), SOME_ROWS, PRIVATE_K), 5, 5, 5),
        (asked(UnitCount(), SOME_ROWS, cell=LISTED), 3, 3, 3),
        (asked(UnitCount(), SOME_ROWS, BY_K, LISTED), 5, 5, 5),
        (asked(CellCount(), SOME_ROWS, cell=ALL), 5, 25, 1),
        (asked(CellCount(), SOME_ROWS, BY_K, ALL), 5, 25, 3),
        (asked(COUNT, SOME_ROWS, cell=LISTED), 5, 25, 3),
        (replace(asked(UnitCount(), SOME_ROWS, cell=ALL), measures=(UnitCount(), CellCount())), 1, 1, 1),
        (replace(asked(COUNT, SOME_ROWS, cell=ALL), measures=(COUNT, CellCount())), 5, 25, 1),
    ],
)  # fmt: skip
def test_counts_of_units_and_of_cells_follow_the_rows_that_a_unit_may_have(statement, l1, l2_squared, l0):
    assert claimed(statement) == (l1, sqrt_up(Fraction(l2_squared)), l0)


def test_a_unit_that_nothing_bounds_is_refused_with_what_to_declare():
    by_group = owned(max_rows_per_group_per_unit=1)
    assert claimed(asked(COUNT, by_group, BY_K))[0] == 3
    with pytest.raises(UnboundedSensitivityError, match=r"t\..*max_rows_per_unit"):
        claimed(asked(COUNT, by_group, PRIVATE_K))


@pytest.mark.parametrize(
    ("keys", "rows_per_group", "l1"),
    [
        (("k",), 1, 18),  # one row of the unit in the one group, of up to 2 · 9
        (("k", "v"), 2, 36),  # two rows in that group, with different v
        (("v",), 2, 36),  # k is made of what may be alike on both rows
    ],
)
def test_a_group_has_no_more_rows_of_a_unit_than_share_its_keys(keys, rows_per_group, l1):
    visits = owned(max_rows_per_unit=2, max_groups_per_unit=1)
    grouped = by(visits, *keys)
    named = Select(grouped, (("k", ColumnRef(keys[0])), ("n", ColumnRef("n"))))
    statement = replace(asked(total(-18, 2, nullable=False), named, BY_K), limits=visits.table.limits)
    if keys == ("v",):
        statement = replace(statement, rows=Select(grouped, (("k", Literal("x")), ("n", ColumnRef("n")))))
    reach = reach_of(statement)
    assert (reach.rows, reach.rows_per_group, reach.groups) == (rows_per_group, rows_per_group, 1)
    assert claimed(statement)[0] == l1


def test_what_a_policy_declares_of_rows_alike_bounds_those_of_a_group():
    visits = owned(max_rows_per_unit=6, max_groups_per_unit=2)
    declared = Source(replace(visits.table, matches={("k",): 2}))
    assert reach_of(asked(COUNT, visits, BY_K)) == Reach(rows=6, rows_per_group=6, groups=2)
    assert reach_of(asked(COUNT, declared, BY_K)) == Reach(rows=4, rows_per_group=2, groups=2)
    assert reach_of(asked(COUNT, declared)) == Reach(rows=6, rows_per_group=6, groups=1)


def test_only_unfiltered_rows_that_are_units_are_known_to_be_there():
    part = PeoplePart(child=ROWS, by="k", values=KEYS, value="x", max_parts_per_unit=1, salt="00")
    renamed = Select(ROWS, (("w", V),))
    one = Reach(rows=1, rows_per_group=1, groups=1, always_one=True)
    assert [reach_of(asked(COUNT, rows)) for rows in (ROWS, renamed, Select(renamed, (("v", ColumnRef("w")),)))] == [
        one, one, one,
    ]  # fmt: skip
    lines = Source(replace(ROWS.table, keeps_rows=False))
    for rows in (Filter(ROWS, TRUE), part, Distinct(ROWS), lines, SemiJoin(child=ROWS, other=CODES, on=())):
        assert not reach_of(asked(COUNT, rows)).always_one
    for statement in (asked(COUNT, keys=BY_K), asked(COUNT, cell=LISTED)):
        assert not reach_of(statement).always_one


def test_public_rows_do_not_move():
    statement = asked(total(-3, 7), CODES)
    assert claimed(statement) == (0, 0, 0)
    assert claimed(statement, REPLACE_ONE)[:2] == (0, 0)
    assert moved_rows(Join(left=CODES, right=Select(CODES, (("c", K),)), on=())) == 0


def by(rows, *keys, name="n"):
    return Grouped(rows, keys, (Folded(name, Fold.COUNT_ROWS),))


OTHER = Select(ROWS, (("j", K), ("w", V)))
ELSEWHERE = Source(replace(ROWS.table, name="elsewhere"))
E6_STABILITIES = [
    (ROWS, 1),
    (FILTERED, 1),
    (OTHER, 1),
    (Distinct(ROWS), 1),
    (SemiJoin(child=ROWS, other=CODES, on=(("k", "code"),)), 1),
    (Join(left=ROWS, right=CODES, on=(("k", "code"),)), 3),
    (by(ROWS, "k"), 2),
    (by(by(ROWS, "k"), "n", name="m"), 4),
    (UnionAll(ROWS, OTHER), 2),
    (UnionAll(ROWS, ELSEWHERE), 1),
    (UnionAll(ELSEWHERE, by(ROWS, "k")), 2),
    (Join(left=by(ROWS, "k"), right=by(Select(ELSEWHERE, (("j", K),)), "j", name="m"), on=(("k", "j"),)), 2),
    (Intersect(ROWS, OTHER), 2),
    (Except(ROWS, UnionAll(ROWS, ROWS)), 3),
    (Join(left=by(ROWS, "k"), right=by(OTHER, "j", name="m"), on=(("k", "j"),)), 4),
    (PeoplePart(child=ROWS, by="k", values=KEYS, value="x", max_parts_per_unit=1, salt="00"), 1),
]


@pytest.mark.parametrize(("relation", "most"), E6_STABILITIES)
def test_e6_a_transformation_is_as_stable_as_pinq_says(relation, most):
    assert moved_rows(relation) == most
    assert claimed(asked(COUNT, Filter(relation, TRUE)))[0] == most


ATTAINED = [
    # the question, and two databases of (key, value) that differ in one unit
    (asked(COUNT), ADD_OR_REMOVE_ONE, [], [("x", 0)]),
    (asked(COUNT, FILTERED), REPLACE_ONE, [("x", 0)], [("x", 7)]),
    (asked(COUNT, keys=BY_K), REPLACE_ONE, [("x", 0)], [("y", 0)]),
    (asked(COUNT, cell=LISTED), REPLACE_ONE, [("x", 0)], [("y", 0)]),
    (asked(total(-3, 7)), ADD_OR_REMOVE_ONE, [], [("x", 10**9)]),
    (asked(total(-3, 7)), REPLACE_ONE, [("x", -(10**9))], [("x", 10**9)]),
    (asked(total(4, 9)), REPLACE_ONE, [("x", None)], [("x", 9)]),
    (asked(total(4, 9, nullable=False)), REPLACE_ONE, [("x", None)], [("x", 9)]),
    (asked(total(4, 9), keys=BY_K), REPLACE_ONE, [("x", 9)], [("z", 9)]),
    (asked(COUNT, by(ROWS, "k"), (KeyColumn(name="n", values=(1, 2)),)), ADD_OR_REMOVE_ONE, [("x", 0)], [("x", 0)] * 2),
    (asked(COUNT, by(by(ROWS, "k"), "n", name="m"), tuple(KeyColumn(name=name, values=(1, 2)) for name in "nm")),
     ADD_OR_REMOVE_ONE, [("x", 0), ("y", 0), ("z", 0), ("z", 0)],
     [("x", 0), ("y", 0), ("y", 0), ("z", 0), ("z", 0)]),
    (asked(COUNT, UnionAll(ROWS, OTHER)), ADD_OR_REMOVE_ONE, [], [("x", 0)]),
]  # fmt: skip
ATTAINED_BY_UNITS = [
    # the same with rows of one unit: its limits are reached
    (asked(COUNT, SOME_ROWS), ADD_OR_REMOVE_ONE, [], [("x", 0)] * 9),
    (asked(COUNT, SOME_ROWS, BY_K), REPLACE_ONE, [("x", 0)] * 9, [("y", 0)] * 9),
    (asked(COUNT, PATIENTS, BY_SYMPTOM), REPLACE_ONE, [], [(symptom, 0) for symptom in SYMPTOMS] * 2),
    (asked(total(-3, 7), SOME_ROWS), REPLACE_ONE, [("x", -9)] * 9, [("x", 9)] * 9),
    (asked(UnitCount(), SOME_ROWS, BY_K), ADD_OR_REMOVE_ONE, [], [(key, 0) for key in KEYS]),
    (asked(CellCount(), SOME_ROWS, cell=Values(value=V, values=None)), ADD_OR_REMOVE_ONE, [],
     [("x", value) for value in range(9)]),
    (asked(UnitCount(), SOME_ROWS, cell=LISTED), ADD_OR_REMOVE_ONE, [], [(key, 0) for key in KEYS]),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "relation", "before", "after"), ATTAINED + ATTAINED_BY_UNITS)
@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_the_sensitivity_is_attained_so_that_no_noise_is_wasted(engine, statement, relation, before, after):
    first, second = (sums_of(statement, {"t": of_one_unit(own)}, engine) for own in (before, after))
    assert sum(moves(first, second, 0)) == claimed(statement, relation)[0]


def of_one_unit(pairs):
    data = {"u": ["u"] * len(pairs), "k": [key for key, _ in pairs], "v": pa.array([v for _, v in pairs], pa.int64())}
    return ArrowData(pa.table(data), tuple(data))
