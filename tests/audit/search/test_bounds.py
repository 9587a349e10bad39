"""The tests are exact: the chance of refuting a true claim is summed over every outcome, not estimated."""

from fractions import Fraction
from math import comb, e, exp, inf, log

import pytest
from scipy.stats import binom

from sfumato.audit.search.bounds import Count, conditional_p_value, epsilon_lower_bound
from sfumato.errors import ParameterError

RUNS = 24


def outcomes(p, q):
    """Every pair of counts of runs divided by fair coins, with its chance, for an event of chances p and q."""
    for heads in range(RUNS + 1):
        coins = comb(RUNS, heads) / 2**RUNS
        for first in range(heads + 1):
            chance = coins * binom.pmf(first, heads, p)
            for second in range(RUNS - heads + 1):
                yield (
                    chance * binom.pmf(second, RUNS - heads, q),
                    Count(first, heads),
                    Count(second, RUNS - heads),
                )


@pytest.mark.parametrize("q", [0.01, 0.1, 0.3, 1 / e])
@pytest.mark.parametrize("significance", [0.2, 0.02])
def test_a_true_epsilon_is_refuted_with_a_chance_of_at_most_the_significance(q, significance):
    refuted = sum(
        chance
        for chance, first, second in outcomes(e * q, q)
        if conditional_p_value(first, second, epsilon=Fraction(1)) <= significance
    )
    assert refuted <= significance


def test_a_false_epsilon_is_refuted_more_often_than_that():
    refuted = sum(
        chance
        for chance, first, second in outcomes(0.9, 0.1)
        if conditional_p_value(first, second, epsilon=Fraction(1, 2)) <= 0.02
    )
    assert refuted > 0.4


@pytest.mark.parametrize(("delta", "q"), [("0", 0.1), ("0", 0.3), ("0.1", 0.0), ("0.1", 0.1), ("0.3", 0.2)])
def test_the_lower_bound_lies_above_the_true_epsilon_with_a_chance_of_at_most_the_significance(delta, q):
    p = e * q + float(delta)
    wrong = sum(
        chance
        for chance, first, second in outcomes(p, q)
        if epsilon_lower_bound(first, second, delta=Fraction(delta), significance=0.05) > 1
    )
    assert wrong <= 0.05


@pytest.mark.parametrize("counts", [(40, 3), (12, 0), (9, 9)])
def test_the_lower_bound_is_where_the_conditional_test_turns(counts):
    first, second = (Count(events, 50) for events in counts)
    bound = epsilon_lower_bound(first, second, delta=Fraction(0), significance=0.01)
    if bound > 0.01:
        assert conditional_p_value(first, second, epsilon=Fraction(bound - 0.01)) < 0.01
    assert conditional_p_value(first, second, epsilon=Fraction(max(bound, 0) + 0.01)) > 0.01


def test_the_p_value_is_a_binomial_tail():
    share = exp(1) / (1 + exp(1))
    tail = sum(comb(12, k) * share**k * (1 - share) ** (12 - k) for k in range(11, 13))
    assert conditional_p_value(Count(11, 50), Count(1, 50), epsilon=Fraction(1)) == pytest.approx(tail)


def test_an_event_that_never_happened_says_nothing():
    never = Count(0, 50)
    assert conditional_p_value(never, never, epsilon=Fraction(0)) == 1
    assert epsilon_lower_bound(never, never, delta=Fraction(0), significance=0.01) == -inf
    assert epsilon_lower_bound(never, never, delta=Fraction(1, 100), significance=0.01) == -inf


def test_an_infinite_claim_is_never_refuted():
    assert conditional_p_value(Count(1000, 1000), Count(0, 1000), epsilon=Fraction(1000)) == 1


def test_an_event_within_delta_says_nothing():
    assert epsilon_lower_bound(Count(50, 1000), Count(0, 1000), delta=Fraction(1, 10), significance=0.01) == -inf


def test_an_event_beyond_delta_has_a_bound_however_rare_it_is_elsewhere():
    bound = epsilon_lower_bound(Count(900, 1000), Count(0, 1000), delta=Fraction(1, 10), significance=0.01)
    assert log(100) < bound < log(200)


@pytest.mark.parametrize(("events", "runs"), [(2, 1), (-1, 1), (0.5, 1), (True, 1), (1, None), (1, 10**400)])
def test_counts_are_whole_numbers_with_no_more_events_than_runs(events, runs):
    with pytest.raises(ParameterError, match=r"^(events|runs) = "):
        Count(events, runs)


def test_what_is_no_count_is_refused_by_name():
    with pytest.raises(ParameterError, match=r"^second = 3: must be a Count"):
        epsilon_lower_bound(Count(1, 2), 3, delta=0, significance=0.05)
