"""Estimates and their intervals: the formulas, against numpy and against the law of the noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.laws import ALPHA
from tests.query.planned import PEOPLE, VISITS, N, planned, ref
from tests.session.desk import rows, values

from sfumato.query.model.intervals import ANYTHING, Interval, point
from sfumato.query.model.schema import Table, integer, real
from sfumato.query.statistics.counts import CountValues
from sfumato.query.statistics.estimates import (
    NOTHING,
    AnswerValue,
    Misrank,
    estimated,
    figure,
    figures_of,
    shared,
)
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import estimators
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.query.statistics.vectors import VectorSum

CONFIDENCE = Fraction(95, 100)
AGE, PAY, KIDS, HOURS, BEDS = ref("age"), ref("pay"), ref("kids"), ref("hours"), ref("beds")
OFF_ZERO = Table(name="t", columns={"a": integer(10, 100), "b": integer(-3, 5)})


def section(*statistics, table=PEOPLE, **price):
    (made,) = planned(table, *statistics, **({"epsilon": "0.5"} | price)).sections
    return made


def estimate(statistic, *measured, confidence=CONFIDENCE, table=PEOPLE, **price):
    """The estimate of one statistic, of these measured numbers."""
    (own,) = estimators(section(statistic, table=table, **price), confidence)
    (found,) = own([[(number,)] for number in measured])
    return found


def test_a_count_is_the_noisy_count_plus_or_minus_the_error_of_the_noise():
    error = section(N).error(0, CONFIDENCE)
    for noisy in (100, -3):
        assert estimate(N, noisy) == AnswerValue(value=noisy, low=noisy - error, high=noisy + error)


def test_a_sum_is_lattice_steps_times_the_resolution():
    found = estimate(Sum(PAY), 250)
    assert (found.value, type(found.value)) == (2.5, float)
    assert found.half_width == pytest.approx(section(Sum(PAY)).error(0, CONFIDENCE) / 100)


@pytest.mark.parametrize(("value", "kind"), [(AGE, int), (KIDS, int), (PAY, float), (ref("coarse"), float)])
@pytest.mark.parametrize("steps", [-1, 0, 7, 10**6, 2**62])
def test_the_type_of_an_answer_is_that_of_what_is_summed_whatever_the_number(value, kind, steps):
    table = Table(name="t", columns={**PEOPLE.columns, "coarse": real(0, 90, resolution=1)})
    found = estimate(Sum(value), steps, table=table)
    assert [type(number) for number in (found.value, found.low, found.high)] == [kind] * 3


@pytest.mark.parametrize(("most", "kind"), [(2**23 - 1, int), (2**23, float), (2**53 - 1, float)])
@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_are_summed_as_doubles_where_64_bits_may_not_hold_the_sum(most, kind, sign):
    """Whatever table: of 2^40 rows with the largest value of either sign."""
    table = Table(name="t", columns={"v": integer(min(0, sign * most), max(0, sign * most))})
    found = estimate(Sum(ref("v")), sign * most * 2**40, table=table, epsilon=10)
    assert found.value == sign * most * 2**40
    assert type(found.value) is kind


def test_beyond_64_bits_a_value_is_missing_and_an_end_open_and_neither_is_another_number():
    error = int(section(N).error(0, CONFIDENCE))
    near, beyond = estimate(N, 2**63 - 2), estimate(N, 2**63 + 1)
    assert near == AnswerValue(value=2**63 - 2, low=2**63 - 2 - error, high=None)
    assert beyond == AnswerValue(value=None, low=2**63 + 1 - error, high=None)
    assert estimate(N, -(2**70)) == AnswerValue(value=None, low=None, high=None)
    assert [found.is_mostly_noise for found in (near, beyond)] == [False, False]


def test_a_vector_has_a_column_for_each_of_its_numbers():
    own = estimators(section(VectorSum((AGE, PAY))), CONFIDENCE)
    assert [one([[(3, 250)]])[0].value for one in own] == [3, 2.5]


@given(st.integers(-50, 5_000), st.integers(-500_000, 500_000))
def test_a_mean_lies_in_its_interval_and_in_the_bounds_whatever_the_noise(count, total):
    found = estimate(Mean(PAY), count, total)
    assert 0 <= found.low <= found.value <= found.high <= 10


def test_a_mean_is_the_middle_of_the_bounds_plus_noisy_sum_over_noisy_count():
    assert estimate(Mean(AGE), 1_000, 2_500).value == 52.5


def test_a_mean_over_nothing_is_the_middle_and_may_be_anything():
    found = estimate(Mean(AGE), 0, 0, epsilon="0.01")
    assert (found.value, found.low, found.high) == (50, 0, 100)


def test_a_mean_with_noise_that_moves_nothing_is_its_interval():
    found = estimate(Mean(PAY), 3, 100, epsilon=10**9)
    assert found == AnswerValue(value=5 + 1 / 3, low=5 + 1 / 3, high=5 + 1 / 3)


def test_each_of_many_groups_has_its_own_mean():
    (own,) = estimators(section(Mean(AGE)), CONFIDENCE)
    counts, totals = [(1_000,), (50,), (-2,)], [(2_500,), (9_000,), (40,)]
    alone = [estimate(Mean(AGE), n, s) for (n,), (s,) in zip(counts, totals, strict=True)]
    assert own([counts, totals]) == alone
    assert [one.value for one in alone] == [52.5, 100, 90]


@given(st.integers(-5, 300), st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.booleans(), st.booleans())
def test_a_variance_lies_between_0_and_what_the_bounds_allow(count, total, squares, population, root):
    found = estimate(Variance(ref("a"), population=population, root=root), count, total, squares, table=OFF_ZERO)
    most = 2025 * (1 if population else 2)
    assert 0 <= found.low <= found.value <= found.high <= (math.sqrt(most) if root else most)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=4, max_size=4), st.booleans())
def test_a_covariance_lies_within_what_the_bounds_allow(measured, population):
    found = estimate(Covariance(ref("a"), ref("b"), population=population), *measured, table=OFF_ZERO)
    most = 180 * (1 if population else 2)
    assert -most <= found.low <= found.value <= found.high <= most


def test_a_variance_or_covariance_beyond_what_the_bounds_allow_is_the_most_that_they_do():
    variance, covariance = Variance(ref("a"), population=True), Covariance(ref("a"), ref("b"), population=True)
    assert estimate(variance, 10, 0, 10**9, table=OFF_ZERO).value == 2025
    assert estimate(covariance, 10, 0, 0, 10**9, table=OFF_ZERO).value == 180
    assert estimate(covariance, 10, 0, 0, -(10**9), table=OFF_ZERO).value == -180


@given(st.lists(st.integers(-(10**6), 10**6), min_size=6, max_size=6))
def test_a_correlation_lies_between_minus_one_and_one(measured):
    found = estimate(Covariance(AGE, PAY, normalized=True), *measured)
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_the_correlation_of_what_does_not_vary_is_0():
    assert estimate(Covariance(AGE, PAY, normalized=True), 10, 0, 0, 0, 0, 0).value == 0


def test_a_quantile_is_the_middle_of_its_bin_and_its_error_is_one_of_ranks():
    misrank = Misrank(error=pytest.approx(math.log(101 / 0.05) / 0.5), unit="ranks", share=Fraction(1, 2))
    assert estimate(Percentile(AGE, Fraction(1, 2)), 37) == AnswerValue(value=37, low=None, high=None, misrank=misrank)
    wide = Table(name="t", columns={"v": integer(0, 10**6)})
    assert estimate(Percentile(ref("v"), Fraction(1, 2)), 3, table=wide).value == 3 * 16 + 7
    assert estimate(Percentile(PAY, Fraction(1, 2)), 150).value == 1.5


def test_the_most_frequent_is_one_of_the_public_values():
    found = estimate(TopValues(ref("sex")), 1)
    assert found == AnswerValue(value="m", low=None, high=None, misrank=Misrank(error=14, unit="rows"))
    first, second = estimators(section(TopValues(ref("smokes"), 2)), CONFIDENCE)
    assert (first([[(1, 0)]])[0].value, second([[(1, 0)]])[0].value) == (True, False)


@pytest.mark.parametrize(
    "statistic", [N, Sum(AGE), Mean(AGE), Variance(AGE), Covariance(AGE, PAY), Covariance(AGE, PAY, normalized=True)]
)
def test_nothing_is_estimated_where_nothing_was_released(statistic):
    assert estimate(statistic, *[0] * 6, epsilon=0) is NOTHING
    assert NOTHING.half_width == math.inf
    assert not NOTHING.is_mostly_noise


@pytest.mark.parametrize(
    ("value", "low", "high", "is_noise"),
    [(5, 4, 6, False), (5, 0, 10, True), (0, -1, 1, True), (-7, -9, -5, False), (0, 0, 0, False), (3, -2, 4, True)],
)
def test_an_answer_is_mostly_noise_if_its_error_may_be_as_large_as_itself(value, low, high, is_noise):
    assert AnswerValue(value=value, low=low, high=high).is_mostly_noise is is_noise


def test_a_chosen_value_is_called_noise_where_its_error_is_that_of_any_value():
    for error, size, is_noise in ((72, 5, True), (72, 144, True), (72, 145, False), (72, None, False), (1, -3, True)):
        misrank = Misrank(error=error, unit="ranks", size=size, share=Fraction(1, 2))
        assert AnswerValue(value=73, low=None, high=None, misrank=misrank).is_mostly_noise is is_noise
    assert not AnswerValue(value="m", low=None, high=None).is_mostly_noise
    assert AnswerValue(value="m", low=None, high=None).half_width == math.inf


def test_a_number_that_nothing_bounds_is_called_noise():
    for low, high in ((None, None), (None, 3.0), (-1.0, None)):
        one = AnswerValue(value=0.5, low=low, high=high)
        assert one.is_mostly_noise
        assert one.is_unbounded


@pytest.mark.parametrize(
    ("value", "is_whole", "shown"),
    [(3, True, 3), (-3, True, -3), (3, False, 3.0), ("1/3", False, 1 / 3), (2**63 - 1, True, 2**63 - 1),
     (2**63, True, None), (-(2**80), True, None), (10**400, False, None), (-(10**400), False, None)],
)  # fmt: skip
def test_figures_are_whole_or_not_and_none_where_their_type_does_not_hold_them(value, is_whole, shown):
    found = figure(*Fraction(value).as_integer_ratio(), is_whole=is_whole)
    assert (found, type(found)) == (shown, type(shown))


def test_an_estimate_lies_in_its_interval_however_doubles_are_rounded():
    assert estimated(0.1 + 0.2, point(Fraction("0.3"))) == AnswerValue(value=0.1 + 0.2, low=0.3, high=0.1 + 0.2)
    assert estimated(2, Interval(Fraction("1.5"), Fraction("2.5")), is_whole=True) == AnswerValue(
        value=2, low=1, high=3
    )
    assert estimated(None, ANYTHING) == AnswerValue(value=None, low=None, high=None)
    assert estimated(1.0, Interval(Fraction(-(10**500)), None)) == AnswerValue(value=1.0, low=None, high=None)


def test_several_intervals_hold_at_once_if_each_holds_more_surely():
    assert shared(CONFIDENCE, 1) == CONFIDENCE
    assert 1 - shared(CONFIDENCE, 5) == Fraction(1, 100)


# Against numpy, with so much budget that noise moves nothing

RNG = np.random.default_rng(20261120)
PEOPLE_ROWS = [
    {
        "age": None if i % 7 == 0 else int(RNG.integers(-20, 140)),
        "pay": None if i % 5 == 0 else round(float(RNG.uniform(-3, 14)), 2),
        "kids": int(RNG.integers(0, 10)),
    }
    for i in range(200)
]


def clamped(name, low, high, present=None):
    """The values of a column as they are summed: clamped, where another one is present too."""
    kept = [r[name] for r in PEOPLE_ROWS if r[name] is not None and (present is None or r[present] is not None)]
    return np.clip(np.array(kept, dtype=float), low, high)


def asked(*statistics, data=None, table=PEOPLE):
    found = values(table, rows(table, *(data or PEOPLE_ROWS)), tuple(statistics), epsilon=10**9)
    return list(found.values())


def test_counts_sums_and_means_are_those_of_numpy():
    age, pay = clamped("age", 0, 100), clamped("pay", 0, 10)
    found = asked(N, ("c", CountValues(AGE)), ("s", Sum(AGE)), ("t", Sum(PAY)), ("m", Mean(AGE)), ("p", Mean(PAY)))
    assert found == pytest.approx([200, len(age), age.sum(), pay.sum(), age.mean(), pay.mean()])


@pytest.mark.parametrize(("population", "freedom"), [(False, 1), (True, 0)])
def test_variances_are_those_of_numpy(population, freedom):
    age, pay = clamped("age", 0, 100), clamped("pay", 0, 10)
    found = asked(
        ("v", Variance(AGE, population=population)), ("w", Variance(PAY, population=population)),
        ("d", Variance(AGE, population=population, root=True)), ("b", Variance(AGE, (Fraction(10), Fraction(20)))),
    )  # fmt: skip
    narrow = np.var(clamped("age", 10, 20), ddof=1)
    assert found == pytest.approx([age.var(ddof=freedom), pay.var(ddof=freedom), age.std(ddof=freedom), narrow])


def test_covariances_and_correlations_are_those_of_numpy():
    age, pay, kids = clamped("age", 0, 100, "pay"), clamped("pay", 0, 10, "age"), clamped("kids", 0, 9, "age")
    found = asked(
        ("s", Covariance(AGE, PAY)), ("p", Covariance(AGE, PAY, population=True)),
        ("r", Covariance(AGE, PAY, normalized=True)), ("k", Covariance(AGE, KIDS)), ("x", Covariance(AGE, AGE)),
        ("one", Covariance(AGE, AGE, normalized=True)),
    )  # fmt: skip
    every = clamped("age", 0, 100)
    expected = [
        np.cov(age, pay)[0, 1], np.cov(age, pay, ddof=0)[0, 1], np.corrcoef(age, pay)[0, 1], np.cov(every, kids)[0, 1],
        every.var(ddof=1), 1,
    ]  # fmt: skip
    assert found == pytest.approx(expected)


def test_a_lattice_made_coarser_for_products_hardly_shows():
    table = Table(name="t", columns={"v": real(0, 10**7)})
    data = [{"v": float(v)} for v in RNG.uniform(-(10**6), 11 * 10**6, 500)]
    v = np.clip([r["v"] for r in data], 0, 10**7)
    assert asked(("v", Variance(ref("v"))), data=data, table=table) == pytest.approx([v.var(ddof=1)], rel=1e-4)


def test_of_units_with_too_many_rows_all_parts_are_scaled_alike():
    """Within a limit of 4 rows: 2 of one person as they are, 12 of another as a third of each sum."""
    data = [{"who": "a", "hours": 2.0, "beds": 3}, {"who": "a", "hours": 4.0, "beds": 5}]
    data += [{"who": "b", "hours": 8.0 + 2 * (i % 2), "beds": 3 + 3 * (i % 2)} for i in range(12)]
    weights, hours, beds = [1, 1, 2, 2], np.array([2.0, 4, 8, 10]), np.array([3.0, 5, 3, 6])
    mean, spread = np.average(hours, weights=weights), np.cov(hours, beds, fweights=weights)
    statistics = (N, ("s", Sum(HOURS)), ("m", Mean(HOURS)), ("v", Variance(HOURS)), ("c", Covariance(HOURS, BEDS)))
    found = asked(*statistics, data=data, table=VISITS)
    assert found == pytest.approx([6, 42, mean, spread[0, 0], spread[0, 1]], abs=0.02)


def test_of_no_rows_answers_are_within_their_bounds():
    found = asked(N, ("m", Mean(AGE)), ("v", Variance(AGE)), ("r", Covariance(AGE, PAY, normalized=True)), data=[{}])
    assert found == [1, 50, 0, 0]


# Against the law of the noise

RUNS = 4_000
TRUE = {"age": RNG.integers(0, 101, 400), "pay": RNG.integers(0, 1001, 400)}


def exact_parts(made):
    """What the engine would find of 400 people, whose ages and pay are `TRUE`, for each measurement."""
    age, pay = TRUE["age"] - 50, TRUE["pay"] - 500
    sums = {"n": 400, "s": int(TRUE["age"].sum()), "x": int(age.sum()), "y": int(pay.sum()), "xx": int((age**2).sum()),
            "xy": int((age * pay).sum()), "yy": int((pay**2).sum())}  # fmt: skip
    return [sums[name] for name in made]


CASES = {
    "count": (N, "n", 400),
    "sum": (Sum(AGE), "s", TRUE["age"].sum()),
    "mean": (Mean(AGE), ("n", "x"), TRUE["age"].mean()),
    "variance": (Variance(AGE), ("n", "x", "xx"), TRUE["age"].var(ddof=1)),
    "deviation": (Variance(AGE, population=True, root=True), ("n", "x", "xx"), TRUE["age"].std()),
    "covariance": (Covariance(AGE, PAY), ("n", "x", "y", "xy"), np.cov(TRUE["age"], TRUE["pay"] / 100)[0, 1]),
    "correlation": (
        Covariance(AGE, PAY, normalized=True), ("n", "x", "y", "xy", "xx", "yy"),
        np.corrcoef(TRUE["age"], TRUE["pay"])[0, 1],
    ),
}  # fmt: skip


def hits(case, epsilon, confidence=CONFIDENCE, runs=RUNS):
    """How often the interval holds the exact value, over draws of the noise of the plan."""
    statistic, parts, exact = CASES[case]
    made = section(statistic, epsilon=epsilon)
    (own,) = estimators(made, confidence)
    draws = [
        measurement.mechanism.release(np.full(runs, part))
        for measurement, part in zip(made.measurements, exact_parts(parts), strict=True)
    ]
    found = own([[(int(number),) for number in draw] for draw in draws])
    slack = 1e-9 * abs(float(exact))
    return sum(one.low - slack <= exact <= one.high + slack for one in found)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.05", "1", "30"])
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_exact_value_as_often_as_they_say(case, epsilon):
    runs = RUNS if case in {"count", "sum"} else RUNS // 4
    assert binom.cdf(hits(case, epsilon, runs=runs), runs, 0.95) >= ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("case", ["count", "sum"])
def test_intervals_are_no_wider_than_needed(case):
    """At an ε of 0.01 a step of the lattice has hardly any probability of its own."""
    assert binom.sf(hits(case, "0.01", Fraction(1, 2)), RUNS, 0.5 + 0.02) >= ALPHA


@pytest.mark.statistical
def test_the_interval_of_a_mean_is_no_wider_than_needed():
    """A union of two intervals would hold it in 98% of cases."""
    runs = 40_000
    assert binom.sf(hits("mean", "0.5", runs=runs), runs, 0.952) >= ALPHA


@pytest.mark.statistical
def test_coverage_that_is_too_small_would_be_seen():
    assert binom.cdf(hits("count", "0.05", Fraction(9, 10)), RUNS, 0.95) < ALPHA


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "3"])
def test_the_error_of_noise_is_the_smallest_that_holds_often_enough(epsilon):
    made = section(N, epsilon=epsilon)
    error, q = int(made.error(0, CONFIDENCE)), math.exp(-float(epsilon))
    assert 1 - 2 * q ** (error + 1) / (1 + q) >= 0.95 > 1 - 2 * q**error / (1 + q) - 1e-12


def test_only_additive_noise_has_an_error_of_its_own():
    with pytest.raises(TypeError, match="additive"):
        section(TopValues(ref("sex"))).error(0, CONFIDENCE)


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("denominator", [1, 3, 10**400])
@pytest.mark.parametrize(
    "numerators", [[], [7, -7, 0], [2**63 - 1, 1 - 2**63], [2**63, 1], [-(2**63), 5], [10**400, 1]]
)
def test_many_figures_are_made_as_one_is(numerators, denominator, is_whole):
    found = list(figures_of(numerators, denominator, is_whole=is_whole))
    expected = [figure(numerator, denominator, is_whole=is_whole) for numerator in numerators]
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))
