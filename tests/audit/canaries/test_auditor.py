"""Whole audits of one run: the published table is reproduced, right mechanisms pass, and wrong ones are caught."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.sizes import FULL_SIZE

from sfumato.accounting.gaussian.gaussian import analytic_stddev, gaussian_epsilon_up
from sfumato.audit.canaries import auditor
from sfumato.audit.canaries.auditor import audit_in_one_run, audit_scores, epsilon_of_mu
from sfumato.audit.canaries.guesses import Scored, exact_p_value
from sfumato.audit.core.findings import Verdict
from sfumato.errors import ParameterError
from sfumato.mechanisms import RandomizedResponse

RNG = np.random.default_rng(2305)
DELTA = "1/100000"


def mu_of(epsilon):
    return 1 / float(analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=DELTA))


def gaussian_run(true_epsilon, canaries, *, claimed, significance=0.05):
    included = RNG.random(canaries) < 0.5
    scores = RNG.normal(size=canaries) + mu_of(true_epsilon) * included
    return audit_scores(scores, included, epsilon=claimed, delta=DELTA, significance=significance)


TABLE = {
    # true ε: canaries, claimed, published bound, curve, rates, Gaussian rates; at 95%
    "1": (10_000, 1, 0.26, 0.38, 0.28, 0.73),
    "2.15": (10_000, 1, 0.57, 0.94, 0.80, 1.88),
    "4.75": (1_000, 1, 1.32, 1.78, 1.14, 3.38),
    "9.08": (1_000, 4, 2.46, 3.53, 2.27, 7.55),
    "21.96": (10_000, 4, 3.35, 8.68, 6.14, 21.12),
}


@cache
def runs_of(true_epsilon):
    """Bounds of some audits of a row, by auditor, and the verdicts of the first."""
    canaries, claimed, *_ = TABLE[true_epsilon]
    reports = [gaussian_run(true_epsilon, canaries, claimed=claimed) for _ in range(10 if FULL_SIZE else 2)]
    findings = [(*r.assumption_free, *r.assumes_independence, *r.assumes_gaussian) for r in reports]
    bounds = {f.auditor: [row[at].epsilon_lower_bound for row in findings] for at, f in enumerate(findings[0])}
    return {auditor: np.array(found) for auditor, found in bounds.items()}, reports


@pytest.mark.statistical
@pytest.mark.parametrize("true_epsilon", TABLE)
def test_the_table_of_one_run_auditors_is_reproduced(true_epsilon):
    """Single draws there, two here: each within five standard deviations, or above.

    Tables of guesses differ in how many guesses they try; more than the table's is what a better choice gives.
    """
    bounds, _ = runs_of(true_epsilon)
    canaries, _, published, curve, rates, gaussian_rates = TABLE[true_epsilon]
    few = canaries == 1_000
    assert bounds["guesses, as published"].mean() >= published * 0.8 - 0.15
    assert bounds["guesses against a Gaussian curve"].mean() == pytest.approx(curve, abs=1.1 if few else 0.7)
    assert bounds["rates, Clopper-Pearson"].mean() == pytest.approx(rates, abs=1.1 if few else 0.7)
    assert bounds["rates, Gaussian"].mean() == pytest.approx(gaussian_rates, abs=3 if few else 0.7, rel=0.07)


@pytest.mark.statistical
@pytest.mark.parametrize("true_epsilon", TABLE)
def test_bounds_get_sharper_with_what_is_assumed_and_stay_below_the_truth(true_epsilon):
    bounds, reports = runs_of(true_epsilon)
    assert (bounds["guesses, as published"] <= bounds["guesses, exact"]).all()
    assert bounds["guesses, exact"].mean() < bounds["separation of scores"].mean()
    strict = gaussian_run(true_epsilon, TABLE[true_epsilon][0], claimed=1, significance=1e-6)
    found = (*strict.assumption_free, *strict.assumes_independence, *strict.assumes_gaussian)
    assert all(finding.epsilon_lower_bound <= float(true_epsilon) for finding in found), "type-I error 6e-6"
    assert all(report.assumes_gaussian[2].epsilon_lower_bound > 0.5 * float(true_epsilon) for report in reports)


@pytest.mark.statistical
def test_four_times_too_little_noise_is_caught_by_a_thousand_canaries_without_assumptions():
    """σ/4 has ε = 4.75 where 1 was claimed; missed about once in 500 audits, all of three once in 10^8."""
    assert any(gaussian_run("4.75", 1000, claimed=1).is_refuted for _ in range(3))


@pytest.mark.statistical
def test_half_the_noise_is_seen_best_by_who_assumes_that_it_is_gaussian():
    """σ/2 at ε = 1 with 10,000 canaries, at a level of 1e-6: ε ≥ 1.7 if it is Gaussian, and about 0.8 if not."""
    report = gaussian_run("2.15", 10_000, claimed=1, significance=1e-6)
    assert report.verdict_assuming(gaussian=True) is Verdict.PRIVACY_VIOLATION
    assert report.assumes_gaussian[2].epsilon_lower_bound > report.assumption_free[0].epsilon_lower_bound


def refutes(scores, included, *, epsilon, delta, significance):
    """Whether the exact test refutes a claim: the verdict of an audit, without the search for bounds."""
    tries = Scored(scores=scores, included=included).tries()
    claim = {"epsilon": Fraction(epsilon), "delta": Fraction(delta)}
    return min(exact_p_value(guesses, **claim) for guesses in tries) <= significance / len(tries)


@pytest.mark.statistical
@pytest.mark.parametrize("true_epsilon", ["1", "4.75"])
def test_that_is_the_verdict_of_the_audit(true_epsilon):
    verdicts = set()
    for _ in range(8):
        included = RNG.random(500) < 0.5
        scores = RNG.normal(size=500) + mu_of(true_epsilon) * included
        report = audit_scores(scores, included, epsilon=1, delta=DELTA)
        assert report.is_refuted == refutes(scores, included, epsilon=1, delta=DELTA, significance=0.05)
        verdicts.add(report.verdict)
    assert true_epsilon == "4.75" or verdicts == {Verdict.NOTHING_FOUND}, "type-I error below 1e-6: ε = 1 is true"


def test_each_try_has_its_share_of_the_level():
    """Two thirds of 60 guesses of one kind alone: below the level, above its share."""
    seen = Scored(scores=np.arange(64.0), included=[False] * 21 + [True] * 11 + [False] * 11 + [True] * 21)
    tries = seen.tries()
    alone = min(exact_p_value(guesses, epsilon=Fraction(1, 100)) for guesses in tries)
    for level, refuted in ((alone * 1.01, False), (alone * len(tries) * 1.01, True)):
        report = audit_scores(seen.scores, seen.included, epsilon="0.01", significance=level)
        assert report.is_refuted == refuted


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_randomized_response_at_its_very_epsilon_is_refuted_no_more_often_than_said(epsilon):
    """The worst case of all: 400 audits at a level of 0.2, at most 120 refuted once in 10^6."""
    truth = 1 / (1 + np.exp(-float(epsilon)))
    refuted = 0
    for _ in range(400):
        included = RNG.random(100) < 0.5
        scores = np.where(RNG.random(100) < truth, included, ~included) + RNG.random(100) / 2
        refuted += refutes(scores, included, epsilon=epsilon, delta=0, significance=0.2)
    assert refuted <= 120, "type-I error 1e-6"


@pytest.mark.statistical
def test_gaussian_noise_at_its_very_epsilon_is_refuted_no_more_often_than_said():
    """400 audits without assumptions; 40, or 400, with all that others assume."""
    free = 0
    for _ in range(400):
        included = RNG.random(200) < 0.5
        scores = RNG.normal(size=200) + mu_of("2") * included
        free += refutes(scores, included, epsilon=2, delta=DELTA, significance=0.2)
    assert free <= 120, "type-I error 1e-6"
    reports = [gaussian_run("2", 200, claimed=2, significance=0.1) for _ in range(400 if FULL_SIZE else 40)]
    most = 71 if FULL_SIZE else 15  # of 400, or of 40, at 0.1
    groups = [
        [finding.verdict is Verdict.PRIVACY_VIOLATION for finding in auditors]
        for auditors in zip(*((*r.assumes_independence, *r.assumes_gaussian) for r in reports), strict=True)
    ]
    assert [sum(group) for group in groups if sum(group) > most] == [], "type-I error 1e-6 each"


@pytest.mark.statistical
def test_canaries_that_all_follow_one_coin_do_not_fool_who_assumes_nothing():
    """The first coin shows in every score and needs δ = 1, no other coin shows: what counts is the sum, m·δ = 1."""
    refuted = 0
    for _ in range(200):
        included = RNG.random(400) < 0.5
        shift = included[0] ^ (np.arange(400) >= 200)
        scores = shift * 0.5 + RNG.laplace(scale=1, size=400)
        refuted += refutes(scores, included, epsilon=1, delta="1/400", significance=0.2)
    assert refuted <= 69, "type-I error 1e-6 at 200 audits of level 0.2"


@pytest.mark.statistical
def test_randomized_response_of_the_package_passes_and_what_forgets_to_toss_does_not():
    tosses = RandomizedResponse()

    def train(included):
        return [float(answer) for answer in tosses.release([name in set(included) for name in range(500)])]

    assert not audit_in_one_run(train, range(500), epsilon=tosses.epsilon, significance=1e-6).is_refuted
    assert audit_in_one_run(
        lambda included: [float(name in set(included)) for name in range(500)],
        range(500),
        epsilon=tosses.epsilon,
        significance=1e-6,
    ).is_refuted


def test_training_sees_the_included_canaries_alone_and_once():
    calls = []

    def train(included):
        calls.append(list(included))
        return [float(name in included) for name in "abcdefghijklmnopqrstuvwxyz" * 4]

    report = audit_in_one_run(train, "abcdefghijklmnopqrstuvwxyz" * 4, epsilon=1)
    assert len(calls) == 1
    assert 20 < len(calls[0]) < 84
    assert report.canaries == 104


def test_every_canary_has_a_coin_of_its_own_in_each_run(monkeypatch):
    """Counts of 60 runs for each of 50 canaries: one below 9 or above 51 once in 10^6."""
    runs = []
    monkeypatch.setattr(auditor, "audit_scores", lambda *_, **__: None)
    for _ in range(60):
        audit_in_one_run(lambda included: runs.append(included) or [0.0] * 50, range(50), epsilon=1)
    counts = np.bincount(np.concatenate(runs), minlength=50)
    assert counts.min() >= 9
    assert counts.max() <= 51
    assert len({tuple(run) for run in runs}) == 60


def test_without_a_delta_nobody_assumes_gaussian_noise():
    report = audit_scores(np.arange(50.0), np.arange(50) >= 25, epsilon=1)
    assert report.assumes_gaussian == ()
    assert report.is_refuted


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.7])
def test_the_epsilon_of_a_mu_is_the_accountants_rounded_down(mu):
    above = float(gaussian_epsilon_up(noise_multiplier=1 / Fraction(mu), delta=DELTA))
    assert epsilon_of_mu(mu, delta=Fraction(DELTA)) == pytest.approx(above, rel=1e-6)
    assert epsilon_of_mu(mu, delta=Fraction(DELTA)) <= above


@pytest.mark.parametrize("mu", [0.0, -1.0, -np.inf])
def test_no_mu_has_no_epsilon(mu):
    assert epsilon_of_mu(mu, delta=Fraction(DELTA)) == 0


@pytest.mark.parametrize("significance", [0, 1, 2])
def test_a_level_is_between_zero_and_one(significance):
    with pytest.raises(ParameterError, match="significance"):
        audit_scores([1.0, 2.0], [True, False], epsilon=1, significance=significance)


def test_a_score_for_each_canary_is_wanted():
    with pytest.raises(ParameterError, match="one for each"):
        audit_in_one_run(lambda included: included, range(20), epsilon=1)


@pytest.mark.parametrize("scores", [None, 3, ["high", "low"], [[1], [2]]], ids=str)
def test_what_is_no_list_of_scores_is_refused_by_the_name_of_who_gave_it(scores):
    with pytest.raises(ParameterError, match=r"^what train gives = "):
        audit_in_one_run(lambda _: scores, range(2), epsilon=1)


@pytest.mark.parametrize("included", [["yes", "no"], [0.5, 1], [None, True], True], ids=str)
def test_coins_fell_on_one_side_or_the_other(included):
    with pytest.raises(ParameterError, match=r"^included = "):
        audit_scores([1, 2], included, epsilon=1)
