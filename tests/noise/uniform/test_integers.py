"""Integers never wrap: every operation agrees with Python's own, at the edges of int64 above all."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.noise.uniform.integers import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    add,
    add_noise,
    drawable,
    drawable_variance,
    floor_divide,
    largest,
    multiply_add,
    narrow,
    python_integers,
    short_scale,
)

LOWEST, HIGHEST = -(2**63), 2**63 - 1
INT64 = st.integers(LOWEST, HIGHEST) | st.sampled_from([LOWEST, -1, 0, 1, HIGHEST])
ANY = INT64 | st.integers(-(2**200), 2**200)


@given(st.lists(ANY))
def test_narrow_changes_no_number_and_uses_int64_where_it_can(values):
    array = narrow(python_integers(values))
    assert array.tolist() == values
    assert (array.dtype == np.int64) == all(LOWEST <= value <= HIGHEST for value in values)


@given(st.lists(st.tuples(INT64, INT64), min_size=1))
def test_sums_of_int64_never_wrap(pairs):
    first, second = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    assert add(first, second).tolist() == [a + b for a, b in pairs]


@given(st.lists(st.tuples(ANY, ANY), min_size=1))
def test_noise_is_added_as_any_other_number(pairs):
    values, noise = (narrow(python_integers(side)) for side in zip(*pairs, strict=True))
    total = add_noise(values, noise)
    assert total.tolist() == [a + b for a, b in pairs]
    assert (total.dtype == np.int64) == all(LOWEST <= a + b <= HIGHEST for a, b in pairs)
    assert values.tolist() == [a for a, _ in pairs]


@pytest.mark.parametrize(("first", "second"), [(2**62, 2**62), (2**62, 2**62 - 1), (-(2**62), -(2**62)), (-1, LOWEST)])
def test_sums_at_the_edge_of_int64_do_not_wrap(first, second):
    for sum_of in (add, add_noise):
        assert sum_of(np.array([first, 0]), np.array([second, 0])).tolist() == [first + second, 0]


@given(st.lists(st.tuples(ANY, ANY), min_size=1))
def test_the_type_of_a_sum_follows_from_the_sum_alone(pairs):
    first, second = (narrow(python_integers(side)) for side in zip(*pairs, strict=True))
    total = add(first, second)
    assert total.tolist() == [a + b for a, b in pairs]
    assert (total.dtype == np.int64) == all(LOWEST <= a + b <= HIGHEST for a, b in pairs)


@given(st.integers(0, 2**70), st.lists(st.tuples(INT64, INT64), min_size=1))
def test_multiply_add_is_exact(factor, pairs):
    values, offsets = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    assert multiply_add(factor, values, offsets).tolist() == [factor * a + b for a, b in pairs]


@given(st.lists(ANY), st.integers(1, 2**70))
def test_floor_divide_is_exact(values, divisor):
    assert floor_divide(narrow(python_integers(values)), divisor).tolist() == [value // divisor for value in values]


@pytest.mark.parametrize(("values", "expected"), [([], 0), ([-3, 2], 3), ([LOWEST], 2**63), ([2**80], 2**80)])
def test_largest_absolute_value(values, expected):
    assert largest(narrow(python_integers(values))) == expected


TINY = Fraction(1, 10**30)


@pytest.mark.parametrize("scale", [SMALLEST_SCALE, Fraction(1), LARGEST_SCALE])
def test_scales_inside_are_returned(scale):
    assert drawable(scale, "scale") == scale


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), SMALLEST_SCALE - TINY, LARGEST_SCALE + TINY])
def test_scales_outside_are_refused_by_name(scale):
    with pytest.raises(ParameterError, match="stddev"):
        drawable(scale, "stddev")


@pytest.mark.parametrize("variance", [SMALLEST_SCALE**2, Fraction(2), LARGEST_SCALE**2])
def test_variances_inside_are_returned(variance):
    assert drawable_variance(variance) == variance


@pytest.mark.parametrize("variance", [Fraction(0), SMALLEST_SCALE**2 - TINY, LARGEST_SCALE**2 + TINY])
def test_variances_outside_are_refused_by_name(variance):
    with pytest.raises(ParameterError, match="variance"):
        drawable_variance(variance)


@given(st.fractions(SMALLEST_SCALE, LARGEST_SCALE))
def test_a_short_scale_is_never_smaller_and_hardly_larger(scale):
    short = short_scale(scale)
    assert scale <= short < scale * (1 + Fraction(1, 2**22))
    assert short <= LARGEST_SCALE
    assert max(short.as_integer_ratio()) <= 2**50


@pytest.mark.parametrize("scale", [Fraction(10, 3), Fraction(2**50, 2**50 - 1), Fraction(2**50), SMALLEST_SCALE])
def test_a_scale_of_short_terms_stays(scale):
    assert short_scale(scale) == scale


@pytest.mark.parametrize("scale", [Fraction(2**50 + 1, 2**50), Fraction(2**50, 2**50 + 1), LARGEST_SCALE - TINY])
def test_a_scale_of_long_terms_goes_up_to_few_digits(scale):
    short = short_scale(scale)
    digits = short.numerator // (short.numerator & -short.numerator)
    assert short > scale
    assert digits <= 2**24
    assert short.denominator.bit_count() == 1
