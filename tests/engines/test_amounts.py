"""What a row adds lies in the range of its measure, whatever the row."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.amounts import amount, clamped_steps, is_counted, lattice_steps
from sfumato.query.expressions import ColumnRef
from sfumato.query.measures import CellCount, RowCount, StepProduct, Steps, StepSum, UnitCount, ValueCount

V, W = ColumnRef("v"), ColumnRef("w")
NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300)
CELLS = st.none() | NUMBERS


def steps(value=V, *, lower=-40, upper=50, resolution=Fraction(1, 2), offset=0, nullable=True):
    return Steps(value=value, resolution=resolution, lower=lower, upper=upper, offset=offset, nullable=nullable)


@st.composite
def any_steps(draw, value=V):
    lower, width = draw(st.integers(-1_000, 999)), draw(st.integers(0, 1_000))
    return steps(
        value, lower=lower, upper=lower + width, offset=draw(st.sampled_from([0, lower + width // 2])),
        resolution=draw(st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(1, 3)])), nullable=draw(st.booleans()),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "point"),
    [(-math.inf, -40), (-41.0, -40), (-19.9, -40), (-0.3, -1), (-0.25, 0), (0.25, 1), (12.2, 24), (12.3, 25),
     (99.9, 50), (math.inf, 50), (2**63 - 1, 50), (None, None)],
)  # fmt: skip
def test_a_number_is_rounded_half_up_to_the_lattice_and_clamped(value, point):
    assert clamped_steps(value, steps()) == point
    assert lattice_steps(steps(), {"v": value}) == point


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


@given(CELLS, CELLS, any_steps(), any_steps(W))
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
    product = StepProduct(*(steps(value, resolution=Fraction(1)) for value in (V, W)))
    assert (amount(product, {"v": v, "w": w}), is_counted(product, {"v": v, "w": w})) == (added, counted)


@pytest.mark.parametrize(("bounds", "added"), [((3, 9), 3), ((-9, -3), -3), ((-9, 3), 0)])
def test_a_null_where_none_can_be_adds_the_bound_nearest_to_zero(bounds, added):
    sure = steps(lower=bounds[0], upper=bounds[1], nullable=False)
    assert amount(StepSum(sure), {"v": None}) == added
    assert is_counted(StepSum(sure), {"v": None})


def test_an_offset_moves_what_is_added_and_not_what_null_adds():
    centred = StepSum(steps(lower=0, upper=10, offset=5))
    assert [amount(centred, {"v": value}) for value in (-1.0, 2.5, 99, None)] == [-5, 0, 5, 0]


def test_a_count_of_values_is_of_rows_in_which_all_are_there():
    counts = [amount(ValueCount((V, W)), {"v": v, "w": w}) for v, w in ((1, 1), (None, 1), (1, None))]
    assert counts == [1, 0, 0]
    assert amount(ValueCount(()), {}) == amount(RowCount(), {}) == 1
