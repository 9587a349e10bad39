"""The search finds the event that a careful reader would have chosen."""

import numpy as np
import pytest

from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.outputs import MAX_PARTS, UNREAD, columns
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.core.runs import run_on
from sfumato.audit.search.bets import Ranking
from sfumato.audit.search.events import cells, strongest_cells, strongest_event
from sfumato.audit.search.testers import HOCKEY_STICK, SPLIT_SEARCH
from sfumato.privacy.guarantees import ApproxDP

RNG = np.random.default_rng(3)
CLAIM = ApproxDP(1, 0)
NORMAL = RNG.normal(0, 1, 2000)


def found(first, second, claim=CLAIM):
    ranking = Ranking(runs=len(first), delta=claim.delta, significance=1e-6)
    return strongest_event(columns(first), columns(second), ranking=ranking)


def happened(suspicion, outputs):
    return suspicion.event.happened(columns(outputs))


def test_a_shift_is_seen_by_a_threshold():
    suspicion = found(NORMAL, NORMAL + 5)
    assert suspicion.event.words.startswith(("the answer ≤", "the answer ≥"))
    assert happened(suspicion, np.array([-9.0, 9.0])).sum() == 1


def test_the_direction_says_where_the_event_is_likelier():
    first, second = np.array([0] * 100), np.array([0] * 50 + [7] * 50)
    suspicion = found(first, second)
    assert happened(suspicion, np.array([7, 0])).tolist() == [True, False]
    assert suspicion.likelier_on_second
    assert not found(second, first).likelier_on_second


def test_one_value_between_others_is_seen():
    first, second = RNG.integers(0, 5, 2000), RNG.integers(0, 5, 2000)
    suspicion = found(first[first != 2], second[: np.count_nonzero(first != 2)])
    assert suspicion.event.words == "the whole answer is 2"


def test_a_missing_answer_is_seen():
    suspicion = found(np.where(NORMAL > 1, np.nan, NORMAL), NORMAL)
    assert suspicion.event.words == "the whole answer is nan"
    assert happened(suspicion, np.array([np.nan, 0.0])).tolist() == [True, False]


def test_a_coordinate_that_is_not_there_is_seen():
    with_noise = [(noise, 0.5) for noise in NORMAL[:200]]
    assert found(with_noise, [pair[:1] for pair in with_noise]).strength > 2
    halves = [{"a": noise, "b": noise} for noise in NORMAL[:200]], [{"a": noise, "b": None} for noise in NORMAL[:200]]
    assert happened(found(*halves), halves[1]).all() != happened(found(*halves), halves[0]).all()


def test_labels_are_joined_where_each_alone_is_rare():
    first = [f"{letter}" for letter in "abcdefghij"] * 20
    suspicion = found(first, ["z"] * 200)
    assert happened(suspicion, first).mean() in {0, 1}
    assert "the whole answer is" in suspicion.event.words


def test_the_type_of_an_answer_is_seen():
    suspicion = found([1] * 100, [1.0] * 100)
    assert happened(suspicion, [1, 1.0]).sum() == 1


def test_labels_seen_once_are_no_evidence():
    letters = "abcdefghijklmnopqrstuvwxyz"
    first, second = ([f"{side}{one}{other}" for one in letters for other in letters] for side in "ab")
    assert found(first, second).strength <= 0


def test_a_number_that_only_grows_is_no_event_and_hides_none():
    """As the time of each run, which all runs of the test exceed."""
    first = [{"at": i, "n": i % 10} for i in range(500)]
    second = [{"at": 500 + i, "n": 9 + i % 10} for i in range(500)]
    suspicion = found(first, second)
    assert "'n'" in suspicion.event.words
    assert suspicion.unread == ("the value of 'at', which only grows from run to run",)


def test_outputs_of_different_shapes_are_compared():
    suspicion = found(np.zeros((50, 2)), np.zeros((50, 3)))
    assert suspicion.strength > 0
    assert happened(suspicion, np.zeros((1, 2))) != happened(suspicion, np.zeros((1, 3)))


def test_equal_samples_have_no_event():
    assert found(NORMAL, NORMAL).strength <= 0


def test_the_event_that_bounds_epsilon_best_is_taken_though_none_refutes_the_claim():
    """Each event of a right mechanism agrees with the claim; one far in a tail would bound ε by nothing."""
    steps = RNG.geometric(1 - np.exp(-1), (2, 5000)) - RNG.geometric(1 - np.exp(-1), (2, 5000))
    suspicion = found(steps[0], steps[1] + 1)
    often = [happened(suspicion, side).mean() for side in (steps[0], steps[1] + 1)]
    assert max(often) > 0.3
    assert 0.6 < suspicion.strength < 1


@pytest.mark.parametrize(("delta", "seen"), [("0.001", True), ("0.2", False)])
def test_an_event_within_delta_is_allowed(delta, seen):
    first, second = np.zeros(2000), np.array([0] * 1900 + [1] * 100)
    assert (found(first, second, ApproxDP(1, delta)).strength > 1) == seen


@pytest.mark.parametrize("delta", ["0", "0.1"])
def test_no_event_refutes_more_than_its_counts_can(delta):
    assert 1 < found(np.zeros(100), np.ones(100), ApproxDP(1000, delta)).strength < 3


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (("yes", 0.5), ("no", 0.5), "coordinate 0 is"),
        ({"answer": "yes", "noise": 1}, {"answer": "no", "noise": 1}, "the value of 'answer' is"),
    ],
)
def test_text_within_an_output_is_seen(first, second, words):
    """Each output has a number of its own, so that no answer as a whole is seen twice."""

    def with_noise(output, at):
        return {**output, "noise": at} if isinstance(output, dict) else (output[0], at)

    sides = ([with_noise(output, RNG.random()) for _ in range(200)] for output in (first, second))
    assert found(*sides).event.words.startswith(words)


@pytest.mark.parametrize(
    "outputs",
    [
        lambda x: np.full(200, 2**60 + x),
        lambda x: np.full(200, 2**63 + x, dtype=np.uint64),
        lambda x: np.full(200, np.longdouble(1) + np.longdouble(x) / 2**60),
        lambda x: (RNG.integers(0, 1 << 38, 200) << 20) + x,
        lambda x: [int(noise) * 2**60 + x for noise in RNG.integers(0, 2**40, 200)],
        lambda x: np.column_stack([RNG.normal(size=(200, 70)), np.full(200, x)]),
    ],
    ids=["int64", "uint64", "longdouble", "low bits", "low digits of a long integer", "coordinate 70"],
)
def test_what_a_double_or_a_first_glance_misses_is_seen(outputs):
    suspicion = found(outputs(5), outputs(6))
    assert happened(suspicion, outputs(5)).all() != happened(suspicion, outputs(6)).all()
    assert suspicion.strength > 2


def test_the_search_says_what_it_did_not_read():
    assert found(np.zeros((50, 3)), np.zeros((50, 3))).unread == ()
    assert found(np.zeros((50, MAX_PARTS + 1)), np.zeros((50, 3))).unread == (UNREAD,)
    keys = [{f"key {i}": 0} for i in range(2000)]
    assert "all but 1000 of 4000 numbers" in found(keys, keys).unread[0]


CELLS_RNG = np.random.default_rng(11)
PAIR = NeighborPair(0, 1, "one person more")
PURE, APPROXIMATE = ApproxDP(1, 0), ApproxDP(1, "0.01")


def ranked(outputs):
    return Ranking(runs=len(outputs), delta=PURE.delta, significance=1e-6)


def finding_of(tester, mechanism, claim, samples=10_000):
    return tester(run_on(PAIR, mechanism, samples=samples), claim=claim, significance=1e-6)


def wider(exact, n):
    """The same center, another width: what differs lies on both tails."""
    return np.round(CELLS_RNG.normal(0, 1.6 if exact else 1.0, n) * 2**20) / 2**20


def combed(exact, n):
    """Even cells of a grid on one database, odd ones on the other, but for one answer in ten."""
    wrong = CELLS_RNG.random(n) < 0.15
    return (CELLS_RNG.integers(0, 12, n) * 2 + (wrong != bool(exact))) + CELLS_RNG.integers(0, 2**20, n) / 2**20


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
        return exact + np.round(CELLS_RNG.laplace(0, 1, n) * 2**20) / 2**20

    for _ in range(5):
        assert finding_of(HOCKEY_STICK, laplace, claim).verdict is Verdict.NOTHING_FOUND


@pytest.mark.statistical
def test_delta_at_the_claimed_epsilon_is_bounded_from_below():
    """Randomized response of bias 0.9: δ at ε = 1 is 0.9 − 0.1e = 0.628, of which the bound is 0.609 ± 0.004."""
    response = lambda exact, n: ((CELLS_RNG.random(n) < 0.9) == bool(exact)).astype(int)  # noqa: E731 # a coin
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
    values = np.concatenate([CELLS_RNG.normal(size=200), [np.nan, np.inf, -np.inf]])
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
