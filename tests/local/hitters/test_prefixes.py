"""Heavy hitters by prefixes: exact ratios, what is found, and texts of every length."""

import numpy as np
import pyarrow as pa
import pytest
from tests.local.branches import payload_law, worst_ratio
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import PrefixSearch, Reports
from sfumato.numeric.rounding import log_up

PEOPLE = 1_000_000 if FULL_SIZE else 200_000
TINY = PrefixSearch(4, epsilon=1, top=2, step=8, pool=2)


def test_two_texts_differ_by_no_more_than_the_realized_epsilon():
    laws = [payload_law(TINY, text) for text in ("abcd", "bad", "cab", "zzzz", "")]
    assert log_up(worst_ratio(laws)) <= TINY.realized_epsilon <= TINY.epsilon
    for law in laws:
        of_groups = [sum(mass for payload, mass in law.items() if payload[0] == group) for group in range(5)]
        assert len(set(of_groups)) == 1


@pytest.mark.parametrize(
    ("length", "top", "step", "lengths"),
    [
        (1, 2, 8, (1, 8)),
        (1, 256, 4, (8,)),
        (1, 1024, 4, (8,)),
        (2, 32, 4, (5, 9, 13, 16)),
        (8, 64, 8, (6, 14, 22, 30, 38, 46, 54, 62, 64)),
    ],
)
def test_prefixes_grow_to_the_whole_text(length, top, step, lengths):
    assert PrefixSearch(length, epsilon=1, top=top, step=step).lengths == lengths


def test_texts_become_numbers_and_come_back():
    search = PrefixSearch(8, epsilon=1)
    for text in ("", "a", "tea", "ñandú", "eight ch"):
        assert search.text_of(search.word_of(text)) == text
        assert search.inputs([text]).tolist() == [search.word_of(text)]
    assert [search.word_of(odd) for odd in ("nine char", None, 7, b"tea")] == [-1] * 4
    assert len(set(search.inputs([None] * 50).tolist())) == 50
    assert search.inputs(pa.array(["tea"])).tolist() == [search.word_of("tea")]


def test_the_interval_says_that_a_random_part_of_the_people_was_asked():
    """At ε = 8 reports hardly err, but who is in the group may hold a text more often than the others."""
    search = PrefixSearch(2, epsilon=8, top=4, pool=16)
    collected = search.aggregator()
    collected.add(search.client().report_many(["ab", "xy"] * 2000))
    found = collected.estimate(["ab"])
    (asked,) = found.supports.asked
    assert found.reports == 4000 > asked
    drawn = 0.2 * (1 / asked - 1 / 4000)  # f(1 - f), nearly
    of_reports = search.hashing.variance(reports=int(asked), fraction=found.fractions[0])
    assert found.standard_errors[0] ** 2 - of_reports > drawn > 0


@pytest.mark.statistical
def test_frequent_texts_are_found():
    """Zipf's distribution over 2,000 texts of five letters, ε = 4: the most frequent ones lie far above the noise."""
    rng = np.random.default_rng(1)
    texts = list(dict.fromkeys("".join(rng.choice(list("abcdefghijklmnop"), 5)) for _ in range(2100)))[:2000]
    ranks = np.minimum(rng.zipf(1.3, PEOPLE), 2000) - 1
    search = PrefixSearch(5, epsilon=4, top=32)
    collected = search.aggregator()
    assert collected.add(search.client().report_many([texts[rank] for rank in ranks])).refused == ()
    found = collected.estimate()
    assert set(texts[: 10 if FULL_SIZE else 5]) <= set(found.values)
    right = len(set(found.values) & set(texts[:32])) / 32
    assert right >= (0.6 if FULL_SIZE else 0.33)  # F1: as many are found as there are
    assert found.fractions.tolist() == sorted(found.fractions, reverse=True)
    true = np.bincount(ranks, minlength=2000) / PEOPLE
    named = collected.estimate(texts[:10])
    assert named.values == tuple(texts[:10])
    assert (np.abs(named.fractions - true[:10]) < 6 * named.standard_errors).all()


def test_intervals_include_what_a_pool_adds():
    """All hold one text, nearly without noise: others are off by the cells that they share with it."""
    search = PrefixSearch(1, epsilon=8, top=2, step=8, pool=2)
    collected = search.aggregator()
    collected.add(search.client().report_many(["a"] * 2000))
    shared = 1 / ((search.hashing.family.cells - 1) * 2)
    assert (collected.estimate(["a", "b"]).standard_errors ** 2 > 0.9 * shared).all()


def test_a_group_without_reports_leaves_nothing_to_search():
    collected = TINY.aggregator()
    collected.add(TINY.client().report_many(["abcd"] * 2))
    with pytest.raises(ParameterError, match="reports"):
        collected.estimate()


@pytest.mark.parametrize("candidates", [[], ["abcde"], ["a", "a"], [None]])
def test_wrong_candidates_are_refused(candidates):
    collected = TINY.aggregator()
    collected.add(TINY.client().report_many(["abcd"] * 200))
    with pytest.raises(ParameterError, match="candidates"):
        collected.estimate(candidates)


def test_payloads_of_no_group_are_refused():
    good = TINY.client().report_many(["abcd"] * 4)
    rows = good.payloads.copy()
    rows[1, 0] = 5
    rows[2, 2] = 4
    assert TINY.aggregator().add(Reports(good.fingerprint, rows)).refused == (1, 2)


@pytest.mark.parametrize(
    "wrong",
    [{"length": 0}, {"length": 9}, {"top": 1}, {"top": 1025}, {"step": 0}, {"step": 9}, {"pool": 1}, {"epsilon": 0}],
)
def test_wrong_parameters_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        PrefixSearch(**({"length": 4, "epsilon": 1} | wrong))


def test_a_pool_whose_counters_fill_the_memory_is_refused():
    with pytest.raises(ParameterError, match=r"pool.* must be at most 1,4\d\d,"):
        PrefixSearch(8, epsilon=8)
    assert PrefixSearch(8, epsilon=8, pool=1_400).cells < 1 << 26
