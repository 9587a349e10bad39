from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.privacy.event_strategies import EVENTS

from sfumato.accounting.core.accountant import EpsilonInterval, TalliedAccountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import (
    MAX_NESTING,
    ComposedEvent,
    Event,
    GroupEvent,
    LaplaceEvent,
    NonPrivateEvent,
    PartitionEvent,
    PureEvent,
    ZCDPEvent,
)


class CountingAccountant(TalliedAccountant):
    """Supports everything but exact answers, and says how much it has seen."""

    def _supports(self, event: Event) -> bool:
        return not isinstance(event, NonPrivateEvent)

    def _interval(self, delta: Fraction) -> EpsilonInterval:
        seen = sum(count for _, count in self.tally)
        return EpsilonInterval(seen / 2, seen * (1 - delta))

    def _delta(self, epsilon: Fraction) -> Fraction:
        return 1 / (1 + epsilon)


@given(EVENTS, EVENTS, st.integers(1, 10**12))
def test_only_the_tally_matters(first, second, count):
    empty = CountingAccountant()
    if empty.supports(first) and empty.supports(second):
        assert empty.compose(first, count=count).compose(second) == empty.compose(second).compose(first, count=count)
        assert empty.compose(ComposedEvent((first, second))) == empty.compose(second).compose(first)


def test_epsilon_is_the_upper_end():
    accountant = CountingAccountant().compose(PureEvent(1), count=8)
    assert accountant.interval("0.5") == EpsilonInterval(4, 4)
    assert accountant.epsilon() == 8
    assert accountant.delta(3) == Fraction(1, 4)


def test_nothing_composed_is_free():
    empty = CountingAccountant()
    assert empty.epsilon() == empty.delta(0) == empty.interval("0.5").lower == 0
    assert empty.compose(PureEvent(0), count=10**12) == empty


def test_what_is_unsupported_is_named():
    with pytest.raises(UnsupportedEventError, match=r"CountingAccountant .* NonPrivateEvent"):
        CountingAccountant().compose(ComposedEvent((PureEvent(1), NonPrivateEvent())))
    assert not CountingAccountant().supports(ComposedEvent((ZCDPEvent(1), NonPrivateEvent())))
    assert CountingAccountant().supports(PartitionEvent((), 1))


def test_a_thing_that_is_no_event_is_refused():
    for use in (CountingAccountant().compose, CountingAccountant().supports):
        with pytest.raises(ParameterError, match="event"):
            use("PureEvent(1)")


@pytest.mark.parametrize("wrap", [lambda event: ComposedEvent((event,)), lambda event: GroupEvent(event, 1)])
def test_as_deep_an_event_as_there_may_be_is_read(wrap):
    event = PureEvent(1)
    for _ in range(MAX_NESTING):
        event = wrap(event)
    assert CountingAccountant().compose(event).interval().upper == 1


def test_a_bound_of_a_group_has_no_lower_end():
    assert CountingAccountant().compose(GroupEvent(PureEvent(1), 2)).interval() == EpsilonInterval(0, 1)
    assert CountingAccountant().compose(GroupEvent(LaplaceEvent(1), 2)).interval() == EpsilonInterval(0.5, 1)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_count_is_a_whole_number_above_zero(count):
    with pytest.raises(ParameterError, match="count"):
        CountingAccountant().compose(PureEvent(1), count=count)


@pytest.mark.parametrize("delta", [-1, 1, 2, "nan"])
def test_delta_lies_below_one(delta):
    with pytest.raises(ParameterError, match="delta"):
        CountingAccountant().epsilon(delta)


def test_epsilon_is_not_negative():
    with pytest.raises(ParameterError, match="epsilon"):
        CountingAccountant().delta(-1)


def test_a_relation_is_checked():
    with pytest.raises(ParameterError, match="neighboring_relation"):
        CountingAccountant(neighboring_relation="swap")
