"""What the search saw is not what is tested, so that it may look for as many events as it likes."""

import numpy as np

from sfumato.audit.columns import columns
from sfumato.audit.events import Event, Suspicion
from sfumato.audit.findings import Verdict
from sfumato.audit.reading import WHOLE
from sfumato.audit.roles import Runs
from sfumato.audit.split_search import SPLIT_SEARCH, SplitTester
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

    def search(first, second, *, claim):
        seen.append((first, second, claim))
        return Suspicion(1.0, Event("anything", lambda outputs: np.ones(len(outputs), dtype=bool)), False)

    finding_of(SplitTester("spy", search), ("a", "b"), ("c", "dd"))
    assert [(first.text(WHOLE), second.text(WHOLE), claim) for first, second, claim in seen] == [
        (["'a'"], ["'b'"], CLAIM)
    ]


def test_a_finding_says_what_happened_how_often():
    finding = finding_of(SPLIT_SEARCH, (np.zeros(50), np.ones(50)), (np.zeros(60), np.ones(40)))
    assert "60 of 60 on the database, 0 of 40 on its neighbor" in finding.event or "0 of 60" in finding.event
    assert finding.samples == 200
    assert finding.pair == "a pair"


def test_a_finding_says_what_was_not_read():
    assert finding_of(SPLIT_SEARCH, (np.zeros((9, 300)),) * 2, (np.zeros((9, 300)),) * 2).unread
