import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism as peer
from tests.accounting.profiles.oracles import DIGITS, assert_is_a_profile, mixture_delta, mp

from sfumato.accounting.profiles.mixtures import group_presence, mirrored, presence, replacement
from sfumato.accounting.profiles.profile import GaussianProfile
from sfumato.accounting.profiles.sampled import SampledBackward, SampledForward
from sfumato.accounting.profiles.sampled_groups import binomial

EPSILONS = [0.0, 1e-6, 0.01, 0.2, 1.0, 3.0, 12.0]


def one_of(probability: Fraction) -> tuple[Fraction, ...]:
    """One unit is in a sample, or not."""
    return binomial(probability, 1)


SEVERAL = presence(
    Fraction(4), (Fraction(0), Fraction(1), Fraction(2)), (Fraction("0.9"), Fraction("0.08"), Fraction("0.02"))
)


@pytest.mark.parametrize(
    "pair",
    [replacement(Fraction(100), one_of(Fraction("1e-16"))), replacement(Fraction(30), one_of(Fraction("1e-13")))],
)
def test_a_loss_that_is_flat_to_rounding_hides_nothing(pair):
    near_zero = np.array([0.0, 1e-300, 1e-18, 1e-17, 1e-16, 1e-15])
    for epsilon, found in zip(near_zero, pair.delta_up(near_zero), strict=True):
        assert mp(float(found)) >= mixture_delta(pair, epsilon)


@pytest.mark.parametrize(
    "pair",
    [
        SEVERAL,
        mirrored(SEVERAL),
        replacement(Fraction(1), one_of(Fraction(1, 100))),
        replacement(Fraction(1, 10), one_of(Fraction(1, 2))),
        group_presence(Fraction(2), binomial(Fraction(1, 10), 3)),
        mirrored(group_presence(Fraction(1, 2), binomial(Fraction(1, 10), 2))),
    ],
)
def test_bounds_enclose_the_truth(pair):
    with mpmath.workdps(DIGITS):
        array = np.array(EPSILONS)
        uppers, (masses, seconds) = pair.delta_up(array), pair.test_down(array)
        for epsilon, upper, mass, second in zip(EPSILONS, uppers, masses, seconds, strict=True):
            truth = mixture_delta(pair, epsilon)
            lower = mp(float(mass)) - mpmath.exp(mp(epsilon)) * mp(float(second))
            assert lower <= truth <= mp(float(upper))
            slack = mpmath.mpf("1e-11") * mp(float(mass)) + mpmath.mpf("1e-297")
            assert mp(float(upper)) - truth <= slack
            assert truth - lower <= slack


@pytest.mark.parametrize(("noise", "q"), [("1", "0.01"), ("0.5", "0.3"), ("6", "0.0001")])
def test_one_sampled_step_is_amplification_by_the_theorem(noise, q):
    """Two ways to the same profile: the roots of the mixture, and the formula from the Gaussian's own profile."""
    mixture = group_presence(Fraction(noise), binomial(Fraction(q), 1))
    base, epsilons = GaussianProfile(Fraction(noise)), np.array(EPSILONS)
    for pair, formula in ((mixture, SampledForward), (mirrored(mixture), SampledBackward)):
        other = formula(Fraction(q), base)
        assert np.allclose(pair.delta_up(epsilons), other.delta_up(epsilons), rtol=1e-9, atol=1e-13)


def test_an_independent_implementation_agrees():
    for adjacency, pair in ((peer.AdjacencyType.REMOVE, SEVERAL), (peer.AdjacencyType.ADD, mirrored(SEVERAL))):
        theirs = peer.MixtureGaussianPrivacyLoss(4, [0, 1, 2], [0.9, 0.08, 0.02], adjacency_type=adjacency)
        for epsilon, ours in zip(EPSILONS, pair.delta_up(np.array(EPSILONS)), strict=True):
            assert ours == pytest.approx(theirs.get_delta_for_epsilon([epsilon])[0], rel=1e-6, abs=1e-12)


def test_a_replacement_is_symmetric_and_worse_than_an_addition():
    pair = replacement(Fraction(2), one_of(Fraction(1, 10)))
    assert mirrored(pair) == pair
    epsilons = np.array(EPSILONS)
    added = SampledForward(Fraction(1, 10), GaussianProfile(Fraction(2))).delta_up(epsilons)
    assert np.all(pair.delta_up(epsilons) >= added)


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("length", [0.3, 1.0])
def test_no_replacement_in_the_plane_is_worse_than_the_opposite_one(angle, length):
    """x = (1, 0) and y at an angle, integrated on a grid; the pair takes y = −x."""
    sigma, q, epsilon = 1.0, 0.3, 0.2
    grid = np.linspace(-9, 10, 800)
    x, y = np.meshgrid(grid, grid)

    def law(mean_x: float, mean_y: float) -> np.ndarray:
        there = np.exp(-((x - mean_x) ** 2 + (y - mean_y) ** 2) / (2 * sigma**2))
        absent = np.exp(-(x**2 + y**2) / (2 * sigma**2))
        return (q * there + (1 - q) * absent) / (2 * math.pi * sigma**2)

    cell = (grid[1] - grid[0]) ** 2
    p, other = law(1.0, 0.0), law(length * math.cos(angle), length * math.sin(angle))
    delta = float(np.maximum(p - math.exp(epsilon) * other, 0).sum() * cell)
    assert delta <= replacement(Fraction(1), one_of(Fraction(3, 10))).delta_up(np.array([epsilon]))[0] + 1e-6


def test_a_mixture_without_moves_costs_nothing():
    still = presence(Fraction(1), (Fraction(0),), (Fraction(1),))
    assert still.delta_up(np.array([0.0, 1.0])).tolist() == [0, 0]
    assert still.test_down(np.array([0.0]))[0].tolist() == [0]


def test_losses_end_where_the_weights_of_the_same_mean_say():
    assert mirrored(SEVERAL).highest_loss == pytest.approx(-math.log(0.9))
    assert mirrored(SEVERAL).delta_up(np.array([0.106]))[0] == 0
    assert mirrored(SEVERAL).delta_up(np.array([0.09]))[0] > 0
    assert SEVERAL.highest_loss == math.inf


@pytest.mark.parametrize("pair", [SEVERAL, mirrored(SEVERAL), replacement(Fraction(1, 50), one_of(Fraction(1, 100)))])
def test_they_are_profiles(pair):
    assert_is_a_profile(pair, highest=3)
