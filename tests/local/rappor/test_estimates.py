"""Decoding: texts above the detection frequency are found, hardly any other ones, and fractions are unbiased."""

import json

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm
from tests.laws import ALPHA
from tests.local.rappor.simulated import counted, exponential
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import Rappor, detection_frequency

HOMEPAGES = Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")
SMALL = Rappor(bits=16, hashes=1, cohorts=4, f="0.25", p="0.25", q="0.75")
TEXTS = tuple(f"v{number}" for number in range(1, 101))
DECOYS = tuple(f"decoy{number}" for number in range(1, 101))
SEEDS = 20 if FULL_SIZE else 5
TRIED = 300 if FULL_SIZE else 60


@pytest.mark.statistical
def test_frequent_texts_are_found_and_hardly_ever_others():
    """A million people, a hundred texts and a hundred that nobody holds. At the significance of 0.05, a false positive
    comes in one seed of 20; the limit here is exceeded with probability 1e-6."""
    held = exponential(10**6, TEXTS, scale=20)
    least = 1.5 * detection_frequency(HOMEPAGES, reports=10**6, candidates=200)
    must = {text for text, count in held.items() if count >= least * 10**6}
    assert len(must) >= 15
    rng = np.random.default_rng(24)
    found, wrong = 0, 0
    for _ in range(SEEDS):
        detected = set(counted(HOMEPAGES, held, rng).estimate((*TEXTS, *DECOYS)).detected)
        found += must <= detected
        wrong += bool(detected & set(DECOYS))
    assert found >= 0.9 * SEEDS
    assert wrong <= binom.isf(ALPHA, SEEDS, 0.05)


@pytest.mark.statistical
def test_fractions_are_unbiased_and_intervals_hold_them_as_often_as_they_say():
    held = {"a": 3000, "b": 1500, "c": 500}
    candidates = ("a", "b", "c", "d")
    truth = np.array([0.6, 0.3, 0.1, 0.0])
    rng, squares, covered, sums = np.random.default_rng(7), 0.0, 0, np.zeros(4)
    for _ in range(TRIED):
        estimates = counted(SMALL, held, rng).estimate(candidates)
        errors = estimates.fractions - truth
        sums += errors
        squares += float(((errors / estimates.standard_errors) ** 2).sum())
        covered += int(((estimates.low <= truth) & (truth <= estimates.high)).sum())
    each = float(np.max(estimates.standard_errors))
    assert np.abs(sums / TRIED).max() <= norm.isf(ALPHA / 8) * 1.2 * each / TRIED**0.5
    low, high = chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], 4 * TRIED)
    assert 0.7 * low <= squares <= 1.3 * high
    assert 0.88 <= covered / (4 * TRIED) <= 0.99


def test_the_published_detection_frequencies():
    assert detection_frequency(HOMEPAGES, reports=10**6, candidates=200) == pytest.approx(0.0138, abs=5e-5)
    wide = Rappor(bits=32, hashes=1, cohorts=64, f="0.5", p="0.25", q="0.75")
    assert detection_frequency(wide, reports=10**6, candidates=200) == pytest.approx(0.0067, abs=5e-5)
    for wrong in ({"reports": 0}, {"candidates": 0}, {"significance": 0}):
        with pytest.raises(ParameterError):
            detection_frequency(HOMEPAGES, **{"reports": 9, "candidates": 9} | wrong)


def test_real_reports_are_decoded():
    aggregator = SMALL.aggregator()
    aggregator.add(SMALL.client().report_many(["a"] * 3500 + ["b"] * 1500))
    estimates = aggregator.estimate(["nobody", "a", "b"], significance=1e-6)
    assert estimates.detected == ("a", "b")
    assert len(estimates) == estimates.candidates == 3
    assert estimates.reports == 5000
    assert [row["value"] for row in estimates.rows()] == ["nobody", "a", "b"]
    assert set(estimates.rows()[0]) >= {"fraction", "low", "high", "p_value", "is_detected"}
    assert estimates.possible.min() >= 0


def test_bit_fractions_are_counts_without_their_noise():
    aggregator = SMALL.aggregator()
    aggregator.add(SMALL.client().report_many(["a"] * 3000))
    seen, errors = aggregator.bit_fractions()
    for cohort in range(4):
        (bit,) = SMALL.set_bits("a", cohort)
        assert abs(seen[cohort, bit] - 1) < 6 * errors[cohort, bit]
        assert np.abs(np.delete(seen[cohort], bit)).max() < 6 * errors[cohort].max()


def test_cohorts_without_reports_say_nothing():
    device = SMALL.client(cohort=2)
    aggregator = SMALL.aggregator()
    aggregator.add([device.report("a") for _ in range(50)])
    assert np.isinf(aggregator.bit_fractions()[1][[0, 1, 3]]).all()
    assert len(aggregator.estimate(["a", "b"])) == 2


def test_thousands_of_candidates_and_none_that_is_there():
    """The lasso leaves few or none, and nothing aborts."""
    aggregator = SMALL.aggregator()
    aggregator.add(SMALL.client().report_many([None] * 4000))
    estimates = aggregator.estimate([f"x{number}" for number in range(2000)])
    assert len(estimates) <= 0.8 * 64
    assert estimates.candidates == 2000
    assert len(estimates.detected) <= 4


def test_candidates_with_the_same_bits_cannot_be_told_apart():
    """With four bits and one cohort, some of ten texts must share theirs."""
    protocol = Rappor(bits=4, hashes=1, cohorts=1, f="0.25", p="0.25", q="0.75")
    aggregator = protocol.aggregator()
    aggregator.add(protocol.client().report_many(["a"] * 2000))
    same = [word for word in map(str, range(40)) if protocol.set_bits(word, 0) == protocol.set_bits("a", 0)][:1]
    other = next(word for word in map(str, range(40)) if protocol.set_bits(word, 0) != protocol.set_bits("a", 0))
    estimates = aggregator.estimate(["a", *same, other], significance=1e-6)
    assert np.isinf(estimates.standard_errors).tolist() == [True, True, False]
    assert estimates.detected == ()


@pytest.mark.parametrize("candidates", [None, [], ["a", "a"], [7], ["a", None]])
def test_wrong_candidates_are_refused(candidates):
    aggregator = SMALL.aggregator()
    aggregator.add(SMALL.client().report("a"))
    with pytest.raises(ParameterError, match="candidates"):
        aggregator.estimate(candidates)


def test_other_arguments_are_checked():
    with pytest.raises(ParameterError, match="reports"):
        SMALL.aggregator().estimate(["a"])
    aggregator = SMALL.aggregator()
    aggregator.add(SMALL.client().report("a"))
    with pytest.raises(ParameterError, match="confidence"):
        aggregator.estimate(["a"], 2)
    with pytest.raises(ParameterError, match="significance"):
        aggregator.estimate(["a"], significance=0)


def test_parts_merge_and_snapshots_restore():
    reports = SMALL.client().report_many(["a"] * 300)
    first, second, whole = SMALL.aggregator(), SMALL.aggregator(), SMALL.aggregator()
    first.add(reports[:100])
    second.add(reports[100:])
    whole.add(reports)
    first.merge(second)
    assert first.snapshot() == whole.snapshot() == SMALL.aggregator().restore(whole.snapshot()).snapshot()


def test_texts_that_nothing_tells_apart_are_rows_that_json_can_hold():
    """Of the one cohort that reported, two texts set the same bits."""
    one = Rappor(bits=4, hashes=1, cohorts=1, f="0.5", p=0, q=1)
    aggregator = one.aggregator()
    aggregator.add(one.client().report_many(["tea"] * 40))
    estimates = aggregator.estimate(["tea", "juice"])
    assert np.isinf(estimates.standard_errors).all()
    assert [row[name] for row in estimates.rows() for name in ("standard_error", "low", "high")] == [None] * 6
    assert json.loads(json.dumps(estimates.rows(), allow_nan=False)) == estimates.rows()
