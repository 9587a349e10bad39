import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.numeric.divergences import (
    hockey_stick_divergence,
    kl_divergence,
    max_divergence,
    renyi_divergence,
)

P = ("1/2", "1/3", "1/6")
Q = ("1/4", "1/4", "1/2")
ESCAPES = ("1/2", "1/2", 0), (0, "1/2", "1/2")
WEIGHTS = st.lists(st.integers(1, 100), min_size=4, max_size=4)
EVERY_DIVERGENCE = (
    kl_divergence,
    max_divergence,
    lambda p, q: renyi_divergence(p, q, order=2),
    lambda p, q: renyi_divergence(p, q, order=0.5),
    lambda p, q: hockey_stick_divergence(p, q, epsilon="0.1"),
)


def normalized(weights: list[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


def test_worked_values():
    assert kl_divergence(P, Q) == pytest.approx(0.5 * math.log(2) + math.log(4 / 3) / 3 + math.log(1 / 3) / 6)
    assert float(max_divergence(P, Q)) == pytest.approx(math.log(2))
    assert renyi_divergence(P, Q, order=2) == pytest.approx(math.log(1 + 4 / 9 + 1 / 18))
    assert renyi_divergence(P, Q, order=0.5) == pytest.approx(-2 * math.log(8**-0.5 + 12**-0.5 + 12**-0.5))
    assert hockey_stick_divergence(P, Q, epsilon=0) == Fraction(1, 3)


@pytest.mark.parametrize("divergence", EVERY_DIVERGENCE)
def test_a_distribution_does_not_diverge_from_itself(divergence):
    assert divergence(P, P) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("divergence", EVERY_DIVERGENCE)
@given(WEIGHTS, WEIGHTS)
def test_merging_outcomes_never_adds_divergence(divergence, p, q):
    p, q = normalized(p), normalized(q)
    merged = divergence([p[0] + p[1], *p[2:]], [q[0] + q[1], *q[2:]])
    assert merged <= divergence(p, q) + Fraction(1, 10**12)


@given(WEIGHTS, WEIGHTS)
def test_renyi_tends_to_kullback_leibler_at_order_one(p, q):
    p, q = normalized(p), normalized(q)
    limit = kl_divergence(p, q)
    assert renyi_divergence(p, q, order=1) == limit
    for order in (1 - 1e-9, 1 + 1e-9):
        assert renyi_divergence(p, q, order=order) == pytest.approx(limit, abs=1e-7)


@given(WEIGHTS, WEIGHTS)
def test_renyi_tends_to_the_max_divergence_at_order_infinity(p, q):
    p, q = normalized(p), normalized(q)
    limit = float(max_divergence(p, q))
    assert renyi_divergence(p, q, order=math.inf) == limit
    assert renyi_divergence(p, q, order=1e6) == pytest.approx(limit, abs=1e-4)


@given(WEIGHTS, WEIGHTS, st.tuples(st.floats(0.1, 50), st.floats(0.1, 50)))
def test_renyi_grows_with_the_order(p, q, orders):
    p, q = normalized(p), normalized(q)
    low, high = sorted(orders)
    assert renyi_divergence(p, q, order=low) <= renyi_divergence(p, q, order=high) + 1e-12


def test_an_outcome_that_only_p_has_is_infinitely_telling():
    assert kl_divergence(*ESCAPES) == max_divergence(*ESCAPES) == renyi_divergence(*ESCAPES, order=2) == math.inf
    assert renyi_divergence(*ESCAPES, order=0.5) == pytest.approx(2 * math.log(2))
    assert hockey_stick_divergence(*ESCAPES, epsilon=100) == Fraction(1, 2)


def test_disjoint_distributions_diverge_infinitely_at_every_order():
    assert renyi_divergence((1, 0), (0, 1), order=0.5) == math.inf


def test_the_hockey_stick_is_rounded_up():
    truth = Fraction(1, 2) - Fraction(math.log(2)) * 0
    bound = hockey_stick_divergence(("3/4", "1/4"), ("1/4", "3/4"), epsilon=Fraction(math.log(2)))
    assert truth - Fraction(1, 4) <= bound <= truth - Fraction(1, 4) + Fraction(1, 10**12)


def test_floats_that_nearly_sum_to_one_are_accepted():
    assert kl_divergence([0.1] * 10, [1 / 10] * 10) == 0
    assert kl_divergence([1 / 3] * 3, [1 / 3] * 3) == 0


@pytest.mark.parametrize(
    ("p", "q"), [(("1/2", "1/2"), (1,)), ((1, 1), (1, 0)), (("3/2", "-1/2"), (1, 0)), ((), ()), (("0.5", 0.4), (1, 0))]
)
def test_what_is_no_pair_of_distributions_is_refused(p, q):
    with pytest.raises(ParameterError):
        kl_divergence(p, q)


@pytest.mark.parametrize("order", [0, -1, math.nan])
def test_an_order_that_is_not_positive_is_refused(order):
    with pytest.raises(ParameterError, match="order"):
        renyi_divergence(P, Q, order=order)
