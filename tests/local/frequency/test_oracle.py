"""What holds for every frequency oracle: its supports, and that estimates are unbiased with the variance stated."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2
from tests.laws import ALPHA
from tests.local.branches import payload_law
from tests.local.protocols import LABELLED, LARGE, ORACLES
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, Domain, Reports
from sfumato.local.frequency.estimates import Supports

SMALL = pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
LARGER = pytest.mark.parametrize("oracle", LARGE.values(), ids=LARGE)
RUNS = 1000 if FULL_SIZE else 20


def supports_of(oracle, payload):
    """Which values one payload supports, by the aggregator's own counting."""
    aggregator = oracle.aggregator()
    aggregator.add(Reports(oracle.fingerprint, np.frombuffer(payload, dtype=np.uint8)[None, :]))
    assert len(aggregator) == 1
    return aggregator.estimate().supports.counts


@SMALL
def test_supports_have_the_stated_probabilities(oracle):
    p, q = oracle.support_probabilities
    for value in range(len(oracle.domain)):
        law = payload_law(oracle, value)
        supported = {payload: supports_of(oracle, payload) for payload in law}
        for other in range(len(oracle.domain)):
            found = sum(mass for payload, mass in law.items() if supported[payload][other])
            assert found == (p if other == value else q)


@SMALL
def test_the_raw_estimate_is_unbiased_and_has_the_stated_variance(oracle):
    """Exactly: over all payloads of one person."""
    p, q = oracle.support_probabilities
    for value in range(len(oracle.domain)):
        law = payload_law(oracle, value)
        estimates = {payload: [Fraction(int(c) - q) / (p - q) for c in supports_of(oracle, payload)] for payload in law}
        for other in range(len(oracle.domain)):
            mean = sum(mass * estimates[payload][other] for payload, mass in law.items())
            variance = sum(mass * estimates[payload][other] ** 2 for payload, mass in law.items()) - mean**2
            assert mean == (other == value)
            assert oracle.variance(reports=1, fraction=int(mean)) == pytest.approx(float(variance), rel=1e-9)


@SMALL
def test_both_forms_of_the_variance_agree(oracle):
    p, q = map(float, oracle.support_probabilities)
    for fraction in ("0", "0.1", "1"):
        second = q * (1 - q) / (p - q) ** 2 + float(fraction) * (1 - p - q) / (p - q)
        assert oracle.variance(reports=7, fraction=fraction) == pytest.approx(second / 7, rel=1e-9)


@pytest.mark.statistical
@LARGER
def test_the_mean_squared_error_is_that_of_the_theory_and_intervals_cover_as_often_as_they_say(oracle):
    """Of 300 values, some frequent: errors over their standard deviations are almost normal and almost independent."""
    rng = np.random.default_rng(3)
    size, people = len(oracle.domain), 20_000
    squares, covered = 0.0, 0
    p, q = map(float, oracle.support_probabilities)
    for _ in range(RUNS):
        held = np.minimum(rng.zipf(1.5, people), size) - 1
        truth = np.bincount(held, minlength=size) / people
        aggregator = oracle.aggregator()
        aggregator.add(oracle.client().report_many(held))
        estimates = aggregator.estimate()
        variances = Supports.variances(truth, people, p, q)
        squares += ((estimates.fractions - truth) ** 2 / variances).sum()
        covered += int(((estimates.low <= truth) & (truth <= estimates.high)).sum())
    tried = RUNS * size
    assert 0.85 <= squares / tried <= 1.15
    bounds = chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], tried)
    assert bounds[0] * 0.99 <= squares <= bounds[1] * 1.01  # supports of one report may depend on each other a little
    assert 0.93 <= covered / tried <= 0.97


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
    for domain in ((1 << 20) + 1, Domain.texts()):
        with pytest.raises(ParameterError, match="domain"):
            type(oracle)(domain, epsilon=1)
