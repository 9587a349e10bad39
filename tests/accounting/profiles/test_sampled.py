import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism as peer
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.profiles.oracles import assert_encloses, assert_is_a_profile, hockey_stick, lower_bounds, mp

from sfumato.accounting.profiles.finite import EVERYTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.profile import GaussianProfile, LaplaceProfile
from sfumato.accounting.profiles.sampled import (
    SampledBackward,
    SampledForward,
    SampledReplacement,
    inner_epsilon,
    truncation,
)
from sfumato.privacy.events import GaussianEvent, TruncatedPoissonSampledEvent


def event(q: Fraction, size: int, most: int) -> TruncatedPoissonSampledEvent:
    return TruncatedPoissonSampledEvent(q, size, most, GaussianEvent(Fraction(1)))


@pytest.mark.parametrize(("q", "size", "most"), [("1/10", 30, 5), ("1/2", 40, 39), ("0.01", 200, 2), ("0.9", 12, 3)])
def test_the_probabilities_are_those_of_the_definition_from_above(q, size, most):
    rate = Fraction(q)
    masses = [math.comb(size - 1, t) * rate**t * (1 - rate) ** (size - 1 - t) for t in range(size)]
    full = sum(masses[most:], start=Fraction(0))
    kept = sum((masses[t] * rate * Fraction(most, t + 1) for t in range(most, size)), start=Fraction(0)) / full
    found = truncation(event(rate, size, most))
    for bound, truth in ((found.full_up, full), (found.fits_up, 1 - full), (found.kept_up, kept)):
        assert truth <= Fraction(bound) <= truth * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)


def test_a_sample_that_cannot_overflow_is_not_cut():
    found = truncation(event(Fraction(1, 3), 10, 10))
    assert (found.fits_up, found.full_up) == (1, 0)


def test_a_sample_of_everybody_is_a_draw_of_as_many_as_fit():
    found = truncation(event(Fraction(1), 10, 4))
    assert (found.fits_up, found.full_up, found.kept_up) == (0, 1, Fraction(2, 5))


def test_large_sources_are_quick_and_sane():
    found = truncation(event(Fraction(1, 100), 10**7, 102_000))
    assert 0 < found.full_up < 1e-9
    assert found.kept_up <= Fraction(1, 100)


WEIGHTS = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)
RATES = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(99, 100), max_denominator=10**6)
EPSILONS = [0.0, 1e-7, 0.004, 0.05, 0.3, 1.0, 2.5, 6.0]


def normalized(weights: list[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def mixed(q: Fraction, p: tuple[Fraction, ...], base: tuple[Fraction, ...]) -> list[mpmath.mpf]:
    return [mp(q * a + (1 - q) * b) for a, b in zip(p, base, strict=True)]


@given(WEIGHTS, WEIGHTS, RATES, st.lists(st.floats(0, 3), max_size=3))
def test_samples_of_vectors_enclose_the_definition(first, second, q, epsilons):
    p, base = normalized(first), normalized(second)
    whole, mixture = [mp(value) for value in base], mixed(q, p, base)
    pair = FinitePair(p, base)
    forward, backward = SampledForward(q, pair), SampledBackward(q, pair.reversed())
    points = [0.0, *epsilons]
    slack = 1e-12 * float(q)
    for profile, sides in ((forward, (mixture, whole)), (backward, (whole, mixture))):
        uppers, lowers = profile.delta_up(np.array(points)), lower_bounds(profile, points)
        for epsilon, upper, lower in zip(points, uppers, lowers, strict=True):
            with mpmath.workdps(60):
                truth = hockey_stick(*sides, epsilon)
                assert truth <= mp(float(upper)) * (1 + mpmath.mpf("1e-50"))
                assert mp(float(upper)) - truth <= slack
                assert lower <= truth + mpmath.mpf("1e-15")
                assert truth - lower <= slack + mpmath.mpf("1e-14")


@given(WEIGHTS, WEIGHTS, WEIGHTS, RATES, st.floats(0, 3))
def test_a_replaced_unit_in_a_sample_is_within_the_bound(there, replaced, absent, q, epsilon):
    p, other, base = normalized(there), normalized(replaced), normalized(absent)
    truth = hockey_stick(mixed(q, p, base), mixed(q, other, base), epsilon)
    bound = SampledReplacement(q, FinitePair(p, base), FinitePair(p, other))
    assert truth <= mp(float(bound.delta_up(np.array([epsilon]))[0])) * (1 + mpmath.mpf("1e-50"))
    both = SampledForward(q, FinitePair(p, base)), SampledForward(q, FinitePair(p, other))
    larger = max(float(profile.delta_up(np.array([epsilon]))[0]) for profile in both)
    assert bound.delta_up(np.array([epsilon]))[0] <= larger * (1 + 1e-12) + 1e-300


@pytest.mark.parametrize("q", ["0.5", "0.01", "1e-5"])
@pytest.mark.parametrize(
    "noise", [GaussianProfile(Fraction(1)), GaussianProfile(Fraction(4)), LaplaceProfile(Fraction(3, 2))]
)
def test_an_independent_implementation_agrees(noise, q):
    rate, parameter = float(q), float(noise.noise_multiplier)
    make = peer.GaussianPrivacyLoss if isinstance(noise, GaussianProfile) else peer.LaplacePrivacyLoss
    for adjacency, profile in (
        (peer.AdjacencyType.REMOVE, SampledForward(Fraction(q), noise)),
        (peer.AdjacencyType.ADD, SampledBackward(Fraction(q), noise)),
    ):
        theirs = make(parameter, sampling_prob=rate, adjacency_type=adjacency)
        for epsilon, ours in zip(EPSILONS, profile.delta_up(np.array(EPSILONS)), strict=True):
            assert ours == pytest.approx(theirs.get_delta_for_epsilon(epsilon), rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("q", [Fraction(1, 10**9), Fraction(1, 100), Fraction(3, 4), Fraction(1)])
def test_the_inner_epsilon_is_rounded_down(q):
    epsilons = [0.0, 1e-12, 0.3, 1.0, math.nextafter(1.0, 2), 30.0, 699.0, 1e4]
    with mpmath.workdps(60):
        for epsilon, inner in zip(epsilons, inner_epsilon(np.array(epsilons), q), strict=True):
            truth = mpmath.log1p(mpmath.expm1(mp(epsilon)) / mp(q))
            assert truth * (1 - mpmath.mpf("1e-14")) <= mp(float(inner)) <= truth


def test_an_exact_answer_in_a_sample_is_a_chance_of_q():
    forward, backward = (kind(Fraction(1, 8), EVERYTHING) for kind in (SampledForward, SampledBackward))
    epsilons = np.array([0.0, 0.1, 5.0])
    assert forward.delta_up(epsilons) == pytest.approx([1 / 8] * 3)
    assert backward.delta_up(epsilons) == pytest.approx([1 / 8, 1 - math.exp(0.1) * 7 / 8, 0])


def test_a_sampled_pure_pair_has_the_amplified_epsilon():
    forward = SampledForward(Fraction(1, 100), WorstPair(Fraction(1)))
    amplified = math.log1p(math.expm1(1) / 100)
    assert forward.highest_loss == pytest.approx(amplified)
    assert forward.highest_loss >= amplified
    assert forward.delta_up(np.array([forward.highest_loss, 0.99 * amplified])).tolist()[0] == 0
    assert forward.delta_up(np.array([0.99 * amplified]))[0] > 0
    backward = SampledBackward(Fraction(1, 100), WorstPair(Fraction(1)))
    assert backward.highest_loss == pytest.approx(-math.log1p(math.expm1(-1) / 100))


@pytest.mark.parametrize(
    "noise", [GaussianProfile(Fraction(1)), LaplaceProfile(Fraction(1)), WorstPair(Fraction(1), Fraction(1, 9))]
)
@pytest.mark.parametrize("q", [Fraction(1, 1000), Fraction(2, 5), Fraction(1)])
def test_they_are_profiles(noise, q):
    for profile in (SampledForward(q, noise), SampledBackward(q, noise), SampledReplacement(q, noise, noise)):
        assert_is_a_profile(profile, highest=3)


def test_lower_bounds_of_samples_are_near():
    q = Fraction(1, 100)
    for profile in (SampledForward(q, GaussianProfile(Fraction(1))), SampledBackward(q, GaussianProfile(Fraction(1)))):
        assert_encloses(
            profile, lambda e, p=profile: mp(float(p.delta_up(np.array([e]))[0])), [0.0, 0.001], relative=1e-13
        )


@pytest.mark.parametrize("q", [1 - Fraction(1, 10**9), 1 - Fraction(1, 10**17)], ids=["nearly", "all but"])
def test_tests_of_a_sample_of_nearly_everybody_claim_no_more_than_the_truth(q):
    p = (Fraction(0), Fraction(89, 100), Fraction(11, 100))
    base = (Fraction(11, 100), Fraction(39, 50), Fraction(11, 100))
    mix = tuple(q * a + (1 - q) * b for a, b in zip(p, base, strict=True))
    sampled = SampledBackward(q, FinitePair(base, p))
    at = np.array([0.1, 5.0, 15.0, 30.0])
    first, second = sampled.test_down(at)
    for claimed, unlikely in zip(first, second, strict=True):
        sets = [(sum(base[i] for i in chosen), sum(mix[i] for i in chosen)) for chosen in ((0,), (0, 2), (0, 1, 2), ())]
        assert any(Fraction(claimed) <= a and b <= Fraction(unlikely) for a, b in sets)
