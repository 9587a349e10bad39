"""What every accountant promises, whatever its method; inherited by the tests of each one."""

import math
from fractions import Fraction

import pytest

from sfumato.accounting.core.accountant import Accountant
from sfumato.errors import ParameterError, UnsupportedEventError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    FullyAdaptiveEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import NeighboringRelation

TENTH = Fraction(1, 10)
LEAVES: tuple[Event, ...] = (
    PureEvent(TENTH),
    ApproxEvent(TENTH, Fraction(1, 10**8)),
    ZCDPEvent(Fraction(1, 100)),
    LaplaceEvent(Fraction(10)),
    GaussianEvent(Fraction(10)),
    DiscreteLaplaceEvent(Fraction(10), 1),
    DiscreteGaussianEvent(Fraction(10), 1),
    DiscreteGaussianEvent(Fraction(30), Fraction(3), 2),
    RandomizedResponseEvent(Fraction(1, 20), 4),
    ExponentialEvent(TENTH),
    FiniteEvent((Fraction(1, 2), Fraction(1, 2)), (Fraction(2, 5), Fraction(3, 5))),
    MixtureOfGaussiansEvent(Fraction(4), (Fraction(0), Fraction(1), Fraction(2)), ("0.9", "0.08", "0.02")),
)
EVENTS: tuple[Event, ...] = (
    *LEAVES,
    PoissonSampledEvent(TENTH, LEAVES[4]),
    PoissonSampledEvent(TENTH, LEAVES[3]),
    PoissonSampledEvent(TENTH, LEAVES[0]),
    PoissonSampledEvent(TENTH, ComposedEvent((LEAVES[4], SelfComposedEvent(LEAVES[0], 2)))),
    TruncatedPoissonSampledEvent(Fraction(1, 100), 1000, 15, GaussianEvent(Fraction(2))),
    SampledWithoutReplacementEvent(10, 100, LEAVES[4]),
    SampledWithoutReplacementEvent(10, 100, LEAVES[0]),
    RepeatAndSelectEvent(LEAVES[4], Fraction(3), 1),
    FullyAdaptiveEvent(ZCDPEvent(Fraction(1, 100))),
    SelfComposedEvent(LEAVES[4], 3),
    SelfComposedEvent(LEAVES[8], 3),
    ComposedEvent((LEAVES[0], LEAVES[1], LEAVES[6])),
    PartitionEvent((LEAVES[0], LEAVES[3], LEAVES[4]), 2),
    PartitionEvent((LEAVES[0], LEAVES[1]), 1),
    GroupEvent(LEAVES[1], 2),
    GroupEvent(LEAVES[4], 2),
    GroupEvent(ComposedEvent((LEAVES[0], LEAVES[6])), 2),
    GroupEvent(PoissonSampledEvent(TENTH, LEAVES[4]), 2),
    PartitionEvent((PoissonSampledEvent(TENTH, LEAVES[4]), LEAVES[0]), 1),
)
DELTA = Fraction(1, 10**5)
every_relation = pytest.mark.parametrize("relation", NeighboringRelation)


def name_of(event: Event) -> str:
    return f"{EVENTS.index(event)}-{type(event).__name__}"


class AccountantContract:
    """Subclasses say how an accountant is made, and how closely its δ at ε returns the δ of that ε."""

    delta_slack = Fraction(1, 10**6)

    def make(self, relation: NeighboringRelation) -> Accountant:
        raise NotImplementedError

    @every_relation
    def test_composing_k_times_is_composing_once_with_count_k(self, supported_event, relation):
        empty = self.make(relation)
        one_by_one = empty
        for _ in range(4):
            one_by_one = one_by_one.compose(supported_event)
        at_once = empty.compose(supported_event, count=4)
        assert one_by_one.epsilon(DELTA) == at_once.epsilon(DELTA)
        assert one_by_one.epsilon(DELTA) == empty.compose(SelfComposedEvent(supported_event, 4)).epsilon(DELTA)
        assert one_by_one.epsilon(DELTA) == empty.compose(ComposedEvent((supported_event,) * 4)).epsilon(DELTA)

    @every_relation
    def test_order_does_not_matter(self, supported_event, relation):
        empty = self.make(relation)
        other = PureEvent(TENTH)
        assert empty.compose(supported_event).compose(other).epsilon(DELTA) == empty.compose(other).compose(
            supported_event
        ).epsilon(DELTA)

    @every_relation
    def test_cost_grows_with_the_count(self, supported_event, relation):
        empty = self.make(relation)
        costs = [empty.compose(supported_event, count=count).epsilon(DELTA) for count in (1, 2, 7, 50)]
        assert costs == sorted(costs)
        assert costs[0] < costs[-1]

    @every_relation
    def test_more_delta_never_costs_more_epsilon(self, supported_event, relation):
        accountant = self.make(relation).compose(supported_event, count=2)
        costs = [accountant.epsilon(delta) for delta in ("1e-2", "1e-4", "1e-6", "1e-9", 0)]
        assert costs == sorted(costs)

    @every_relation
    def test_delta_and_epsilon_agree(self, supported_event, relation):
        accountant = self.make(relation).compose(supported_event, count=2)
        epsilon = accountant.epsilon(DELTA)
        delta = accountant.delta(epsilon)
        assert delta <= DELTA * (1 + self.delta_slack)
        assert accountant.interval(delta).lower <= epsilon

    @every_relation
    def test_the_interval_ends_in_epsilon(self, supported_event, relation):
        accountant = self.make(relation).compose(supported_event, count=3)
        interval = accountant.interval(DELTA)
        assert 0 <= interval.lower <= interval.upper == accountant.epsilon(DELTA)

    @every_relation
    def test_a_larger_group_never_costs_less(self, supported_event, relation):
        empty = self.make(relation)
        if empty.supports(GroupEvent(supported_event, 2)):
            single, pair = empty.compose(supported_event), empty.compose(GroupEvent(supported_event, 2))
            assert single.interval(DELTA).lower <= pair.epsilon(DELTA)

    @every_relation
    def test_accountants_are_values(self, supported_event, relation):
        empty = self.make(relation)
        empty.compose(supported_event, count=3)
        assert empty.epsilon() == 0
        assert empty.neighboring_relation is relation

    @pytest.mark.parametrize("event", EVENTS, ids=name_of)
    def test_what_is_not_supported_is_refused_wherever_it_is_nested(self, event):
        accountant = self.make(NeighboringRelation.ADD_OR_REMOVE_ONE)
        supported = accountant.supports(event)
        for nested in (
            event,
            SelfComposedEvent(event, 2),
            ComposedEvent((PureEvent(TENTH), event)),
            PartitionEvent((event, PureEvent(TENTH)), 1),
            GroupEvent(event, 2),
        ):
            assert accountant.supports(nested) == supported
            if not supported:
                with pytest.raises(UnsupportedEventError):
                    accountant.compose(nested)

    @every_relation
    def test_nothing_released_costs_nothing(self, relation):
        empty = self.make(relation)
        for nothing in (
            ComposedEvent(()),
            PartitionEvent((), 1),
            GroupEvent(ComposedEvent(()), 3),
            PureEvent(Fraction(0)),
        ):
            assert empty.compose(nothing, count=1000).epsilon() == 0
        assert empty.delta(0) == 0

    @every_relation
    def test_an_exact_answer_costs_everything(self, relation):
        accountant = self.make(relation).compose(NonPrivateEvent())
        assert accountant.epsilon("1e-3") == math.inf
        assert accountant.delta(1000) == 1

    @pytest.mark.parametrize("count", [0, -1, 1.5, True])
    @pytest.mark.parametrize("event", [LEAVES[0], LEAVES[4]])
    def test_a_count_is_checked(self, event, count):
        accountant = self.make(NeighboringRelation.ADD_OR_REMOVE_ONE)
        if accountant.supports(event):
            with pytest.raises(ParameterError, match="count"):
                accountant.compose(event, count=count)

    @pytest.mark.parametrize("delta", [-1, 1, 2, "nan"])
    def test_delta_is_checked(self, delta):
        with pytest.raises(ParameterError, match="delta"):
            self.make(NeighboringRelation.ADD_OR_REMOVE_ONE).epsilon(delta)
