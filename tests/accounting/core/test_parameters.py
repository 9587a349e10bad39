"""The range in which floats certify Gaussian noise, and the search that ends on the safe side."""

from fractions import Fraction

import pytest

from sfumato.accounting.core.parameters import as_delta, certified_stddev, in_range, in_range_or_zero, open_delta
from sfumato.errors import ParameterError


@pytest.mark.parametrize("value", [Fraction(1, 2**500), 1, 2**500])
def test_a_number_in_range_is_taken_exactly(value):
    assert in_range(value, "stddev") == value


@pytest.mark.parametrize("value", [0, -1, Fraction(1, 2**501), 2**500 + 1, "nan"])
def test_a_number_out_of_range_is_refused_by_name(value):
    with pytest.raises(ParameterError, match="stddev"):
        in_range(value, "stddev")


def test_zero_is_an_epsilon():
    assert in_range_or_zero(0, "epsilon") == 0


@pytest.mark.parametrize("delta", [0, 1, -1])
def test_delta_lies_between_its_ends(delta):
    with pytest.raises(ParameterError, match="delta"):
        open_delta(delta)


def test_the_least_bound_is_taken_upward():
    assert 0.25 <= as_delta(0.5, 0.25) < 0.2500001
    assert as_delta(3.0) <= 1


def test_the_stddev_found_suffices_and_a_little_less_does_not():
    found = certified_stddev(lambda stddev: float(1 / stddev), Fraction(1, 1000), guess=Fraction(1))
    assert float(1 / found) <= 1 / 1000 < float(1 / (found * (1 - Fraction(1, 2**20))))
