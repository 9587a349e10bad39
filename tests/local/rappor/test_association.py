"""Two reports of each person: the joint distribution of what they say, and whether there is any association."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, kstest
from tests.laws import ALPHA
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import Rappor, associate
from sfumato.local.rappor.association import _standard_errors

CITY = Rappor(bits=32, hashes=1, cohorts=4, f="0.25", p="0.25", q="0.75", metric="city")
TEAM = Rappor(bits=32, hashes=1, cohorts=4, f="0.25", p="0.25", q="0.75", metric="team")
BOTH = (CITY, TEAM)
TRIED = 400 if FULL_SIZE else 40


def associated(first, second, candidates=("a", "b"), both=BOTH, **options):
    sent = tuple(protocol.client().report_many(held) for protocol, held in zip(both, (first, second), strict=True))
    estimates = []
    for protocol, batch in zip(both, sent, strict=True):
        aggregator = protocol.aggregator()
        aggregator.add(batch)
        estimates.append(aggregator.estimate(candidates))
    return associate(both, sent, tuple(estimates), **options)


def of_both(**parameters):
    return tuple(Rappor(bits=32, hashes=1, cohorts=4, metric=metric, **parameters) for metric in ("city", "team"))


@pytest.mark.statistical
def test_the_joint_distribution_is_found():
    truth = {("a", "a"): 0.5, ("a", "b"): 0.1, ("b", "a"): 0.1, ("b", "b"): 0.3}
    people = 20_000
    pairs = [pair for pair, fraction in truth.items() for _ in range(round(fraction * people))]
    found = associated(*zip(*pairs, strict=True))
    assert found.people == people
    assert found.fractions.sum() == pytest.approx(1)
    rows = {(row["first"], row["second"]): row["fraction"] for row in found.rows()}
    assert len(rows) == 9
    for pair, fraction in truth.items():
        assert rows[pair] == pytest.approx(fraction, abs=0.08)
    assert found.p_value < 1e-6


@pytest.mark.statistical
def test_p_values_of_independent_texts_are_uniform():
    rng = np.random.default_rng(3)
    found = [
        associated(rng.choice(["a", "b"], 1500, p=[0.7, 0.3]).tolist(), rng.choice(["a", "b"], 1500).tolist()).p_value
        for _ in range(TRIED)
    ]
    assert kstest(np.array(found)[np.isfinite(found)], "uniform").pvalue >= ALPHA


def test_texts_that_are_no_candidates_are_others():
    people = 8000
    held = ["a"] * (people // 2) + ["elsewhere"] * (people // 2)
    found = associated(held, held, candidates=("a",))
    assert found.first == found.second == ("a", None)
    assert found.fractions.diagonal().sum() > 0.8
    assert found.p_value < 1e-6


def test_batches_must_be_of_the_same_people():
    sent = [protocol.client().report_many(["a"] * 400) for protocol in BOTH]
    estimates = []
    for protocol, batch in zip(BOTH, sent, strict=True):
        aggregator = protocol.aggregator()
        aggregator.add(batch)
        estimates.append(aggregator.estimate(["a"]))
    for reports in ((sent[0], sent[1][:5]), (sent[0][:0], sent[1][:0]), (sent[1], sent[0])):
        with pytest.raises(ParameterError, match="reports"):
            associate(BOTH, reports, tuple(estimates))


def test_where_nothing_is_detected_all_are_others():
    found = associated([None] * 500, [None] * 500)
    if found.first == found.second == (None,):
        assert found.fractions.tolist() == [[1.0]]
        assert np.isnan(found.p_value)


QUIET = of_both(f="0.1", p="0.1", q="0.9")
SHARES = {("a", "a"): 0.4, ("a", "b"): 0.15, ("b", "a"): 0.15, ("b", "b"): 0.3}
WITH_OTHERS = {
    (first, second): share
    for first, shares in {"a": (0.25, 0.08, 0.07), "b": (0.08, 0.2, 0.06), "z": (0.07, 0.06, 0.13)}.items()
    for second, share in zip("abz", shares, strict=True)
}


def covered(shares, people, runs):
    """For each pair of candidates, how often its interval holds its fraction."""
    rng, pairs = np.random.default_rng(6), list(shares)
    found = dict.fromkeys((pair for pair in pairs if "z" not in pair), 0)
    for _ in range(runs):
        drawn = rng.choice(len(pairs), people, p=list(shares.values()))
        rows = associated(*([pairs[at][side] for at in drawn] for side in (0, 1)), both=QUIET).rows()
        for row in rows:
            pair = row["first"], row["second"]
            if pair in found:
                found[pair] += row["low"] <= shares[pair] <= row["high"]
    return np.array(list(found.values()))


@pytest.mark.statistical
@pytest.mark.parametrize(("shares", "people"), [(SHARES, 1000), (WITH_OTHERS, 10_000)], ids=["alone", "with others"])
def test_intervals_hold_their_fractions_as_often_as_stated(shares, people):
    runs = {1000: 4000, 10_000: 1000}[people] if FULL_SIZE else 10
    found = covered(shares, people, runs)
    assert (binom.cdf(found, runs, 0.93) >= ALPHA).all()
    assert (binom.sf(found - 1, runs, 0.97) >= ALPHA).all()
    if runs == 4000:  # then this is six standard deviations
        assert 0.93 <= found.mean() / runs <= 0.97


@pytest.mark.statistical
def test_intervals_of_pairs_that_nobody_holds_begin_at_0_and_hold_it():
    runs = 500 if FULL_SIZE else 10
    shares = {("a", "a"): 0.5, ("a", "b"): 0.0, ("b", "b"): 0.5}
    found = covered(shares, 1000, runs)
    assert binom.cdf(found[1], runs, 0.95) >= ALPHA


def test_reports_with_hardly_any_noise_have_the_errors_of_counts():
    people = 4000
    held = [pair for pair, share in SHARES.items() for _ in range(round(share * people))]
    both = of_both(f=Fraction(1, 128), p="0.001", q="0.999")
    found = associated(*zip(*held, strict=True), both=both, confidence="0.9")
    assert (found.first, found.second, found.confidence) == (("a", "b", None), ("a", "b", None), pytest.approx(0.9))
    for row in found.rows():
        share = SHARES.get((row["first"], row["second"]))
        if share is None:
            assert all(np.isnan(row[name]) for name in ("standard_error", "low", "high"))
        else:
            assert row["standard_error"] == pytest.approx((share * (1 - share) / people) ** 0.5, rel=0.05)
            assert row["high"] - row["low"] == pytest.approx(2 * 1.645 * row["standard_error"], rel=1e-3)
            assert row["fraction"] == pytest.approx(share, abs=6 * row["standard_error"])


def test_pairs_that_reports_cannot_tell_apart_have_no_bounds():
    """Both texts set the same bits: the information of moving people between them is 0."""
    rng = np.random.default_rng(7)
    one, two = (rng.uniform(0.1, 1, (500, 3)) for _ in range(2))
    one[:, 1] = one[:, 0]
    errors = _standard_errors(np.full((3, 3), 1 / 9), one, two)
    assert np.isinf(errors[:2, :2]).all()
    assert np.isnan(errors[2]).all()
    assert np.isnan(errors[:, 2]).all()


def test_an_impossible_confidence_is_refused():
    with pytest.raises(ParameterError, match="confidence"):
        associated(["a"] * 400, ["a"] * 400, confidence=1)
