from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.accounting.profiles.oracles import lower_bounds, mp

from sfumato.accounting.gaussian.zcdp import zcdp_delta_up
from sfumato.accounting.profiles.additive import Gaussian
from sfumato.accounting.profiles.concentrated import Concentrated

EPSILONS = [0.0, 1e-6, 0.01, 0.3, 1.0, 5.0, 40.0, 600.0]
RHOS = [Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 2), Fraction(7), Fraction(400)]


def exact_minimum(rho: Fraction, epsilon: float) -> mpmath.mpf:
    """Of the exponent over ln(α − 1), by ternary search: it falls, then rises."""
    with mpmath.workdps(40):

        def exponent(log_excess: mpmath.mpf) -> mpmath.mpf:
            excess = mpmath.exp(log_excess)
            return (
                excess * ((1 + excess) * mp(rho) - mp(epsilon))
                - excess * mpmath.log1p(1 / excess)
                - mpmath.log1p(excess)
            )

        low, high = mpmath.mpf(-60), mpmath.mpf(60)
        for _ in range(130):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if exponent(first) < exponent(second) else (first, high)
        return min(mpmath.exp(exponent(low)), mpmath.mpf(1))


@pytest.mark.parametrize("rho", RHOS)
def test_it_is_the_tight_conversion_at_every_epsilon(rho):
    bounds = Concentrated(rho).delta_up(np.array(EPSILONS))
    for epsilon, bound in zip(EPSILONS, bounds, strict=True):
        single = zcdp_delta_up(rho=rho, epsilon=epsilon)
        assert bound == pytest.approx(single, rel=1e-9, abs=1e-300)
        assert bound >= exact_minimum(rho, epsilon) * (1 - mpmath.mpf("1e-30"))


def test_published_values():
    """ρ, and the ε at which δ is 1e-6 (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    for rho, epsilon in (("0.001", 0.182895), ("0.05", 1.471595), ("0.5", 5.221534), ("5", 20.551949)):
        assert Concentrated(Fraction(rho)).delta_up(np.array([epsilon]))[0] == pytest.approx(1e-6, rel=2e-4)


@pytest.mark.parametrize("rho", RHOS)
def test_gaussian_noise_is_one_such_mechanism(rho):
    profile = Concentrated(rho)
    assert np.all(
        [
            low <= high
            for low, high in zip(lower_bounds(profile, EPSILONS), profile.delta_up(np.array(EPSILONS)), strict=True)
        ]
    )
    if rho == Fraction(1, 2):
        first, _ = profile.test_down(np.array([1.0]))
        assert first[0] == Gaussian(Fraction(1)).test_down(np.array([1.0]))[0][0]


@pytest.mark.parametrize("rho", [Fraction(1, 10**200), Fraction(10**100)])
def test_extreme_parameters_give_no_nonsense(rho):
    bounds = Concentrated(rho).delta_up(np.array([0.0, 1.0, 1e9]))
    assert np.all((bounds >= 0) & (bounds <= 1) & (np.diff(bounds, prepend=1) <= 0))


@pytest.mark.parametrize("rho", RHOS)
def test_more_epsilon_never_needs_more_delta(rho):
    bounds = Concentrated(rho).delta_up(np.geomspace(1e-9, 1e4, 5000))
    assert np.all(np.diff(bounds) <= 1e-12 * bounds[1:])
