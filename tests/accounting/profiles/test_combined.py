import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.profiles.combined import BracketedProfile, GroupProfile, MixedProfile, WorstProfile, worst_of
from sfumato.accounting.profiles.finite import NOTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.profile import GaussianProfile, LaplaceProfile

EPSILONS = np.linspace(0, 3, 50)
ONE, OTHER = LaplaceProfile(Fraction(1)), GaussianProfile(Fraction(2))


def test_the_worst_is_the_largest_and_tested_by_the_first():
    worst = WorstProfile((ONE, OTHER))
    assert np.all(worst.delta_up(EPSILONS) == np.maximum(ONE.delta_up(EPSILONS), OTHER.delta_up(EPSILONS)))
    assert np.all(worst.test_down(EPSILONS)[0] == ONE.test_down(EPSILONS)[0])
    assert worst.highest_loss == math.inf
    assert worst_of((ONE, ONE)) is ONE
    assert worst_of((ONE, OTHER, ONE)) == worst


def test_two_sides_come_from_two_profiles():
    both = BracketedProfile(OTHER, ONE)
    assert np.all(both.delta_up(EPSILONS) == OTHER.delta_up(EPSILONS))
    assert np.all(both.test_down(EPSILONS)[1] == ONE.test_down(EPSILONS)[1])
    assert np.all(BracketedProfile(OTHER).test_down(EPSILONS)[0] == 0)


def test_a_mixture_is_the_weighted_sum():
    mixed = MixedProfile(((0.25, ONE), (0.75, OTHER)))
    truth = 0.25 * ONE.delta_up(EPSILONS) + 0.75 * OTHER.delta_up(EPSILONS)
    assert np.all(mixed.delta_up(EPSILONS) >= truth)
    assert np.allclose(mixed.delta_up(EPSILONS), truth, rtol=1e-12)
    assert np.all(MixedProfile(((0.0, ONE), (1.0, NOTHING))).delta_up(EPSILONS) == 0)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_steps_bound_the_longer_shift_of_additive_noise(count):
    for single, together in ((ONE, LaplaceProfile(Fraction(1, count))), (OTHER, GaussianProfile(Fraction(2, count)))):
        steps = GroupProfile(single, count)
        assert np.all(steps.delta_up(EPSILONS) >= together.delta_up(EPSILONS) * (1 - 1e-12))
        assert np.all(np.diff(steps.delta_up(EPSILONS)) <= 0)


def test_steps_are_the_formula():
    """δ(ε/3)(1 + e^(ε/3) + e^(2ε/3)), where that falls."""
    epsilons = np.array([0.0, 1.5, 4.5])
    far = GaussianProfile(Fraction(8))
    formula = far.delta_up(epsilons / 3) * (1 + np.exp(epsilons / 3) + np.exp(2 * epsilons / 3))
    assert GroupProfile(far, 3).delta_up(epsilons) == pytest.approx(np.minimum.accumulate(formula), rel=1e-11)


def test_steps_of_a_pure_mechanism_end_at_the_multiple():
    steps = GroupProfile(WorstPair(Fraction(1, 2)), 4)
    assert steps.highest_loss == pytest.approx(2)
    assert steps.delta_up(np.array([steps.highest_loss, 5.0])).tolist() == [0, 0]


def test_steps_do_not_care_for_the_order_of_the_points():
    steps = GroupProfile(OTHER, 2)
    shuffled = np.array([2.0, 0.0, 1.0])
    assert steps.delta_up(shuffled)[[1, 2, 0]].tolist() == steps.delta_up(np.sort(shuffled)).tolist()


def test_steps_bound_every_chain_of_three_vectors():
    """D₀, D₁, D₂ with each neighbor pair below the single profile: here both have exactly it."""
    first, middle, last = ((Fraction(k, 12), Fraction(12 - k, 12)) for k in (8, 5, 3))
    single = worst_of((FinitePair(first, middle), FinitePair(middle, last)))
    chain = FinitePair(first, last).delta_up(EPSILONS)
    assert np.all(GroupProfile(single, 2).delta_up(EPSILONS) >= chain * (1 - 1e-12))


class Unknown:
    """A profile that fails to be a number."""

    highest_loss = math.inf

    def delta_up(self, epsilon):
        return np.full_like(epsilon, math.nan)


def test_what_is_not_a_number_promises_nothing():
    assert GroupProfile(Unknown(), 2).delta_up(np.array([0.0, 1.0, 5.0])).tolist() == [1, 1, 1]
