"""Prices lie on a grid, so that an account stays short for ever."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.ledger.core.prices import admitted
from sfumato.privacy.guarantees import ApproxDP, PureDP


@pytest.mark.parametrize("charge", [PureDP(0), PureDP("0.1"), PureDP("1e-15"), PureDP(10**9), ApproxDP(1, "1e-50")])
def test_decimals_are_admitted_as_they_are(charge):
    assert admitted(charge) is charge


@pytest.mark.parametrize(
    ("charge", "name"),
    [
        (PureDP(Fraction(1, 3)), "epsilon"),
        (PureDP("1e-16"), "epsilon"),
        (PureDP(10**9 + 1), "epsilon"),
        (ApproxDP(1, Fraction(1, 10**6 + 3)), "delta"),
    ],
)
def test_what_would_make_an_account_long_is_refused(charge, name):
    with pytest.raises(ParameterError, match=name):
        admitted(charge)
