from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.pld.laws import EPSILONS, PAIRS, delta_of_law, delta_of_pair

from sfumato.accounting.pld.discretize import (
    UNIT,
    LossDistribution,
    LossGrid,
    converted,
    grid_of,
    lower_law,
    polygon_masses,
    upper_law,
)

every_pair = pytest.mark.parametrize("name", PAIRS)
every_step = pytest.mark.parametrize("step", [0.3, 0.05, 0.004])


def grid(name, step, *, is_upper, fits_both_ends=False):
    return grid_of(PAIRS[name], step=step, negligible=1e-12, is_upper=is_upper, fits_both_ends=fits_both_ends)


@every_pair
@every_step
def test_an_upper_law_is_above_the_profile_at_every_epsilon(name, step):
    law = upper_law(PAIRS[name], grid(name, step, is_upper=True))
    for epsilon in EPSILONS:
        assert delta_of_law(law, epsilon) >= delta_of_pair(PAIRS[name], epsilon) - 1e-12


@every_pair
@every_step
def test_a_lower_law_is_below_the_profile_at_every_epsilon(name, step):
    law = lower_law(PAIRS[name], grid(name, step, is_upper=False))
    for epsilon in EPSILONS:
        assert delta_of_law(law, epsilon) <= delta_of_pair(PAIRS[name], epsilon) + 1e-12


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_both_laws_are_within_the_square_of_the_step(name):
    laws = [
        make(PAIRS[name], grid(name, 0.01, is_upper=is_upper, fits_both_ends=name == "laplace"))
        for make, is_upper in ((upper_law, True), (lower_law, False))
    ]
    for epsilon in EPSILONS:
        assert delta_of_law(laws[0], epsilon) - delta_of_law(laws[1], epsilon) <= 3e-5


@every_pair
def test_masses_are_a_distribution_to_rounding(name):
    law = upper_law(PAIRS[name], grid(name, 0.01, is_upper=True))
    assert law.masses.min() >= 0
    assert law.masses.sum() + law.infinite_mass == pytest.approx(1, abs=1e-11)


def test_the_top_of_a_grid_lies_a_hair_beyond_the_highest_loss():
    highest = PAIRS["laplace"].forward.highest_loss
    assert highest < grid("laplace", 0.01, is_upper=True).losses[-1] < highest + 1e-9
    below, beyond = grid("laplace", 0.01, is_upper=False).losses[-2:]
    assert highest - 1e-9 < below < highest < beyond


def test_a_grid_fits_both_ends_where_it_is_asked_to():
    losses = grid("response", 0.011, is_upper=True, fits_both_ends=True).losses
    assert losses[0] == pytest.approx(-losses[-1], abs=1e-12)
    assert np.isclose(losses, 0, atol=1e-12).any()


def test_what_is_cut_off_above_becomes_infinite_loss():
    law = upper_law(PAIRS["gaussian"], grid_of(PAIRS["gaussian"], step=0.01, negligible=1e-3, is_upper=True))
    assert 1e-5 < law.infinite_mass < 1e-3


def test_a_grid_too_coarse_for_any_test_says_nothing_from_below():
    law = lower_law(PAIRS["response"], grid("response", 10.0, is_upper=False))
    assert law.infinite_mass == 0
    for epsilon in EPSILONS:
        assert delta_of_law(law, epsilon) <= delta_of_pair(PAIRS["response"], epsilon) + 1e-12


def test_a_grid_lists_its_losses():
    assert LossGrid(lowest=Fraction(1, 2), step=0.25, size=3).losses.tolist() == [0.5, 0.75, 1.0]


def test_a_law_has_a_loss_for_each_mass():
    law = LossDistribution(lowest=Fraction(-1), step=0.5, masses=np.array([0.2, 0.3, 0.5]), infinite_mass=0.0)
    assert law.losses.tolist() == [-1.0, -0.5, 0.0]


LOSSES = np.arange(-3, 4) / 2


def points(deltas, losses=LOSSES):
    """δ for each loss of 0 or more, and the other order's for each below."""
    return deltas[losses >= 0], (deltas[losses < 0] - 1 + np.exp(losses[losses < 0])) / np.exp(losses[losses < 0])


def polygon(masses, losses, epsilons):
    return np.array([(masses * -np.expm1(np.minimum(epsilon - losses, 0.0))).sum() for epsilon in epsilons])


def profile(losses, atoms):
    return np.array([sum(p * max(0.0, 1 - np.exp(epsilon - loss)) for loss, p in atoms) for epsilon in losses])


@pytest.mark.parametrize("is_upper", [True, False])
def test_atoms_on_the_grid_are_found_again(is_upper):
    atoms = [(-1.0, 0.2), (0.5, 0.5), (1.5, 0.3)]
    total_of_q = sum(p * np.exp(-loss) for loss, p in atoms)
    assert total_of_q < 1 + 1e-9
    forward, backward = points(profile(LOSSES, atoms))
    masses = polygon_masses(LOSSES, forward, backward, is_upper=is_upper)
    expected = np.zeros(7)
    for loss, p in atoms:
        expected[round(loss * 2) + 3] = p
    assert np.allclose(masses, expected, atol=1e-12)


def test_masses_of_an_upper_bound_are_never_below_the_second_differences():
    rng = np.random.default_rng(3)
    losses = np.arange(-40, 41) / 8
    atoms = list(zip(losses, rng.dirichlet(np.ones(81)) * np.minimum(1, np.exp(losses)), strict=True))
    deltas = profile(losses, atoms)
    up = polygon(polygon_masses(losses, *points(deltas, losses), is_upper=True), losses, losses)
    down = polygon(polygon_masses(losses, *points(deltas, losses), is_upper=False), losses, losses)
    assert np.all(up >= deltas * (1 - 32 * UNIT) - 1e-16)
    assert np.all(down <= deltas * (1 + 32 * UNIT) + 1e-16)


def test_a_point_above_its_neighbours_chord_is_left_out():
    losses = np.arange(0, 5) / 2.0
    bent = np.array([0.8, 0.5, 0.45, 0.1, 0.0])
    for is_upper in (True, False):
        masses = polygon_masses(losses, bent, np.empty(0), is_upper=is_upper)
        assert masses.min() >= 0
        assert polygon(masses, losses, losses[2:3])[0] < bent[2]


def test_many_dents_are_left_out_one_after_the_other():
    rng = np.random.default_rng(1)
    losses = np.arange(0, 600) / 100.0
    smooth = np.exp(-3 * losses) * 0.5
    dented = smooth * (1 + 0.05 * rng.random(600))
    lower = polygon_masses(losses, np.minimum.accumulate(dented), np.empty(0), is_upper=False)
    upper = polygon_masses(losses, np.minimum.accumulate(dented), np.empty(0), is_upper=True)
    # In this test the last value of the curve stays as infinite mass, outside the masses.
    end = np.minimum.accumulate(dented)[-1]
    assert np.all(polygon(lower, losses, losses) + end <= np.minimum.accumulate(dented) * (1 + 1e-9))
    assert np.all(polygon(upper, losses, losses) + end >= smooth * (1 - 1e-9))


def test_the_two_orders_are_converted_into_each_other():
    assert converted(np.array([0.0]), np.array([0.3]))[0] == pytest.approx(0.3)
    there = converted(np.array([0.7]), np.array([0.3]))[0]
    assert there == pytest.approx(1 - np.exp(-0.7) + np.exp(-0.7) * 0.3)


def test_losses_far_apart_do_not_overflow():
    losses = np.array([0.0, 800.0, 1600.0])
    masses = polygon_masses(losses, np.array([0.5, 0.25, 0.0]), np.array([]), is_upper=True)
    assert masses == pytest.approx([0.5, 0.25, 0.25])
