"""What every privacy filter promises, whatever its measure; inherited by the tests of each one."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.accounting.contract import EVENTS, name_of

from sfumato.accounting.adaptive.filters import PrivacyFilter
from sfumato.errors import BudgetExceededError, ParameterError, UnsupportedEventError
from sfumato.privacy.events import (
    ComposedEvent,
    Event,
    FullyAdaptiveEvent,
    GroupEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    SelfComposedEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

REQUESTS = st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(1, 40)), max_size=8)

inherited = settings(suppress_health_check=[HealthCheck.differing_executors])  # one test of several classes


def total_of(event: Event):
    """The events inside a run, and their budgets."""
    return event.events if isinstance(event, ComposedEvent) else (event,)


class FilterContract:
    """Subclasses say how a filter is made, and with which event it can be filled to the brim, and how often."""

    filling: tuple[Event, int]

    def make(self, relation: NeighboringRelation = ADD_OR_REMOVE_ONE) -> PrivacyFilter:
        raise NotImplementedError

    @inherited
    @given(REQUESTS)
    def test_it_can_spend_exactly_what_spend_grants(self, requests):
        account = self.make()
        for event, count in requests:
            allowed = account.can_spend(event, count=count)
            try:
                account = account.spend(event, count=count)
            except (BudgetExceededError, UnsupportedEventError):
                assert not allowed
            else:
                assert allowed

    @inherited
    @given(REQUESTS)
    def test_what_is_refused_leaves_no_trace_and_nothing_is_ever_negative(self, requests):
        account = self.make()
        for event, count in requests:
            if account.can_spend(event, count=count):
                account = account.spend(event, count=count)
            assert all(number >= 0 for _, number in account.remaining.numbers)
        assert self.make() == self.make()

    @inherited
    @given(st.lists(st.sampled_from(EVENTS), min_size=2, max_size=3))
    def test_the_order_of_spending_does_not_matter(self, events):
        outcomes = set()
        for order in permutations(events):
            account = self.make()
            for event in order:
                if account.supports(event) and account.can_spend(event):
                    account = account.spend(event)
                else:
                    break
            else:
                outcomes.add(str(account.remaining))
        assert len(outcomes) <= 1

    @inherited
    @given(st.sampled_from(EVENTS), st.integers(1, 30))
    def test_one_by_one_is_all_at_once(self, event, count):
        account, step = self.make(), self.make()
        for _ in range(count):
            if not step.can_spend(event):
                assert not account.can_spend(event, count=count)
                return
            step = step.spend(event)
        nested = account.spend(SelfComposedEvent(event, count))
        assert account.spend(event, count=count).remaining == step.remaining == nested.remaining

    @inherited
    @given(st.sampled_from(EVENTS), st.integers(1, 10**6), REQUESTS)
    def test_what_can_be_spent_now_could_have_been_spent_before_and_in_part(self, event, count, requests):
        before = after = self.make()
        for request, times in requests:
            if after.can_spend(request, count=times):
                after = after.spend(request, count=times)
        if after.can_spend(event, count=count):
            assert before.can_spend(event, count=count)
            assert after.can_spend(event, count=(count + 1) // 2)

    def test_a_budget_can_be_filled_to_the_brim(self):
        event, count = self.filling
        account = self.make()
        for _ in range(count):
            account = account.spend(event)
        assert not account.can_spend(event)
        assert self.make().can_spend(event, count=count)
        assert not self.make().can_spend(event, count=count + 1)
        assert not self.make().can_spend(event, count=10**12)

    def test_what_is_too_much_is_refused_with_what_was_asked_and_what_is_left(self):
        event, count = self.filling
        account = self.make().spend(event)
        with pytest.raises(
            BudgetExceededError, match=r"the query costs .*; the account has .* remaining; nothing was spent"
        ) as caught:
            account.spend(event, count=count)
        assert caught.value.remaining
        assert caught.value.requested

    def test_an_exact_answer_is_never_granted(self):
        account = self.make()
        assert not account.can_spend(NonPrivateEvent())
        with pytest.raises((BudgetExceededError, UnsupportedEventError)):
            account.spend(NonPrivateEvent())

    @pytest.mark.parametrize("event", EVENTS, ids=name_of)
    def test_an_event_without_a_price_is_refused_wherever_it_is_nested(self, event):
        account = self.make()
        for nested in (
            ComposedEvent((event,)),
            GroupEvent(SelfComposedEvent(event, 2), 2),
            PartitionEvent((event,), 1),
        ):
            assert account.supports(nested) == account.supports(event)
            if not account.supports(event):
                assert not account.can_spend(nested)
                with pytest.raises(UnsupportedEventError):
                    account.spend(nested)

    @pytest.mark.parametrize("nothing", [ComposedEvent(()), PoissonSampledEvent(Fraction(0), EVENTS[0])])
    def test_what_releases_nothing_costs_nothing(self, nothing):
        account = self.make()
        assert account.spend(nothing, count=10**12).remaining == account.remaining

    @pytest.mark.parametrize("count", [0, -1, 1.5, True])
    def test_a_count_is_checked(self, count):
        for method in (self.make().spend, self.make().can_spend):
            with pytest.raises(ParameterError, match="count"):
                method(self.filling[0], count=count)

    def test_the_run_is_a_fully_adaptive_event(self):
        assert all(isinstance(part, FullyAdaptiveEvent) for part in total_of(self.make().event))

    def test_the_relation_is_the_one_asked_for(self):
        assert self.make(REPLACE_ONE).neighboring_relation is REPLACE_ONE
        parts = PartitionEvent((self.filling[0], self.filling[0]), 1)
        count = self.filling[1]
        assert self.make().can_spend(parts, count=count)
        assert not self.make(REPLACE_ONE).can_spend(parts, count=count)
