"""Skellam noise made of shares: its law, exhaustive privacy with and without dropouts, edge cases."""

from fractions import Fraction
from math import exp, fsum

import numpy as np
import pytest
from scipy.stats import skellam as skellam_law
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.accounting.gaussian.skellam import skellam_mean
from sfumato.errors import ParameterError
from sfumato.mechanisms.distributed import skellam as module
from sfumato.mechanisms.distributed.skellam import DistributedSkellam
from sfumato.privacy.events import ApproxEvent, PureEvent

FINE = {"parties": 4, "linf_sensitivity": 1, "epsilon": 1, "delta": "1e-3"}


def law(mean):
    return lambda k: skellam_law.cdf(k, float(mean), float(mean))


def shares_by_noise(mechanism, contribution):
    """What one real share holds for each noise, with the probability of that noise."""
    found = {}
    for noise in range(-60, 61):
        with pytest.MonkeyPatch.context() as patch:
            asked = []
            patch.setattr(module, "skellam", lambda mean, size, n=noise, a=asked: a.append(mean) or np.full(size, n))
            share = mechanism.share(contribution)
            found[share] = skellam_law.pmf(noise, float(asked[0]), float(asked[0]))
    return found


def combined(mechanism, contributions):
    """The law of the sum, share by share."""
    total = {0: 1.0}
    for contribution in contributions:
        share = shares_by_noise(mechanism, contribution)
        law = {}
        for (a, p), (b, q) in ((x, y) for x in total.items() for y in share.items()):
            law[a + b] = law.get(a + b, 0.0) + p * q
        total = law
    return total


def hockey_stick(first, second, epsilon):
    return fsum(max(0.0, p - exp(epsilon) * second.get(z, 0.0)) for z, p in first.items())


@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize(("moved", "linf_sensitivity"), [(1, 1), (-1, 1), (3, 3), (2, 3)])
def test_the_sum_of_the_shares_has_the_guarantee_and_no_more(moved, linf_sensitivity, epsilon):
    mechanism = DistributedSkellam(parties=2, linf_sensitivity=linf_sensitivity, epsilon=epsilon, delta="0.01")
    spent = hockey_stick(combined(mechanism, [5, 1 + moved]), combined(mechanism, [5, 1]), epsilon)
    assert spent <= 0.01 + 1e-12
    assert (spent > 0.0099) == (abs(moved) == linf_sensitivity)


@pytest.mark.parametrize("sending", [2, 3])
def test_with_a_dropout_whoever_sends_makes_noise_enough(sending):
    mechanism = DistributedSkellam(parties=3, max_dropouts=1, linf_sensitivity=1, epsilon=1, delta="0.01")
    laws = [combined(mechanism, [value] + [0] * (sending - 1)) for value in (1, 0)]
    assert hockey_stick(*laws, 1) <= 0.01 + 1e-12


def test_fewer_shares_than_needed_would_be_caught():
    mechanism = DistributedSkellam(parties=3, linf_sensitivity=1, epsilon=1, delta="0.01")
    laws = [combined(mechanism, [value, 0]) for value in (1, 0)]
    assert hockey_stick(*laws, 1) > 0.015
    with pytest.raises(ParameterError, match="3 to 3"):
        mechanism.combine([0, 0])


@pytest.mark.statistical
@pytest.mark.parametrize(("parties", "max_dropouts"), [(1, 0), (7, 0), (7, 3)])
def test_the_shares_that_are_needed_have_exactly_the_skellam_law(parties, max_dropouts):
    mechanism = DistributedSkellam(
        parties=parties, max_dropouts=max_dropouts, linf_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1
    )
    zeros = np.zeros(SAMPLES // 2, dtype=np.int64)
    total = mechanism.combine([mechanism.share(zeros) for _ in range(parties - max_dropouts)])
    assert_law(total, law(mechanism.mean))
    assert_not_law(total, law(mechanism.mean * 6 / 5))


@pytest.mark.statistical
def test_a_release_has_the_law_of_all_shares():
    mechanism = DistributedSkellam(
        parties=9, max_dropouts=3, linf_sensitivity=1, epsilon=1, delta="1e-6", l0_sensitivity=1
    )
    sample = mechanism.release(np.zeros(SAMPLES, dtype=np.int64))
    assert_law(sample, law(mechanism.mean * 3 / 2))
    assert (abs(sample) <= mechanism.accuracy("0.95")).mean() >= 0.945


def test_the_sum_wraps_where_it_is_asked_to():
    mechanism = DistributedSkellam(**FINE, modulus_bits=12)
    shares = [mechanism.share(value) for value in (3000, -2000, -1000, 7)]
    assert all(0 <= share < 4096 for share in shares)
    assert abs(mechanism.combine(shares) - 7) <= mechanism.accuracy("0.999999999")


def test_the_event_is_what_was_asked_for():
    assert DistributedSkellam(**FINE).event == ApproxEvent(Fraction(1), Fraction(1, 1000))


def test_what_nobody_moves_is_added_up_exactly():
    mechanism = DistributedSkellam(**(FINE | {"linf_sensitivity": 0, "parties": 2}))
    assert mechanism.combine([mechanism.share([10**30]), mechanism.share([1])]).tolist() == [10**30 + 1]
    assert (mechanism.accuracy(), mechanism.event, mechanism.release(4)) == (0, PureEvent(Fraction(0)), 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"parties": 0},
        {"linf_sensitivity": -1},
        {"linf_sensitivity": 1.5},
        {"linf_sensitivity": 10**7},
        {"epsilon": -1},
        {"delta": 0},
        {"delta": 1},
        {"max_dropouts": 4},
        {"modulus_bits": 0},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        DistributedSkellam(**(FINE | wrong))


def test_more_dropouts_than_noise_can_be_accounted_for_are_refused():
    with pytest.raises(ParameterError, match="fewer dropouts"):
        DistributedSkellam(parties=10**9, max_dropouts=10**9 - 1, linf_sensitivity=1, epsilon=1, delta="1e-6")


def test_a_vector_is_refused_until_it_is_stated_how_many_of_its_sums_one_unit_moves():
    with pytest.raises(ParameterError, match="l0_sensitivity"):
        DistributedSkellam(**FINE).share([1, 2])
    three = DistributedSkellam(**FINE, l0_sensitivity=3)
    one_third = {"epsilon": Fraction(1, 3), "delta": Fraction(1, 3000)}
    assert three.mean == skellam_mean(linf_sensitivity=1, **one_third) > DistributedSkellam(**FINE).mean
    assert three.event == ApproxEvent(Fraction(1), Fraction(1, 1000))
    assert len(three.share([1, 2, 3])) == 3
