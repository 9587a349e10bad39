import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.pld.brute_force import exact_delta, finite_pairs

from sfumato.accounting.pld import refining
from sfumato.accounting.pld.refining import delta_upper, epsilon_bounds
from sfumato.accounting.profiles.finite import EVERYTHING, FinitePair, WorstPair
from sfumato.accounting.profiles.leaves import symmetric
from sfumato.accounting.profiles.mixtures import GaussianMixtures, mirrored
from sfumato.accounting.profiles.profile import DominatingPair
from sfumato.numeric.rounding import exp_down, exp_up


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
    upper = delta_upper(tuple((as_pair(p, q), 1) for p, q in laws), epsilon)
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

    curve = refining.curve_at_epsilon
    monkeypatch.setattr(refining, "curve_at_epsilon", counted)
    return made


def test_beyond_the_highest_losses_no_curve_is_made(curves):
    assert delta_upper(((symmetric(WorstPair(Fraction(1))), 10),), Fraction(10**6)) == 0
    assert not curves


def test_where_nothing_can_be_said_the_search_ends(curves):
    assert delta_upper(((symmetric(EVERYTHING), 10**12), (symmetric(WorstPair(Fraction(1))), 1)), Fraction(0)) == 1
    assert len(curves) <= 24


def test_where_the_first_grid_is_too_large_a_coarser_one_serves():
    rare = GaussianMixtures(
        ((Fraction(0), 1 - Fraction(1, 10**12)), (Fraction(1), Fraction(1, 10**12))), ((Fraction(0), Fraction(1)),)
    )
    pairs = ((DominatingPair(rare, mirrored(rare)), 1000),)
    assert delta_upper(pairs, Fraction(1)) < 1e-60
    assert epsilon_bounds(pairs, Fraction(1, 10**20)).upper < 1e-8
