"""The fragment puzzle: its exact distribution, and words that nobody listed are found."""

from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from tests.local.branches import payload_law, worst_ratio

from sfumato.accounting import BasicAccountant
from sfumato.errors import ParameterError
from sfumato.local import CountMeanSketch, Domain, FragmentPuzzle, Reports, protocol_from_json
from sfumato.local.sketches.fragments import FILLER
from sfumato.numeric.rounding import log_up

TINY = FragmentPuzzle("ab", length=2, fragment=1, epsilon=2, hashes=1, width=2)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("privacy", "noise", "budget", "lattice", "sketch", "words")
PUZZLE = FragmentPuzzle(LETTERS, length=8, epsilon=12, hashes=16, width=512)


def test_the_largest_ratio_is_at_most_the_realized_epsilon_and_reached():
    """Of words whose numbers and fragments have other columns than those of each other."""
    laws = [payload_law(TINY, word) for word in ("aa", "ab", "ba", "bb", "a", "b", "")]
    largest = log_up(worst_ratio(laws))
    assert largest <= TINY.realized_epsilon <= TINY.epsilon
    assert TINY.realized_epsilon - largest < Fraction(1, 10**15)
    charged = BasicAccountant().compose(TINY.event).epsilon()
    assert TINY.realized_epsilon <= charged + Fraction(1, 10**15)
    assert charged <= TINY.epsilon


def test_both_sketches_have_half_of_epsilon():
    assert PUZZLE.sketch == CountMeanSketch(Domain.texts(61), epsilon=6, hashes=16, width=512)
    assert PUZZLE.positions == 4
    assert PUZZLE.payload_bytes == 2 * 65 + 1
    assert protocol_from_json(PUZZLE.to_json()) == PUZZLE


@pytest.mark.statistical
def test_frequent_words_are_found_and_others_are_not():
    people = 30_000
    fractions = np.array([0.3, 0.25, 0.2, 0.1, 0.08, 0.07])
    held = [word for word, fraction in zip(WORDS, fractions, strict=True) for _ in range(round(people * fraction))]
    aggregator = PUZZLE.aggregator()
    assert aggregator.add(PUZZLE.client().report_many(held)).accepted == people
    found = aggregator.estimate(significance=1e-6)
    assert set(found.values) == set(WORDS)
    assert found.values[0] == "privacy"
    truth = dict(zip(WORDS, fractions.tolist(), strict=True))
    for row in found.rows():
        assert abs(row["fraction"] - truth[row["value"]]) < 6 * row["standard_error"]
    known = aggregator.estimate(["noise", "nothing"])
    assert known.fractions.tolist()[0] == found.fractions[found.values.index("noise")]
    assert abs(known.fractions[1]) < 6 * known.standard_errors[1]


def test_intervals_include_what_columns_share():
    """All hold one word, nearly without noise: others are off by the columns that they share with it."""
    puzzle = FragmentPuzzle("abc", length=2, epsilon=16, hashes=2, width=4)
    aggregator = puzzle.aggregator()
    aggregator.add(puzzle.client().report_many(["ab"] * 2000))
    assert (aggregator.estimate(["ab", "ba"]).standard_errors ** 2 > 0.8 / (2 * 3)).all()


def test_of_nobody_nothing_is_found():
    puzzle = FragmentPuzzle("abc", length=4, epsilon=1, hashes=4, width=64)
    aggregator = puzzle.aggregator()
    aggregator.add(puzzle.client().report_many([None] * 10))
    assert len(aggregator.estimate(significance=1e-6)) <= 1
    with pytest.raises(ParameterError, match="reports"):
        puzzle.aggregator().estimate()


def test_words_become_what_is_reported_and_nothing_is_an_error():
    for given, normal in (("ab", "ab"), ("abcdefghij", "abcdefgh"), ("aé", "a"), ("éa", f"{FILLER}a"), ("", "")):
        assert PUZZLE.normal(given) == normal
    for odd in (None, 7, float("nan"), b"ab", [1], object()):
        assert PUZZLE.normal(odd) == ""
    inputs = PUZZLE.inputs(["noise", None, "noise"])
    assert inputs.shape == (3, 5)
    assert (inputs[0] == inputs[2]).all()
    assert PUZZLE.inputs([]).shape == (0, 5)
    assert PUZZLE.parse("a") == "a"
    fragments = TINY.fragments()
    assert fragments == [FILLER, "a", "b"]
    assert TINY.inputs(["ba"])[0, 1:].tolist() == [TINY.hash_of("ba") * 3 + number for number in (2, 1)]


def test_the_hash_of_the_fragments_is_no_part_of_the_number_of_the_word():
    words = map("".join, islice(product(LETTERS, repeat=3), 300))
    numbers = [(int(PUZZLE.inputs([word])[0, 0]), PUZZLE.hash_of(word)) for word in words]
    assert len({hashed for _, hashed in numbers}) > 150
    assert len({number & 255 for number, _ in numbers}) > 150
    assert any(number & 255 != hashed for number, hashed in numbers)


def test_reports_of_other_forms_are_refused_alone():
    good = PUZZLE.client().report("noise").payload
    wrong = bytes([*good[:65], 4, *good[66:]]), bytes([16, *good[1:]]), bytes([*good[:66], 16, *good[67:]])
    rows = np.array([list(good), *map(list, wrong)], dtype=np.uint8)
    assert PUZZLE.aggregator().add(Reports(PUZZLE.fingerprint, rows)).refused == (1, 2, 3)


def test_fake_reports_of_one_hash_cannot_make_a_collector_try_all_words(monkeypatch):
    """All fragments of one hash look frequent at all 8 positions: 4^8 words can be made of them."""
    puzzle = FragmentPuzzle("abc", length=8, fragment=1, epsilon=2, hashes=2, width=4)
    tried = []
    monkeypatch.setattr(FragmentPuzzle, "hash_of", lambda _, word: tried.append(word) or 7)
    supports = np.zeros(256 * 4, dtype=np.int64)
    supports[7 * 4 : 8 * 4] = 4, 3, 2, 1
    monkeypatch.setattr(CountMeanSketch, "supports", lambda *given: supports[given[-1] % len(supports)])
    collected = puzzle.aggregator()
    assert collected.add(puzzle.client().report_many(["a"] * 500)).accepted == 500
    tried.clear()
    found = collected._found(4)
    assert len(found) == len(tried) == len(set(tried)) <= 1 << 12
    assert "" in found  # of the most frequent fragment at each position


@pytest.mark.parametrize("candidates", [[], [7], ["privacy", "privacy"], ["abcdefgh", "abcdefghi"]])
def test_wrong_candidates_are_refused(candidates):
    aggregator = PUZZLE.aggregator()
    aggregator.add(PUZZLE.client().report("noise"))
    with pytest.raises(ParameterError, match="candidates"):
        aggregator.estimate(candidates)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alphabet": ""}, {"alphabet": "aa"}, {"alphabet": FILLER}, {"alphabet": 7}, {"length": 0}, {"length": 65},
        {"alphabet": "a\ud800"}, {"fragment": 3}, {"fragment": 0}, {"length": 8, "fragment": 8}, {"epsilon": 0},
        {"hashes": 0},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_are_refused(wrong):
    given = {"alphabet": LETTERS, "length": 4, "epsilon": 2} | wrong
    with pytest.raises(ParameterError):
        FragmentPuzzle(given.pop("alphabet"), **given)
