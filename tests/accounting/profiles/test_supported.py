from fractions import Fraction

import pytest
from tests.accounting.contract import EVENTS

from sfumato.accounting.core.tally import flattened
from sfumato.accounting.profiles.of_event import pair_of, supports_pair
from sfumato.accounting.profiles.profile import DominatingPair
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
from sfumato.privacy.neighbors import NeighboringRelation

TENTH = Fraction(1, 10)


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
def test_what_is_not_supported_is_refused_wherever_it_is_nested(relation):
    unknown = RepeatAndSelectEvent(GaussianEvent(Fraction(1)), Fraction(3), Fraction(1))
    for event in (
        unknown,
        PoissonSampledEvent(TENTH, unknown),
        TruncatedPoissonSampledEvent(TENTH, 20, 5, unknown),
        SampledWithoutReplacementEvent(1, 10, unknown),
        PartitionEvent((PureEvent(TENTH), PoissonSampledEvent(TENTH, unknown)), 1),
        GroupEvent(PoissonSampledEvent(TENTH, unknown), 2),
    ):
        assert not supports_pair(event, relation)
        with pytest.raises(UnsupportedEventError):
            pair_of(event, relation, first_pair)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("coordinates", [1, 3, None])
def test_noise_of_every_width_is_supported_also_in_samples(relation, coordinates):
    """At σ = 1 a move of 12, that of two exchanged units, has more shapes than are worth composing."""
    sample = PoissonSampledEvent(TENTH, DiscreteGaussianEvent(Fraction(1), Fraction(6), coordinates))
    assert supports_pair(sample, relation)
    assert pair_of(sample, relation, first_pair).forward.highest_loss > 0
