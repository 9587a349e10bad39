from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.profiles.oracles import only_single

from sfumato.accounting.gaussian.discrete_gaussian import discrete_gaussian_delta_up
from sfumato.accounting.profiles.combined import Bracketed
from sfumato.accounting.profiles.discrete import DiscreteGaussian, RoundedGaussian
from sfumato.accounting.profiles.finite import EVERYTHING
from sfumato.accounting.profiles.leaves import SYMMETRIC, discrete_gaussian, finite, mixture
from sfumato.accounting.profiles.profile import Concentrated, DominatingPair
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
    FiniteEvent,
    GaussianEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    PureEvent,
    ZCDPEvent,
)

EPSILONS = np.array([0.0, 0.5, 3.0, 1e9])
TINY, HUGE = Fraction(1, 10**300), Fraction(10**300)


@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent(TINY),
        LaplaceEvent(TINY),
        DiscreteLaplaceEvent(TINY, 1),
        PureEvent(HUGE),
        ZCDPEvent(HUGE),
        ExponentialEvent(HUGE),
    ],
)
def test_what_hides_nothing_counts_as_an_exact_answer_but_claims_no_test(event):
    profile = SYMMETRIC[type(event)](event)
    assert profile == Bracketed(EVERYTHING)
    assert profile.test_down(EPSILONS)[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent(HUGE),
        LaplaceEvent(HUGE),
        DiscreteLaplaceEvent(HUGE, 1),
        PureEvent(TINY),
        ZCDPEvent(TINY),
        ExponentialEvent(TINY),
    ],
)
def test_what_hides_everything_costs_next_to_nothing(event):
    bounds = SYMMETRIC[type(event)](event).delta_up(EPSILONS)
    assert 0 < bounds[0] < 1e-40
    assert np.all(np.diff(bounds) <= 0)


def test_a_discrete_shift_is_the_whole_part_of_the_sensitivity():
    event = DiscreteLaplaceEvent(Fraction(2), Fraction(7, 2))
    assert SYMMETRIC[type(event)](event).shift == 3
    scalar = discrete_gaussian(DiscreteGaussianEvent(Fraction(2), Fraction(7, 2), 1), only_single)
    assert scalar.forward == DiscreteGaussian(Fraction(2), 3)


def test_one_step_in_several_coordinates_is_one_step_in_one():
    pair = discrete_gaussian(DiscreteGaussianEvent(Fraction(2), Fraction(7, 5), 6), only_single)
    assert pair.forward == DiscreteGaussian(Fraction(2), 1)


def test_moves_of_several_coordinates_are_composed_shape_by_shape():
    seen: list[tuple[tuple[int, int], ...]] = []

    def compose(pairs: tuple[tuple[DominatingPair, int], ...]) -> DominatingPair:
        seen.append(tuple((pair.forward.shift, count) for pair, count in pairs))
        return pairs[0][0]

    discrete_gaussian(DiscreteGaussianEvent(Fraction(2), Fraction(3), 3), compose)
    assert sorted(seen) == [((1, 1), (2, 2))]
    seen.clear()
    discrete_gaussian(DiscreteGaussianEvent(Fraction(2), Fraction(2), 4), compose)
    assert sorted(seen) == [((1, 4),)]


def test_large_noise_takes_the_continuous_law():
    pair = discrete_gaussian(DiscreteGaussianEvent(Fraction(100), Fraction(3), 2), only_single)
    assert pair.forward == RoundedGaussian(Fraction(100), Fraction(3), 2)
    single = discrete_gaussian_delta_up(stddev=100, l2_sensitivity=3, epsilon=Fraction(1, 10), l0_sensitivity=2)
    assert pair.forward.delta_up(np.array([0.1]))[0] == pytest.approx(single, rel=1e-3)


def test_little_noise_on_too_many_shapes_costs_what_concentrated_privacy_says():
    pair = discrete_gaussian(DiscreteGaussianEvent(Fraction(1), Fraction(9)), only_single)
    assert pair.forward == Bracketed(Concentrated(Fraction(81, 2)), DiscreteGaussian(Fraction(1), 9))
    hidden = discrete_gaussian(DiscreteGaussianEvent(Fraction(1, 10**60), Fraction(9)), only_single)
    assert hidden.forward == Bracketed(EVERYTHING)


def test_unknown_coordinates_of_a_long_move_cost_next_to_nothing_beside_one():
    """A sum of salaries: its million million coordinates would hide behind no leak that suffices for a few."""
    epsilon = np.array([0.0, 0.1, 0.5])
    unknown = discrete_gaussian(DiscreteGaussianEvent(Fraction(10**7), Fraction(10**6)), only_single).forward
    single = discrete_gaussian(DiscreteGaussianEvent(Fraction(10**7), Fraction(10**6), 1), only_single).forward
    assert np.all(single.delta_up(epsilon) < unknown.delta_up(epsilon) * (1 + 1e-9))
    assert np.all(unknown.delta_up(epsilon) < single.delta_up(epsilon) * (1 + 1e-4))


def test_finite_pairs_and_mixtures_have_two_orders():
    event = FiniteEvent((Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))
    pair = finite(event)
    assert not pair.is_symmetric
    assert pair.forward.delta_up(np.array([0.5]))[0] == pytest.approx(1 - np.exp(0.5) / 2)
    assert pair.backward.delta_up(np.array([0.5]))[0] == pytest.approx(0.5)
    moved = mixture(MixtureOfGaussiansEvent(Fraction(1), (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2))))
    assert not moved.is_symmetric
    far = MixtureOfGaussiansEvent(TINY, (Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2)))
    assert mixture(far).forward == Bracketed(EVERYTHING)
