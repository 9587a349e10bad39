"""The rational behind every local probability: below e^ε, near to it, and the same everywhere."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.local.core.odds import epsilon_of, event_of, local_epsilon, odds
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import FiniteEvent


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6))
def test_the_logarithm_of_the_odds_is_just_below_epsilon_also_when_it_is_rounded_up(epsilon):
    found = odds(epsilon)
    with localcontext(prec=120):
        exponent = Decimal(epsilon.numerator) / epsilon.denominator * (1 - Decimal(2) ** -40)
        assert found == Fraction(int(exponent.exp() * 2**64), 2**64)
    assert epsilon * (1 - Fraction(1, 10**11)) < log_up(found) <= epsilon


def test_the_odds_are_those_of_earlier_versions():
    found = [odds(Fraction(epsilon)) * 2**64 for epsilon in ("1/2", "1", "5")]
    assert found == [30413539329472639818, 50143449209753651481, 2737739563123517956926]


@pytest.mark.parametrize("epsilon", [0, -1, "0.0000009", 101, "x", None, float("nan")])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        local_epsilon(epsilon)


def test_an_epsilon_is_kept_as_written():
    assert local_epsilon("0.1") == Fraction(1, 10)


def test_outcomes_of_one_ratio_are_one():
    eighth = Fraction(1, 8)
    event = event_of([(4 * eighth, 2 * eighth), (2 * eighth, eighth), (2 * eighth, 5 * eighth)])
    assert event == FiniteEvent((6 * eighth, 2 * eighth), (3 * eighth, 5 * eighth))
    assert epsilon_of(event) == log_up(Fraction(5, 2))
