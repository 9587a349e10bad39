import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import (
    assert_encloses,
    assert_is_a_profile,
    gaussian_delta,
    gaussian_tail,
    lower_bounds,
    mp,
)

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.accounting.gaussian.zcdp import zcdp_delta_up
from sfumato.accounting.profiles.profile import (
    FAR,
    ConcentratedProfile,
    GaussianProfile,
    LaplaceProfile,
    below_roots,
    exp_down,
    exp_up,
    float_down,
    scaled_tail_down,
    share,
    tail_down,
    tail_up,
)

EXPONENTS = np.array([-1e5, -720.0, -699.0, -1.0, -1e-20, 0.0, 0.3, 650.0])


def test_exponentials_lie_on_their_sides_of_every_exponent_within_the_error():
    error = 1e-3
    low, high = exp_down(EXPONENTS, error=error), exp_up(EXPONENTS, error=error)
    with mpmath.workdps(60):
        for exponent, a, b in zip(EXPONENTS, low, high, strict=True):
            assert mp(float(a)) <= mpmath.exp(mp(float(exponent)) - mp(error))
            assert mp(float(b)) >= mpmath.exp(mp(float(exponent)) + mp(error))


def test_without_an_error_they_are_near():
    inner = EXPONENTS[2:]
    assert np.allclose(exp_down(inner), exp_up(inner), rtol=1e-13)


def test_a_share_lies_between_0_and_its_most():
    assert share(np.array([-1.0, 0.2, 0.9, 2.0]), most=0.7).tolist() == [0, 0.2, 0.7, 0.7]


def test_a_float_down_is_not_above():
    for value in (Fraction(1, 10), Fraction(1, 3), Fraction(7), Fraction(1, 10**320)):
        assert Fraction(float_down(value)) <= value
        assert float_down(value) >= float(value) * (1 - 1e-15)


Z = np.concatenate([np.linspace(-45, 37.3, 401), [-1e-300, 0.0, 1e-300, FAR]])


def test_tails_enclose_the_truth_within_1e_12():
    with mpmath.workdps(60):
        for z, low, high in zip(Z, tail_down(Z), tail_up(Z), strict=True):
            truth = gaussian_tail(mp(float(z)))
            assert mp(float(low)) <= truth <= mp(float(high))
            assert mp(float(high)) - mp(float(low)) <= truth * mpmath.mpf("3e-12") + mpmath.mpf("2e-304")


def test_an_error_of_the_argument_is_covered():
    z, error = np.array([-1.0, 0.5, 20.0]), 1e-6
    assert np.all(tail_up(z, error=error) >= tail_up(z - error * 0.99))
    assert np.all(tail_down(z, error=error) <= tail_down(z + error * 0.99))


def test_nothing_is_claimed_beyond_what_floats_hold():
    far = np.array([FAR + 1, 1e9])
    assert np.all(tail_down(far) == 0)
    assert np.all(tail_up(far) >= 1e-306)


def test_the_scaled_tail_is_below_the_truth():
    z = np.linspace(0.01, 300, 50)
    with mpmath.workdps(60):
        for place, value in zip(z, scaled_tail_down(z, np.full_like(z, -3.0), error=0.0), strict=True):
            truth = mpmath.exp(-3 + mp(float(place)) ** 2 / 2) * gaussian_tail(mp(float(place)))
            assert truth * (1 - mpmath.mpf("1e-13")) <= mp(float(value)) <= truth


GRID = np.linspace(-10, 10, 41)


def cubic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x**3 + x, 3 * x**2 + 1


def steep_then_flat(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.tanh(50 * x), 50 / np.cosh(np.minimum(np.abs(50 * x), 300)) ** 2


def test_roots_are_near_and_never_above():
    targets = np.linspace(-900, 900, 997)
    roots = below_roots(cubic, targets, grid=GRID)
    assert np.all(cubic(roots)[0] <= targets)
    assert np.all(cubic(roots + 1e-13 * (1 + np.abs(roots)))[0] >= targets)


def test_where_newton_leaves_the_bracket_it_is_halved():
    targets = np.array([-0.999, -0.5, 0.0, 0.7, 0.9999])
    roots = below_roots(steep_then_flat, targets, grid=GRID)
    assert np.allclose(roots, np.arctanh(targets) / 50, atol=1e-11)
    assert np.all(steep_then_flat(roots)[0] <= targets)


def test_targets_out_of_reach_end_at_the_ends_of_the_grid():
    roots = below_roots(cubic, np.array([-1e9, 1e9]), grid=GRID)
    assert roots.tolist() == [-10, 10]


def test_targets_beyond_any_slope_do_not_overflow():
    assert below_roots(steep_then_flat, np.array([1e300, -1e300]), grid=GRID).tolist() == [10.0, -10.0]


def test_roots_already_found_are_not_asked_for_again():
    sizes = []

    def counted(x):
        sizes.append(x.size)
        return steep_then_flat(x)

    below_roots(counted, np.array([*[0.0] * 100, 1 - 1e-9]), grid=GRID)
    assert sizes[-1] < 10


MULTIPLIERS = st.fractions(min_value=Fraction(1, 50), max_value=10**4, max_denominator=10**4)


@given(MULTIPLIERS, st.floats(0, 1), st.floats(-6, 37))
def test_gaussian_bounds_enclose_the_truth_also_far_out(noise, near, deviations):
    half = float(1 / (2 * noise))
    far = max((deviations + half) / float(noise), 0.0)
    assert_encloses(GaussianProfile(noise), lambda e: gaussian_delta(noise, e), [0.0, near, far], relative=1e-11)


@pytest.mark.parametrize("noise", [Fraction(1), Fraction(30), Fraction(10**5)])
def test_gaussian_bounds_are_within_1e_13_where_most_of_the_mass_is(noise):
    epsilons = [0.0, *(np.array([0.1, 1, 3]) / float(noise))]
    assert_encloses(GaussianProfile(noise), lambda e: gaussian_delta(noise, e), epsilons, relative=1e-13)


def test_gaussian_precision_holds_down_to_1e_300():
    noise = Fraction(1)
    epsilon = 37.0
    truth = gaussian_delta(noise, epsilon)
    assert 0 < truth < mpmath.mpf("1e-290")
    bound = GaussianProfile(noise).delta_up(np.array([epsilon]))[0]
    assert truth <= mp(float(bound)) <= truth * (1 + mpmath.mpf("1e-9"))


def test_the_gaussian_profile_is_the_one_of_calibration():
    for noise in (Fraction(1, 2), Fraction(3), Fraction(40)):
        for epsilon in (0, Fraction(1, 4), 2):
            single = gaussian_delta_up(noise_multiplier=noise, epsilon=epsilon)
            assert GaussianProfile(noise).delta_up(np.array([float(epsilon)]))[0] == pytest.approx(single, rel=1e-9)


@pytest.mark.parametrize("noise", ["1e-100", "1e-6", "1e6", "1e100"])
@pytest.mark.parametrize("profile", [GaussianProfile, LaplaceProfile])
def test_extreme_noise_stays_safe(profile, noise):
    epsilons = np.array([0.0, 1e-9, 1.0, 700.0, 1e9])
    bounds = profile(Fraction(noise)).delta_up(epsilons)
    first, second = profile(Fraction(noise)).test_down(epsilons)
    assert np.all((bounds >= 0) & (bounds <= 1) & (np.diff(bounds, prepend=1) <= 0))
    assert np.all((first >= 0) & (second >= 0) & (first <= bounds + 1))
    if Fraction(noise) < 1 and profile is LaplaceProfile:
        assert bounds[3] == 1


@given(MULTIPLIERS, st.floats(0, 1))
def test_laplace_bounds_enclose_the_truth(noise, part):
    def truth(epsilon: float) -> mpmath.mpf:
        with mpmath.workdps(60):
            return max(-mpmath.expm1((mp(epsilon) - 1 / mp(noise)) / 2), mpmath.mpf(0))

    scale = float(1 / noise)
    assert_encloses(
        LaplaceProfile(noise), truth, [0.0, part * scale, 2 * scale], relative=1e-13, absolute=1e-14 * scale
    )


def test_tiny_laplace_losses_keep_their_relative_precision():
    bound = LaplaceProfile(Fraction(10**6)).delta_up(np.zeros(1))[0]
    assert bound == pytest.approx(-math.expm1(-0.5e-6), rel=1e-13)


@pytest.mark.parametrize(
    "profile", [GaussianProfile(Fraction(2, 3)), GaussianProfile(Fraction(5)), LaplaceProfile(Fraction(1, 3))]
)
def test_they_are_profiles(profile):
    assert_is_a_profile(profile, highest=6)


@pytest.mark.parametrize(("a", "b"), [(0.7, 0.3), (1.5, 1.5), (2.0, 0.1)])
def test_two_laplace_coordinates_are_dominated_by_one(a, b):
    """E[δ_a(ε − L_b)], by summing over the loss L_b of the other coordinate."""
    n = 20_000
    losses = np.concatenate([[b], b - (np.arange(n) + 0.5) * 2 * b / n, [-b]])
    cells = 0.5 * (np.exp(-np.arange(n) * b / n) - np.exp(-(np.arange(n) + 1) * b / n))
    masses = np.concatenate([[0.5], cells, [0.5 * math.exp(-b)]])
    for epsilon in np.linspace(0, a + b, 23):
        rest = epsilon - losses
        single = np.where(rest >= a, 0.0, np.where(rest <= -a, -np.expm1(rest), -np.expm1((rest - a) / 2)))
        both = float(single @ masses)
        assert both <= LaplaceProfile(Fraction(1 / (a + b))).delta_up(np.array([epsilon]))[0] + 1e-8


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
    bounds = ConcentratedProfile(rho).delta_up(np.array(EPSILONS))
    for epsilon, bound in zip(EPSILONS, bounds, strict=True):
        single = zcdp_delta_up(rho=rho, epsilon=epsilon)
        assert bound == pytest.approx(single, rel=1e-9, abs=1e-300)
        assert bound >= exact_minimum(rho, epsilon) * (1 - mpmath.mpf("1e-30"))


def test_published_values():
    """ρ, and the ε at which δ is 1e-6 (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    for rho, epsilon in (("0.001", 0.182895), ("0.05", 1.471595), ("0.5", 5.221534), ("5", 20.551949)):
        assert ConcentratedProfile(Fraction(rho)).delta_up(np.array([epsilon]))[0] == pytest.approx(1e-6, rel=2e-4)


@pytest.mark.parametrize("rho", RHOS)
def test_gaussian_noise_is_one_such_mechanism(rho):
    profile = ConcentratedProfile(rho)
    assert np.all(
        [
            low <= high
            for low, high in zip(lower_bounds(profile, EPSILONS), profile.delta_up(np.array(EPSILONS)), strict=True)
        ]
    )
    if rho == Fraction(1, 2):
        first, _ = profile.test_down(np.array([1.0]))
        assert first[0] == GaussianProfile(Fraction(1)).test_down(np.array([1.0]))[0][0]


@pytest.mark.parametrize("rho", [Fraction(1, 10**200), Fraction(10**100)])
def test_extreme_parameters_give_no_nonsense(rho):
    bounds = ConcentratedProfile(rho).delta_up(np.array([0.0, 1.0, 1e9]))
    assert np.all((bounds >= 0) & (bounds <= 1) & (np.diff(bounds, prepend=1) <= 0))


@pytest.mark.parametrize("rho", RHOS)
def test_more_epsilon_never_needs_more_delta(rho):
    bounds = ConcentratedProfile(rho).delta_up(np.geomspace(1e-9, 1e4, 5000))
    assert np.all(np.diff(bounds) <= 1e-12 * bounds[1:])
