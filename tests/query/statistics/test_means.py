"""Sums and means: what they are made of."""

from fractions import Fraction

import pytest
from tests.query.planned import ref
from tests.query.recipes import AGE, PAY, WIDE, lowered, steps

from sfumato.errors import ParameterError
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import LinearOutput
from sfumato.query.statistics.recipes import NoisyMeasures


def test_a_sum_is_of_lattice_steps_between_the_declared_bounds():
    found = steps(Sum(PAY))
    assert (found.resolution, found.lower, found.upper, found.offset, found.nullable) == (
        Fraction("0.01"),
        0,
        1000,
        0,
        True,
    )
    assert lowered(Sum(PAY)).outputs((7,)) == (
        LinearOutput(name="x", measurement=7, resolution=Fraction("0.01"), is_whole=False),
    )  # fmt: skip
    assert lowered(Sum(AGE)).outputs((0,))[0].is_whole


def test_stated_bounds_stand_before_declared_ones():
    found = steps(Sum(PAY, (Fraction(1), Fraction(2))))
    assert (found.lower, found.upper) == (100, 200)
    assert (steps(Sum(ref("free"), (Fraction(-5), Fraction(5)))).lower) == -5


def test_a_mean_is_a_count_and_a_sum_around_the_middle():
    found = steps(Mean(PAY))
    assert (found.offset, found.ends) == (500, (-500, 500))
    assert [type(c) for c in lowered(Mean(PAY)).components] == [NoisyMeasures, NoisyMeasures]
    (output,) = lowered(Mean(PAY)).outputs((3, 4))
    assert (output.count, output.total, output.steps) == (3, 4, found)


def test_a_sum_of_whole_numbers_has_its_own_lattice_however_wide():
    assert steps(Sum(ref("v")), WIDE).resolution == 1
    assert steps(Sum(ref("v"), (Fraction(0), Fraction(10**12))), WIDE).resolution > 1


def test_sums_of_text_are_refused():
    with pytest.raises(ParameterError, match="number"):
        lowered(Sum(ref("town")))
