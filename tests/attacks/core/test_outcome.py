from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.core.outcome import Outcome, curve, largest_advantage, largest_success
from sfumato.errors import ParameterError


def outcome(successes, *, trials=100, **facts):
    return Outcome(attack="differencing", successes=successes, trials=trials, **{"baseline": 0.5, **facts})


def test_success_lies_within_its_limits_and_more_confidence_needs_wider_ones():
    found = outcome(30)
    low, high = found.interval()
    lower, higher = found.interval(confidence=0.999)
    assert lower < low < found.success == 0.3 < high < higher


def test_all_that_is_known_is_said():
    text = str(outcome(30, allowed=0.731, notes=("2 questions were refused",)))
    assert "30 of 100" in text
    assert "allows 73.1%" in text
    assert text.endswith("\n  2 questions were refused")


@pytest.mark.parametrize("facts", [{"successes": 3, "trials": 2}, {"successes": 0, "trials": 0}, {"successes": -1}])
def test_impossible_counts_are_refused(facts):
    with pytest.raises(ParameterError, match="successes"):
        Outcome(**{"attack": "x", "trials": 1, "baseline": 0.5, **facts})


def test_a_baseline_is_a_probability():
    with pytest.raises(ParameterError, match="baseline"):
        outcome(1, baseline=1.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [("successes", 1.5), ("trials", None), ("trials", 10**16), ("baseline", "abc"), ("allowed", 73.1), ("notes", [1])],
)
def test_what_is_no_such_number_or_text_is_refused_by_its_name(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        Outcome(**{"attack": "x", "successes": 0, "trials": 1, "baseline": 0.5, name: value})


@pytest.mark.parametrize("outcomes", [None, [outcome(1)], {"abc": outcome(1)}, {float("inf"): outcome(1)}, {1: 0.5}])
def test_a_curve_is_of_outcomes_by_finite_numbers(outcomes):
    with pytest.raises(ParameterError, match=r"^outcomes = "):
        curve(outcomes)


@pytest.mark.parametrize("confidence", [0, 1])
def test_nothing_is_certain(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        outcome(1).interval(confidence=confidence)


def test_a_curve_shows_success_over_its_places_in_order():
    (axes,) = curve({10.0: outcome(90, allowed=1.0), 1.0: outcome(50, allowed=0.73)}).axes
    measured, allowed, guessing = (axes.get_lines()[i] for i in (0, -2, -1))
    assert measured.get_xdata().tolist() == [1, 10]
    assert measured.get_ydata().tolist() == [0.5, 0.9]
    assert allowed.get_ydata() == pytest.approx([0.73, 1])
    assert guessing.get_ydata() == pytest.approx([0.5, 0.5])
    assert axes.get_title(loc="left") == "differencing: 90% right at total ε = 10, blind guessing 50%"


def test_without_a_guarantee_none_is_drawn():
    (axes,) = curve({1.0: outcome(50), 2.0: outcome(60, allowed=0.9)}).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["blind guessing", "measured, with interval"]


def test_there_is_no_curve_of_nothing():
    with pytest.raises(ParameterError, match="outcomes"):
        curve({})


EPSILONS = st.floats(0, 20)
DELTAS = st.floats(0, 1)
PRIORS = st.floats(0, 1)


def worst(epsilon, delta):
    """Outcome probabilities of the two neighbors under the leakiest (ε, δ) mechanism [KOV15]."""
    q = (1 - delta) / (1 + exp(epsilon))
    return (delta, exp(epsilon) * q, q, 0.0), (0.0, q, exp(epsilon) * q, delta)


@given(EPSILONS, DELTAS)
def test_no_set_of_outputs_tells_more_and_one_tells_as_much(epsilon, delta):
    here, there = worst(epsilon, delta)
    best = sum(max(p - q, 0) for p, q in zip(here, there, strict=True))
    assert largest_advantage(epsilon=epsilon, delta=delta) == pytest.approx(best, abs=1e-12)


@given(EPSILONS, DELTAS, PRIORS)
def test_the_best_guess_is_right_as_often_as_it_says(epsilon, delta, prior):
    here, there = worst(epsilon, delta)
    best = sum(max(prior * p, (1 - prior) * q) for p, q in zip(here, there, strict=True))
    assert largest_success(epsilon=epsilon, delta=delta, prior=prior) == pytest.approx(best, abs=1e-9)


def test_nothing_is_learned_at_zero_and_all_of_it_without_a_promise():
    assert largest_advantage(epsilon=0) == 0
    assert largest_success(epsilon=0) == 0.5
    assert largest_advantage(epsilon=1000) == 1
    assert largest_success(epsilon=1000) == 1
    assert largest_success(epsilon=0, delta=1) == 1


@pytest.mark.parametrize("arguments", [{"epsilon": -1}, {"epsilon": 1, "delta": 2}, {"epsilon": 1, "prior": 1.5}])
def test_what_is_no_guarantee_is_refused(arguments):
    with pytest.raises(ParameterError, match=list(arguments)[-1]):
        largest_success(**arguments)
