"""The exponential mechanism of a metric: its exact ratios between every two points, and who may drop the half."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.laws import assert_law, cdf_of

from sfumato.errors import ParameterError
from sfumato.geo.metrics import exponential as module
from sfumato.geo.metrics.exponential import MetricExponential
from sfumato.geo.metrics.finite import FiniteMetric
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret

RING = FiniteMetric(list("NESW"), [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], unit="turn")
LINE = FiniteMetric(["a", "b", "c", "d"], [[abs(i - j) * 0.5 for j in range(4)] for i in range(4)], unit="mile")
STAR = FiniteMetric(["hub", 1, 2, 3], [[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]], unit="hop")


def exact_law(mechanism, index, monkeypatch):
    """The probabilities that the mechanism's own sampler is asked for, in 50 digits."""
    asked = {}

    def choice(numerators, denominator, size):
        asked["exponents"] = [mpmath.mpf(int(number)) / denominator for number in numerators]
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(module, "exponential_choice_of", choice)
    mechanism.release(mechanism.metric.point(index))
    weights = [mpmath.exp(-exponent) for exponent in asked["exponents"]]
    return [weight / mpmath.fsum(weights) for weight in weights]


@pytest.mark.parametrize(
    ("metric", "constant"),
    [(RING, False), (RING, True), (LINE, False), (STAR, False)],
    ids=["ring", "even", "line", "star"],
)
@pytest.mark.parametrize("epsilon", ["0.3", 2])
def test_no_report_tells_two_points_apart_by_more_than_their_distance(metric, epsilon, constant, monkeypatch):
    mechanism = MetricExponential(metric, epsilon=epsilon, constant_normalizer=constant)
    with mpmath.workdps(50):
        laws = [exact_law(mechanism, index, monkeypatch) for index in range(len(metric))]
        worst = 0
        for i in range(len(metric)):
            for j in range(len(metric)):
                distance = Fraction(int(metric.steps_from(i)[j])) * metric.step
                allowed = mechanism.guarantee.loss(distance)
                loss = max(mpmath.log(p / q) for p, q in zip(laws[i], laws[j], strict=True))
                assert loss <= mpmath.mpf(allowed.numerator) / allowed.denominator + mpmath.mpf(10) ** -40
                worst = max(worst, float(loss / (allowed or 1)))
    assert worst > (0.999 if constant else 0.499)  # what is promised is hardly more than what is lost


def test_without_the_half_a_line_would_break_its_promise(monkeypatch):
    with pytest.raises(ParameterError, match="doubled"):
        MetricExponential(LINE, epsilon=2, constant_normalizer=True)
    mechanism = MetricExponential(LINE, epsilon=2)
    halved = [exact_law(mechanism, index, monkeypatch) for index in (0, 1)]
    monkeypatch.setattr(module.MetricExponential, "rate", property(lambda self: self.epsilon * self.metric.step))
    whole = [exact_law(mechanism, index, monkeypatch) for index in (0, 1)]
    losses = [max(float(mpmath.log(p / q)) for p, q in zip(*laws, strict=True)) for laws in (halved, whole)]
    assert losses[0] <= 1 < losses[1]


@pytest.mark.statistical
@pytest.mark.parametrize("point", ["a", "c"])
def test_reports_follow_their_probabilities(point):
    mechanism = MetricExponential(LINE, epsilon=3)
    draws = mechanism._drawn(LINE.index(point), 40_000)
    assert_law(draws, cdf_of(mechanism.probabilities(point)))


def test_a_secret_point_is_reported_and_so_are_many():
    mechanism = MetricExponential(STAR, epsilon=1)
    assert mechanism.release(Secret("hub")) in STAR.points
    assert len(mechanism.release_many(["hub", 1, 1])) == 3
    assert mechanism.guarantee == MetricDP(1, "hop")


def test_a_large_epsilon_reports_the_point_itself():
    mechanism = MetricExponential(LINE, epsilon=10**7)
    assert mechanism.release_many(list("abcd")) == list("abcd")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"metric": "x"}, "metric"), ({"epsilon": 0}, "epsilon"), ({"constant_normalizer": 1}, "constant")],
)
def test_what_is_out_of_range_is_refused(change, message):
    given = {"metric": RING, "epsilon": 1} | change
    with pytest.raises(ParameterError, match=message):
        MetricExponential(given.pop("metric"), **given)
    with pytest.raises(ParameterError, match="exact"):
        MetricExponential(RING, epsilon=1).release_many("N")
