"""Bets against a claim: their chance of refuting a true one is summed over every outcome, not estimated."""

from fractions import Fraction
from math import comb, e, exp, inf

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.accounting.core.conversions import group
from sfumato.audit.search.bets import Bettor, Ranking, _first_kept, _with, along, growth
from sfumato.audit.search.bounds import Count, conditional_p_value, epsilon_lower_bound
from sfumato.privacy.guarantees import ApproxDP

RUNS = 16
RNG = np.random.default_rng(8)
SEEN = [
    (Count(8, 10), Count(1, 10)),
    (Count(90, 100), Count(5, 100)),
    (Count(30, 100), Count(0, 100)),
    (Count(1, 100), Count(60, 100)),
]


def outcomes(p, q):
    """Every pair of counts of runs divided by fair coins, with its chance, for an event of chances p and q."""
    for heads in range(RUNS + 1):
        coins = comb(RUNS, heads) / 2**RUNS
        for first in range(heads + 1):
            chance = coins * binom.pmf(first, heads, p)
            for second in range(RUNS - heads + 1):
                yield chance * binom.pmf(second, RUNS - heads, q), (first, heads), (second, RUNS - heads)


def chance_of_wealth(bettor, *, p, q, factor, delta, significance):
    """That bets against (ln factor, delta) reach 1/significance."""
    gains, stake = bettor.bets(np.array([factor]), np.array([delta]))
    growths = np.log1p(stake[0] * np.array([gain[0] for gain in gains]))
    total = 0.0
    for chance, (first, heads), (second, tails) in outcomes(p, q):
        wealth = growths @ [first, heads - first, second, tails - second]
        total += chance * (wealth >= -np.log(significance))
    return total


@pytest.mark.parametrize("seen", SEEN, ids=str)
@pytest.mark.parametrize(("delta", "q"), [(0.0, 0.1), (0.0, 0.36), (0.1, 0.0), (0.1, 0.1), (0.3, 0.25), (0.5, 0.0)])
def test_a_true_claim_is_refuted_with_a_chance_of_at_most_the_significance(seen, delta, q):
    for significance in (0.2, 0.02):
        true = {"p": e * q + delta, "q": q, "factor": e, "delta": delta}
        assert chance_of_wealth(Bettor(*seen), **true, significance=significance) <= significance


def test_a_false_claim_is_refuted_more_often_than_that():
    false = {"p": 0.98, "q": 0.02, "factor": 1.1, "delta": 0.05}
    assert chance_of_wealth(Bettor(*SEEN[1]), **false, significance=0.02) > 0.5


def counts(p, q, runs):
    """Counts for a search, and counts for a test divided by coins."""
    heads = RNG.binomial(runs, 0.5)
    seen = Count(RNG.binomial(runs // 2, p), runs // 2), Count(RNG.binomial(runs // 2, q), runs // 2)
    return seen, (Count(RNG.binomial(heads, p), heads), Count(RNG.binomial(runs - heads, q), runs - heads))


@pytest.mark.statistical
@pytest.mark.parametrize(("p", "q", "delta"), [(0.0312, 0.0034, "1e-3"), (0.1, 0.02, "1e-3"), (6e-4, 0.0, "1e-5")])
def test_bets_refute_with_fewer_runs_than_two_limits(p, q, delta):
    """In each case about half of the samples suffice; 40 of them make a false failure rarer than 1e-6."""
    claim, found = ApproxDP(1, delta), np.zeros(2)
    runs = {0.0312: 10_000, 0.1: 6_000, 6e-4: 200_000}[p]
    for _ in range(40):
        seen, tested = counts(p, q, runs)
        found += [
            Bettor(*seen).epsilon_lower_bound(*tested, claim=claim, significance=1e-6) > 1,
            epsilon_lower_bound(*tested, delta=claim.delta, significance=1e-6) > 1,
        ]
    assert found[0] >= found[1] + 5


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-3"), ("0.777", "0.01"), ("2.5", "1e-5"), ("30", "0.1")])
def test_both_bounds_refute_a_claim_together_or_not_at_all(epsilon, delta):
    claim, verdicts = ApproxDP(epsilon, delta), []
    for _ in range(25):
        q = RNG.uniform(0, 0.05)
        p = min(1.0, float(claim.delta) + q * exp(min(float(claim.epsilon), 3)) * RNG.uniform(0.8, 2))
        seen, tested = counts(p, q, 4_000)
        bound = Bettor(*seen).epsilon_lower_bound(*tested, claim=claim, significance=1e-3)
        excess = Bettor(*seen).delta_lower_bound(*tested, claim=claim, significance=1e-3)
        assert (bound > claim.epsilon) == (excess > claim.delta)
        verdicts.append(bound > claim.epsilon)
    assert epsilon == "30" or {True, False} == set(verdicts)


def test_without_delta_whatever_bets_refute_the_conditional_test_refutes():
    claim, refuted = ApproxDP(1, 0), 0
    for _ in range(120):
        q = RNG.uniform(0, 0.3)
        seen, tested = counts(min(1.0, q * e * RNG.uniform(0.9, 1.6)), q, 2_000)
        if Bettor(*seen).delta_lower_bound(*tested, claim=claim, significance=0.01) > 0:
            refuted += 1
            assert conditional_p_value(*tested, epsilon=Fraction(1)) < 0.01
    assert refuted > 20


def test_the_lower_bound_on_delta_approaches_the_excess():
    many = Count(500_000, 1_000_000), Count(50_000, 1_000_000)
    bound = Bettor(*many).delta_lower_bound(*many, claim=ApproxDP(1, "1e-3"), significance=1e-6)
    assert 0.97 * (0.5 - 0.05 * e) < bound < 0.5 - 0.05 * e


def test_what_never_happened_says_nothing():
    never = Count(0, 1000), Count(0, 1000)
    claim = ApproxDP(1, "1e-3")
    assert Bettor(*never).epsilon_lower_bound(*never, claim=claim, significance=0.01) == -inf
    assert Bettor(*never).delta_lower_bound(*never, claim=claim, significance=0.01) == 0


def test_a_side_without_the_event_has_a_bound_that_grows_with_the_runs():
    bounds = []
    for runs in (1_000, 100_000):
        tested = Count(runs // 2, runs), Count(0, runs)
        bounds.append(Bettor(*tested).epsilon_lower_bound(*tested, claim=ApproxDP(1, "0.1"), significance=1e-6))
    assert 3 < bounds[0] < bounds[1] - 3


def test_an_enormous_claim_is_not_refuted():
    tested = Count(1000, 1000), Count(0, 1000)
    claim = ApproxDP(1000, "0.1")
    assert Bettor(*tested).epsilon_lower_bound(*tested, claim=claim, significance=0.01) < 1000


def test_growth_is_the_best_stake_of_all():
    here, there, runs = np.array([400, 100, 3]), np.array([60, 100, 0]), 1000
    stakes = np.linspace(0, 1 / (e + 0.05), 20_000, endpoint=False)[:, None]
    neither = 2 * runs - here - there
    wealth = (
        here * np.log1p(stakes * 0.95) + there * np.log1p(-stakes * (e + 0.05)) + neither * np.log1p(-stakes * 0.05)
    )
    found = growth(here, there, runs=runs, factor=e, delta=0.1)
    assert found == pytest.approx(wealth.max(axis=0), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("refuted", "first"), [([True, False, True], 1), ([False, True], 0), ([True, True], 2), ([False, False], 0)]
)
def test_what_is_refuted_beyond_a_claim_that_is_kept_does_not_count(refuted, first):
    assert _first_kept(np.array(refuted)) == first


def test_the_claim_takes_the_place_of_values_within_rounding_of_it():
    grid = np.array([0.1, 0.2, 0.3])
    assert _with(grid, np.nextafter(0.2, 1))[0].tolist() == [0.1, np.nextafter(0.2, 1), 0.3]
    assert (_with(grid, 0.25)[0].tolist(), _with(grid, 0.25)[1]) == (pytest.approx([0.1, 0.2, 0.25, 0.3]), 2)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "2"])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_what_is_promised_to_groups_is_never_less_than_the_theorem_says(epsilon, steps):
    factors, growths = along(np.array([float(epsilon)]), distance=steps)
    whole = group(ApproxDP(epsilon, "1e-9"), steps)
    assert float(factors[0]) == pytest.approx(exp(float(whole.epsilon)), rel=1e-11)
    assert float(factors[0]) >= exp(float(whole.epsilon))
    assert float(growths[0]) == pytest.approx(float(whole.delta) * 1e9, rel=1e-11)


def test_a_true_claim_is_kept_several_steps_apart():
    """p = e^{2ε}·q + δ(1 + e^ε) is what (ε, δ) allows two steps apart; by every outcome of 16 runs."""
    claim, q = ApproxDP("0.5", "0.05"), 0.1
    factors, growths = along(np.array([0.5]), distance=2)
    p = float(factors[0]) * q + 0.05 * float(growths[0])
    bettor, refuted = Bettor(*SEEN[1], distance=2), 0.0
    for chance, first, second in outcomes(p, q):
        tested = Count(*first), Count(*second)
        refuted += chance * (bettor.epsilon_lower_bound(*tested, claim=claim, significance=0.2) > 0.5)
    assert refuted <= 0.2
    many = Count(round(p * 10**6), 10**6), Count(round(q * 10**6), 10**6)
    assert 0.48 < Bettor(*many, distance=2).epsilon_lower_bound(*many, claim=claim, significance=1e-6) <= 0.5
    assert Bettor(*SEEN[1]).epsilon_lower_bound(*SEEN[1], claim=claim, significance=0.2) > 0.5


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-3"), ("0.4", "1e-6")])
def test_both_bounds_refute_together_several_steps_apart(epsilon, delta):
    claim, verdicts = ApproxDP(epsilon, delta), set()
    drawn = zip(RNG.uniform(0.5, 3, 23), RNG.uniform(0, 0.02, 23), strict=True)
    for ratio, q in [(8.0, 0.002), (0.5, 0.005), *drawn]:
        seen, tested = counts(min(1.0, ratio * q * exp(4 * float(claim.epsilon))), q, 4_000)
        bettor = Bettor(*seen, distance=4)
        bound = bettor.epsilon_lower_bound(*tested, claim=claim, significance=1e-3)
        excess = bettor.delta_lower_bound(*tested, claim=claim, significance=1e-3)
        assert (bound > claim.epsilon) == (excess > claim.delta)
        verdicts.add(bool(bound > claim.epsilon))
    assert verdicts == {True, False}


RANKED_RUNS, ALPHA = 5_000, 1e-6
RANKING_RNG = np.random.default_rng(21)
EVENTS = [(3, 0), (60, 9), (900, 300), (4_000, 3_000), (5_000, 5_000)]
"""Counts of events, of which the third bounds ε best."""


def ranked(delta="0", distance=1, significance=ALPHA):
    return Ranking(runs=RANKED_RUNS, delta=Fraction(delta), significance=significance, distance=distance)


def strongest(ranking, events):
    likelier, other = (np.array(side) for side in zip(*events, strict=True))
    return ranking.strongest(likelier, other)


def limit(first, second, delta):
    """What the test says of these counts."""
    seen = Count(first, RANKED_RUNS), Count(second, RANKED_RUNS)
    if Fraction(delta) == 0:
        return epsilon_lower_bound(*seen, delta=Fraction(0), significance=ALPHA)
    return Bettor(*seen).epsilon_lower_bound(*seen, claim=ApproxDP(1, delta), significance=ALPHA)


@pytest.mark.parametrize("delta", ["0", "1e-6", "0.01"])
def test_the_event_is_taken_whose_test_would_say_most(delta):
    found, place = strongest(ranked(delta), EVENTS)
    limits = [limit(*event, delta) for event in EVENTS]
    assert place == int(np.argmax(limits)) == 2
    assert limits[2] - 0.25 < found < limits[2] + 0.01


def test_a_rare_event_that_never_happened_on_the_other_side_wins_only_if_it_happened_often_enough():
    assert strongest(ranked(), [(12, 0), (900, 300)])[1] == 1
    assert strongest(ranked(), [(120, 0), (900, 300)])[1] == 0


def test_a_laxer_test_trusts_fewer_counts():
    events = [(30, 1), (900, 300)]
    assert [strongest(ranked(significance=alpha), events)[1] for alpha in (1e-6, 0.5)] == [1, 0]


def test_of_equal_events_the_first_is_taken():
    assert strongest(ranked(), [(900, 300), (900, 300)])[1] == 0


@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_several_steps_share_what_is_found(delta):
    (near, _), (far, _) = (strongest(ranked(delta, distance), [(2_000, 20)]) for distance in (1, 4))
    assert far == pytest.approx(near / 4, abs=0.01)


def test_a_delta_that_allows_everything_ranks_nothing():
    assert strongest(ranked("0.3", distance=9), [(5_000, 0), (10, 0)])[0] < 0


@pytest.mark.parametrize("delta", ["0", "0.1"])
def test_events_that_never_happened_are_no_error(delta):
    assert strongest(ranked(delta), [(0, 0), (0, 7)])[0] < 0
