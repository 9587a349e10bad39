"""The composition of finite pairs by its definition, in rationals."""

from fractions import Fraction
from itertools import product
from math import prod

from hypothesis import strategies as st


def exact_delta(pairs, exponential_of_epsilon):
    """Σ over all sequences of outcomes of max(0, p − e^ε q)."""
    return sum(
        max(Fraction(0), prod(p for p, _ in outcomes) - exponential_of_epsilon * prod(q for _, q in outcomes))
        for outcomes in product(*(tuple(zip(p, q, strict=True)) for p, q in pairs))
    )


@st.composite
def distributions(draw, size):
    weights = draw(st.lists(st.integers(0, 12), min_size=size, max_size=size).filter(any))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@st.composite
def finite_pairs(draw):
    size = draw(st.integers(2, 4))
    return draw(distributions(size)), draw(distributions(size))
