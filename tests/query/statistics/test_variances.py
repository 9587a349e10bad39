"""Variances, covariances and correlations: what they are made of, units, samples, and what is printed of them."""

from fractions import Fraction

import numpy as np
import pytest
from tests.query.planned import PEOPLE, planned, ref
from tests.query.recipes import AGE, KIDS, PAY, WIDE, lowered, measures
from tests.session.goldens import cases, shown

from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.model.expressions import Case, IsNull, Not, Null
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table, real
from sfumato.query.model.statement import StepProduct, ValueCount
from sfumato.query.statistics.recipes import MAX_FACTOR
from sfumato.query.statistics.variances import Covariance, Variance

CONFIDENCE = Fraction(95, 100)
NOISE = IntegerNoise("laplace", Fraction(2))


def output(statistic, table=PEOPLE):
    (made,) = planned(table, statistic).sections[0].outputs
    return made


def values(statistic, *numbers, **options):
    made = output(statistic, **options)
    return made.values(made.moments([[number] for number in numbers], [NOISE] * len(numbers))).tolist()


def test_parts_are_the_count_the_sums_and_the_sums_of_products():
    assert output(Variance(ref("age"))).parts == (0, 1, 2)
    assert output(Covariance(ref("age"), ref("pay"))).parts == (0, 1, 2, 3)
    assert output(Covariance(ref("age"), ref("pay"), normalized=True)).parts == (0, 1, 2, 3, 4, 5)


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
    measured = variance.moments([[10**5], [0], [10**9]], [NOISE] * 3)
    low, high = variance.ends(measured, CONFIDENCE)
    assert 0.99 < low[0] < 1 < high[0] < 1.01
    roots = deviation.ends(measured, CONFIDENCE)
    assert np.allclose([root[0] ** 2 for root in roots], [low[0], high[0]])


def test_numbers_stay_within_doubles():
    vast = Table(name="t", columns={"v": real(0, 10**115, resolution=10**100)})
    (value,) = values(Variance(ref("v"), population=True), 3, 0, 10**20, table=vast)
    assert np.isfinite(value)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case['sql']} at {case['epsilon']}")
def test_answers_are_printed_as_before(case):
    asked = {name: value for name, value in case.items() if name != "shown"}
    assert shown(**asked) == case["shown"]


def test_a_variance_is_made_of_a_count_a_sum_and_a_sum_of_squares():
    count, total, squares = measures(Variance(AGE))
    assert (count, squares) == (ValueCount((AGE,)), StepProduct(total.steps, total.steps))
    (output,) = lowered(Variance(AGE, population=True, root=True)).outputs((2, 3, 4))
    assert (output.count, output.total, output.squares, output.population, output.root) == (2, 3, 4, True, True)


def test_a_covariance_reads_each_value_only_where_the_other_is_present():
    count, x, y, products = measures(Covariance(AGE, PAY))
    assert x.steps.value == Case(((Not(IsNull(PAY)), AGE),), Null(Kind.INTEGER))
    assert y.steps.value == Case(((Not(IsNull(AGE)), PAY),), Null(Kind.FLOAT))
    assert (count, products) == (ValueCount((x.steps.value, y.steps.value)), StepProduct(x.steps, y.steps))


def test_a_value_that_is_never_null_needs_no_case():
    _, x, y, _ = measures(Covariance(AGE, KIDS))
    assert (x.steps.value, y.steps.value) == (AGE, Case(((Not(IsNull(AGE)), KIDS),), Null(Kind.INTEGER)))


def test_a_correlation_has_the_squares_as_well():
    assert len(measures(Covariance(AGE, PAY, normalized=True))) == 6
    assert lowered(Covariance(AGE, PAY, normalized=True)).outputs(range(1, 7))[0].squares == (5, 6)
    assert lowered(Covariance(AGE, PAY)).outputs(range(1, 5))[0].squares is None


@pytest.mark.parametrize("value", [ref("v"), ref("f")])
def test_numbers_that_are_multiplied_have_few_enough_steps(value):
    for measure in measures(Variance(value), WIDE):
        low, high = measure.range()
        assert max(-low, high) <= (MAX_FACTOR // 2 + 1) ** 2
