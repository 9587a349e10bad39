import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.pld.brute_force import exact_delta, finite_pairs

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
from sfumato.accounting.pld.single import is_single, single_delta_up, single_epsilon_bounds
from sfumato.accounting.profiles.additive import Gaussian, Laplace
from sfumato.accounting.profiles.combined import Bracketed, Steps
from sfumato.accounting.profiles.finite import EVERYTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.leaves import symmetric
from sfumato.accounting.profiles.profile import DominatingPair
from sfumato.numeric.rounding import exp_down, exp_up


def once(profile):
    return ((symmetric(profile), 1),)


@given(finite_pairs(), st.fractions(Fraction(1, 10**6), Fraction(9, 10)))
def test_one_finite_pair_costs_what_its_definition_says(laws, delta):
    p, q = laws
    bounds = single_epsilon_bounds(((DominatingPair(FinitePair(p, q), FinitePair(q, p)), 1),), delta)
    both = [(p, q)], [(q, p)]
    if bounds.upper < math.inf:
        assert max(exact_delta(each, Fraction(exp_up(Fraction(bounds.upper)))) for each in both) <= delta
    if bounds.lower:
        assert max(exact_delta(each, Fraction(exp_down(Fraction(bounds.lower)))) for each in both) > delta


@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.3"])
def test_one_gaussian_has_its_closed_form_on_both_sides(delta):
    bounds = single_epsilon_bounds(once(Gaussian(Fraction(2))), Fraction(delta))
    truth = float(gaussian_epsilon_up(noise_multiplier=2, delta=delta))
    assert bounds.upper == pytest.approx(truth, rel=1e-8 if delta != "1e-300" else 1e-6)
    assert truth * (1 - 1e-8) <= bounds.lower <= truth if delta != "1e-300" else 0 < bounds.lower <= truth
    assert single_delta_up(once(Gaussian(Fraction(2))), Fraction(1)) == pytest.approx(
        gaussian_delta_up(noise_multiplier=2, epsilon=1), rel=1e-9
    )


def test_where_delta_is_enough_at_zero_nothing_is_lost():
    bounds = single_epsilon_bounds(once(Laplace(Fraction(10))), Fraction(1, 2))
    assert (bounds.lower, bounds.upper) == (0.0, 0.0)


@pytest.mark.parametrize("epsilon", ["1e-30", 10**4, 10**50])
def test_tiny_and_vast_losses_are_found(epsilon):
    bounds = single_epsilon_bounds(once(WorstPair(Fraction(epsilon))), Fraction(1, 10**100))
    assert bounds.upper == pytest.approx(float(Fraction(epsilon)), rel=1e-9)
    assert bounds.lower <= float(Fraction(epsilon))


def test_what_is_never_enough_is_infinite():
    bounds = single_epsilon_bounds(once(Bracketed(EVERYTHING)), Fraction(1, 2))
    assert (bounds.lower, bounds.upper) == (0.0, math.inf)


def test_bounds_of_which_neighbors_help_each_other_are_kept():
    steps = Steps(Gaussian(Fraction(3)), 3)
    upper = single_epsilon_bounds(once(steps), Fraction(1, 10**5)).upper
    assert float(gaussian_epsilon_up(noise_multiplier=1, delta="1e-5")) <= upper < 10


def test_single_is_one_event_once():
    pair = symmetric(Laplace(Fraction(1)))
    assert is_single(((pair, 1),))
    assert not is_single(((pair, 2),))
    assert not is_single(((pair, 1), (pair, 1)))
