"""What every odometer promises, whatever its measure; inherited by the tests of each one."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.adaptive.filter_contract import inherited
from tests.accounting.contract import EVENTS, name_of

from sfumato.accounting.adaptive.odometers import Odometer
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import ComposedEvent, PartitionEvent, PureEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

RELEASES = st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(1, 10**6)), min_size=1, max_size=5)


def readings(odometer):
    return odometer.epsilon, odometer.delta


class OdometerContract:
    """Subclasses say how an odometer is made."""

    def make(self, relation: NeighboringRelation = ADD_OR_REMOVE_ONE) -> Odometer:
        raise NotImplementedError

    @inherited
    @given(RELEASES)
    def test_readings_never_fall(self, releases):
        odometer = self.make()
        for event, count in releases:
            if odometer.supports(event):
                grown = odometer.compose(event, count=count)
                assert all(after >= before for before, after in zip(readings(odometer), readings(grown), strict=True))
                odometer = grown

    @inherited
    @given(RELEASES)
    def test_order_does_not_matter(self, releases):
        priced = [(event, count) for event, count in releases if self.make().supports(event)]
        forwards = backwards = self.make()
        for event, count in priced:
            forwards = forwards.compose(event, count=count)
        for event, count in reversed(priced):
            backwards = backwards.compose(event, count=count)
        assert readings(forwards) == readings(backwards)

    @inherited
    @given(st.sampled_from(EVENTS), st.integers(1, 6))
    def test_composing_k_times_is_composing_once_with_count_k(self, event, count):
        one_by_one = self.make()
        if not one_by_one.supports(event):
            return
        for _ in range(count):
            one_by_one = one_by_one.compose(event)
        at_once, nested = self.make().compose(event, count=count), self.make().compose(SelfComposedEvent(event, count))
        assert readings(one_by_one) == readings(at_once) == readings(nested)

    def test_nothing_released_reads_nothing(self):
        assert self.make().epsilon == 0
        assert self.make().compose(ComposedEvent(()), count=10**12).epsilon == 0

    def test_pure_events_never_read_more_than_their_sum(self):
        assert self.make().compose(PureEvent("1e-3"), count=10).epsilon <= Fraction(1, 100)

    def test_huge_counts_are_read(self):
        assert self.make().compose(PureEvent("1e-3"), count=10**12).epsilon > 1000

    @pytest.mark.parametrize("event", EVENTS, ids=name_of)
    def test_an_event_without_a_price_is_refused_wherever_it_is_nested(self, event):
        nested = ComposedEvent((PureEvent(1), SelfComposedEvent(event, 2)))
        assert self.make().supports(nested) == self.make().supports(event)
        if not self.make().supports(event):
            with pytest.raises(UnsupportedEventError):
                self.make().compose(nested)

    def test_the_relation_is_the_one_asked_for(self):
        parts = PartitionEvent((PureEvent(1), PureEvent(1)), 1)
        assert self.make(REPLACE_ONE).neighboring_relation is REPLACE_ONE
        assert self.make(REPLACE_ONE).compose(parts).epsilon > self.make().compose(parts).epsilon

    @pytest.mark.parametrize("count", [0, -1, 1.5, True])
    def test_a_count_is_checked(self, count):
        with pytest.raises(ParameterError, match="count"):
            self.make().compose(PureEvent(1), count=count)
