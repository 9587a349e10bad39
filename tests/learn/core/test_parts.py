"""Several noisy vectors for one cost: what each is calibrated to, and that all together cost no more."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.learn.core.parts import Part, event_of, noises_of
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

PARTS = (
    Part(l1_sensitivity=2, l2_sensitivity=Fraction(2), l0_sensitivity=1, share=Fraction(1, 10), times=5),
    Part(l1_sensitivity=4096, l2_sensitivity=Fraction(100), l0_sensitivity=7, share=Fraction(9, 10), times=3),
)


@pytest.mark.parametrize("charge", [PureDP("0.3"), PureDP(10), ApproxDP("0.3", "1e-6"), ApproxDP(2, "1e-9")])
def test_all_parts_together_cost_no_more_than_the_charge(charge):
    noises = noises_of(PARTS, charge)
    event = event_of(PARTS, noises)
    assert [event.events.count(noise.event) for noise in noises] == [5, 3]
    require_price(event, charge, ADD_OR_REMOVE_ONE)
    with pytest.raises(ParameterError):
        require_price(event, type(charge)(charge.epsilon * Fraction(9, 10), *_deltas(charge)), ADD_OR_REMOVE_ONE)


def _deltas(charge):
    return [charge.delta] if isinstance(charge, ApproxDP) else []


def test_laplace_noise_is_that_of_the_share_of_one_time():
    first, second = noises_of(PARTS, PureDP(1))
    assert (first.scale, second.scale) == (2 * 5 * 10, Fraction(4096 * 3 * 10, 9))


def test_gaussian_noise_knows_how_far_each_part_moves():
    noises = noises_of(PARTS, ApproxDP(1, "1e-6"))
    assert all(isinstance(noise, GaussianNoise) for noise in noises)
    assert [(noise.l2_sensitivity, noise.l0_sensitivity) for noise in noises] == [(2, 1), (100, 7)]
    ratios = [float(noise.stddev / part.l2_sensitivity) for noise, part in zip(noises, PARTS, strict=True)]
    assert ratios[0] / ratios[1] == pytest.approx((5 / 0.1 / (3 / 0.9)) ** 0.5, rel=1e-6)


@pytest.mark.parametrize("charge", [PureDP(0), PureDP("1e-16"), ApproxDP(0, "1e-6"), ApproxDP("1e-15", "1e-15")])
def test_an_epsilon_for_which_no_noise_is_drawn_is_refused(charge):
    with pytest.raises(ParameterError, match="epsilon"):
        noises_of(PARTS, charge)


def test_noise_is_never_narrower_than_can_be_drawn():
    assert all(noise.scale > 0 for noise in noises_of(PARTS, PureDP(10**12)))
