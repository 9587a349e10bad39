import copy
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given
from tests.privacy.event_strategies import EVENTS

from sfumato.errors import ParameterError
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    ExponentialEvent,
    FiniteEvent,
    FullyAdaptiveEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
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


@given(EVENTS)
def test_events_are_values(event):
    assert hash(event) == hash(copy.deepcopy(event))
    assert event == copy.deepcopy(event)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        event.anything = 1


def test_numbers_are_taken_as_written():
    assert PureEvent(0.1) == PureEvent("0.1") == PureEvent(Fraction(1, 10))
    assert DiscreteGaussianEvent(2, "0.5").noise_multiplier == 4
    assert DiscreteLaplaceEvent("0.3", 3).noise_multiplier == Fraction(1, 10)


def test_a_share_of_the_units_is_their_sampling_probability():
    assert SampledWithoutReplacementEvent(10, 400, PureEvent(1)).sampling_probability == Fraction(1, 40)


def test_lists_of_events_become_tuples():
    assert ComposedEvent([PureEvent(1)]).events == PartitionEvent([PureEvent(1)]).events == (PureEvent(1),)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PureEvent(-1), "epsilon"),
        (lambda: ApproxEvent(1, 2), "delta"),
        (lambda: ZCDPEvent(-1), "rho"),
        (lambda: LaplaceEvent(0), "noise_multiplier"),
        (lambda: GaussianEvent(0), "noise_multiplier"),
        (lambda: DiscreteLaplaceEvent(0), "scale"),
        (lambda: DiscreteLaplaceEvent(1, 0), "l1_sensitivity"),
        (lambda: DiscreteGaussianEvent(0), "stddev"),
        (lambda: DiscreteGaussianEvent(1, 0), "l2_sensitivity"),
        (lambda: DiscreteGaussianEvent(1, 1, 0), "l0_sensitivity"),
        (lambda: RandomizedResponseEvent("1.1", 2), "probability"),
        (lambda: RandomizedResponseEvent("0.5", 0), "categories"),
        (lambda: ExponentialEvent("nan"), "epsilon"),
        (lambda: PoissonSampledEvent(2, PureEvent(1)), "sampling_probability"),
        (lambda: FiniteEvent(("1/2", "1/3"), ("1/2", "1/2")), "p"),
        (lambda: FiniteEvent(("1/2", "1/2"), ("0.3", "0.3", "0.4")), "q"),
        (lambda: MixtureOfGaussiansEvent(0, (1,), (1,)), "stddev"),
        (lambda: MixtureOfGaussiansEvent(1, (-1,), (1,)), "sensitivities"),
        (lambda: MixtureOfGaussiansEvent(1, (1, 2), (1,)), "probabilities"),
        (lambda: TruncatedPoissonSampledEvent("0.1", 0, 1, PureEvent(1)), "source_size"),
        (lambda: TruncatedPoissonSampledEvent("0.1", 1, 0, PureEvent(1)), "max_sample_size"),
        (lambda: SampledWithoutReplacementEvent(0, 1, PureEvent(1)), "sample_size"),
        (lambda: SampledWithoutReplacementEvent(2, 1, PureEvent(1)), "sample_size"),
        (lambda: RepeatAndSelectEvent(PureEvent(1), "0.5"), "mean"),
        (lambda: RepeatAndSelectEvent(PureEvent(1), 0, None), "mean"),
        (lambda: RepeatAndSelectEvent(PureEvent(1), 2, -1), "shape"),
        (lambda: FullyAdaptiveEvent(LaplaceEvent(1)), "budget"),
        (lambda: SelfComposedEvent(PureEvent(1), 0), "count"),
        (lambda: PartitionEvent((), 0), "max_parts_per_unit"),
        (lambda: GroupEvent(PureEvent(1), 0), "size"),
        (lambda: GroupEvent(1, 2), "event"),
        (lambda: SelfComposedEvent(None, 2), "event"),
        (lambda: PoissonSampledEvent(1, PureEvent), "event"),
        (lambda: ComposedEvent((PureEvent(1), "PureEvent")), "event"),
        (lambda: PartitionEvent("ab"), "event"),
        (lambda: ComposedEvent(None), "events"),
        (lambda: FiniteEvent(None, None), "p"),
        (lambda: MixtureOfGaussiansEvent(1, 2, 1), "sensitivities"),
    ],
)
def test_every_parameter_is_checked_by_name(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
