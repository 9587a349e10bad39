import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import DIGITS, assert_is_a_profile, hockey_stick, mixture_delta, mp

from sfumato.accounting.profiles.combined import WorstProfile
from sfumato.accounting.profiles.discrete import DiscreteGaussianProfile, DiscreteLaplaceProfile
from sfumato.accounting.profiles.finite import EVERYTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.mixtures import GaussianMixtures, group_presence, mirrored, replacement
from sfumato.accounting.profiles.profile import DominatingPair, GaussianProfile, LaplaceProfile, Profile, symmetric
from sfumato.accounting.profiles.sampled import SampledBackward, SampledForward
from sfumato.accounting.profiles.sampled_groups import (
    Drawn,
    DrawnBackward,
    DrawnExchange,
    DrawnForward,
    NoiseLine,
    binomial,
    hockey_up,
    hypergeometric,
    line_of,
)

EPSILONS = np.array([0.0, 1e-6, 0.01, 0.2, 1.0, 3.0, 12.0])
TENTH = Fraction(1, 10)


def drawn_of(weights: tuple[Fraction, ...], profile_of) -> Drawn:
    return tuple((count, weight, symmetric(profile_of(count))) for count, weight in enumerate(weights) if count)


def gaussians(weights: tuple[Fraction, ...], noise: Fraction) -> Drawn:
    return drawn_of(weights, lambda count: GaussianProfile(noise / count))


CASES = [
    (Fraction(1), binomial(Fraction(1, 100), 1)),
    (Fraction(4), binomial(TENTH, 3)),
    (Fraction(1, 2), hypergeometric(50, 5, 4)),
    (Fraction(30), binomial(Fraction(1, 2), 8)),
]


@pytest.mark.parametrize(("noise", "weights"), CASES, ids=["one", "three", "fixed size", "eight"])
def test_gaussian_groups_have_the_profile_of_their_mixture(noise, weights):
    """Two ways to one number: thresholds shared by all sizes of the group, and the root of the mixture's loss."""
    drawn, line = gaussians(weights, noise), NoiseLine(float(1 / noise))
    mixture = group_presence(noise, weights)
    for found, pair in (
        (DrawnForward(drawn, line), mixture),
        (DrawnBackward(drawn, line), mirrored(mixture)),
        (DrawnExchange(drawn, line), replacement(noise, weights)),
    ):
        at = EPSILONS[[0, 4]]
        with mpmath.workdps(DIGITS):
            for epsilon, bound in zip(at, found.delta_up(at), strict=True):
                truth = mixture_delta(pair, epsilon)
                assert truth <= mp(float(bound)) <= truth * (1 + mpmath.mpf("1e-8")) + mpmath.mpf("1e-300")


@pytest.mark.parametrize(("noise", "weights"), [(4, hypergeometric(100, 10, 3)), (2, binomial(TENTH, 2))])
def test_an_independent_implementation_agrees_on_groups(noise, weights):
    chances = [float(weight) for weight in weights]
    drawn, line = gaussians(weights, Fraction(noise)), NoiseLine(1 / noise)
    for adjacency, found in (
        (peer.AdjacencyType.REMOVE, DrawnForward(drawn, line)),
        (peer.AdjacencyType.ADD, DrawnBackward(drawn, line)),
    ):
        theirs = peer.MixtureGaussianPrivacyLoss(noise, list(range(len(weights))), chances, adjacency_type=adjacency)
        for epsilon, ours in zip(EPSILONS, found.delta_up(EPSILONS), strict=True):
            assert ours == pytest.approx(theirs.get_delta_for_epsilon([epsilon])[0], rel=1e-6, abs=1e-12)


def moved_law(masses: np.ndarray, weights: tuple[Fraction, ...], direction: int) -> np.ndarray:
    return sum(float(weight) * np.roll(masses, direction * count) for count, weight in enumerate(weights))


LATTICE = np.arange(-400, 401)
LAWS = {
    "laplace": (np.exp(-np.abs(LATTICE) / 3.0), lambda count: DiscreteLaplaceProfile(Fraction(3), count), False),
    "gaussian": (
        np.exp(-((LATTICE / 1.5) ** 2) / 2),
        lambda count: DiscreteGaussianProfile(Fraction(3, 2), count),
        True,
    ),
}


@pytest.mark.parametrize("weights", [binomial(Fraction(1, 50), 1), binomial(Fraction(1, 4), 3)], ids=["one", "three"])
@pytest.mark.parametrize("name", LAWS)
def test_noise_on_the_integers_has_its_exact_two_sided_pair(name, weights):
    """Summed over all outcomes: moved by as many steps as units are drawn, up on the one side and down on the other."""
    masses, profile_of, is_gaussian = LAWS[name]
    masses = masses / masses.sum()
    p, q = moved_law(masses, weights, 1), moved_law(masses, weights, -1)
    line = NoiseLine(2 / 3 if is_gaussian else 1 / 3, is_gaussian=is_gaussian)
    drawn = drawn_of(weights, profile_of)
    for found, one, other in (
        (DrawnExchange(drawn, line), p, q),
        (DrawnForward(drawn, line), p, masses),
        (DrawnBackward(drawn, line), masses, p),
    ):
        bounds = found.delta_up(EPSILONS)
        for epsilon, bound in zip(EPSILONS, bounds, strict=True):
            truth = float(np.maximum(one - math.exp(epsilon) * other, 0).sum())
            assert truth * (1 - 1e-9) - 1e-15 <= bound <= truth * (1 + 1e-8) + 1e-11


def test_laplace_noise_has_its_exact_two_sided_pair():
    """Integrated on a grid: q of the mass moved up against q of it moved down."""
    x = (np.arange(-40_000, 40_000) + 0.5) / 1_000
    q, scale = 0.2, 2.0

    def density(center: float) -> np.ndarray:
        return np.exp(-np.abs(x - center) / scale) / (2 * scale) / 1_000

    p, other = (q * density(side) + (1 - q) * density(0.0) for side in (1.0, -1.0))
    drawn = drawn_of(binomial(Fraction(1, 5), 1), lambda count: LaplaceProfile(Fraction(2) / count))
    found = DrawnExchange(drawn, NoiseLine(0.5, is_gaussian=False)).delta_up(EPSILONS[:5])
    for epsilon, bound in zip(EPSILONS, found, strict=False):
        assert bound == pytest.approx(float(np.maximum(p - math.exp(epsilon) * other, 0).sum()), rel=1e-6, abs=1e-8)


VECTORS = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)
LINES = st.builds(NoiseLine, st.floats(0.01, 5), is_gaussian=st.booleans())


def vector(weights: list[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def average(parts: list[tuple[Fraction, tuple[Fraction, ...]]]) -> list[mpmath.mpf]:
    return [mp(sum(weight * part[i] for weight, part in parts)) for i in range(3)]


def both(pairs: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]) -> DominatingPair:
    """A pair that dominates several."""
    return DominatingPair(
        WorstProfile(tuple(FinitePair(p, q) for p, q in pairs)),
        WorstProfile(tuple(FinitePair(q, p) for p, q in pairs)),
    )


def assert_above(profile: Profile, p: list[mpmath.mpf], q: list[mpmath.mpf]) -> None:
    points = [0.0, 0.03, 0.4, 1.5, 4.0]
    for epsilon, bound in zip(points, profile.delta_up(np.array(points)), strict=True):
        assert mp(float(bound)) >= hockey_stick(p, q, epsilon) * (1 - mpmath.mpf("1e-50"))


@settings(max_examples=40)
@given(st.lists(VECTORS, min_size=5, max_size=5), st.sampled_from(["0.3", "0.01", "0.9"]), LINES)
def test_every_line_gives_a_bound_for_every_mechanism(laws, chance, line):
    """Of two units none, one or both are drawn: for any three laws with them, and any three with their replacements."""
    absent, one, two, other, others = (vector(law) for law in laws)
    w = binomial(Fraction(chance), 2)
    p = average([(w[0], absent), (w[1], one), (w[2], two)])
    q = average([(w[0], absent), (w[1], other), (w[2], others)])
    near = ((1, w[1], both([(one, absent)])), (2, w[2], both([(two, absent)])))
    plain = [mp(value) for value in absent]
    assert_above(DrawnForward(near, line), p, plain)
    assert_above(DrawnBackward(near, line), plain, p)
    through = (
        (1, w[1], both([(one, absent), (absent, other)])),
        (2, w[2], both([(two, absent), (absent, others)])),
    )
    assert_above(DrawnExchange(through, line), p, q)
    around = (
        (1, w[1], both([(one, absent), (one, other)])),
        (2, w[2], both([(two, absent), (two, others)])),
    )
    assert_above(DrawnForward(around, line, is_exchange=True), p, q)


def test_one_unit_is_amplified_by_the_theorem():
    drawn = gaussians(binomial(TENTH, 1), Fraction(2))
    for found, exact in (
        (DrawnForward(drawn, NoiseLine(0.5)), SampledForward(TENTH, GaussianProfile(Fraction(2)))),
        (DrawnBackward(drawn, NoiseLine(0.5)), SampledBackward(TENTH, GaussianProfile(Fraction(2)))),
        (DrawnForward(drawn, NoiseLine(0.5), is_exchange=True), SampledForward(TENTH, GaussianProfile(Fraction(2)))),
    ):
        at = EPSILONS[1:]  # at 0 itself an exchange leaves no choice
        assert found.delta_up(at) == pytest.approx(exact.delta_up(at), rel=1e-5, abs=1e-12)


def test_exchanged_groups_cost_at_least_what_their_mixture_does():
    weights, noise = hypergeometric(50, 5, 4), Fraction(1, 2)
    drawn, line = gaussians(weights, noise), NoiseLine(2.0)
    added = DrawnForward(drawn, line).delta_up(EPSILONS)
    exchanged = DrawnForward(drawn, line, is_exchange=True).delta_up(EPSILONS)
    assert np.all(exchanged >= added * (1 - 1e-9))
    assert exchanged[4] > 1.001 * added[4]


@pytest.mark.parametrize("kind", [DrawnForward, DrawnBackward, DrawnExchange])
@pytest.mark.parametrize("profile_of", [lambda k: GaussianProfile(Fraction(2, k)), lambda k: WorstPair(Fraction(k, 2))])
def test_they_are_profiles(kind, profile_of):
    drawn = drawn_of(binomial(Fraction(1, 5), 2), profile_of)
    assert_is_a_profile(kind(drawn, line_of(drawn[0][2])), highest=3)


def test_bounded_losses_end():
    drawn = drawn_of(binomial(TENTH, 2), lambda count: WorstPair(Fraction(count)))
    top = math.log(0.81 + 0.18 * math.e + 0.01 * math.e**2)
    bottom = -math.log(0.81 + 0.18 / math.e + 0.01 / math.e**2)
    line = NoiseLine(1.0)
    assert DrawnForward(drawn, line).highest_loss == pytest.approx(top, rel=1e-9)
    assert DrawnBackward(drawn, line).highest_loss == pytest.approx(bottom, rel=1e-9)
    assert DrawnExchange(drawn, line).highest_loss == pytest.approx(top + bottom, rel=1e-9)
    assert DrawnExchange(drawn, line).delta_up(np.array([top + bottom - 0.01, top + bottom + 1e-9]))[1] == 0


def test_an_exact_answer_is_as_likely_as_the_group_is_drawn():
    drawn = drawn_of(binomial(TENTH, 2), lambda _: EVERYTHING)
    at = np.array([0.0, 0.1, 50.0])
    assert DrawnForward(drawn, NoiseLine(1.0)).delta_up(at) == pytest.approx([0.19] * 3)
    assert DrawnBackward(drawn, NoiseLine(1.0)).delta_up(at) == pytest.approx(
        [0.19, 1 - 0.81 * math.exp(0.1), 0], abs=1e-9
    )
    assert DrawnExchange(drawn, NoiseLine(1.0)).delta_up(at)[2] == pytest.approx(0.19)


def test_divergences_of_both_signs():
    pair = DominatingPair(
        FinitePair((Fraction(1), Fraction(0)), (TENTH, 1 - TENTH)), FinitePair((TENTH, 1 - TENTH), (1, 0))
    )
    alpha = np.array([0.05, 0.5, 1.0, 3.0])
    truth = np.maximum(1 - alpha / 10, 0) + np.maximum(-alpha * 0.9, 0)
    assert hockey_up(pair, np.log(alpha)) == pytest.approx(truth, abs=1e-12)


def test_the_numbers_drawn_are_those_of_all_subsets():
    sizes = hypergeometric(6, 4, 3)
    counted = [0] * 4
    for chosen in product((0, 1), repeat=6):
        if sum(chosen) == 4:
            counted[sum(chosen[:3])] += 1
    assert sizes == tuple(Fraction(count, sum(counted)) for count in counted)
    assert sum(binomial(Fraction(1, 3), 5)) == 1
    assert isinstance(replacement(Fraction(1), sizes), GaussianMixtures)
