"""Reports: rates and limits as counted by hand, what a claim allows, a verdict, a text and a picture."""

from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.stats import beta

from sfumato.attacks.members.means import Roc
from sfumato.audit.canaries.guesses import Guesses
from sfumato.audit.core.findings import CAVEAT, Verdict
from sfumato.errors import ParameterError
from sfumato.learn.attacks.report import ModelAudit, ModelFinding
from sfumato.privacy.guarantees import ApproxDP

RNG = np.random.default_rng(31)


def finding(*, attack="loss", claim=None, bound=0.0, scores=None, present=None, notes=()):
    scores = np.arange(200.0) if scores is None else scores
    present = np.arange(200) % 20 > 9 if present is None else present
    return ModelFinding(
        attack=attack, roc=Roc(scores=scores, present=present), guesses=Guesses(right=7, made=9, canaries=200),
        epsilon_lower_bound=bound, claim=claim, significance=0.05, notes=notes,
    )  # fmt: skip


def report(*findings, claim=None):
    return ModelAudit(model="GaussianNB", claim=claim, findings=findings, fits=65, significance=0.05)


def test_the_largest_advantage_is_that_of_some_threshold():
    scores, present = RNG.normal(size=60).round(1), RNG.random(60) < 0.4
    found = finding(scores=scores, present=present)
    by_hand = [np.mean(scores[present] >= t) - np.mean(scores[~present] >= t) for t in [*scores, np.inf]]
    assert found.advantage == pytest.approx(max(by_hand))
    low, high = found.advantage_limits(confidence=0.9)
    apart = sum(sqrt(log(4 / 0.1) / (2 * side)) for side in (present.sum(), (~present).sum()))
    assert (low, high) == pytest.approx((max(0, found.advantage - apart), min(1, found.advantage + apart)))


@pytest.mark.statistical
def test_limits_hold_the_true_advantage_as_often_as_they_say():
    """Scores uniform, those of members moved by 0.3: 200 intervals of 80% fail more than 69 times once in 10^6."""
    missed = 0
    for _ in range(200):
        present = np.arange(60) < 30
        found = finding(scores=RNG.random(60) + 0.3 * present, present=present)
        low, high = found.advantage_limits(confidence=0.8)
        missed += not low <= 0.3 <= high
    assert missed <= 69


def test_true_positives_at_few_false_ones_are_counted_with_exact_limits():
    scores, present = RNG.normal(size=300), RNG.random(300) < 0.5
    found = finding(scores=scores, present=present)
    allowed = int(0.05 * (~present).sum())
    threshold = np.sort(scores[~present])[-allowed - 1]
    hits, members = int((scores[present] > threshold).sum()), int(present.sum())
    rates = found.rates_at(0.05)
    assert (rates.hits, rates.present, rates.absent) == (hits, members, 300 - members)
    assert rates.false_alarms <= allowed
    low, high = found.true_positive_limits(0.05, confidence=0.99)
    assert low == pytest.approx(beta.ppf(0.005, hits, members - hits + 1))
    assert high == pytest.approx(beta.ppf(0.995, hits + 1, members - hits))


def test_a_claim_allows_an_advantage():
    found = finding(claim=ApproxDP(1, "0.1"))
    assert found.allowed == pytest.approx((exp(1) - 1 + 0.2) / (exp(1) + 1))
    assert finding().allowed is None


def test_a_claim_is_refuted_by_a_bound_above_it():
    claim = ApproxDP(1, 0)
    below, above = (
        finding(attack=name, claim=claim, bound=bound) for name, bound in (("loss", 1.0), ("canaries", 1.1))
    )
    assert below.verdict is Verdict.NOTHING_FOUND
    assert above.verdict is Verdict.PRIVACY_VIOLATION
    assert report(below, above, claim=claim).is_refuted
    assert report(below, above, claim=claim).epsilon_lower_bound == 1.1
    assert not report(below, claim=claim).is_refuted
    assert finding(bound=3.0).verdict is Verdict.NOTHING_FOUND


def test_findings_have_names():
    found = report(finding(), finding(attack="one_sided"))
    assert found["one_sided"] is found.findings[1]
    with pytest.raises(ParameterError, match="loss"):
        found["inversion"]


def test_the_text_says_what_was_claimed_found_and_allowed():
    claim = ApproxDP(1, 0)
    words = str(report(finding(claim=claim, bound=0.2, notes=("so it was",)), claim=claim))
    for part in ("GaussianNB: ε 1, δ 0 was claimed", "65 models", "the claim allows 0.462", "ε ≥ 0.200", "so it was",
                 "7 of 9 guesses", "nothing found", CAVEAT):  # fmt: skip
        assert part in words
    assert "no guarantee was claimed" in str(report(finding()))
    assert "guesses" not in str(report(finding()))
    refuted = str(report(finding(claim=claim, bound=2), claim=claim))
    assert "privacy violation" in refuted
    assert CAVEAT not in refuted


@pytest.mark.parametrize("claim", [None, ApproxDP(1, "1e-6")])
def test_the_picture_has_a_curve_for_each_attack_and_the_limit(claim):
    figure = report(finding(claim=claim), finding(attack="one_sided", claim=claim), claim=claim).picture()
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == ["loss", "one sided", *([] if claim is None else ["ε = 1 allows"]), "blind guessing"]


@pytest.mark.parametrize("wrong", [-0.1, 1.5, "x"])
def test_rates_lie_between_zero_and_one(wrong):
    with pytest.raises(ParameterError):
        finding().rates_at(wrong)
    with pytest.raises(ParameterError, match="confidence"):
        finding().advantage_limits(confidence=wrong)
