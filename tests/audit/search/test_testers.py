"""What the search saw is not what is tested, so that it may look for as many events as it likes."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.outputs import WHOLE, columns
from sfumato.audit.core.roles import Runs
from sfumato.audit.search.bounds import Count, epsilon_lower_bound
from sfumato.audit.search.events import Event, Suspicion
from sfumato.audit.search.testers import SPLIT_SEARCH, SplitTester
from sfumato.privacy.guarantees import ApproxDP

CLAIM = ApproxDP(1, 0)


def finding_of(tester, search, test):
    runs = Runs(search=tuple(map(columns, search)), test=tuple(map(columns, test)), description="a pair")
    return tester(runs, claim=CLAIM, significance=1e-6)


def test_an_event_of_the_search_that_does_not_come_back_is_no_evidence():
    different, same = (np.zeros(100), np.ones(100)), (np.zeros(100), np.zeros(100))
    assert finding_of(SPLIT_SEARCH, different, same).verdict is Verdict.NOTHING_FOUND
    assert finding_of(SPLIT_SEARCH, different, different).verdict is Verdict.PRIVACY_VIOLATION


def test_an_event_that_comes_back_the_other_way_round_is_no_evidence():
    here, there = np.zeros(100), np.ones(100)
    assert finding_of(SPLIT_SEARCH, (here, there), (there, here)).verdict is Verdict.NOTHING_FOUND


def test_the_search_sees_the_first_half_only():
    seen = []

    def search(first, second, *, ranking):
        seen.append((first, second, ranking.delta))
        return Suspicion(1.0, Event("anything", lambda outputs: np.ones(len(outputs), dtype=bool)), False)

    finding_of(SplitTester("spy", search), ("a", "b"), ("c", "dd"))
    assert [(first.text(WHOLE), second.text(WHOLE), claim) for first, second, claim in seen] == [
        (["'a'"], ["'b'"], CLAIM.delta)
    ]


def test_a_finding_says_what_happened_how_often():
    finding = finding_of(SPLIT_SEARCH, (np.zeros(50), np.ones(50)), (np.zeros(60), np.ones(40)))
    assert "60 of 60 on the database, 0 of 40 on its neighbor" in finding.event or "0 of 60" in finding.event
    assert finding.samples == 200
    assert finding.pair == "a pair"


def test_a_finding_says_what_was_not_read():
    assert finding_of(SPLIT_SEARCH, (np.zeros((9, 300)),) * 2, (np.zeros((9, 300)),) * 2).unread


def counted(claim):
    """Zeros among ones: 90 of 100 on the database and 10 of 100 on the neighbor, in both halves."""
    here, there = np.repeat([0, 1], [900, 100]), np.repeat([0, 1], [100, 900])
    runs = Runs(search=(columns(here), columns(there)), test=(columns(here), columns(there)), description="a pair")
    return SPLIT_SEARCH(runs, claim=claim, significance=1e-6)


def test_delta_is_part_of_the_test():
    assert counted(ApproxDP(1, 0)).verdict is Verdict.PRIVACY_VIOLATION
    assert counted(ApproxDP(1, "0.4")).verdict is Verdict.PRIVACY_VIOLATION
    assert counted(ApproxDP(1, "0.65")).verdict is Verdict.NOTHING_FOUND


def test_both_bounds_are_below_the_truth_and_near_it():
    found = counted(ApproxDP(1, "0.1"))
    assert 1.6 < found.epsilon_lower_bound < np.log(0.8 / 0.1)
    assert 0.45 < found.delta_lower_bound < 0.9 - 0.1 * np.e


def test_without_delta_the_conditional_test_decides():
    found = counted(ApproxDP(1, 0))
    bound = epsilon_lower_bound(Count(900, 1000), Count(100, 1000), delta=Fraction(0), significance=1e-6)
    assert found.epsilon_lower_bound == bound


def test_what_was_staked_comes_from_the_search():
    """Stakes that the test chose itself would refute true claims: here the search saw nothing worth a bet."""

    def search(*_, ranking):
        assert ranking.runs == 1000
        return Suspicion(0.0, Event("a zero", lambda outputs: outputs.number("the answer") == 0), False)

    same, here, there = np.repeat([0, 1], [500, 500]), np.repeat([0, 1], [900, 100]), np.repeat([0, 1], [100, 900])
    tested = tuple(map(columns, (here, there)))
    runs = Runs(search=(columns(same), columns(same)), test=tested, description="a pair")
    claim = ApproxDP(1, "0.1")
    found = SplitTester("spy", search)(runs, claim=claim, significance=1e-6)
    assert found.delta_lower_bound < counted(claim).delta_lower_bound


def test_an_event_that_is_likelier_on_the_neighbor_is_tested_that_way_round():
    def search(first, second, *, ranking):
        assert (len(first), len(second), ranking.runs, ranking.delta) == (100, 100, 100, CLAIM.delta)
        return Suspicion(1.0, Event("a one", lambda outputs: outputs.number("the answer") == 1), True)

    zeros, ones = np.zeros(100), np.ones(100)
    found = finding_of(SplitTester("spy", search), (zeros, ones), (zeros, ones))
    assert found.verdict is Verdict.PRIVACY_VIOLATION
    assert "0 of 100 on the database, 100 of 100 on its neighbor" in found.event


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_what_says_nothing_bounds_epsilon_by_zero(delta):
    same = np.zeros(100)
    runs = Runs(search=(columns(same),) * 2, test=(columns(same),) * 2, description="a pair")
    assert SPLIT_SEARCH(runs, claim=ApproxDP(1, delta), significance=1e-6).epsilon_lower_bound == 0


@pytest.mark.parametrize("delta", ["0", "1e-3"])
def test_databases_several_steps_apart_bound_what_one_step_tells(delta):
    """e^3 = 20 times as likely, three steps apart: ε is 1 a step, and a claim of 0.8 is refuted, one of 1 is not."""
    here, there = np.repeat([0, 1], [9_500, 500]), np.repeat([0, 1], [500, 9_500])
    halves = {"search": (columns(here), columns(there)), "test": (columns(here), columns(there))}
    near, far = (Runs(**halves, description="a pair", distance=steps) for steps in (1, 3))
    bounds = [
        SPLIT_SEARCH(runs, claim=ApproxDP("0.8", delta), significance=1e-6).epsilon_lower_bound for runs in (near, far)
    ]
    assert 2.5 < bounds[0] < np.log(19)
    assert bounds[0] / 3.2 < bounds[1] < np.log(19) / 3
    verdicts = [SPLIT_SEARCH(far, claim=ApproxDP(claim, delta), significance=1e-6).verdict for claim in ("0.8", "1")]
    assert verdicts == [Verdict.PRIVACY_VIOLATION, Verdict.NOTHING_FOUND]
