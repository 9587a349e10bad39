"""What holds for every frequency oracle: its supports, and that estimates are unbiased with the variance stated."""

from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, chi2
from tests.laws import ALPHA
from tests.local.branches import payload_law
from tests.local.protocols import LABELLED, LARGE, ORACLES
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, Domain

SMALL = pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
LARGER = pytest.mark.parametrize(
    "oracle", [one for one in LARGE.values() if one.kind != "pooled_hashing"], ids=lambda oracle: oracle.kind
)
RUNS = 1000 if FULL_SIZE else 5


@cache
def supports_law(oracle, value):
    """The probability of each set of values that a report supports."""
    found, everything = defaultdict(Fraction), np.arange(len(oracle.domain))
    for payload, mass in payload_law(oracle, value).items():
        counts = oracle.tally(np.frombuffer(payload, dtype=np.uint8)[None, :])
        found[tuple(oracle.supports(counts, 1, everything).tolist())] += mass
    return dict(found)


@SMALL
def test_supports_have_the_stated_probabilities(oracle):
    p, q = oracle.support_probabilities
    for value in range(len(oracle.domain)):
        law = supports_law(oracle, value)
        for other in range(len(oracle.domain)):
            assert sum(mass for supported, mass in law.items() if supported[other]) == (p if other == value else q)


@SMALL
def test_the_raw_estimate_is_unbiased_and_has_the_stated_variance(oracle):
    """Exactly: over all payloads of one person."""
    p, q = oracle.support_probabilities
    for value in range(len(oracle.domain)):
        law = supports_law(oracle, value)
        for other in range(len(oracle.domain)):
            mean = sum(mass * (supported[other] - q) / (p - q) for supported, mass in law.items())
            squares = sum(mass * ((supported[other] - q) / (p - q)) ** 2 for supported, mass in law.items())
            assert mean == (other == value)
            variance = float(squares - mean**2)
            assert oracle.variance(reports=1, fraction=int(mean)) == pytest.approx(variance, rel=1e-9)


@SMALL
def test_both_forms_of_the_variance_agree(oracle):
    p, q = map(float, oracle.support_probabilities)
    for fraction in ("0", "0.1", "1"):
        second = q * (1 - q) / (p - q) ** 2 + float(fraction) * (1 - p - q) / (p - q)
        assert oracle.variance(reports=7, fraction=fraction) == pytest.approx(second / 7, rel=1e-9)


def test_the_variance_is_exact_where_floats_see_no_noise():
    oracle = DirectEncoding(2, epsilon=80)
    p, q = oracle.support_probabilities
    assert oracle.variance(reports=1, fraction=1) == float(p * (1 - p) / (p - q) ** 2) > 0


@pytest.mark.statistical
@LARGER
def test_the_mean_squared_error_is_that_of_the_theory_and_intervals_cover_as_often_as_they_say(oracle):
    """Of 300 values, some frequent: errors over their standard deviations are almost normal and almost independent."""
    rng = np.random.default_rng(3)
    size, people = len(oracle.domain), 20_000
    squares, covered = 0.0, 0
    for _ in range(RUNS):
        held = np.minimum(rng.zipf(1.5, people), size) - 1
        truth = np.bincount(held, minlength=size) / people
        aggregator = oracle.aggregator()
        aggregator.add(oracle.client().report_many(held))
        estimates = aggregator.estimate()
        variances = estimates.supports.variances(truth)
        squares += ((estimates.fractions - truth) ** 2 / variances).sum()
        covered += int(((estimates.low <= truth) & (truth <= estimates.high)).sum())
    tried = RUNS * size
    if FULL_SIZE:
        assert 0.85 <= squares / tried <= 1.15
        assert 0.93 <= covered / tried <= 0.97
    else:  # supports of one report may depend on each other a little, and counts are whole numbers
        least, most = chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], tried)
        assert least * 0.95 <= squares <= most * 1.05
        least, most = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], tried, [0.94, 0.96])
        assert least <= covered <= most


def test_a_part_of_the_domain_can_be_estimated():
    oracle = LABELLED["DirectEncoding of labels"]
    aggregator = oracle.aggregator()
    aggregator.add(oracle.client().report_many(["tea"] * 50 + ["coffee"] * 30))
    whole, part = aggregator.estimate(), aggregator.estimate(["water", "tea"])
    assert part.values == ("water", "tea")
    assert part.fractions.tolist() == [whole.fractions[2], whole.fractions[0]]


@pytest.mark.parametrize("candidates", [[], ["beer"], ["tea", "tea"], [None]])
def test_wrong_candidates_are_refused(candidates):
    aggregator = LABELLED["DirectEncoding of labels"].aggregator()
    aggregator.add(aggregator.protocol.client().report("tea"))
    with pytest.raises(ParameterError, match="candidates"):
        aggregator.estimate(candidates)


def test_without_reports_there_is_no_estimate():
    with pytest.raises(ParameterError, match="reports"):
        DirectEncoding(3, epsilon=1).aggregator().estimate()


@pytest.mark.parametrize("confidence", [0, 1, "x", 2])
def test_a_wrong_confidence_is_refused(confidence):
    aggregator = DirectEncoding(3, epsilon=1).aggregator()
    aggregator.add(aggregator.protocol.client().report(1))
    with pytest.raises(ParameterError, match="confidence"):
        aggregator.estimate(None, confidence)


@pytest.mark.parametrize("oracle", LABELLED.values(), ids=LABELLED)
def test_a_domain_too_large_or_open_is_refused(oracle):
    if oracle.takes_texts:
        assert type(oracle)(Domain.texts(), epsilon=1).domain.is_open
        return
    for domain in ((1 << 20) + 1, Domain.texts()):
        with pytest.raises(ParameterError, match="domain"):
            type(oracle)(domain, epsilon=1)
