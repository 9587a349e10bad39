from fractions import Fraction

import pytest

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.privacy_filter import AdditiveFilter
from sfumato.errors import BudgetExceededError
from sfumato.privacy.events import PureEvent


class OfTwo(AdditiveFilter):
    @property
    def budget(self):
        return Amounts((("epsilon", Fraction(2)),))

    def _price(self, event):
        return Amounts((("epsilon", event.epsilon),))


def test_a_filter_is_a_value_that_spending_does_not_change():
    fresh = OfTwo()
    spent = fresh.spend(PureEvent("1.5"))
    assert fresh.remaining["epsilon"] == 2
    assert spent.remaining["epsilon"] == Fraction(1, 2)
    assert type(spent) is OfTwo


def test_the_error_holds_what_was_asked_for_and_what_is_left():
    with pytest.raises(BudgetExceededError, match=r"asked for epsilon 1\.2, but epsilon 0\.5 is left") as caught:
        OfTwo().spend(PureEvent("1.5")).spend(PureEvent("0.4"), count=3)
    assert caught.value.requested["epsilon"] == Fraction(6, 5)
    assert caught.value.remaining["epsilon"] == Fraction(1, 2)
