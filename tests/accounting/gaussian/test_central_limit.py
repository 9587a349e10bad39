import math
from fractions import Fraction

import pytest

from sfumato.accounting.gaussian.central_limit import Estimate, clt_estimate
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import GaussianEvent, LaplaceEvent, PoissonSampledEvent


def sampled(probability, sigma) -> PoissonSampledEvent:
    return PoissonSampledEvent(Fraction(probability), GaussianEvent(Fraction(sigma)))


def test_it_is_the_formula():
    estimate = clt_estimate(sampled("0.01", 1), 10_000)
    assert estimate.mu == pytest.approx(math.sqrt(math.e - 1))
    assert estimate.epsilon("1e-5") == pytest.approx(6.007, abs=1e-3)  # the truth is 6.177 or more
    assert estimate.delta(estimate.epsilon("1e-5")) == pytest.approx(1e-5)


def test_it_can_be_far_below_the_truth():
    truth = 3.435  # dp-accounting 0.6.0, privacy loss distribution
    assert clt_estimate(sampled("0.001", "0.6"), 100).epsilon("1e-9") < truth / 17


def test_it_cannot_be_taken_for_an_accountant_or_a_bound():
    for promise in ("upper", "interval", "compose", "supports", "neighboring_relation"):
        assert not hasattr(Estimate(1.0), promise)


@pytest.mark.parametrize(
    "event",
    [GaussianEvent(1), PoissonSampledEvent(Fraction(1, 2), LaplaceEvent(1)), PoissonSampledEvent(1, sampled(1, 1))],
)
def test_other_events_are_refused(event):
    with pytest.raises(UnsupportedEventError, match="clt_estimate"):
        clt_estimate(event, 10)


def test_the_count_is_checked_and_extremes_are_finite():
    with pytest.raises(ParameterError, match="count"):
        clt_estimate(sampled("0.01", 1), 0)
    assert 0 < clt_estimate(sampled("0.01", "1e-9"), 10**12).mu < math.inf
