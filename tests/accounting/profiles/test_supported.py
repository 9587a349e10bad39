from fractions import Fraction

import pytest
from tests.accounting.contract import EVENTS

from sfumato.accounting.profiles.of_event import pair_of, supports_pair
from sfumato.accounting.profiles.profile import DominatingPair
from sfumato.accounting.tally import flattened
from sfumato.errors import UnsupportedEventError
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    GaussianEvent,
    GroupEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    TruncatedPoissonSampledEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

TENTH = Fraction(1, 10)
UNKNOWN = RepeatAndSelectEvent(GaussianEvent(Fraction(1)), Fraction(3))
SMALL = DiscreteGaussianEvent(Fraction(1), Fraction(30), 3)


def first_pair(pairs: tuple[tuple[DominatingPair, int], ...]) -> DominatingPair:
    return pairs[0][0]


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_all_but_selections_are_supported_also_in_groups_and_have_a_pair(event, relation):
    for whole in (
        event,
        GroupEvent(event, 2),
        PartitionEvent((event, PureEvent(TENTH)), 3),
        PoissonSampledEvent(TENTH, event),
    ):
        for single, _ in flattened(whole, relation):
            if supports_pair(single, relation):
                pair_of(single, relation, first_pair)
            else:
                assert isinstance(event, RepeatAndSelectEvent)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("unknown", [UNKNOWN, SMALL])
def test_what_is_not_supported_is_refused_wherever_it_is_nested(unknown, relation):
    for event in (
        unknown,
        PoissonSampledEvent(TENTH, unknown),
        TruncatedPoissonSampledEvent(TENTH, 20, 5, unknown),
        SampledWithoutReplacementEvent(1, 10, unknown),
        PartitionEvent((PureEvent(TENTH), PoissonSampledEvent(TENTH, unknown))),
        GroupEvent(PoissonSampledEvent(TENTH, unknown), 2),
    ):
        assert not supports_pair(event, relation)
        with pytest.raises(UnsupportedEventError):
            pair_of(event, relation, first_pair)


def test_a_sample_looks_at_its_event_as_exchanged_only_where_units_are():
    """At σ = 1 a move by 6 of one coordinate is known, and the moves of two exchanged units, by 12, are not."""
    sample = PoissonSampledEvent(TENTH, DiscreteGaussianEvent(Fraction(1), Fraction(6)))
    assert supports_pair(sample, ADD_OR_REMOVE_ONE)
    assert not supports_pair(sample, REPLACE_ONE)
