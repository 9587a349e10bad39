import numpy as np
import pytest
from tests.accounting.pld.laws import EPSILONS, PAIRS, delta_of_law, delta_of_pair

from sfumato.accounting.pld.discretize import grid_of, lower_law, upper_law

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
