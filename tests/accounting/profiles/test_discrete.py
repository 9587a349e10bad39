import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import DIGITS, assert_encloses, assert_is_a_profile, hockey_stick, mp

from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up
from sfumato.accounting.profiles.discrete import (
    DiscreteGaussianProfile,
    DiscreteLaplaceProfile,
    RoundedGaussianProfile,
    lattice_tails,
)
from sfumato.accounting.profiles.profile import LaplaceProfile


def exact_tail(stddev: Fraction, first: int) -> mpmath.mpf:
    def weight(k: int) -> mpmath.mpf:
        return mpmath.exp(-mp(Fraction(k * k) / (2 * stddev**2)))

    reach = int(60 * stddev) + 60
    total = mpmath.fsum(weight(k) for k in range(-reach, reach + 1))
    return mpmath.fsum(weight(k) for k in range(first, max(first, reach) + 60)) / total


@pytest.mark.parametrize("stddev", [Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(37, 2)])
def test_tails_enclose_the_sums(stddev):
    firsts = sorted({int(part * stddev) for part in (-50, -20, -1, 0, 1, 3, 12, 30, 36)} | {-1, 0, 1, 2})
    array = np.array(firsts, dtype=float)
    tails = lattice_tails(stddev)
    logs, errors = tails.log_down(array)
    errors = np.broadcast_to(errors, array.shape)
    with mpmath.workdps(DIGITS):
        for index, first in enumerate(firsts):
            truth = exact_tail(stddev, first)
            low, high = mp(float(tails.down(array)[index])), mp(float(tails.up(array)[index]))
            assert low <= truth <= high
            assert high - low <= truth * mpmath.mpf("1e-11") + mpmath.mpf("1e-303")
            assert mp(float(logs[index])) - mp(float(errors[index])) <= mpmath.log(truth)


def test_both_ways_of_summing_agree_where_they_meet():
    """σ = 1024 is summed, 1025 expanded; at the same z they differ by no more than their step does."""
    z = np.array([-30.0, -2.0, 0.0, 0.5, 3.0, 12.0, 30.0])
    summed, expanded = lattice_tails(Fraction(1024)), lattice_tails(Fraction(1025))
    first, second = np.floor(z * 1024), np.floor(z * 1025)
    for bound in ("up", "down"):
        assert np.allclose(getattr(summed, bound)(first), getattr(expanded, bound)(second), rtol=0.05, atol=1e-300)
    assert np.all(expanded.down(second) <= expanded.up(second))
    assert summed.peak_up == pytest.approx(expanded.peak_up, rel=2e-3)


def test_the_expansion_encloses_the_sum_in_floats():
    sigma = Fraction(1025)
    k = np.arange(-40_000, 60_000, dtype=float)
    masses = np.exp(-((k / 1025) ** 2) / 2)
    tails = np.cumsum(masses[::-1])[::-1] / masses.sum()
    firsts = np.array([-3000.0, -1.0, 0.0, 1.0, 700.0, 5000.0, 30_000.0])
    truth = tails[(firsts + 40_000).astype(int)]
    expanded = lattice_tails(sigma)
    assert np.all(expanded.down(firsts) <= truth * (1 + 1e-11))
    assert np.all(expanded.up(firsts) >= truth * (1 - 1e-11))
    assert np.allclose(expanded.up(firsts), expanded.down(firsts), rtol=1e-8, atol=1e-300)
    logs, error = expanded.log_down(firsts)
    assert np.all(logs - error <= np.log(truth) + 1e-11)


def test_nothing_is_claimed_far_out():
    for stddev in (Fraction(3), Fraction(10**6)):
        tails = lattice_tails(stddev)
        far = np.array([1e6 * float(stddev), 1e15 * float(stddev)])
        assert np.all(tails.down(far) == 0)
        assert np.all((tails.up(far) > 0) & (tails.up(far) < 1e-290))
        logs, _ = tails.log_down(far)
        assert np.all(logs < -1e11)


SCALES = st.fractions(min_value=Fraction(1, 4), max_value=30, max_denominator=50)
STDDEVS = st.fractions(min_value=Fraction(1, 4), max_value=12, max_denominator=50)


def laplace_masses(scale: Fraction, reach: int) -> list[mpmath.mpf]:
    ratio = mpmath.exp(-1 / mp(scale))
    return [(1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-reach, reach + 1)]


def gaussian_masses(stddev: Fraction, reach: int) -> list[mpmath.mpf]:
    weights = [mpmath.exp(-mp(Fraction(k * k) / (2 * stddev**2))) for k in range(-reach, reach + 1)]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


def shifted_delta(masses: list[mpmath.mpf], shift: int, epsilon: float) -> mpmath.mpf:
    zeros = [mpmath.mpf(0)] * shift
    return hockey_stick(masses + zeros, zeros + masses, epsilon)


@given(SCALES, st.integers(1, 6), st.floats(0, 1))
@settings(max_examples=15)
def test_discrete_laplace_bounds_enclose_the_definition(scale, shift, part):
    with mpmath.workdps(60):
        masses = laplace_masses(scale, int(150 * scale) + 10)
    top = float(shift / scale)
    lattice = [max(float((shift - 2 * k) / scale), 0.0) for k in range(shift + 1)]
    assert_encloses(
        DiscreteLaplaceProfile(scale, shift),
        lambda e: shifted_delta(masses, shift, e) if e < top else mpmath.mpf(0),
        [0.0, part * top, *lattice, 2 * top],
        relative=1e-13,
        absolute=1e-13 * (1 + top),
    )


def test_a_long_discrete_shift_needs_no_enumeration():
    fine, continuous = DiscreteLaplaceProfile(Fraction(10**9), 10**9), LaplaceProfile(Fraction(1))
    epsilons = np.linspace(0, 1.1, 12)
    assert np.allclose(fine.delta_up(epsilons), continuous.delta_up(epsilons), rtol=1e-8, atol=1e-9)
    assert np.all(fine.delta_up(epsilons) >= continuous.delta_up(epsilons) - 1e-13)


@pytest.mark.parametrize(("ratio", "a", "b"), [("1/2", 1, 1), ("1/3", 2, 1), ("9/10", 3, 2), ("99/100", 2, 2)])
def test_two_discrete_laplace_coordinates_are_dominated_by_one(ratio, a, b):
    """In rationals: δ at every e^ε where the polygon has a kink, for shifts (a, b) against a + b."""
    t = Fraction(ratio)

    def outcomes(shift: int) -> list[tuple[Fraction, Fraction]]:
        """(P, Q) of each loss, by growing loss: below, between, above."""
        inner = [((1 - t) * t**j, (1 - t) * t ** (shift - j)) for j in range(shift - 1, 0, -1)]
        return [(p / (1 + t), q / (1 + t)) for p, q in [(t**shift, Fraction(1)), *inner, (Fraction(1), t**shift)]]

    both = [(p * x, q * y) for p, q in outcomes(a) for x, y in outcomes(b)]
    for k in range(-(a + b), a + b + 1):
        weight = t**-k
        pair = sum(max(p - weight * q, Fraction(0)) for p, q in both)
        single = sum(max(p - weight * q, Fraction(0)) for p, q in outcomes(a + b))
        assert pair <= single
    assert sum(p for p, _ in outcomes(a + b)) == 1


@given(STDDEVS, st.integers(1, 5), st.floats(0, 1))
@settings(max_examples=15)
def test_discrete_gaussian_bounds_enclose_the_definition(stddev, shift, part):
    with mpmath.workdps(60):
        masses = gaussian_masses(stddev, int(20 * stddev) + 20)
    top = float(10 * shift / stddev)  # so that the sets hold what the oracle sums
    kinks = [max(float((2 * m * shift + shift**2) / (2 * stddev**2)), 0.0) for m in range(3)]
    assert_encloses(
        DiscreteGaussianProfile(stddev, shift),
        lambda e: shifted_delta(masses, shift, e),
        [0.0, part * top, *(kink for kink in kinks if kink < top)],
        relative=2e-13,
        absolute=1e-11,  # at a kink, of the mass on the other side of it
    )


@pytest.mark.parametrize("stddev", ["1/50", "1", "40", "1000", "1025", "3000000"])
def test_the_discrete_gaussian_profile_is_the_one_of_calibration(stddev):
    sigma = Fraction(stddev)
    shift = max(1, int(sigma / 3))
    for epsilon in (0, Fraction(1, 100), Fraction(3, 2), 20):
        single = discrete_gaussian_delta_up(stddev=sigma, l2_sensitivity=shift, epsilon=epsilon, l0_sensitivity=1)
        bound = DiscreteGaussianProfile(sigma, shift).delta_up(np.array([float(epsilon)]))[0]
        assert bound == pytest.approx(single, rel=1e-8, abs=1e-11 if single > 1e-10 else 1e-200)
        first, second = DiscreteGaussianProfile(sigma, shift).test_down(np.array([float(epsilon)]))
        assert first[0] - np.exp(float(epsilon)) * second[0] <= bound


@pytest.mark.parametrize("stddev", [Fraction(2), Fraction(4)])
@pytest.mark.parametrize("length", [Fraction(3, 2), Fraction(9, 4)])
def test_the_continuous_law_bounds_every_vector_of_that_length(stddev, length):
    bound = RoundedGaussianProfile(stddev, length, 2)
    with mpmath.workdps(30):
        masses = gaussian_masses(stddev, int(12 * stddev) + 4)
        for shape in itertools.product(range(3), repeat=2):
            if 0 < sum(step**2 for step in shape) <= length**2:
                for epsilon in (0.0, 0.5, 2.0):
                    assert vector_delta(masses, shape, epsilon) <= mp(float(bound.delta_up(np.array([epsilon]))[0]))


def vector_delta(masses: list[mpmath.mpf], shape: tuple[int, int], epsilon: float) -> mpmath.mpf:
    """In floats, which are enough for the comparison: two independent coordinates, moved by the shape."""
    single = np.array([float(mass) for mass in masses])
    sides = [(np.pad(single, (0, step)), np.pad(single, (step, 0))) for step in shape]
    p, q = (np.outer(sides[0][index], sides[1][index]) for index in (0, 1))
    return mpmath.mpf(float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) * (1 - 1e-9))


def test_the_continuous_law_is_near_for_large_noise():
    rounded, scalar = RoundedGaussianProfile(Fraction(100), Fraction(2), 3), DiscreteGaussianProfile(Fraction(100), 2)
    epsilons = np.array([0.0, 0.02, 0.05])
    ratio = rounded.delta_up(epsilons) / scalar.delta_up(epsilons)
    assert np.all((ratio >= 1 - 1e-9) & (ratio < 1.01))
    assert np.all(rounded.test_down(epsilons)[0] == scalar.test_down(epsilons)[0])


@pytest.mark.parametrize(
    "profile",
    [
        DiscreteLaplaceProfile(Fraction(2), 3),
        DiscreteGaussianProfile(Fraction(1), 2),
        DiscreteGaussianProfile(Fraction(2000), 3000),
        RoundedGaussianProfile(Fraction(3), Fraction(5, 2), 4),
    ],
)
def test_they_are_profiles(profile):
    assert_is_a_profile(profile, highest=3)
