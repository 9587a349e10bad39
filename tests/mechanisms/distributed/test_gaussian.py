"""Gaussian noise made of shares: the law of the sum, ρ with and without dropouts by brute force, edge cases."""

from fractions import Fraction
from math import fsum, log

import numpy as np
import pytest
from scipy.stats import norm
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.accounting import ZCDPAccountant
from sfumato.accounting.gaussian.shares import share_stddev
from sfumato.errors import ParameterError
from sfumato.mechanisms import DistributedGaussian
from sfumato.mechanisms.distributed import gaussian as module
from sfumato.privacy.events import PureEvent, ZCDPEvent

REACH = 30
FINE = {"parties": 4, "l2_sensitivity": 1, "rho": "0.5"}


def share_law(mechanism, contribution):
    """What one real share holds for each noise, on the places −100 to 100."""
    law = np.zeros(201)
    for noise in range(-REACH, REACH + 1):
        with pytest.MonkeyPatch.context() as patch:
            asked = []
            patch.setattr(
                module, "discrete_gaussian", lambda v, size, n=noise, a=asked: a.append(v) or np.full(size, n)
            )
            law[100 + mechanism.share(contribution)] += np.exp(-(noise**2) / (2 * float(asked[0])))
    return law / law.sum()


def sum_law(mechanism, contributions):
    total = np.ones(1)
    for contribution in contributions:
        total = np.convolve(total, share_law(mechanism, contribution))
    return total


def divergence(p, q, order):
    known = (p > 1e-250) & (q > 1e-250)
    return log(fsum(np.exp(order * np.log(p[known]) + (1 - order) * np.log(q[known])))) / (order - 1)


@pytest.mark.parametrize("rho", ["0.1", 1, 4])
@pytest.mark.parametrize("moved", [1, 2])
@pytest.mark.parametrize("sending", [2, 3])
def test_whoever_sends_makes_noise_enough_for_rho(rho, moved, sending):
    mechanism = DistributedGaussian(parties=3, max_dropouts=1, l2_sensitivity=moved, rho=rho)
    first, second = (sum_law(mechanism, [value, *[0] * (sending - 1)]) for value in (0, moved))
    found = [divergence(*pair, order) / order for pair in ((first, second), (second, first)) for order in (1.01, 2, 4)]
    assert max(found) <= float(Fraction(rho)) + 1e-10
    if sending == 2:
        assert max(found) > 0.45 * float(Fraction(rho))  # what the shares might be apart costs the rest


def test_fewer_shares_than_needed_would_be_caught():
    mechanism = DistributedGaussian(parties=3, l2_sensitivity=2, rho=1)
    laws = [sum_law(mechanism, [value, 0]) for value in (0, 2)]
    assert divergence(*laws, 2) / 2 > 1.2
    with pytest.raises(ParameterError, match="3 to 3"):
        mechanism.combine([0, 0])


@pytest.mark.statistical
def test_the_shares_that_are_needed_are_near_a_discrete_gaussian():
    mechanism = DistributedGaussian(parties=7, max_dropouts=3, l2_sensitivity=10, rho="0.5", l0_sensitivity=1)
    zeros = np.zeros(SAMPLES, dtype=np.int64)
    total = mechanism.combine([mechanism.share(zeros) for _ in range(4)])
    stddev = 2 * float(mechanism.share_stddev)
    assert stddev == pytest.approx(10, rel=1e-6)
    assert_law(total, lambda k: float(norm.cdf(k + 0.5, scale=stddev)))  # as wide as this, right to 1e-4
    assert_not_law(total, lambda k: float(norm.cdf(k + 0.5, scale=stddev * 1.1)))


@pytest.mark.statistical
@pytest.mark.parametrize("shares", [3, 4])
def test_intervals_are_those_of_the_shares_that_came(shares):
    mechanism = DistributedGaussian(**(FINE | {"max_dropouts": 1, "l0_sensitivity": 1, "l2_sensitivity": 9}))
    zeros = np.zeros(SAMPLES // 2, dtype=np.int64)
    total = mechanism.combine([mechanism.share(zeros) for _ in range(shares)])
    width = mechanism.accuracy("0.95", shares=shares)
    assert (abs(total) <= width).mean() >= 0.945
    assert (abs(total) <= width - 3).mean() < 0.95
    assert total.var() == pytest.approx(mechanism.variance_of(shares), rel=0.04)


@pytest.mark.statistical
def test_a_release_has_the_law_of_all_shares():
    mechanism = DistributedGaussian(**(FINE | {"max_dropouts": 2, "l0_sensitivity": 1}))
    sample = mechanism.release(np.zeros(SAMPLES, dtype=np.int64))
    assert sample.var() == pytest.approx(mechanism.variance, rel=0.03)


def test_the_event_is_what_was_asked_for():
    mechanism = DistributedGaussian(**FINE)
    assert mechanism.event == ZCDPEvent(Fraction(1, 2))
    assert ZCDPAccountant().compose(mechanism.event, count=4).epsilon(delta="1e-6") > 0


def test_the_share_is_that_of_the_parties_that_are_needed():
    mechanism = DistributedGaussian(parties=9, max_dropouts=4, l2_sensitivity=3, rho=2, l0_sensitivity=2)
    assert mechanism.share_stddev == share_stddev(rho=2, shares=5, l2_sensitivity=3, l0_sensitivity=2)


def test_what_nobody_moves_is_added_up_exactly():
    mechanism = DistributedGaussian(parties=2, l2_sensitivity=0, rho=1)
    assert mechanism.combine([mechanism.share(10**30), mechanism.share(1)]) == 10**30 + 1
    assert (mechanism.accuracy(), mechanism.event, mechanism.variance) == (0, PureEvent(Fraction(0)), 0)


def test_the_sum_wraps_where_it_is_asked_to():
    mechanism = DistributedGaussian(**FINE, modulus_bits=12)
    shares = [mechanism.share(value) for value in (3000, -2000, -1000, 7)]
    assert all(0 <= share < 4096 for share in shares)
    assert abs(mechanism.combine(shares) - 7) <= mechanism.accuracy("0.999999999")


def test_it_covers_units_within_its_sensitivities():
    mechanism = DistributedGaussian(parties=3, l2_sensitivity=4, rho=1, l0_sensitivity=4)
    assert mechanism.covers(2, 4)
    assert mechanism.covers(4)
    assert mechanism.covers(0, 9)
    assert not mechanism.covers(3, 2)
    assert not mechanism.covers(1, 5)


def test_a_vector_is_refused_until_it_is_stated_how_many_of_its_sums_one_unit_moves():
    with pytest.raises(ParameterError, match="l0_sensitivity"):
        DistributedGaussian(**FINE).share([1, 2])
    assert len(DistributedGaussian(**FINE, l0_sensitivity=3).share([1, 2, 3])) == 3


@pytest.mark.parametrize(
    "wrong",
    [{"parties": 0}, {"l2_sensitivity": -1}, {"rho": 0}, {"rho": -1}, {"max_dropouts": 4}, {"modulus_bits": 0}],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        DistributedGaussian(**(FINE | wrong))
