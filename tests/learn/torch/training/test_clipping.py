"""A clip that follows a quantile: what it releases is priced, and it stays within its limits."""

from fractions import Fraction

import pytest

from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.sampling import Poisson
from sfumato.learn.torch.noise.steps import IndependentNoise
from sfumato.learn.torch.training.clipping import FURTHEST, AdaptiveClip, CountedNoise
from sfumato.privacy.events import ComposedEvent, DiscreteGaussianEvent, PoissonSampledEvent, SelfComposedEvent


def followed(rule, share, updates=200, first=1.0):
    clip = first
    for _ in range(updates):
        clip = rule.following(clip, below=round(100 * share(clip)), batch_size=100, first=first)
    return clip


def test_it_comes_to_the_quantile_of_norms():
    rule = AdaptiveClip(stddev=5, quantile="0.5")
    assert followed(rule, lambda clip: min(clip / 10, 1)) == pytest.approx(5, rel=0.02)


def test_it_stays_within_a_factor_of_the_first_one_whatever_the_noise_is():
    rule = AdaptiveClip(stddev=5, rate=10)
    assert followed(rule, lambda _: 1e9) == 1 / FURTHEST
    assert followed(rule, lambda _: -1e9) == FURTHEST


def test_the_number_of_each_update_is_in_the_event_and_costs_something():
    sums = IndependentNoise(1, l2_sensitivity=1000, steps=50, participation=Poisson("0.1"))
    counted = CountedNoise(sums=sums, rule=AdaptiveClip(stddev=2))
    gradient = DiscreteGaussianEvent(Fraction(1000), Fraction(1000))
    number = DiscreteGaussianEvent(Fraction(2), Fraction(1), 1)
    assert counted.event == SelfComposedEvent(
        PoissonSampledEvent(Fraction(1, 10), ComposedEvent((gradient, number))), 50
    )
    epsilon = PLDAccountant().compose(sums.event).epsilon("1e-5")
    assert PLDAccountant().compose(counted.event).epsilon("1e-5") > epsilon * 1.05


def test_the_number_has_noise():
    rule = AdaptiveClip(stddev=10)
    assert len({rule.noisy(5) for _ in range(50)}) > 5  # fails with a chance below 10^-30


@pytest.mark.parametrize("arguments", [{"stddev": 0}, {"stddev": 1, "quantile": 1}, {"stddev": 1, "rate": 0}])
def test_arguments_out_of_range_are_refused(arguments):
    with pytest.raises(ParameterError):
        AdaptiveClip(**arguments)
