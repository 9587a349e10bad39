"""Unions of cells: leaks on both tails or in gaps, which no threshold shows, and nothing where there is no leak."""

import numpy as np
import pytest

from sfumato.audit.core.columns import columns
from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.core.runs import run_on
from sfumato.audit.search.hockey_stick import HOCKEY_STICK, cells, strongest_cells
from sfumato.audit.search.ranking import Ranking
from sfumato.audit.search.split_search import SPLIT_SEARCH
from sfumato.privacy.guarantees import ApproxDP

RNG = np.random.default_rng(11)
PAIR = NeighborPair(0, 1, "one person more")
PURE, APPROXIMATE = ApproxDP(1, 0), ApproxDP(1, "0.01")


def ranked(outputs):
    return Ranking(runs=len(outputs), delta=PURE.delta, significance=1e-6)


def finding_of(tester, mechanism, claim, samples=10_000):
    return tester(run_on(PAIR, mechanism, samples=samples), claim=claim, significance=1e-6)


def wider(exact, n):
    """The same center, another width: what differs lies on both tails."""
    return np.round(RNG.normal(0, 1.6 if exact else 1.0, n) * 2**20) / 2**20


def combed(exact, n):
    """Even cells of a grid on one database, odd ones on the other, but for one answer in ten."""
    wrong = RNG.random(n) < 0.15
    return (RNG.integers(0, 12, n) * 2 + (wrong != bool(exact))) + RNG.integers(0, 2**20, n) / 2**20


@pytest.mark.statistical
def test_both_tails_are_found_with_fewer_runs_than_one_threshold_needs():
    claim = ApproxDP("0.5", "0.04")
    found = np.zeros(2)
    for _ in range(10):
        for at, tester in enumerate((HOCKEY_STICK, SPLIT_SEARCH)):
            found[at] += finding_of(tester, wider, claim, samples=4_000).verdict is Verdict.PRIVACY_VIOLATION
    assert found[0] >= found[1] + 4, found


@pytest.mark.statistical
def test_what_lies_in_the_gaps_is_found_and_no_threshold_shows_it():
    claim = ApproxDP(1, "0.05")  # the lowest tooth of the comb is worth 0.037, all of them 0.44
    assert finding_of(HOCKEY_STICK, combed, claim).verdict is Verdict.PRIVACY_VIOLATION
    assert finding_of(SPLIT_SEARCH, combed, claim).verdict is Verdict.NOTHING_FOUND


@pytest.mark.statistical
@pytest.mark.parametrize("claim", [PURE, APPROXIMATE], ids=str)
def test_the_right_law_raises_no_alarm(claim):
    def laplace(exact, n):
        return exact + np.round(RNG.laplace(0, 1, n) * 2**20) / 2**20

    for _ in range(5):
        assert finding_of(HOCKEY_STICK, laplace, claim).verdict is Verdict.NOTHING_FOUND


@pytest.mark.statistical
def test_delta_at_the_claimed_epsilon_is_bounded_from_below():
    """Randomized response of bias 0.9: δ at ε = 1 is 0.9 − 0.1e = 0.628, of which the bound is 0.609 ± 0.004."""
    response = lambda exact, n: ((RNG.random(n) < 0.9) == bool(exact)).astype(int)  # noqa: E731 # a coin
    finding = finding_of(HOCKEY_STICK, response, APPROXIMATE, samples=100_000)
    assert 0.58 < finding.delta_lower_bound < 0.9 - 0.1 * np.e
    assert 2 < finding.epsilon_lower_bound < np.log((0.9 - 0.01) / 0.1)
    assert f"δ ≥ {finding.delta_lower_bound:.1e}" in str(finding)


def test_missing_numbers_are_a_cell():
    suspicion = strongest_cells(columns([None] * 50 + [1] * 50), columns([1] * 100), ranking=ranked([1] * 100))
    assert suspicion.event.words == "the answer lies in none, as it is missing or no number"
    assert suspicion.event.happened(columns([None, 1, 2])).tolist() == [True, False, False]


@pytest.mark.parametrize("outputs", [["a"] * 50, [float("nan")] * 50, [], [float("inf"), -float("inf")] * 30])
def test_outputs_without_usable_numbers_are_no_error(outputs):
    read = columns(outputs)
    assert strongest_cells(read, read, ranking=ranked(read)).strength <= 0


def test_each_value_lies_in_one_cell():
    values = np.concatenate([RNG.normal(size=200), [np.nan, np.inf, -np.inf]])
    ends = np.array([-1.0, 0.0, 2.0])
    found = cells(values, ends)
    assert found.tolist() == [4 if np.isnan(value) else int((ends < value).sum()) for value in values]


def test_what_was_not_cut_is_said():
    wide = columns(np.zeros((40, 70)))
    assert "by the search for cells" in strongest_cells(wide, wide, ranking=ranked(wide)).unread[0]


def test_cells_of_a_number_that_only_grows_are_not_searched():
    first, second = columns(list(range(500))), columns(list(range(500, 1000)))
    found = strongest_cells(first, second, ranking=ranked(first))
    assert found.unread == ("the answer, which only grows from run to run",)
