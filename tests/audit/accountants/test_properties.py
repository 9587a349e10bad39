"""Each law is broken by an accountant that is wrong in the way it is there for, and kept by one that is right."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import exp, inf, log

import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from sfumato.audit.accountants.accountants import check_accountant
from sfumato.audit.accountants.properties import PROPERTIES, true_profile
from sfumato.audit.core.findings import Verdict
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

FEW = {"counts": (1, 3), "deltas": (0.01, 1e-5), "epsilons": (0.1, 1.0)}
COUNTED, ORDER, PROCESSED, MORE, NOISE, GROUP, SAMPLED, FALLING, CURVE, FINITE, TRUE = PROPERTIES


def broken(findings):
    return {finding.law for finding in findings if finding.verdict is Verdict.ACCOUNTING_BUG}


@dataclass(frozen=True)
class Sum:
    """The sum of ε and of δ: right for events that promise them, in whatever nesting; each bug is one wrong step."""

    spent: Fraction = Fraction(0)
    failing: Fraction = Fraction(0)
    bug: str = ""

    def compose(self, event, *, count=1):
        epsilon, delta = self._of(event)
        counted = 1 if self.bug == "forgets the count" else count
        if self.bug == "each event hides the last":
            return replace(self, spent=epsilon * counted, failing=delta * counted)
        return replace(self, spent=self.spent + epsilon * counted, failing=self.failing + delta * counted)

    def epsilon(self, delta=0):
        if self.bug == "ε grows with δ":
            return self.spent * (1 + Fraction(delta))
        spent = self.spent / 2 if self.bug == "halves ε" else self.spent
        if self.bug == "overflows" and spent > 1:
            return math.inf
        if self.bug == "not a number" and spent > 1:
            return math.nan
        return spent if delta >= self.failing or self.bug == "drops δ" else math.inf

    def delta(self, epsilon):
        failing = Fraction(0) if self.bug == "drops δ" else self.failing
        if self.bug == "δ falls too soon":
            return failing if epsilon >= self.spent / 2 else Fraction(1)
        if self.bug == "two curves":
            return Fraction(1)
        if self.bug == "more than all" and epsilon < self.spent:
            return Fraction(2)
        return failing if epsilon >= self.spent else Fraction(1)

    def _of(self, event: Event):
        match event:
            case PureEvent(epsilon):
                return epsilon, Fraction(0)
            case ApproxEvent(epsilon, delta):
                return epsilon, delta
            case LaplaceEvent(noise):
                return (noise if self.bug == "inverts the noise" else 1 / noise), Fraction(0)
            case SelfComposedEvent(inside, count):
                epsilon, delta = self._of(inside)
                return (epsilon, delta) if self.bug == "forgets a nested count" else (epsilon * count, delta * count)
            case ComposedEvent(inside):
                costs = [self._of(single) for single in inside]
                fee = Fraction(1, 10) if self.bug == "charges for nothing" else Fraction(0)
                return sum((c[0] for c in costs), fee), sum((c[1] for c in costs), Fraction(0))
            case PoissonSampledEvent(share, inside):
                epsilon, delta = self._of(inside)
                return (epsilon * 2 if self.bug == "samples the wrong way" and share < 1 else epsilon), delta
            case GroupEvent(inside, size) if isinstance(inside, PureEvent | LaplaceEvent):
                epsilon, delta = self._of(inside)
                return (epsilon / size if self.bug == "divides a group" else epsilon * size), delta
        raise UnsupportedEventError(event, "Sum")


@pytest.mark.parametrize(
    ("bug", "laws"),
    [
        ("", set()),
        ("forgets the count", {COUNTED, TRUE}),
        ("forgets a nested count", {COUNTED}),
        ("each event hides the last", {COUNTED, ORDER}),
        ("charges for nothing", {PROCESSED}),
        ("drops δ", {TRUE}),
        ("halves ε", {TRUE}),
        ("δ falls too soon", {TRUE}),
        ("inverts the noise", {NOISE}),
        ("divides a group", {GROUP}),
        ("samples the wrong way", {SAMPLED}),
        ("ε grows with δ", {FALLING}),
        ("two curves", {CURVE}),
        ("overflows", {FINITE}),
        ("not a number", {FINITE}),
        ("more than all", {FINITE}),
    ],
)
def test_a_wrong_accountant_breaks_the_law_that_is_there_for_it(bug, laws):
    found = broken(check_accountant(Sum(bug=bug), **FEW))
    assert laws <= found
    assert bool(found) == bool(laws)


def test_a_lost_count_shows_in_growth_only_if_other_counts_are_asked():
    class Seldom(Sum):
        def compose(self, event, *, count=1):
            return super().compose(event, count=1 if count == 7 else count)

    findings = check_accountant(Seldom(), events=(PureEvent("0.5"),), counts=(1, 3, 7), deltas=(1e-5,), epsilons=(1.0,))
    assert broken(findings) == {COUNTED, MORE, TRUE}


def test_a_counterexample_says_what_was_asked():
    findings = check_accountant(Sum(bug="halves ε"), name="half", **FEW)
    (finding,) = (finding for finding in findings if finding.law == TRUE)
    assert finding.accountant == "half"
    assert "ε = 0.25 at δ = 0.01 for 1 × PureEvent(epsilon=1/2), where δ is exactly 0.137688" in str(finding)


EPSILONS = (0.0, 0.3, 1.0, 2.5)


def profile(event, count=1):
    return true_profile(event, count, relation=REPLACE_ONE)


@pytest.mark.parametrize(
    ("event", "law", "shift"),
    [
        (GaussianEvent(2), norm(scale=2), 1),
        (LaplaceEvent(2), laplace(scale=2), 1),
        (GroupEvent(GaussianEvent(2), 3), norm(scale=2), 3),
        (GroupEvent(LaplaceEvent(2), 3), laplace(scale=2), 3),
    ],
    ids=["Gaussian", "Laplace", "Gaussian of three", "Laplace of three"],
)
def test_additive_noise_is_the_integral_of_the_definition(event, law, shift):
    for epsilon in EPSILONS:
        excess = lambda x, at=epsilon: max(law.pdf(x - shift) - exp(at) * law.pdf(x), 0)  # noqa: E731
        truth, _ = quad(excess, -60, 60, limit=500, points=[0, shift, shift / 2])
        assert profile(event)(epsilon) == pytest.approx(truth, abs=1e-7)


def composed(pair, count, epsilon):
    """max(P − e^ε·Q, 0) summed over every sequence of outcomes."""
    total = 0.0
    for outcomes in product(pair, repeat=count):
        p = q = 1.0
        for first, second in outcomes:
            p, q = p * first, q * second
        total += max(p - exp(epsilon) * q, 0)
    return total


def response(epsilon, delta=0.0):
    kept = exp(epsilon) / (1 + exp(epsilon)) * (1 - delta)
    return [(delta, 0.0), (kept, 1 - delta - kept), (1 - delta - kept, kept), (0.0, delta)]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize(
    ("event", "pair"),
    [
        (PureEvent("0.7"), response(0.7)),
        (ApproxEvent("0.7", "0.05"), response(0.7, 0.05)),
        (RandomizedResponseEvent("0.5", 2), [(0.75, 0.25), (0.25, 0.75)]),
        (DiscreteLaplaceEvent(2, 1), response(0.5)),
    ],
    ids=str,
)
def test_optimal_composition_is_the_sum_over_every_outcome(event, pair, count):
    for epsilon in EPSILONS:
        assert profile(event, count)(epsilon) == pytest.approx(composed(pair, count, epsilon), abs=1e-12)


def test_figures_of_the_literature():
    assert profile(PureEvent("0.1"), 100)(4.7746) == pytest.approx(1e-6, rel=1e-3)
    assert profile(RandomizedResponseEvent("0.5", 2), 100)(94.298) == pytest.approx(1e-6, rel=2e-2)
    assert profile(GaussianEvent(10), 100)(4.886554) == pytest.approx(1e-6, rel=1e-4)
    assert profile(LaplaceEvent(1))(1 + 2 * log(1 - 1e-3)) == pytest.approx(1e-3)


def test_without_a_closed_form_there_is_none():
    assert profile(ZCDPEvent(1)) is None
    assert profile(LaplaceEvent(1), 2) is None
    assert profile(DiscreteLaplaceEvent(2, Fraction(3, 2))) is None
    assert profile(RandomizedResponseEvent(1, 2)) is None
    assert true_profile(RandomizedResponseEvent("0.5", 2), 1, relation=ADD_OR_REMOVE_ONE) is None


def test_a_huge_epsilon_has_a_delta_of_zero():
    for event in (GaussianEvent(1), PureEvent(1), LaplaceEvent(1)):
        assert profile(event)(1000.0) == pytest.approx(0.0, abs=1e-12)
        assert profile(event)(inf if not isinstance(event, GaussianEvent) else 600.0) <= 1e-12
