"""What a guarantee allows, against the mechanism that leaks all that it may."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.core.limits import largest_advantage, largest_success
from sfumato.errors import ParameterError

EPSILONS = st.floats(0, 20)
DELTAS = st.floats(0, 1)
PRIORS = st.floats(0, 1)


def worst(epsilon, delta):
    """Outcome probabilities of the two neighbours under the leakiest (ε, δ) mechanism [KOV15]."""
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
