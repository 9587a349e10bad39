"""Slow and exact: profiles by high precision or by rationals, to test fast bounds against."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np

from sfumato.accounting.profiles.mixtures import GaussianMixtures
from sfumato.accounting.profiles.profile import DominatingPair, Profile

DIGITS = 60
ROUNDING = mpmath.mpf("1e-50")  # relative, of the oracle


def mp(value: Fraction | float) -> mpmath.mpf:
    exact = Fraction(value)
    with mpmath.workdps(DIGITS):
        return mpmath.mpf(exact.numerator) / exact.denominator


def hockey_stick(p: Sequence[mpmath.mpf], q: Sequence[mpmath.mpf], epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(DIGITS):
        weight = mpmath.exp(mp(epsilon))
        return mpmath.fsum(max(a - weight * b, 0) for a, b in zip(p, q, strict=True))


def gaussian_tail(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def gaussian_delta(stddev: Fraction, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(DIGITS):
        sigma, loss = mp(stddev), mp(epsilon)
        low, high = loss * sigma - 1 / (2 * sigma), loss * sigma + 1 / (2 * sigma)
        return +(gaussian_tail(low) - mpmath.exp(loss) * gaussian_tail(high))


def mixture_tail(components, t):
    return mpmath.fsum(mp(weight) * gaussian_tail(t - mp(mean)) for mean, weight in components)


def mixture_density(components, t):
    return mpmath.fsum(mp(weight) * mpmath.exp(-((t - mp(mean)) ** 2) / 2) for mean, weight in components)


def mixture_delta(pair: GaussianMixtures, epsilon: float) -> mpmath.mpf:
    """By bisection of the threshold in 60 digits; the loss grows."""
    low, high = mpmath.mpf(-200), mpmath.mpf(200)
    for _ in range(220):
        middle = (low + high) / 2
        if mixture_density(pair.p, middle) > mpmath.exp(mp(epsilon)) * mixture_density(pair.q, middle):
            high = middle
        else:
            low = middle
    return max(mixture_tail(pair.p, high) - mpmath.exp(mp(epsilon)) * mixture_tail(pair.q, high), mpmath.mpf(0))


def lower_bounds(profile: Profile, epsilons: Sequence[float]) -> list[mpmath.mpf]:
    first, second = profile.test_down(np.array(epsilons, dtype=float))
    return [mp(float(a)) - mpmath.exp(mp(e)) * mp(float(b)) for a, b, e in zip(first, second, epsilons, strict=True)]


def assert_encloses(
    profile: Profile,
    truth: Callable[[float], mpmath.mpf],
    epsilons: Sequence[float],
    *,
    relative: float,
    absolute: float = 0.0,
    is_tested: bool = True,
) -> None:
    """The bounds lie on their sides of the truth, and within `relative` of P(S), plus `absolute`."""
    with mpmath.workdps(DIGITS):
        _assert_encloses(profile, truth, epsilons, relative, absolute if is_tested else None)


def _assert_encloses(
    profile: Profile,
    truth: Callable[[float], mpmath.mpf],
    epsilons: Sequence[float],
    relative: float,
    absolute: float | None,
) -> None:
    array = np.array(epsilons, dtype=float)
    uppers, (masses, _) = profile.delta_up(array), profile.test_down(array)
    lowers = lower_bounds(profile, epsilons)
    for epsilon, upper, mass, lower in zip(epsilons, uppers, masses, lowers, strict=True):
        exact = truth(epsilon)
        rounding = ROUNDING * (mp(float(mass)) + exact)
        assert lower <= exact + rounding, (epsilon, lower, exact)
        assert exact <= mp(float(upper)) + rounding, (epsilon, exact, upper)
        if absolute is not None:
            slack = relative * mp(float(mass)) + absolute + mpmath.mpf("1e-303") * (1 + mpmath.exp(mp(epsilon)))
            assert mp(float(upper)) - exact <= slack, (epsilon, float(upper), exact)
            assert exact - lower <= slack, (epsilon, lower, exact)


def assert_is_a_profile(profile: Profile, *, highest: float = 20.0) -> None:
    """Between 0 and 1, falling, and convex in e^ε, as far as the margins allow."""
    weights = np.linspace(1, np.exp(highest), 2001)
    delta = profile.delta_up(np.log(weights))
    assert np.all((delta >= 0) & (delta <= 1))
    assert np.all(np.diff(delta) <= 1e-12)
    assert np.all(delta[2:] - 2 * delta[1:-1] + delta[:-2] >= -1e-11)
    far = profile.delta_up(np.array([1e3, 1e6, 1e12]))
    assert np.all(np.isfinite(far))
    if np.isfinite(profile.highest_loss):
        floor = profile.delta_up(np.array([profile.highest_loss, 1e9]))
        assert floor[0] == floor[1]


def only_single(pairs: tuple[tuple[DominatingPair, int], ...]) -> DominatingPair:
    """A composition for events that need none."""
    ((pair, count),) = pairs
    assert count == 1
    return pair
