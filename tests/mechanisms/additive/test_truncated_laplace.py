"""Laplace noise of bounded support: the whole law of the real release, and the smallest bound that δ allows."""

from fractions import Fraction
from functools import partial
from math import exp, nan

import numpy as np
import pytest
from tests.laws import SAMPLES
from tests.mechanisms.exhaustive import neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import truncated_laplace as module
from sfumato.mechanisms.additive.truncated_laplace import TruncatedLaplace
from sfumato.noise.laws.discrete_laplace import truncated_laplace
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

LOWER, UPPER = -1, 3
BUDGETS = [(Fraction(1), Fraction(1, 100)), (Fraction(1, 3), Fraction(1, 5)), (Fraction(3), Fraction(1, 10**6))]


def clamped_sum(rows):
    return sum(max(LOWER, min(UPPER, row)) for row in rows)


def law(release):
    """The probability of each answer of the real code, given every noise that there is."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "truncated_laplace", lambda *args: asked.append(args) or np.zeros(1, dtype=np.int64))
        release()
        scale, bound, _ = asked[0]
        masses = {}
        for noise in range(-bound, bound + 1):
            patch.setattr(module, "truncated_laplace", lambda *_, noise=noise: np.array([noise]))
            masses[release()] = exp(-abs(noise) / scale)
    total = sum(masses.values())
    return {answer: mass / total for answer, mass in masses.items()}


def divergence(mechanism, query, pairs, epsilon):
    """The largest δ over all pairs: what one side has beyond e^ε times the other."""
    laws = {rows: law(partial(mechanism.release, query(rows))) for pair in pairs for rows in pair}
    factor = exp(epsilon)
    return max(sum(max(0.0, p - factor * laws[b].get(z, 0.0)) for z, p in laws[a].items()) for a, b in pairs)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize(
    ("query", "relation", "sensitivity"),
    [(len, ADD_OR_REMOVE_ONE, 1), (clamped_sum, ADD_OR_REMOVE_ONE, 3), (clamped_sum, REPLACE_ONE, 4)],
    ids=["count", "sum, add or remove", "sum, replace"],
)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon_and_delta(
    query, relation, sensitivity, epsilon, delta
):
    mechanism = TruncatedLaplace(linf_sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    pairs = neighbours([-5, -1, 0, 2, 9], relation, sizes=range(2))
    assert divergence(mechanism, query, pairs, epsilon + Fraction(1, 10**12)) <= delta * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_one_less_would_be_too_small(epsilon, delta, sensitivity):
    mechanism = TruncatedLaplace(linf_sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    lost = {}
    for bound in (mechanism.bound - 1, mechanism.bound):
        masses = [exp(-abs(k) / float(mechanism.scale)) for k in range(-bound, bound + 1)]
        lost[bound] = sum(masses[-sensitivity:]) / sum(masses)
    assert lost[mechanism.bound] <= delta
    assert lost[mechanism.bound - 1] > delta or mechanism.bound == sensitivity


@pytest.mark.parametrize("resolution", [Fraction(1, 2), Fraction(2, 3), Fraction(2)])
def test_rounding_real_values_stays_within_epsilon_and_delta(resolution):
    mechanism = TruncatedLaplace(linf_sensitivity=2, epsilon=1, delta="0.01", resolution=resolution)
    pairs = neighbours([Fraction(-2), 0.25, Fraction(3, 4), 1.5, 2], ADD_OR_REMOVE_ONE, sizes=range(2))
    assert divergence(mechanism, sum, pairs, 1 + 1e-12) <= 0.01 + 1e-12


def test_half_the_noise_would_be_caught():
    mechanism = TruncatedLaplace(linf_sensitivity=Fraction(3, 2), epsilon=1, delta="0.01")  # the sum moves by 3
    assert divergence(mechanism, clamped_sum, neighbours([-1, 3], ADD_OR_REMOVE_ONE, sizes=range(2)), 1) > 0.01


def test_the_budget_is_shared_by_the_numbers_that_move(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "truncated_laplace", lambda *args: asked.append(args) or np.arange(args[-1]))
    mechanism = TruncatedLaplace(linf_sensitivity=5, epsilon=3, delta="0.02", l0_sensitivity=2)
    assert mechanism.release([10, 20, 30]).tolist() == [10, 21, 32]
    one = TruncatedLaplace(linf_sensitivity=5, epsilon="1.5", delta="0.01")
    assert asked == [(Fraction(10, 3), one.bound, 3)]
    assert mechanism.event == ApproxEvent(Fraction(3), Fraction(1, 50))


def test_no_answer_is_further_off_than_the_bound():
    mechanism = TruncatedLaplace(linf_sensitivity=1, epsilon="0.5", delta="1e-3", l0_sensitivity=1)
    errors = abs(mechanism.release(np.full(SAMPLES, 100)) - 100)
    assert errors.max() <= mechanism.bound
    assert mechanism.accuracy("0.999999999") == mechanism.bound


@pytest.mark.statistical
def test_releases_are_as_accurate_and_vary_as_much_as_is_said():
    mechanism = TruncatedLaplace(linf_sensitivity=10, epsilon=1, delta="0.02", l0_sensitivity=1, resolution=1)
    noise = truncated_laplace(mechanism.scale, mechanism.bound, SAMPLES)
    assert noise.var() == pytest.approx(mechanism.variance, rel=0.05)  # more than 5 standard errors
    assert mechanism.stddev == mechanism.variance**0.5
    assert (abs(noise) <= mechanism.accuracy(0.9)).mean() > 0.9 - 4.9 * (0.09 / SAMPLES) ** 0.5


@pytest.mark.parametrize(
    ("scale", "bound"), [(Fraction(3), 5), (Fraction(1, 3), 1), (Fraction(2**40), 3), (Fraction(10), 400)]
)
def test_the_variance_is_the_sum(scale, bound):
    masses = {k: exp(-abs(k) / float(scale)) for k in range(-bound, bound + 1)}
    expected = sum(k * k * mass for k, mass in masses.items()) / sum(masses.values())
    assert module._variance(scale, bound) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sensitivity", [0, "0.5"])
def test_what_nobody_moves_is_released_exactly(sensitivity):
    mechanism = TruncatedLaplace(linf_sensitivity=sensitivity, epsilon=1, delta="1e-6", l0_sensitivity=1)
    assert (mechanism.release(10**30), mechanism.release([4, 5]).tolist()) == (10**30, [4, 5])
    assert (mechanism.accuracy(), mechanism.variance, mechanism.bound) == (0, 0, 0)
    assert mechanism.event == PureEvent(Fraction(0))


def test_a_vector_needs_to_know_how_many_of_its_numbers_move():
    with pytest.raises(ParameterError, match="l0_sensitivity"):
        TruncatedLaplace(linf_sensitivity=1, epsilon=1, delta="1e-6").release([1, 2])


@pytest.mark.parametrize(
    "wrong",
    [
        {"linf_sensitivity": -1},
        {"epsilon": 0},
        {"delta": 0},
        {"delta": 1},
        {"epsilon": nan},
        {"l0_sensitivity": 0},
        {"resolution": 0},
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TruncatedLaplace(**({"linf_sensitivity": 1, "epsilon": 1, "delta": "1e-6"} | wrong))


def test_a_support_that_is_too_large_is_refused():
    with pytest.raises(ParameterError, match="larger than 2\\^60"):
        TruncatedLaplace(linf_sensitivity=2**50, epsilon=1, delta=Fraction(1, 10**1000))


@pytest.mark.parametrize("exact", [Secret(42), np.int64(42), 42])
def test_a_number_gives_an_int(exact):
    answer = TruncatedLaplace(linf_sensitivity=1, epsilon=1, delta="1e-6").release(exact)
    assert type(answer) is int
    assert abs(answer - 42) <= 14
