import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.finite import privacy_losses, smallest_delta, smallest_epsilon
from sfumato.errors import ParameterError
from sfumato.numeric.divergences import max_divergence

TRUTH, LIE = ("3/4", "1/4"), ("1/4", "3/4")
LEAKY = ("0.01", "0.99", 0), (0, "0.99", "0.01")
WEIGHTS = st.lists(st.integers(0, 30), min_size=4, max_size=4).filter(any)
DELTAS = st.fractions(0, 1, max_denominator=100)


def normalized(weights: list[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


def test_randomized_response_has_epsilon_ln_3():
    epsilon = smallest_epsilon(TRUTH, LIE)
    assert 0 <= float(epsilon) - math.log(3) < 1e-13


def test_both_directions_count():
    p, q = ("1/2", "1/2"), ("1/5", "4/5")
    assert smallest_epsilon(p, q) == smallest_epsilon(q, p) == max_divergence(p, q) > max_divergence(q, p)
    p, q = ("1/2", "1/2", 0), ("1/4", "3/8", "3/8")
    assert smallest_delta(p, q, epsilon=1) == smallest_delta(q, p, epsilon=1) == Fraction(3, 8)


def test_total_variation_is_exact():
    assert smallest_delta(TRUTH, LIE, epsilon=0) == Fraction(1, 2)


def test_equal_outputs_cost_nothing():
    assert smallest_epsilon(TRUTH, TRUTH) == 0
    assert smallest_delta(TRUTH, TRUTH, epsilon=0) == 0


def test_an_output_that_names_the_database_needs_delta():
    assert smallest_epsilon(*LEAKY) == math.inf
    assert smallest_epsilon(*LEAKY, delta="0.0099") == math.inf
    assert smallest_epsilon(*LEAKY, delta="0.01") == 0
    assert smallest_delta(*LEAKY, epsilon=50) == Fraction(1, 100)


def test_disjoint_outputs_reveal_everything():
    assert smallest_epsilon((1, 0), (0, 1), delta="0.99") == math.inf
    assert smallest_epsilon((1, 0), (0, 1), delta=1) == 0


@given(WEIGHTS, WEIGHTS, DELTAS)
def test_epsilon_and_delta_are_inverse(p, q, delta):
    p, q = normalized(p), normalized(q)
    epsilon = smallest_epsilon(p, q, delta=delta)
    if epsilon == math.inf:
        assert smallest_delta(p, q, epsilon=600) > delta
    else:
        assert smallest_delta(p, q, epsilon=epsilon) <= delta + Fraction(1, 10**12)
        if epsilon > 0:
            assert smallest_delta(p, q, epsilon=epsilon * Fraction(999, 1000)) > delta


@given(WEIGHTS, WEIGHTS, st.fractions(0, 3, max_denominator=50))
def test_delta_is_the_worst_event_found_by_trying_all(p, q, epsilon):
    p, q = normalized(p), normalized(q)
    subsets = [[index for index in range(4) if mask >> index & 1] for mask in range(16)]
    weight = math.exp(epsilon)
    worst = max(sum(a[i] for i in s) - weight * sum(b[i] for i in s) for s in subsets for a, b in ((p, q), (q, p)))
    assert float(smallest_delta(p, q, epsilon=epsilon)) == pytest.approx(float(worst), abs=1e-12)


@given(WEIGHTS, WEIGHTS, st.floats(0, 3))
def test_delta_is_an_expectation_over_the_privacy_loss(p, q, epsilon):
    p, q = normalized(p), normalized(q)
    losses, reversed_losses = privacy_losses(p, q), privacy_losses(q, p)
    expectations = [
        math.fsum(max(1 - math.exp(epsilon - loss), 0) * float(mass) for loss, mass in each)
        for each in (losses, reversed_losses)
    ]
    delta = float(smallest_delta(p, q, epsilon=epsilon))
    assert delta == pytest.approx(max(expectations), abs=1e-12)
    tails = [sum(mass for loss, mass in each if loss > epsilon) for each in (losses, reversed_losses)]
    assert delta <= max(tails) + Fraction(1, 10**12)


def test_a_bounded_tail_of_the_loss_suffices_but_is_not_necessary():
    tail = sum(mass for loss, mass in privacy_losses(TRUTH, LIE) if loss > 1)
    assert tail == Fraction(3, 4)
    assert smallest_delta(TRUTH, LIE, epsilon=1) < Fraction(1, 10)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("delta", lambda: smallest_epsilon(TRUTH, LIE, delta="1.1")),
        ("epsilon", lambda: smallest_delta(TRUTH, LIE, epsilon=-1)),
        ("q", lambda: smallest_delta(TRUTH, (1,), epsilon=1)),
    ],
)
def test_parameters_are_checked_by_name(name, call):
    with pytest.raises(ParameterError, match=name):
        call()
