"""Rounding to the lattice: it never fails on data, and never moves neighbors further apart than was claimed."""

from array import array
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import inf, isqrt, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.lattice import (
    LARGEST_STEP,
    as_rational,
    as_resolution,
    column,
    integer_column,
    is_vector,
    lattice_floats,
    lattice_l1_sensitivity,
    lattice_l2_sensitivity,
    lattice_steps,
    present,
    to_lattice,
)
from sfumato.mechanisms.quantiles.quantile import Quantile

FRACTIONS = st.fractions(-50, 50, max_denominator=16)  # many of them lie halfway between two steps
RESOLUTIONS = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 8), Fraction(2, 3), Fraction(7)])
MOVES = st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("value", "steps"),
    [(0, 0), (0.04, 0), (0.05, 1), (0.15, 2), (0.25, 3), (-0.05, 0), (-0.15, -1), (-0.151, -2), (12, 120)],
)
def test_halves_go_upward(value, steps):
    assert to_lattice(value, Fraction(1, 10)) == steps


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        (None, 0),
        (nan, 0),
        (np.float64(nan), 0),
        (Decimal("sNaN"), 0),
        (inf, LARGEST_STEP),
        (-inf, -LARGEST_STEP),
        (Decimal("-Infinity"), -LARGEST_STEP),
        (Decimal("1e999999999"), LARGEST_STEP),
        (Decimal("-1e999999999"), -LARGEST_STEP),
        (Decimal("1e-999999999"), 0),
        (Decimal("0E+500"), 0),
        (Decimal("-0E+500"), 0),
        (pd.NA, 0),
        (pd.NaT, 0),
        (np.ma.masked, 0),
        (5e-324, 0),
        (1.7e308, LARGEST_STEP),
        (10**500, LARGEST_STEP),
        (-(10**500), -LARGEST_STEP),
        (-0.0, 0),
    ],
    ids=str,
)
def test_no_data_value_is_an_error(value, steps):
    assert to_lattice(value, Fraction(1, 10)) == steps


@pytest.mark.parametrize("value", [7, 7.0, True + 6, Fraction(7), Decimal(7), np.int32(7), np.uint8(7), np.float32(7)])
def test_numbers_of_every_type_are_read(value):
    assert as_rational(value) == 7


def test_a_float_counts_as_its_shortest_decimal():
    assert as_rational(0.1) == Fraction(1, 10)


@pytest.mark.parametrize("value", ["7", b"7", [7], 1j])
def test_what_is_no_number_is_an_error_that_does_not_tell_the_value(value):
    with pytest.raises(ParameterError, match="must be a number") as caught:
        as_rational(value)
    assert "7" not in str(caught.value)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_reading_is_monotone(first, second):
    assert (as_rational(first) <= as_rational(second)) == (first <= second)


@given(FRACTIONS, RESOLUTIONS, st.integers(-10, 10))
def test_rounding_commutes_with_shifts_by_whole_steps(value, resolution, shift):
    assert to_lattice(value + shift * resolution, resolution) == to_lattice(value, resolution) + shift


@given(MOVES, RESOLUTIONS)
def test_no_move_exceeds_the_claimed_l1_sensitivity(moves, resolution):
    l1 = sum((abs(a - b) for a, b in moves), start=Fraction(0))
    moved = sum(abs(to_lattice(a, resolution) - to_lattice(b, resolution)) for a, b in moves)
    assert moved <= lattice_l1_sensitivity(l1, resolution=resolution, l0_sensitivity=len(moves))


CROSSED = (Fraction(7, 16), Fraction(1, 2))
"""A sixteenth of a step, across a border."""


@given(MOVES, RESOLUTIONS)
@example([CROSSED] * 4, Fraction(1))
@example([CROSSED, CROSSED], Fraction(1))
@example([CROSSED, (Fraction(0), Fraction(0))], Fraction(1))
@example([(Fraction(0), Fraction(1)), CROSSED], Fraction(1, 8))
def test_no_move_exceeds_the_claimed_l2_sensitivity(moves, resolution):
    square = sum(((a - b) ** 2 for a, b in moves), start=Fraction(0))
    l2 = Fraction(isqrt(int(square * 2**80)) + (square > 0), 2**40)
    moved = sum((to_lattice(a, resolution) - to_lattice(b, resolution)) ** 2 for a, b in moves)
    changed = max(1, sum(a != b for a, b in moves))
    assert moved <= lattice_l2_sensitivity(l2, resolution=resolution, l0_sensitivity=changed) ** 2


def test_the_l1_sensitivity_is_reached():
    pairs = [(Fraction(2, 5), Fraction(9, 10)), (Fraction(2, 5), Fraction(9, 10))]  # half a step each, across a border
    assert sum(to_lattice(b, Fraction(1)) - to_lattice(a, Fraction(1)) for a, b in pairs) == 2
    assert lattice_l1_sensitivity(Fraction(1), resolution=Fraction(1), l0_sensitivity=2) == 2


@pytest.mark.parametrize("moved", [1, 2, 3, 4, 9])
def test_the_l2_sensitivity_is_reached_but_for_as_little_as_one_likes(moved):
    width = Fraction(1, 2**40)  # each coordinate crosses a border by this much, and so moves a whole step
    crossed = [to_lattice(value, Fraction(1)) for value in (Fraction(1, 2) - width, Fraction(1, 2))]
    claimed = lattice_l2_sensitivity(moved * width, resolution=Fraction(1), l0_sensitivity=moved)
    assert crossed == [0, 1]
    assert moved <= claimed**2 <= moved + Fraction(1, 2**30)


def test_rounding_to_even_would_break_the_claim():
    assert round(1.5) - round(0.5) == 2 > lattice_l1_sensitivity(Fraction(1), resolution=Fraction(1), l0_sensitivity=1)


@pytest.mark.parametrize("resolution", [None, Fraction(1, 3)])
def test_what_nobody_moves_stays_unmoved(resolution):
    assert lattice_l1_sensitivity(Fraction(0), resolution=resolution, l0_sensitivity=5) == 0
    assert lattice_l2_sensitivity(Fraction(0), resolution=resolution, l0_sensitivity=5) == 0


def test_integers_keep_their_sensitivity():
    assert lattice_l1_sensitivity(Fraction(5, 2), resolution=None, l0_sensitivity=9) == Fraction(5, 2)
    assert lattice_l2_sensitivity(Fraction(5, 2), resolution=None, l0_sensitivity=9) == Fraction(5, 2)


def test_vectors_go_value_by_value():
    assert lattice_steps([0.5, None, inf], Fraction(1)).tolist() == [1, 0, LARGEST_STEP]


ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)
NEAR_HALVES = st.builds(
    lambda step, resolution, ulps: float((step + Fraction(1, 2)) * resolution) * (1 + ulps * 2.0**-52),
    st.integers(-(2**54), 2**54),
    RESOLUTIONS,
    st.integers(-3, 3),
)


@given(
    st.lists(st.one_of(ANY_FLOAT, NEAR_HALVES, st.floats(-1e3, 1e3)), min_size=1, max_size=20),
    st.one_of(
        RESOLUTIONS, st.sampled_from([Fraction(1, 100), Fraction(1, 2**40), Fraction(1, 3**30), Fraction(10**20)])
    ),
)
def test_an_array_of_floats_lands_on_the_same_steps_as_its_numbers_one_by_one(values, resolution):
    steps = lattice_steps(np.array(values), resolution)
    assert steps.dtype == np.int64
    assert steps.tolist() == [to_lattice(value, resolution) for value in values]


INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-1000, 1000) | st.sampled_from([2**63 - 1, -(2**63)])
TERMS = st.integers(1, 50) | st.sampled_from([10**6, 2**20, 2**31, 2**60, 2**61, 3**38])


@given(st.lists(INT64, min_size=1), TERMS, TERMS, st.sampled_from([list, np.array, pd.Series]))
@example([2**63 - 1, -(2**63), 0], 1, 2**60, np.array)
@example([2**63 - 1, -(2**63), 2**62 + 2**61], 3, 5, np.array)
def test_an_array_of_integers_lands_on_the_same_steps_as_its_numbers_one_by_one(values, above, below, hold):
    steps = lattice_steps(hold(values), Fraction(above, below))
    assert steps.dtype == np.int64
    assert steps.tolist() == [to_lattice(value, Fraction(above, below)) for value in values]


@pytest.mark.parametrize("resolution", [Fraction(1, 10), Fraction(2, 3), Fraction(7, 1000), Fraction(2**40)])
def test_integers_that_lie_halfway_go_upward_in_arrays_too(resolution):
    numerator = resolution.numerator
    values = np.arange(-3 * numerator, 3 * numerator, max(1, numerator // 2))
    expected = [to_lattice(value, resolution) for value in values.tolist()]
    assert lattice_steps(values, resolution).tolist() == expected


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.uint64])
def test_bits_and_short_integers_land_on_the_steps_of_their_numbers(dtype):
    values = np.array([0, 1, 1], dtype=dtype)
    assert lattice_steps(values, Fraction(2, 7)).tolist() == [0, 4, 4]
    assert lattice_steps(values.tolist(), Fraction(2, 7)).tolist() == [0, 4, 4]


def test_floats_that_lie_halfway_in_decimal_go_upward_in_arrays_too():
    values = np.array([0.05, 0.15, 0.25, 0.35, 1.005, -0.05, 2.675])
    assert lattice_steps(values[:4], Fraction(1, 10)).tolist() == [1, 2, 3, 4]
    assert lattice_steps(values, Fraction(1, 100)).tolist() == [5, 15, 25, 35, 101, -5, 268]


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1), st.integers(1, 10**6))
def test_lattice_points_are_the_nearest_floats(steps, denominator):
    points = lattice_floats(np.array(steps), Fraction(1, denominator)).tolist()
    assert points == [float(Fraction(step, denominator)) for step in steps]


def test_no_lattice_point_is_minus_zero():
    assert str(lattice_floats(np.array([0]), Fraction(1, 10))[0]) == "0.0"


@pytest.mark.parametrize("resolution", [Fraction(1, 2**901), Fraction(2**901), Fraction(1, 3**600), 0, -1])
def test_a_resolution_that_floats_cannot_hold_is_refused_whatever_the_data(resolution):
    with pytest.raises(ParameterError, match="resolution"):
        as_resolution(resolution)
    for make in (
        lambda: Laplace(l1_sensitivity=1, epsilon=1, resolution=resolution),
        lambda: Quantile(quantile="1/2", lower=0, upper=10, epsilon=1, resolution=resolution),
    ):
        with pytest.raises(ParameterError, match="resolution"):
            make()


@pytest.mark.parametrize("power", [53, 54, 60])
def test_neighbouring_floats_beyond_2_to_the_53_stay_neighbours_on_the_lattice(power):
    gap = 2 ** (power - 52)
    floats = [float(2**power + k * gap) for k in range(50)]
    steps = [to_lattice(value, Fraction(1)) for value in floats]
    assert [b - a for a, b in pairwise(steps)] == [gap] * 49
    assert lattice_steps(np.array(floats), Fraction(1)).tolist() == steps
    assert to_lattice(float(2**power), Fraction(1)) == to_lattice(2**power, Fraction(1))


def test_long_doubles_keep_their_last_bits():
    values = np.array([np.longdouble(2) ** 53 + 1, np.longdouble(2) ** 53 + 2, np.nan, np.inf])
    assert lattice_steps(values, Fraction(1)).tolist() == [2**53 + 1, 2**53 + 2, 0, LARGEST_STEP]


@pytest.mark.parametrize(
    "value", [np.timedelta64(5, "D"), np.timedelta64("NaT", "D"), timedelta(1), "5", [5]], ids=repr
)
def test_what_is_no_number_is_refused_by_its_type(value):
    with pytest.raises(ParameterError, match=type(value).__name__):
        to_lattice(value, Fraction(1))


def test_an_array_of_more_dimensions_is_refused():
    with pytest.raises(ParameterError, match="2-dimensional"):
        lattice_steps(np.array([[0.5]]), Fraction(1))


def test_no_value_of_an_array_makes_a_warning_or_an_error_whatever_the_caller_made_of_them():
    signalling = np.array([0x7FA00000], dtype=np.uint32).view(np.float32)
    arrays = [np.array([np.longdouble("1e4000"), 1]), signalling, np.array([5e-324, 1e-310, 1e308, np.nan, np.inf])]
    with np.errstate(all="raise"):
        for values in arrays:
            for resolution in (Fraction(1, 10), Fraction(3), Fraction(1, 2**800)):
                assert lattice_steps(values, resolution).dtype == np.int64


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64, np.bool_])
def test_integers_are_their_own_steps_where_a_step_is_one(dtype):
    assert lattice_steps(np.array([0, 1], dtype=dtype), Fraction(1)).tolist() == [0, 1]
    assert lattice_steps([2**70, -(2**70)], Fraction(1)).tolist() == [LARGEST_STEP, -LARGEST_STEP]


def test_lists_of_one_kind_become_arrays():
    assert column([1, 2]).dtype == np.int64
    assert column((0.5, 1.0)).dtype == np.float64
    assert column([True, False]).dtype == np.bool_


def test_what_is_missing_in_a_list_of_floats_is_zero():
    assert column([0.5, float("nan"), float("inf")]).tolist() == [0.5, 0.0, float("inf")]


def test_integers_beyond_64_bits_stay_exact():
    assert column([1, 2**70]).tolist() == [1, 2**70]


@pytest.mark.parametrize("mixed", [[True, 1.5], [1, 0.5], [2**60 + 1, 0.5], [], ["a"]], ids=str)
def test_mixed_lists_stay_lists(mixed):
    assert column(mixed) == mixed


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([-1], dtype=np.int8), np.int64),
        (np.array([1], dtype=np.uint32), np.int64),
        (np.array([True]), np.int64),
        (np.array([2**64 - 1], dtype=np.uint64), object),
    ],
)
def test_integers_become_ones_that_cannot_wrap(values, dtype):
    exact = integer_column(values)
    assert exact.dtype == dtype
    assert exact.tolist() == values.astype(object).tolist()


@pytest.mark.parametrize("values", [np.array([0.5]), [1]], ids=str)
def test_what_is_no_array_of_integers_is_none(values):
    assert integer_column(values) is None


class Labelled(np.ndarray):
    """An array that would carry what it knows into every answer."""


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (np.ma.masked_array([5, 7, 9], mask=[False, True, False]), [5, 0, 9]),
        (np.ma.masked_array([0.5, 7.5], mask=[True, False]), [0.0, 7.5]),
        (np.ma.masked_array([5, 7], mask=[False, False]), [5, 7]),
        (np.array([1, 2]).view(Labelled), [1, 2]),
        (pd.Series([1, 2], index=["a", "b"]), [1, 2]),
        (pd.Series([1, None, 3], dtype="Int64"), [1, 0, 3]),
        (pd.Series([1.5, None], dtype="Float64"), [1.5, 0]),
        (np.array([1, None, 2**70], dtype=object), [1, 0, 2**70]),
        ([1, pd.NA, np.ma.masked, pd.NaT, None, float("nan")], [1, 0, 0, 0, 0, 0]),
        (pa.array([2**64 - 1, None], pa.uint64()), [2**64 - 1, 0]),
        (pa.chunked_array([[2**53 + 1], [None]]), [2**53 + 1, 0]),
        (pd.array([2**53 + 1, None], dtype="Int64"), [2**53 + 1, 0]),
        (pd.Series([2**53 + 1, None], dtype="int64[pyarrow]"), [2**53 + 1, 0]),
        (pd.Categorical([2**53 + 1, 7]), [2**53 + 1, 7]),
        (pl.Series([2**53 + 1, None]), [2**53 + 1, 0]),
        (array("q", [2**53 + 1]), [2**53 + 1]),
        ([pa.scalar(5), pa.scalar(None, pa.int64())], [5, 0]),
        (range(3), [0, 1, 2]),
        ((value for value in (4, 5)), [4, 5]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_of_a_container_remains_and_what_is_missing_is_zero(values, plain):
    found = column(values)
    assert type(found) in {np.ndarray, list}
    assert list(found) == plain


@pytest.mark.parametrize(
    "value",
    [None, pd.NA, pd.NaT, np.ma.masked, np.ma.masked_array(5, mask=True), float("nan"), pa.scalar(None)],
    ids=repr,
)
def test_missing_values_are_zero(value):
    assert present(value) == 0
    assert present(5) == 5


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((2, 2)), "2-dimensional"),
        (np.array(3), "0-dimensional"),
        (np.ma.masked_array([[1]], mask=[[True]]), "2-dimensional"),
        ("12", "str"),
        (b"12", "bytes"),
        ({1, 2}, "set"),
        ({1: 2}, "dict"),
        (3, "int"),
        (np.array(["a"]), "array of str_"),
        (np.array([1, "NaT"], dtype="m8[ns]"), "array of timedelta64"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "array of datetime64"),
        (np.array([1j]), "array of complex128"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_column_of_numbers_is_refused_by_its_type(values, said):
    with pytest.raises(ParameterError, match=said):
        column(values)


@pytest.mark.parametrize("values", [[1], (1,), range(1), np.array([1]), pd.Series([1])], ids=lambda v: type(v).__name__)
def test_what_holds_several_numbers_is_a_vector(values):
    assert is_vector(values)


@pytest.mark.parametrize("value", [1, 1.5, "12", b"12", None, np.array(1), np.int64(1), np.ma.masked], ids=repr)
def test_what_is_one_thing_is_no_vector(value):
    assert not is_vector(value)
