"""The noise of boosted models: all kinds of sums together have the cost of the charge."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.learn.boosting.calibrated import MOST_SUMS, calibrated, charge_of, clip_of
from sfumato.learn.core.parts import Part
from sfumato.learn.core.residuals import SHARE
from sfumato.ledger.core.prices import price_of
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


def sums(times=1, share=1, distance=4096):
    return Part(
        l1_sensitivity=distance, l2_sensitivity=Fraction(distance), l0_sensitivity=1, times=times, share=Fraction(share)
    )


@pytest.mark.parametrize("epsilon", ["0.1", 20])
def test_all_of_them_together_cost_what_is_charged_and_hardly_less(epsilon):
    kinds = [sums(3, Fraction(1, 10)), sums(50, Fraction(9, 10), 12_288)]
    noises = calibrated(kinds, ApproxDP(epsilon, "1e-6"))
    event = ComposedEvent(
        tuple(noise.event for noise, kind in zip(noises, kinds, strict=True) for _ in range(kind.times))
    )
    price = price_of(event, delta=Fraction("1e-6"), neighboring_relation=ADD_OR_REMOVE_ONE)
    assert 0.99 * float(epsilon) < price <= Fraction(epsilon)


def test_a_share_is_that_of_the_inverse_variance():
    few, many = calibrated([sums(1, Fraction(1, 10)), sums(9, Fraction(9, 10))], ApproxDP(1, "1e-6"))
    assert float(few.stddev) == pytest.approx(float(many.stddev), rel=1e-6)
    first, second = calibrated([sums(1, Fraction(1, 5)), sums(1, Fraction(4, 5))], ApproxDP(1, "1e-6"))
    assert float(first.stddev) == pytest.approx(2 * float(second.stddev), rel=1e-6)


def test_what_no_noise_can_be_made_for_is_refused():
    with pytest.raises(ParameterError, match="rounds"):
        calibrated([sums(), sums(MOST_SUMS)], ApproxDP(1, "1e-6"))
    with pytest.raises(ParameterError, match="epsilon"):
        calibrated([sums(distance=2**60)], ApproxDP("0.001", "1e-6"))


def test_charges_and_clips_are_checked():
    assert charge_of(ApproxDP(1, "1e-6")) == ApproxDP(1, "1e-6")
    assert clip_of("0.5") == SHARE // 2
    for wrong, name in ((PureDP(1), "delta"), (ApproxDP(1, 0), "delta"), (ApproxDP(0, "1e-6"), "epsilon")):
        with pytest.raises(ParameterError, match=name):
            charge_of(wrong)
    for wrong in (0, -1, "0.0001", "much"):
        with pytest.raises(ParameterError, match="clip"):
            clip_of(wrong)
