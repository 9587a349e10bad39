"""Variances, covariances and correlations of what was released: units, samples, and what is printed of them."""

from fractions import Fraction

import numpy as np
import pytest
from tests.query.planned import PEOPLE, planned, ref
from tests.session.goldens import cases, shown

from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.model.relations import Covariance, Variance
from sfumato.query.model.schema import Table, real
from sfumato.query.statistics.spreads import moments_of, parts_of, spread_ends, spread_values

CONFIDENCE = Fraction(95, 100)
NOISE = IntegerNoise("laplace", Fraction(2))


def output(statistic, table=PEOPLE):
    (made,) = planned(table, statistic).sections[0].outputs
    return made


def values(statistic, *numbers, **options):
    own = output(statistic, **options)
    found = spread_values(own, moments_of(own, [[number] for number in numbers], [NOISE] * len(numbers)))
    return found.tolist()


def test_parts_are_the_count_the_sums_and_the_sums_of_products():
    assert parts_of(output(Variance(ref("age")))) == (0, 1, 2)
    assert parts_of(output(Covariance(ref("age"), ref("pay")))) == (0, 1, 2, 3)
    assert parts_of(output(Covariance(ref("age"), ref("pay"), normalized=True))) == (0, 1, 2, 3, 4, 5)


def test_answers_are_in_the_unit_of_the_column():
    """A step of pay is 1/100."""
    assert values(Variance(ref("pay"), population=True), 100, 0, 10**6) == [pytest.approx(1)]
    assert values(Variance(ref("pay"), population=True, root=True), 100, 0, 4 * 10**6) == [pytest.approx(2)]
    assert values(Covariance(ref("age"), ref("pay"), population=True), 100, 0, 0, 50_000) == [pytest.approx(5)]
    correlation = Covariance(ref("age"), ref("pay"), normalized=True)
    assert values(correlation, 100, 0, 0, 500, 10**3, 10**3) == [pytest.approx(0.5)]


def test_of_a_sample_they_are_larger_by_one_part_in_the_count_less_one():
    assert values(Variance(ref("age")), 11, 0, 1_100) == [pytest.approx(110)]
    assert values(Variance(ref("age")), -5, 0, 100) == [pytest.approx(200)]


def test_intervals_are_in_the_unit_too():
    variance, deviation = (output(Variance(ref("pay"), population=True, root=root)) for root in (False, True))
    measured = moments_of(variance, [[10**5], [0], [10**9]], [NOISE] * 3)
    low, high = spread_ends(variance, measured, CONFIDENCE)
    assert 0.99 < low[0] < 1 < high[0] < 1.01
    roots = spread_ends(deviation, measured, CONFIDENCE)
    assert np.allclose([root[0] ** 2 for root in roots], [low[0], high[0]])


def test_numbers_stay_within_doubles():
    vast = Table(name="t", columns={"v": real(0, 10**115, resolution=10**100)})
    (value,) = values(Variance(ref("v"), population=True), 3, 0, 10**20, table=vast)
    assert np.isfinite(value)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['sql']} at {case['epsilon']}")
def test_answers_are_printed_as_before(case):
    asked = {name: value for name, value in case.items() if name != "shown"}
    assert shown(**asked) == case["shown"]
