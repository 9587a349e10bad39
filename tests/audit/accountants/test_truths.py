"""The closed forms against definitions: integrals, and sums over every outcome of a composition."""

from fractions import Fraction
from itertools import product
from math import exp, inf, log

import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from sfumato.audit.accountants.truths import true_profile
from sfumato.privacy.events import (
    ApproxEvent,
    DiscreteLaplaceEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    PureEvent,
    RandomizedResponseEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

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
