"""Prices that add up, over partitions by brute force over who in a group touches which part."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.additive import AdditivePrice, is_priced, total_price
from sfumato.accounting.core.normal_form import NeighborGroup, flattened
from sfumato.accounting.gaussian.zcdp import concentrated_price
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    PartitionEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
    ZCDPEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

SMALL = Fraction(1, 10**4)
PARTS: tuple[Event, ...] = (
    PureEvent(Fraction(1, 2)),
    ApproxEvent(Fraction(1, 3), SMALL),
    ZCDPEvent(Fraction(1, 10)),
    GaussianEvent(Fraction(3)),
    LaplaceEvent(Fraction(2)),
    DiscreteLaplaceEvent(Fraction(3), Fraction(2)),
    DiscreteGaussianEvent(Fraction(3), Fraction(2), 1),
    ExponentialEvent(Fraction(1, 2)),
    RandomizedResponseEvent(Fraction(1, 4), 3),
    ComposedEvent((GaussianEvent(Fraction(4)), SelfComposedEvent(PureEvent(Fraction(1, 5)), 2))),
    PartitionEvent((GaussianEvent(Fraction(5)), PureEvent(Fraction(1, 4))), 1),
)


def price(event: Event, relation=ADD_OR_REMOVE_ONE) -> AdditivePrice:
    return total_price(flattened(event, NeighborGroup(relation)), relation, concentrated_price)


def touched(events, parts_per_unit, group_size):
    """Every way in which a group may touch parts: how many of its units change each one."""
    for counts in product(range(group_size + 1), repeat=len(events)):
        if sum(counts) <= parts_per_unit * group_size:
            yield [GroupEvent(event, count) for event, count in zip(events, counts, strict=True) if count]


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4), st.integers(1, 2), st.integers(1, 3))
def test_no_way_to_spread_a_group_over_parts_costs_more(events, parts_per_unit, group_size):
    bound = price(GroupEvent(PartitionEvent(tuple(events), parts_per_unit), group_size))
    for spread in touched(events, parts_per_unit, group_size):
        worst = price(ComposedEvent(tuple(spread)))
        assert worst.measure <= bound.measure * (1 + Fraction(1, 10**9))
        assert worst.slack <= bound.slack


def test_a_unit_pays_for_the_largest_parts_it_may_touch():
    parts = tuple(ZCDPEvent(Fraction(rho)) for rho in (3, 1, 5, 2))
    assert price(PartitionEvent(parts, 1)).measure == 5
    assert price(PartitionEvent(parts, 2)).measure == 8
    assert price(PartitionEvent(parts, 1), REPLACE_ONE).measure == 8
    assert price(PartitionEvent(parts, 3), REPLACE_ONE).measure == 11
    assert price(GroupEvent(PartitionEvent(parts, 2), 3)).measure == 72


def test_measure_and_slack_are_paid_for_by_the_largest_of_each():
    both = PartitionEvent((ZCDPEvent(Fraction(1)), ApproxEvent(Fraction(0), SMALL)), 1)
    assert price(both) == AdditivePrice(Fraction(1), SMALL)


@pytest.mark.parametrize("nest", [lambda e: PartitionEvent((e,), 1), lambda e: GroupEvent(PartitionEvent((e,), 1), 2)])
def test_what_has_no_price_is_found_wherever_it_is_nested(nest):
    mixture = MixtureOfGaussiansEvent(Fraction(4), (Fraction(1),), (Fraction(1),))
    for part, expected in ((ZCDPEvent(Fraction(1)), True), (mixture, False), (ComposedEvent((mixture,)), False)):
        event = nest(PartitionEvent((PureEvent(Fraction(1)), part), 1))
        assert is_priced(event, ADD_OR_REMOVE_ONE, concentrated_price) is expected
