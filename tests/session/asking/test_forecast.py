"""Errors that are predicted from public facts, against the errors of noise that is drawn."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, TOWNS, VISITS, N, planned, ref

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.schema import Table, integer
from sfumato.query.model.statement import AUTO
from sfumato.query.statistics.counts import CountDistinct, CountUnits
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.measurements import estimators
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.query.statistics.vectors import VectorSum
from sfumato.session.asking.forecast import LARGEST, STEP, TYPICAL_SIZE, forecast, least_epsilon

CONFIDENCE = Fraction(95, 100)
AGE, PAY = ref("age"), ref("pay")


def errors(*statistics, table=PEOPLE, size=None, **options):
    return forecast(planned(table, *statistics, **options), confidence=CONFIDENCE, size=size)


def widths(*statistics, **options):
    return [one.half_width for one in errors(*statistics, **options)]


def test_a_count_errs_by_the_quantile_of_its_noise():
    assert errors(N, epsilon="0.1") == (Forecast(column="n", half_width=30.0),)


def test_half_the_price_is_twice_the_error():
    (cheap,), (dear,) = widths(N, epsilon="0.01"), widths(N, epsilon="0.02")
    assert cheap == pytest.approx(2 * dear, rel=0.01)


def test_every_column_has_its_own():
    statistics = (N, ("v", VectorSum((AGE, PAY))), ("h", Histogram(PAY, (Fraction(0), Fraction(5), Fraction(10)))))
    found = errors(*statistics, epsilon=1)
    assert [one.column for one in found] == ["n", "v_1", "v_2", "h_1", "h_2"]
    assert found[1].half_width == pytest.approx(100 * found[2].half_width)
    assert all(one.assumption == "" for one in found)


def test_counts_of_units_and_of_different_values_err_like_counts():
    units, values = widths(("u", CountUnits()), ("d", CountDistinct(ref("ill"))), table=VISITS, epsilon=2)
    assert (units, values) == (3, 12)


@pytest.mark.statistical
@pytest.mark.parametrize("statistic", [N, ("s", Sum(PAY))])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_predicted_error_is_within_5_percent_of_the_measured(statistic, law):
    plan = planned(PEOPLE, statistic, epsilon="0.05", delta="1e-6", law=law)
    (predicted,) = forecast(plan, confidence=CONFIDENCE)
    (output,), (measurement,) = plan.sections[0].outputs, plan.sections[0].measurements
    noise = np.abs(measurement.mechanism.release(np.zeros(100_000, dtype=np.int64))) * float(output.resolution)
    assert predicted.half_width == pytest.approx(np.quantile(noise, 0.95), rel=0.05)


def test_a_mean_says_what_it_presumes():
    (presumed,) = errors(("m", Mean(AGE)), epsilon=1)
    assert f"over {TYPICAL_SIZE:,} values" in str(presumed)
    (larger,) = errors(("m", Mean(AGE)), epsilon=1, size=100_000)
    assert larger.half_width < presumed.half_width / 50


def test_a_mean_in_the_middle_never_errs_by_more_than_its_bounds():
    assert widths(("m", Mean(AGE)), epsilon="0.0001") == [50]


def test_the_error_of_a_mean_is_that_of_releases_of_that_size():
    plan = planned(PEOPLE, ("m", Mean(AGE)), epsilon=1)
    (estimator,) = estimators(plan.sections[0], CONFIDENCE)
    (predicted,) = forecast(plan, confidence=CONFIDENCE, size=2_000)
    (found,) = estimator([[(2_000,)], [(0,)]])
    assert predicted.half_width == found.half_width


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_predicted_error_of_a_mean_is_within_5_percent_of_the_measured(law):
    plan = planned(PEOPLE, ("m", Mean(AGE)), epsilon="0.5", delta="1e-6", law=law)
    (predicted,) = forecast(plan, confidence=CONFIDENCE, size=2_000)
    count, total = (part.mechanism for part in plan.sections[0].measurements)
    means = total.release(np.zeros(100_000, dtype=np.int64)) / count.release(np.full(100_000, 2_000))
    assert predicted.half_width == pytest.approx(np.quantile(np.abs(means), 0.95), rel=0.05)


@pytest.mark.parametrize(("root", "spread"), [(False, 10000 / 12), (True, 100 / math.sqrt(12))])
def test_the_error_of_a_variance_is_that_of_values_spread_evenly(root, spread):
    plan = planned(PEOPLE, ("v", Variance(AGE, population=True, root=root)), epsilon="0.4")
    (estimator,) = estimators(plan.sections[0], CONFIDENCE)
    (predicted,) = forecast(plan, confidence=CONFIDENCE, size=5_000)
    values = np.linspace(0, 100, 5_000) - 50
    (found,) = estimator([[(5_000,)], [(round(values.sum()),)], [(round((values**2).sum()),)]])
    assert found.value == pytest.approx(spread, rel=0.01)
    assert predicted.half_width == pytest.approx(found.half_width, rel=0.05)
    assert "5,000 values spread evenly" in predicted.assumption


SPREADS = {
    "variance": Variance(AGE, population=True),
    "deviation": Variance(AGE, root=True),
    "covariance": Covariance(AGE, PAY),
    "correlation": Covariance(AGE, PAY, normalized=True),
}


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("name", SPREADS)
def test_the_predicted_error_of_a_spread_is_within_a_twentieth_of_the_measured(name, law):
    """Of 500 values: the noise of their count is up to a tenth of it."""
    plan, runs = planned(PEOPLE, ("v", SPREADS[name]), epsilon="0.7", delta="1e-6", law=law), 20_000
    (predicted,) = forecast(plan, confidence=CONFIDENCE, size=500)
    (estimator,), measurements = estimators(plan.sections[0], CONFIDENCE), plan.sections[0].measurements
    x, y = 500 * 100**2 // 12, 500 * 1000**2 // 12
    exact = {3: (500, 0, x), 4: (500, 0, 0, 0), 6: (500, 0, 0, 0, x, y)}[len(measurements)]
    draws = [m.mechanism.release(np.full(runs, part)) for m, part in zip(measurements, exact, strict=True)]
    (true,) = estimator([[(part,)] for part in exact])
    values = np.array([one.value for one in estimator([[(int(n),) for n in draw] for draw in draws])])
    assert predicted.half_width == pytest.approx(np.quantile(np.abs(values - true.value), 0.95), rel=0.05)


def test_at_a_confidence_beyond_the_public_points_the_interval_is_the_prediction():
    plan = planned(PEOPLE, ("v", Variance(AGE)), epsilon=1)
    (sure,) = forecast(plan, confidence=1 - Fraction(1, 10**9), size=5_000)
    (usual,) = forecast(plan, confidence=CONFIDENCE, size=5_000)
    assert usual.half_width * 4 < sure.half_width < 2 * 2500


def test_covariances_and_correlations_have_errors_that_shrink_with_the_size():
    statistics = (("c", Covariance(AGE, PAY)), ("r", Covariance(AGE, PAY, normalized=True)))
    small, large = widths(*statistics, size=1_000), widths(*statistics, size=100_000)
    assert 0 < large[0] < small[0] / 20
    assert 0 < large[1] < small[1] <= 2


def test_choices_err_in_ranks():
    quantile, largest, top = errors(
        ("q", Percentile(AGE, Fraction(1, 2))),
        ("x", Percentile(AGE, Fraction(1))),
        ("t", TopValues(ref("sex"))),
        epsilon=3,
    )
    assert (quantile.assumption, top.assumption) == ("in ranks of values", "in the count of the value")
    assert quantile.half_width == pytest.approx(math.log(101 / 0.05), rel=0.01)
    assert largest.half_width > 0
    assert top.half_width == 8


def test_with_epsilon_zero_the_error_is_infinite():
    statistics = (
        N,
        ("m", Mean(AGE)),
        ("v", Variance(AGE)),
        ("c", Covariance(AGE, PAY)),
        ("q", Percentile(AGE, Fraction(1, 2))),
    )
    assert widths(*statistics, ("t", TopValues(ref("sex"))), epsilon=0) == [math.inf] * 6


def test_what_is_free_has_no_error():
    assert widths(N, ("s", Sum(ref("area"))), table=TOWNS) == [0, 0]


def test_of_grouping_sets_it_is_that_of_the_first():
    (first,) = errors(N, keys=("sex",), sets=(("sex",), ()), epsilon=1)
    assert first.half_width == widths(N, epsilon="0.5")[0]


def test_where_bounds_are_chosen_it_presumes_the_widest():
    mean, count, total = errors(("m", Mean(AGE, AUTO)), N, ("s", Sum(ref("free"), AUTO)), epsilon=1)
    assert mean.assumption.endswith("around the middle of the bounds, with the widest bounds that can be chosen")
    assert total.assumption == "with the widest bounds that can be chosen"
    assert count.assumption == ""


def test_a_forecast_reads_as_a_line():
    assert repr(Forecast(column="n", half_width=30.0)) == "n ± 30"
    assert repr(Forecast(column="m", half_width=1 / 3, assumption="over 5 values")) == "m ± 0.333333 (over 5 values)"


def errors_of(*statistics, table=PEOPLE, **options):
    """What would be predicted at an ε."""
    return lambda epsilon: forecast(planned(table, *statistics, epsilon=epsilon, **options), confidence=CONFIDENCE)


def inverse(*shares):
    """Columns whose errors fall like share/ε."""
    return lambda epsilon: tuple(
        Forecast(column=f"c{index}", half_width=float(share / epsilon)) for index, share in enumerate(shares)
    )


@given(st.fractions(Fraction(1, 10**5), Fraction(1000), max_denominator=10**6), st.sampled_from([1, 7, "0.01"]))
def test_it_is_the_smallest_multiple_that_is_enough(share, target):
    limit = Fraction(target)
    found = least_epsilon(inverse(share), {"c0": target})
    assert (found / STEP).denominator == 1
    assert float(share / found) <= limit
    assert found == STEP or float(share / (found - STEP)) > limit


def test_every_target_is_met_and_one_of_them_just_so():
    assert least_epsilon(inverse(1, 5, 100), {"c0": 1, "c1": "0.5"}) == 10
    assert least_epsilon(inverse(1, 5, 100), {"c2": 1, "c1": "0.5"}) == 100


@pytest.mark.parametrize(
    ("statistics", "target"),
    [((N,), {"n": 25}), ((N, ("m", Mean(ref("age")))), {"n": 10, "m": 2}), ((("s", Sum(ref("age"))), N), {"s": 500})],
)
def test_of_real_plans_the_step_below_is_not_enough(statistics, target):
    predicted = errors_of(*statistics)
    found = least_epsilon(predicted, target)
    for epsilon, is_enough in ((found, True), (found - STEP, False)):
        errors = {one.column: one.half_width for one in predicted(epsilon)}
        assert all(errors[name] <= limit for name, limit in target.items()) is is_enough


def test_of_a_count_it_is_found_by_hand():
    """P(|X| > 25) = 2q^26/(1 + q) ≤ 1/20 for q = e^−ε."""
    assert least_epsilon(errors_of(N), {"n": 25}) == pytest.approx(Fraction("0.1164"), rel=0.01)


def test_a_target_that_noise_too_wide_to_be_drawn_misses_is_met_by_a_larger_epsilon():
    wide = Table(name="t", columns={"v": integer(0, 2**52)})
    predicted = errors_of(("s", Sum(ref("v"))), table=wide)
    with pytest.raises(ParameterError, match="2\\^50"):
        predicted(Fraction(1))
    found = least_epsilon(predicted, {"s": 10**15})
    assert 10 < found < 20
    assert least_epsilon(predicted, {"s": 10**40}) < found


@pytest.mark.parametrize("law", ["laplace", "gaussian", None])
def test_with_delta_the_step_below_is_not_enough_either(law):
    predicted = errors_of(("s", Sum(ref("age"))), delta="1e-6", law=law)
    found = least_epsilon(predicted, {"s": 1000})
    assert predicted(found)[0].half_width <= 1000 < predicted(found - STEP)[0].half_width


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({}, "must state the largest error"), ({"x": 1}, "released, not computed of others: c0, c1"),
        (25, "such as {'n': 25}"), ({"c0": 0}, "above 0"), ({"c0": -1}, "above 0"),
        ({"c0": "much"}, "finite number"), ({"c0": "1e-12"}, "smaller than any noise"),
    ],
)  # fmt: skip
def test_targets_that_mean_nothing_are_refused(targets, message):
    with pytest.raises(ParameterError, match=message):
        least_epsilon(inverse(1, 2), targets)


def test_a_question_without_an_answer_says_why():
    with pytest.raises(NotPrivateError, match="δ"):
        least_epsilon(errors_of(N, keys=("town",)), {"n": 1})
    with pytest.raises(ParameterError, match="laplace, gaussian"):
        least_epsilon(errors_of(N, law="none"), {"n": 1})


def test_errors_that_no_epsilon_lessens_are_refused():
    flat = lambda _: (Forecast(column="c0", half_width=5.0),)  # noqa: E731 # a constant
    with pytest.raises(ParameterError, match="smaller than any noise"):
        least_epsilon(flat, {"c0": 4})
    assert least_epsilon(flat, {"c0": 6}) == STEP


def test_ranks_are_errors_too():
    predicted = errors_of(("q", Percentile(ref("age"), Fraction(1, 2))))
    found = least_epsilon(predicted, {"q": 10})
    assert predicted(found)[0].half_width <= 10 < predicted(found - STEP)[0].half_width


def test_few_plans_are_made():
    asked = []

    def predicted(epsilon):
        asked.append(epsilon)
        return inverse(1)(epsilon)

    least_epsilon(predicted, {"c0": 25})
    assert len(asked) < 30
    assert max(asked) <= LARGEST
