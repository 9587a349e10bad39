from fractions import Fraction

import pytest

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.accounting.adaptive.meter import Meter
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import ComposedEvent, GaussianEvent, GroupEvent, PureEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


class PureMeter(Meter):
    def _price(self, event):
        return Amounts((("epsilon", event.epsilon),)) if isinstance(event, PureEvent) else None


def cost(event, count=1):
    return PureMeter().cost(event, count)["epsilon"]


def test_the_price_of_a_composition_is_the_sum_over_what_it_holds():
    inner = ComposedEvent((PureEvent(Fraction(1, 3)), SelfComposedEvent(PureEvent(Fraction(1, 7)), 2)))
    assert cost(SelfComposedEvent(inner, 5), count=3) == 15 * (Fraction(1, 3) + Fraction(2, 7))
    assert cost(GroupEvent(PureEvent(Fraction(1)), 4)) == 4
    assert PureMeter().cost(PureEvent(Fraction(1, 10)))["epsilon"] == Fraction(1, 10)
    assert cost(PureEvent(Fraction(1, 10)), count=10**30) == 10**29


def test_a_part_without_a_price_is_named():
    nested = ComposedEvent((PureEvent(Fraction(1)), SelfComposedEvent(GaussianEvent(Fraction(2)), 2)))
    assert not PureMeter().supports(nested)
    with pytest.raises(UnsupportedEventError, match=r"GaussianEvent.*PureMeter|PureMeter.*GaussianEvent"):
        PureMeter().cost(nested, 1)


def test_a_relation_is_checked():
    assert PureMeter(neighboring_relation="add_or_remove_one").neighboring_relation is ADD_OR_REMOVE_ONE
    with pytest.raises(ParameterError, match="neighboring_relation"):
        PureMeter(neighboring_relation="nearly")
