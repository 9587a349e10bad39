"""Events are ranked by what their test would say, not by how far they lie beyond a claim."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.audit.search.bets import Bettor
from sfumato.audit.search.bounds import Count, epsilon_lower_bound
from sfumato.audit.search.ranking import Ranking
from sfumato.privacy.guarantees import ApproxDP

RUNS, ALPHA = 5_000, 1e-6
RNG = np.random.default_rng(21)
EVENTS = [(3, 0), (60, 9), (900, 300), (4_000, 3_000), (5_000, 5_000)]
"""Counts of events, of which the third bounds ε best."""


def ranked(delta="0", distance=1, significance=ALPHA):
    return Ranking(runs=RUNS, delta=Fraction(delta), significance=significance, distance=distance)


def strongest(ranking, events):
    likelier, other = (np.array(side) for side in zip(*events, strict=True))
    return ranking.strongest(likelier, other)


def limit(first, second, delta):
    """What the test says of these counts."""
    seen = Count(first, RUNS), Count(second, RUNS)
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
