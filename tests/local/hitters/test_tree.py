"""Heavy hitters by a tree: exact ratios, what is found of Zipf's distribution, and texts of every length."""

from string import ascii_lowercase

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.local.branches import payload_law, worst_ratio
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import HadamardSketch, Reports, TreeSearch, protocol_from_json
from sfumato.numeric.rounding import log_up

PEOPLE, LETTERS = (1_000_000, 3) if FULL_SIZE else (200_000, 2)
TINY = TreeSearch(1, epsilon=1, hashes=1, width=2)


def test_two_texts_differ_by_no_more_than_the_realized_epsilon_and_lengths_do_not_depend_on_them():
    laws = [payload_law(TINY, text) for text in ("a", "b", "~", "")]
    largest = log_up(worst_ratio(laws))
    assert largest == TINY.realized_epsilon <= TINY.epsilon
    for law in laws:
        whole = sum(mass for payload, mass in law.items() if payload[0] == 8)
        assert whole == 1 / 2
        assert {sum(mass for payload, mass in law.items() if payload[0] == level) * 14 for level in range(1, 8)} == {1}


def test_the_interval_says_that_a_random_part_of_the_people_was_asked():
    """At ε = 8 reports hardly err, but who is in the group may hold a text more often than the others."""
    search = TreeSearch(2, epsilon=8)
    collected = search.aggregator()
    collected.add(search.client().report_many(["ab", "xy"] * 2000))
    found = collected.estimate(["ab"])
    (asked,) = found.supports.asked
    assert found.reports == 4000 > asked
    drawn = 0.2 * (1 / asked - 1 / 4000)  # f(1 - f), nearly
    assert found.standard_errors[0] ** 2 > drawn > 0


@pytest.mark.statistical
def test_frequent_texts_are_found_and_others_are_not():
    """Zipf's distribution over 500 texts at ε = 4: those that 7% of the people hold lie far above the noise."""
    rng = np.random.default_rng(1)
    texts = list(dict.fromkeys("".join(rng.choice(list(ascii_lowercase), LETTERS)) for _ in range(1500)))[:500]
    ranks = np.minimum(rng.zipf(1.5, PEOPLE), 500) - 1
    truth = np.bincount(ranks, minlength=500) / PEOPLE
    ordered = [texts[at] for at in np.argsort(-truth, kind="stable").tolist()]
    search = TreeSearch(LETTERS, epsilon=4)
    collected = search.aggregator()
    assert collected.add(search.client().report_many([texts[rank] for rank in ranks])).refused == ()
    found = collected.estimate(significance=1e-6)
    assert set(ordered[:3]) <= set(found.values) <= set(ordered[:20])
    right = len(set(found.values) & set(ordered[: len(found)]))
    assert right / len(found) >= 0.5  # precision and recall of as many as were found, and thus F1
    for row in found.rows():
        assert abs(row["fraction"] - truth[texts.index(row["value"])]) < 6 * row["standard_error"]
    known = collected.estimate([texts[0], "ZZ"])
    assert known.fractions[0] == found.fractions[found.values.index(texts[0])]
    assert abs(known.fractions[1]) < 6 * known.standard_errors[1]


def test_intervals_include_what_columns_share():
    """All hold one text, nearly without noise: others are off by the columns that they share with it."""
    search = TreeSearch(1, epsilon=8, hashes=2, width=4)
    collected = search.aggregator()
    collected.add(search.client().report_many(["a"] * 2000))
    assert (collected.estimate(["a", "b"]).standard_errors ** 2 > 0.8 / (2 * 3)).all()


def test_of_nobody_nothing_is_found():
    search = TreeSearch(2, epsilon=1, hashes=4, width=64)
    collected = search.aggregator()
    collected.add(search.client().report_many([None] * 3000))
    assert len(collected.estimate(significance=1e-6)) == 0
    with pytest.raises(ParameterError, match="reports"):
        search.aggregator().estimate()


@pytest.mark.statistical
def test_half_of_the_people_report_their_whole_text():
    reports = TreeSearch(2, epsilon=1).client().report_many(["ab"] * 20_000)
    lengths = reports.payloads[:, 0]
    assert binomtest(int((lengths == 16).sum()), len(lengths), 0.5).pvalue >= ALPHA
    for level in (1, 7, 15):
        assert binomtest(int((lengths == level).sum()), len(lengths), 1 / 30).pvalue >= ALPHA


def test_texts_become_numbers_and_come_back():
    search = TreeSearch(7, epsilon=1)
    for text in ("", "a", "tea", "ñandú", "seven c"):
        assert search.text_of(search.word_of(text)) == text
        assert search.inputs([text]).tolist() == [search.word_of(text)]
    assert [search.word_of(odd) for odd in ("eight ch", None, 7, b"tea")] == [-1] * 4
    assert search.inputs(pa.array(["tea"])).tolist() == [search.word_of("tea")]
    assert len(set(search.inputs([None] * 50).tolist())) == 50
    assert search.parse("x") == "x"
    assert protocol_from_json(search.to_json()) == search
    assert isinstance(search.sketch, HadamardSketch)


def test_lengths_that_there_are_not_are_refused():
    search = TreeSearch(2, epsilon=1)
    good = search.client().report("ab").payload
    rows = np.array([list(good), [0, *good[1:]], [17, *good[1:]]], dtype=np.uint8)
    assert search.aggregator().add(Reports(search.fingerprint, rows)).refused == (1, 2)


@pytest.mark.parametrize("candidates", [[], ["abc"], [7], ["a", "a"]])
def test_wrong_candidates_are_refused(candidates):
    search = TreeSearch(2, epsilon=1)
    collected = search.aggregator()
    collected.add(search.client().report_many(["ab"] * 50))
    with pytest.raises(ParameterError, match="candidates"):
        collected.estimate(candidates)


@pytest.mark.parametrize(
    "wrong", [{"length": 0}, {"length": 8}, {"epsilon": 0}, {"hashes": 0}, {"width": 3}, {"length": "2"}]
)
def test_parameters_out_of_range_are_refused(wrong):
    given = {"length": 2, "epsilon": 1} | wrong
    with pytest.raises(ParameterError):
        TreeSearch(given.pop("length"), **given)
