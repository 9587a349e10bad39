"""Where roots, logarithms, exponentials and powers lie, by where what they are of lies."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import ANYTHING, Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate
from sfumato.query.values.reals import REALS, first_interval, real_interval, rough_interval

EXPONENTS = [Fraction(n, 2) for n in range(-6, 7)]
numbers = st.floats(-100, 100).map(lambda x: x + 0.0)


def of(function, exponent):
    return Call(function, (ColumnRef("x"), *([Literal(exponent)] if function is Function.POWER else [])))


@pytest.mark.parametrize("interval_of", [real_interval, rough_interval])
@given(st.sampled_from(sorted(REALS)), st.sampled_from(EXPONENTS), st.lists(numbers, min_size=3, max_size=3))
def test_values_lie_where_they_are_said_to(interval_of, function, exponent, drawn):
    least, x, most = sorted(drawn)
    value = evaluate(of(function, exponent), {"x": x})
    found = interval_of(function, Interval(Fraction(least), Fraction(most)), Literal(exponent))
    if value is not None:
        slack = abs(Fraction(value)) / 2**45 + Fraction(1, 10**300)
        assert found.lower is None or found.lower <= Fraction(value) + slack
        assert found.upper is None or found.upper >= Fraction(value) - slack


@given(st.sampled_from(sorted(REALS)), st.sampled_from(EXPONENTS), st.lists(numbers, min_size=2, max_size=2))
def test_a_rough_interval_is_a_little_wider(function, exponent, drawn):
    interval = Interval(*map(Fraction, sorted(drawn)))
    near, far = (found(function, interval, Literal(exponent)) for found in (real_interval, rough_interval))
    for one, other in ((near.lower, far.lower), (near.upper, far.upper)):
        assert (one is None) == (other is None)
        if one is not None:
            assert math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
            assert other == 0 or other.denominator.bit_count() == 1


def test_by_the_first_rules_only_signs_were_known():
    facts = {"x": Facts(kind=Kind.FLOAT, interval=Interval(Fraction(1), Fraction(4)))}
    root = of(Function.SQRT, None)
    assert facts_of(root, facts, Edition.FIRST).interval == first_interval(Function.SQRT) == Interval(Fraction(0), None)
    assert facts_of(root, facts).interval == Interval(Fraction(1), Fraction(2))
    assert first_interval(Function.POWER) == first_interval(Function.LN) == ANYTHING


def test_a_quotient_by_a_power_away_from_zero_has_bounds():
    facts = {"x": Facts(kind=Kind.FLOAT, interval=Interval(Fraction(1), Fraction(2)))}
    inverse = Call(Function.DIVIDE, (Literal(Fraction(1)), of(Function.POWER, Fraction(2))))
    assert facts_of(inverse, facts).interval == Interval(Fraction(1, 4), Fraction(1))


def test_an_end_beyond_all_doubles_is_none():
    tiny = Interval(Fraction(1, 10**110), Fraction(1))
    assert rough_interval(Function.POWER, tiny, Literal(Fraction(-3))) == Interval(Fraction(1), None)
    assert real_interval(Function.POWER, -tiny, Literal(Fraction(-3))).lower is None
