import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.pld.brute_force import exact_delta, finite_pairs
from tests.accounting.pld.laws import PAIRS, symmetric

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
from sfumato.accounting.pld import bounds
from sfumato.accounting.pld.bounds import (
    CertifiedCurve,
    both_orders,
    curve_at_delta,
    curve_at_epsilon,
    delta_bound,
    epsilon_bounds,
    first_step,
    highest_loss,
    infinite_loss_up,
    laws_of,
)
from sfumato.accounting.pld.convolve import Composition
from sfumato.accounting.profiles.finite import EVERYTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.mixtures import GaussianMixtures, mirrored
from sfumato.accounting.profiles.profile import DominatingPair, GaussianProfile
from sfumato.numeric.rounding import exp_down, exp_up

HUNDRED = ((symmetric(GaussianProfile(Fraction(10))), 100),)


@pytest.mark.parametrize("delta", ["1e-2", "1e-6", "1e-12", "1e-30", "1e-100"])
def test_tiny_deltas_keep_their_relative_precision(delta):
    exact = float(gaussian_epsilon_up(noise_multiplier=1, delta=delta))
    upper = curve_at_delta(HUNDRED, float(delta), step=0.005, is_upper=True).epsilon(Fraction(delta))
    lower = curve_at_delta(HUNDRED, float(delta), step=0.005, is_upper=False).epsilon(Fraction(delta))
    assert lower <= exact <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("epsilon", [0, 1, 3, 8, 20])
def test_delta_at_epsilon_encloses_the_closed_form(epsilon):
    exact = gaussian_delta_up(noise_multiplier=1, epsilon=epsilon)
    guess = exact
    upper = curve_at_epsilon(HUNDRED, Fraction(epsilon), step=0.002, delta=guess, is_upper=True).delta(
        Fraction(epsilon)
    )
    lower = curve_at_epsilon(HUNDRED, Fraction(epsilon), step=0.002, delta=guess, is_upper=False).delta(
        Fraction(epsilon)
    )
    assert lower <= exact * (1 + 1e-11)
    assert exact * (1 - 1e-11) <= upper
    assert upper - lower <= 3e-2 * upper


def test_below_the_window_an_upper_bound_knows_nothing_and_a_lower_bound_does():
    upper = curve_at_delta(HUNDRED, 1e-30, step=0.01, is_upper=True)
    lower = curve_at_delta(HUNDRED, 1e-30, step=0.01, is_upper=False)
    assert upper.delta(Fraction(0)) == 1
    assert 0 < lower.delta(Fraction(0)) < 1


def test_beyond_all_losses_nothing_is_left_but_infinite_ones():
    curve = curve_at_delta(((PAIRS["laplace"], 3),), 1e-6, step=0.01, is_upper=True)
    assert curve.delta(Fraction(3)) == 0


def test_the_smallest_epsilon_is_where_delta_is_enough():
    for is_upper in (True, False):
        curve = curve_at_delta(HUNDRED, 1e-6, step=0.01, is_upper=is_upper)
        epsilon = Fraction(curve.epsilon(Fraction("1e-6")))
        assert (curve.delta(epsilon) <= 1e-6) == is_upper
        assert curve.delta(epsilon * (1 + (-1) ** is_upper * Fraction(1, 10**7))) != pytest.approx(0)


def test_epsilon_is_zero_where_delta_is_large_and_infinite_where_all_loss_may_be():
    pairs = ((PAIRS["certain"], 1),)
    curve = curve_at_delta(pairs, 0.9, step=0.01, is_upper=True)
    assert curve.epsilon(Fraction(9, 10)) == 0
    assert curve.epsilon(Fraction(1, 100)) == math.inf


def composition(**errors):
    """One tilted mass at a loss of 1."""
    nothing = {"error": 0.0, "relative_error": 0.0, "stray": 0.0, "infinite_mass": 0.0}
    return Composition(
        center=Fraction(1),
        first=-2,
        step=0.5,
        masses=np.array([0.0, 0.0, 1.0, 0.0]),
        tilt=2.0,
        log_scale=-3.0,
        is_complete_below=False,
        **(nothing | errors),
    )


@pytest.mark.parametrize("errors", [{"error": 1e-3}, {"stray": 1e-3}, {"relative_error": 1e-3}])
def test_each_error_moves_the_bounds_outward(errors):
    exact = math.exp(-3) * (1 - math.exp(-0.25))
    epsilon = Fraction(3, 4)
    upper = CertifiedCurve(composition(**errors), is_upper=True).delta(epsilon)
    lower = CertifiedCurve(composition(**errors), is_upper=False).delta(epsilon)
    assert upper >= exact * (1 + 1e-4)
    assert lower <= exact * (1 - 1e-4)


def test_an_error_of_the_masses_counts_as_if_it_lay_where_it_does_most_harm():
    epsilon, error = Fraction(3, 4), 1e-3
    harm = max(math.exp(-2 * x) * (1 - math.exp(-x)) for x in (0.25, 0.75)) * math.exp(-3 + 2 * 0.25)
    exact = math.exp(-3) * (1 - math.exp(-0.25))
    upper = CertifiedCurve(composition(error=error), is_upper=True).delta(epsilon)
    lower = CertifiedCurve(composition(error=error), is_upper=False).delta(epsilon)
    assert upper - exact >= error * harm
    assert exact - lower >= error * harm


def test_infinite_mass_is_added_to_both():
    for is_upper in (True, False):
        curve = CertifiedCurve(composition(infinite_mass=0.25), is_upper=is_upper)
        assert curve.delta(Fraction(10)) == pytest.approx(0.25, rel=1e-12)


def test_symmetric_pairs_have_one_order_and_others_two():
    assert len(both_orders(((PAIRS["gaussian"], 2), (PAIRS["laplace"], 1)))) == 1
    both = both_orders(((PAIRS["gaussian"], 2), (PAIRS["certain"], 1)))
    assert len(both) == 2
    assert both[0][1][0].forward == both[1][1][0].backward


def test_the_first_step_shrinks_with_the_precision_and_the_count():
    pairs = ((PAIRS["gaussian"], 10),)
    assert first_step(pairs, 1e-6, precision=1e-4) < first_step(pairs, 1e-6, precision=1e-3)
    assert first_step(((PAIRS["gaussian"], 1000),), 1e-6, precision=1e-4) < first_step(pairs, 1e-6, precision=1e-4)


def test_grids_that_need_too_many_losses_are_refused():
    assert laws_of(((PAIRS["gaussian"], 1),), step=1e-7, delta=1e-6, is_upper=True) is None


def test_the_highest_losses_add_up_where_all_are_finite():
    assert highest_loss(((PAIRS["gaussian"], 1), (PAIRS["laplace"], 3))) is None
    assert float(highest_loss(((PAIRS["laplace"], 3),))) == pytest.approx(2)


def test_infinite_losses_are_counted():
    assert infinite_loss_up(((PAIRS["laplace"], 3),)) == 0
    lost = 1 - (7 / 8) ** 2
    assert lost <= infinite_loss_up(((PAIRS["certain"], 2),)) <= lost * (1 + 1e-9)


@pytest.mark.parametrize("is_upper", [True, False])
def test_distinct_pairs_share_a_grid(is_upper):
    pairs = ((PAIRS["gaussian"], 2), (PAIRS["laplace"], 3))
    curve = curve_at_delta(pairs, 1e-6, step=0.01, is_upper=is_upper)
    assert 0 < curve.delta(Fraction(1)) < 1


def test_a_grid_with_too_many_losses_is_not_made(monkeypatch):
    monkeypatch.setattr("sfumato.accounting.pld.bounds.upper_law", None)
    assert laws_of(((PAIRS["gaussian"], 3),), step=1e-6, delta=1e-6, is_upper=True) is None


def test_a_delta_below_all_floats_is_asked_for_at_the_smallest():
    pairs = ((PAIRS["gaussian"], 3),)
    assert curve_at_delta(pairs, 0.0, step=0.01, is_upper=True) is not None


def as_pair(p, q):
    return DominatingPair(FinitePair(p, q), FinitePair(q, p))


def exact_worst(pairs, weight):
    return max(exact_delta(pairs, weight), exact_delta([(q, p) for p, q in pairs], weight))


@given(st.lists(finite_pairs(), min_size=1, max_size=4), st.fractions(Fraction(1, 10**6), Fraction(9, 10)))
def test_finite_pairs_cost_what_their_definition_says(laws, delta):
    bounds = epsilon_bounds(tuple((as_pair(p, q), 1) for p, q in laws), delta)
    assert 0 <= bounds.lower <= bounds.upper
    if bounds.upper < math.inf:
        assert exact_worst(laws, Fraction(exp_up(Fraction(bounds.upper)))) <= delta
    if bounds.lower:
        assert exact_worst(laws, Fraction(exp_down(Fraction(bounds.lower)))) > delta


@given(finite_pairs(), st.integers(1, 6), st.fractions(Fraction(1, 10**6), Fraction(1, 2)))
def test_repeated_finite_pairs_cost_what_their_definition_says(law, count, delta):
    bounds = epsilon_bounds(((as_pair(*law), count),), delta)
    if bounds.upper < math.inf:
        assert exact_worst([law] * count, Fraction(exp_up(Fraction(bounds.upper)))) <= delta
    if bounds.lower:
        assert exact_worst([law] * count, Fraction(exp_down(Fraction(bounds.lower)))) > delta


@given(st.lists(finite_pairs(), min_size=1, max_size=3), st.fractions(0, 4))
def test_delta_of_finite_pairs_is_never_below_the_definition(laws, epsilon):
    upper = delta_bound(tuple((as_pair(p, q), 1) for p, q in laws), epsilon)
    exact = exact_worst(laws, Fraction(exp_up(epsilon)))
    assert upper >= exact
    assert upper <= float(exact) * 1.05 + 1e-3


@pytest.mark.parametrize("size", [1, 3, 6])
def test_heterogeneous_pairs_are_bounded_closely(size):
    laws = [
        ((Fraction(3 + i, 8 + i), Fraction(5, 8 + i)), (Fraction(5, 8 + i), Fraction(3 + i, 8 + i)))
        for i in range(3, 3 + size)
    ]
    bounds = epsilon_bounds(tuple((as_pair(p, q), 1) for p, q in laws), Fraction(1, 1000))
    assert exact_worst(laws, Fraction(exp_up(Fraction(bounds.upper)))) <= Fraction(1, 1000)
    assert exact_worst(laws, Fraction(exp_down(Fraction(bounds.lower)))) > Fraction(1, 1000)
    assert bounds.upper - bounds.lower <= 1e-3 * bounds.upper


@pytest.fixture
def curves(monkeypatch):
    """How many curves were made at an ε."""
    made = []

    def counted(*args, **kwargs):
        made.append(args)
        return curve(*args, **kwargs)

    curve = bounds.curve_at_epsilon
    monkeypatch.setattr(bounds, "curve_at_epsilon", counted)
    return made


def test_beyond_the_highest_losses_no_curve_is_made(curves):
    assert delta_bound(((symmetric(WorstPair(Fraction(1))), 10),), Fraction(10**6)) == 0
    assert not curves


def test_where_nothing_can_be_said_the_search_ends(curves):
    assert delta_bound(((symmetric(EVERYTHING), 10**12), (symmetric(WorstPair(Fraction(1))), 1)), Fraction(0)) == 1
    assert len(curves) <= 24


def test_where_the_first_grid_is_too_large_a_coarser_one_serves():
    rare = GaussianMixtures(
        ((Fraction(0), 1 - Fraction(1, 10**12)), (Fraction(1), Fraction(1, 10**12))), ((Fraction(0), Fraction(1)),)
    )
    pairs = ((DominatingPair(rare, mirrored(rare)), 1000),)
    assert delta_bound(pairs, Fraction(1)) < 1e-60
    assert epsilon_bounds(pairs, Fraction(1, 10**20)).upper < 1e-8
