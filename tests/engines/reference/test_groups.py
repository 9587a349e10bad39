"""The seven steps from rows to groups keep the limits of every unit, for every salt."""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.reference.groups import (
    Entry,
    added_up,
    allowances,
    amount,
    entries,
    is_counted,
    lattice_steps,
    placed,
    scaled,
)
from sfumato.engines.sampling import rank_hash
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, real, text
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
from sfumato.query.values.evaluation import clamped_steps

SALT = "00112233445566778899aabbccddeeff"
COLUMNS = {"u": text(), "k": text(), "j": integer(), "v": real(-9, 9)}
TABLE = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9)))

V, W = ColumnRef("v"), ColumnRef("w")
NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300)
ANY_CELLS = st.none() | NUMBERS


def steps(*, lower=-9, upper=9, nullable=True):
    return LatticeValue(
        value=ColumnRef("v"), resolution=Fraction(1), lower=lower, upper=upper, offset=0, nullable=nullable
    )  # fmt: skip


MEASURES = (RowCount(), ValueCount((ColumnRef("v"),)), StepSum(steps()), StepProduct(steps(), steps()), UnitCount())
KEYS = (KeyColumn(name="k", values=("x", "y")), KeyColumn(name="j", values=None))


def statement(**changes):
    return Statement(**({"rows": TABLE, "keys": KEYS, "measures": MEASURES} | changes))


def rows(*cells):
    return [(unit, {"u": unit, "k": k, "j": j, "v": v}) for unit, k, j, v in cells]


def run(asked, cells, salt=SALT):
    """All seven steps."""
    found = entries(placed(rows(*cells), asked), asked.measures)
    allowed = allowances(found, asked.limits, key_count=len(asked.keys), salt=salt)
    only_counted = any(isinstance(measure, CellCount) for measure in asked.measures)
    return dict(added_up(allowed, asked.measures, by=len(asked.keys) if only_counted else None))


def allowed_of(asked, cells, salt=SALT):
    found = entries(placed(rows(*cells), asked), asked.measures)
    return allowances(found, asked.limits, key_count=len(asked.keys), salt=salt)


@pytest.mark.parametrize(
    ("k", "j", "place"), [("x", 1, ("x", 1)), ("z", 1, None), (None, 1, None), ("x", None, None), ("X", 1, None)]
)
def test_a_row_without_a_listed_key_is_in_no_group(k, j, place):
    found = placed(rows(("a", k, j, 1.0)), statement())
    assert [where for _, where, _ in found] == ([] if place is None else [place])


@pytest.mark.parametrize(("v", "cell"), [(-99.0, 0), (-9.0, 0), (0.0, 4), (0.6, 5), (99.0, 9), (None, None)])
def test_a_bin_is_counted_from_the_lower_bound(v, cell):
    asked = statement(keys=(), cell=Bins(steps=steps(), width=2))
    assert [where for _, where, _ in placed(rows(("a", "x", 1, v)), asked)] == ([] if cell is None else [(cell,)])


def test_a_number_that_must_not_be_null_is_in_no_bin_if_it_is():
    asked = statement(keys=(), cell=Bins(steps=steps(nullable=False), width=2))
    assert placed(rows(("a", "x", 1, None)), asked) == []


@pytest.mark.parametrize(("values", "kept"), [((1, 2), 2), (None, 3)])
def test_a_cell_has_a_listed_value_or_any_but_null(values, kept):
    asked = statement(keys=(), cell=Values(value=ColumnRef("j"), values=values))
    assert len(placed(rows(*(("a", "x", j, 1.0) for j in (1, 2, 3, None))), asked)) == kept


def test_the_rows_of_a_unit_in_one_place_are_an_entry():
    found = entries(placed(rows(("a", "x", 1, 2.0), ("a", "x", 1, None), ("a", "x", 1, -5.0)), statement()), MEASURES)
    assert found == [Entry(unit="a", place=("x", 1), rows=3, sums=(3, 2, -3, 29, 3), counted=(3, 2, 2, 2, 3))]


def test_without_limits_everything_counts():
    cells = [("a", "x", 1, 2.0), ("a", "x", 1, None), ("b", "x", 1, 3.0), ("b", "y", 1, 4.0)]
    assert run(statement(), cells) == {("x", 1): [3, 2, 5, 13, 2], ("y", 1): [1, 1, 4, 16, 1]}


@pytest.mark.parametrize(("total", "exact"), [(10, Fraction(20, 3)), (-10, Fraction(-20, 3)), (0, 0), (9, 6), (-9, -6)])
def test_what_is_above_a_limit_is_scaled_down_and_cut_off_toward_zero(total, exact):
    assert scaled(total, counted=3, allowed=2) == int(exact)
    assert scaled(total, counted=2, allowed=2) == scaled(total, counted=0, allowed=0) == total


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=30), st.integers(1, 30))
def test_a_scaled_sum_is_no_more_than_so_many_rows_could_make_it_and_within_a_step_of_their_average(added, allowed):
    furthest, total = max(map(abs, added)), sum(added)
    found = scaled(total, counted=len(added), allowed=allowed)
    assert abs(found) <= allowed * furthest
    assert abs(found - Fraction(total * min(allowed, len(added)), len(added))) < 1
    assert found * total >= 0


def test_sums_are_scaled_in_exact_integers():
    assert scaled(2**120 + 1, counted=3, allowed=2) == (2**120 + 1) * 2 // 3


def test_rows_above_the_limit_of_a_group_are_scaled_by_the_rows_that_count():
    cells = [("a", "x", 1, 6.0)] * 3 + [("a", "x", 1, None)] * 7
    asked = statement(limits=Limits(max_rows_per_group_per_unit=2))
    assert run(asked, cells) == {("x", 1): [2, 2, 12, 72, 1]}
    assert run(statement(limits=Limits(max_rows_per_group_per_unit=3)), cells) == {("x", 1): [3, 3, 18, 108, 1]}


def test_the_groups_with_the_least_hash_are_kept():
    cells = [("a", "x", j, 1.0) for j in range(9)]
    for salt in (f"{n:032x}" for n in range(20)):
        kept = run(statement(limits=Limits(max_groups_per_unit=3)), cells, salt)
        ranked = sorted(range(9), key=lambda j: rank_hash(salt, ("a", "x", j)))
        assert set(kept) == {("x", j) for j in ranked[:3]}


def test_entries_fill_the_limits_in_the_order_of_their_hash():
    asked = statement(
        cell=Values(value=ColumnRef("v"), values=None), measures=(RowCount(),),
        limits=Limits(max_rows_per_group_per_unit=5, max_rows_per_unit=7),
    )  # fmt: skip
    cells = [("a", k, 1, v) for k, v in product("xy", (1.0, 2.0, 3.0)) for _ in range(2)]
    left, groups = 7, defaultdict(lambda: 5)
    expected = {}
    for k, v in sorted(product("xy", (1.0, 2.0, 3.0)), key=lambda place: rank_hash(SALT, ("a", place[0], 1, place[1]))):
        here = min(2, groups[k])
        groups[k] -= here
        if taken := min(here, left):
            expected[k, 1, v] = [taken]
        left -= taken
    assert run(asked, cells) == expected
    assert sum(n for (n,) in expected.values()) == 7


def test_what_a_group_is_allowed_does_not_depend_on_what_is_left_over_all():
    """A limit over all groups does not hand rows from one entry of a group to the next."""
    cells = [("a", k, 1, v) for k in "xy" for v in (1.0, 2.0) for _ in range(3)]
    cell = Values(value=ColumnRef("v"), values=None)
    for salt in (f"{n:032x}" for n in range(40)):
        both = Limits(max_rows_per_group_per_unit=4, max_rows_per_unit=5)
        loose = allowed_of(statement(cell=cell, limits=Limits(max_rows_per_group_per_unit=4)), cells, salt)
        tight = allowed_of(statement(cell=cell, limits=both), cells, salt)
        in_group = {entry.place: count for entry, count in loose}
        assert all(count <= in_group[entry.place] for entry, count in tight)
        assert sum(count for _, count in tight) == 5


def test_units_and_cells_are_counted_once_each_if_they_are_allowed_a_row():
    asked = statement(
        keys=KEYS[:1], cell=Values(value=ColumnRef("j"), values=None), measures=(CellCount(), UnitCount(), RowCount()),
        limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip
    cells = [("a", "x", 1, 0.0), ("b", "x", 1, 0.0), ("b", "x", 2, 0.0), *(("c", "y", j, 0.0) for j in range(9))]
    assert run(asked, cells) == {("x",): [2, 2, 3], ("y",): [2, 1, 2]}


def test_a_group_in_which_no_row_is_allowed_is_not_found():
    cells = [("a", "x", 1, 1.0), ("a", "y", 1, 1.0)]
    assert len(run(statement(limits=Limits(max_rows_per_unit=1)), cells)) == 1


LIMIT = st.none() | st.integers(1, 4)
LIMITS = st.builds(Limits, max_rows_per_unit=LIMIT, max_groups_per_unit=LIMIT, max_rows_per_group_per_unit=LIMIT)
CELLS = st.none() | st.sampled_from(
    [Bins(steps=steps(), width=3), Values(value=ColumnRef("j"), values=None), Values(value=ColumnRef("v"), values=None)]
)
ASKED = st.builds(
    statement, limits=LIMITS, cell=CELLS, keys=st.sampled_from([(), KEYS[:1], KEYS]),
    measures=st.just(MEASURES) | st.just((*MEASURES[:3], StepSum(steps(lower=2, nullable=False)))),
)  # fmt: skip
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["x", "y", "z"]), st.integers(0, 3) | st.none(),
        st.none() | st.integers(-12, 12).map(float),
    ),
    max_size=25,
)  # fmt: skip
SALTS = st.sampled_from([SALT, "ff" * 16])


@given(ASKED, ROWS, SALTS)
def test_no_unit_has_more_than_its_limits(asked, cells, salt):
    limits, allowed = asked.limits, allowed_of(asked, cells, salt)
    in_all, in_group, groups = Counter(), Counter(), defaultdict(set)
    for entry, count in allowed:
        group = (entry.unit, *entry.place[: len(asked.keys)])
        in_all[entry.unit] += count
        in_group[group] += count
        groups[entry.unit].add(group)
        assert 1 <= count <= entry.rows
    for limit, counts in (
        (limits.max_rows_per_unit, in_all.values()),
        (limits.max_rows_per_group_per_unit, in_group.values()),
        (limits.max_groups_per_unit, map(len, groups.values())),
    ):
        assert limit is None or all(count <= limit for count in counts)


@given(ASKED, ROWS, SALTS)
def test_what_an_entry_adds_is_no_more_than_its_rows_could(asked, cells, salt):
    for entry, count in allowed_of(asked, cells, salt):
        for index, measure in enumerate(asked.measures):
            low, high = measure.range()
            added = scaled(entry.sums[index], counted=entry.counted[index], allowed=count)
            assert abs(added) <= count * max(abs(low), abs(high))
            assert min(low * count, 0) <= added <= max(high * count, 0)


@given(ASKED, ROWS, SALTS, st.randoms(use_true_random=False))
def test_what_is_kept_of_a_unit_depends_on_its_own_rows_and_the_salt_alone(asked, cells, salt, random):
    def kept(some):
        return Counter((e.unit, e.place, e.sums, e.counted, n) for e, n in allowed_of(asked, some, salt))

    alone = Counter()
    for unit in "abc":
        alone += kept([row for row in cells if row[0] == unit])
    assert kept(random.sample(cells, len(cells))) == alone


@given(ASKED, ROWS, SALTS)
def test_which_groups_are_kept_does_not_depend_on_how_many_rows_they_have(asked, cells, salt):
    def groups(some):
        return {(e.unit, *e.place[: len(asked.keys)]) for e, _ in allowed_of(asked, some, salt)}

    asked = statement(limits=Limits(max_groups_per_unit=asked.limits.max_groups_per_unit), keys=asked.keys)
    assert groups(cells) == groups(list(dict.fromkeys(cells)))


@given(ASKED, ROWS, SALTS)
def test_answers_of_units_add_up(asked, cells, salt):
    together = run(asked, cells, salt)
    summed: dict = defaultdict(lambda: [0] * len(asked.measures))
    for unit in "abc":
        for place, added in run(asked, [row for row in cells if row[0] == unit], salt).items():
            summed[place] = [a + b for a, b in zip(summed[place], added, strict=True)]
    assert together == summed


def of_steps(value=V, *, lower=-40, upper=50, resolution=Fraction(1, 2), offset=0, nullable=True):
    return LatticeValue(value=value, resolution=resolution, lower=lower, upper=upper, offset=offset, nullable=nullable)


@st.composite
def any_steps(draw, value=V):
    lower, width = draw(st.integers(-1_000, 999)), draw(st.integers(0, 1_000))
    return of_steps(
        value, lower=lower, upper=lower + width, offset=draw(st.sampled_from([0, lower + width // 2])),
        resolution=draw(st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(1, 3)])), nullable=draw(st.booleans()),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "point"),
    [(-math.inf, -40), (-41.0, -40), (-19.9, -40), (-0.3, -1), (-0.25, 0), (0.25, 1), (12.2, 24), (12.3, 25),
     (99.9, 50), (math.inf, 50), (2**63 - 1, 50), (None, None)],
)  # fmt: skip
def test_a_number_is_rounded_half_up_to_the_lattice_and_clamped(value, point):
    assert clamped_steps(value, of_steps()) == point
    assert lattice_steps(of_steps(), {"v": value}) == point


@given(NUMBERS, any_steps())
def test_a_clamped_number_is_the_lattice_point_nearest_to_it_in_the_bounds(value, lattice):
    point = clamped_steps(value, lattice)
    assert lattice.lower <= point <= lattice.upper
    if not math.isinf(value) and lattice.resolution != Fraction(1, 3):  # 1/3 is no double
        exact = math.floor(Fraction(float(value)) / lattice.resolution + Fraction(1, 2))
        assert abs(point - min(max(exact, lattice.lower), lattice.upper)) <= (1 if abs(value) < 2.0**-50 else 0)


@given(NUMBERS, NUMBERS, any_steps())
def test_clamping_keeps_the_order_of_numbers(first, second, lattice):
    low, high = sorted((float(first), float(second)))
    assert clamped_steps(low, lattice) <= clamped_steps(high, lattice)


@given(ANY_CELLS, ANY_CELLS, any_steps(), any_steps(W))
def test_a_row_adds_no_more_than_its_measure_says(v, w, first, second):
    row = {"v": v, "w": w}
    measures = [RowCount(), ValueCount((V, W)), ValueCount(()), StepSum(first), StepProduct(first, second),
                StepProduct(first, first), UnitCount(), CellCount()]  # fmt: skip
    for measure in measures:
        low, high = measure.range()
        assert low <= amount(measure, row) <= high
        assert amount(measure, row) == 0 or is_counted(measure, row)


@pytest.mark.parametrize(("v", "w", "added", "counted"), [(3, 5, 15, True), (3, None, 0, False), (None, 5, 0, False)])
def test_a_product_with_null_adds_nothing(v, w, added, counted):
    product = StepProduct(*(of_steps(value, resolution=Fraction(1)) for value in (V, W)))
    assert (amount(product, {"v": v, "w": w}), is_counted(product, {"v": v, "w": w})) == (added, counted)


@pytest.mark.parametrize(("bounds", "added"), [((3, 9), 3), ((-9, -3), -3), ((-9, 3), 0)])
def test_a_null_where_none_can_be_adds_the_bound_nearest_to_zero(bounds, added):
    sure = of_steps(lower=bounds[0], upper=bounds[1], nullable=False)
    assert amount(StepSum(sure), {"v": None}) == added
    assert is_counted(StepSum(sure), {"v": None})


def test_an_offset_moves_what_is_added_and_not_what_null_adds():
    centered = StepSum(of_steps(lower=0, upper=10, offset=5))
    assert [amount(centered, {"v": value}) for value in (-1.0, 2.5, 99, None)] == [-5, 0, 5, 0]


def test_a_count_of_values_is_of_rows_in_which_all_are_there():
    counts = [amount(ValueCount((V, W)), {"v": v, "w": w}) for v, w in ((1, 1), (None, 1), (1, None))]
    assert counts == [1, 0, 0]
    assert amount(ValueCount(()), {}) == amount(RowCount(), {}) == 1
