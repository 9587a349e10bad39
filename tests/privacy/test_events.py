import copy
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from tests.privacy.event_strategies import EVENTS

from sfumato.errors import ParameterError
from sfumato.privacy import events
from sfumato.privacy.events import (
    MAX_NESTING,
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


def test_a_share_of_the_units_is_their_sampling_probability():
    assert SampledWithoutReplacementEvent(10, 400, PureEvent(1)).sampling_probability == Fraction(1, 40)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda event: ComposedEvent((event, event)),
        lambda event: PartitionEvent((PureEvent(1), event), 1),
        lambda event: GroupEvent(event, 1),
        lambda event: SelfComposedEvent(event, 2),
        lambda event: PoissonSampledEvent("0.5", event),
        lambda event: TruncatedPoissonSampledEvent("0.5", 10, 5, event),
        lambda event: SampledWithoutReplacementEvent(5, 10, event),
        lambda event: RepeatAndSelectEvent(event, 2, 1),
    ],
)
def test_events_are_nested_as_deeply_as_is_stated_and_no_deeper(wrap):
    event = PureEvent(1)
    for _ in range(MAX_NESTING):
        event = wrap(event)
    with pytest.raises(ParameterError, match=f"nested too deeply: at most {MAX_NESTING}"):
        wrap(event)


def test_as_deep_an_event_as_there_may_be_is_a_value_like_others():
    first, second = PureEvent(1), PureEvent(1)
    for _ in range(MAX_NESTING):
        first, second = GroupEvent(first, 1), GroupEvent(second, 1)
    assert hash(first) == hash(second)
    assert first == second
    assert repr(first).count("GroupEvent") == MAX_NESTING


def test_lists_of_events_become_tuples():
    assert ComposedEvent([PureEvent(1)]).events == PartitionEvent([PureEvent(1)], 1).events == (PureEvent(1),)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PoissonSampledEvent(2, PureEvent(1)), "sampling_probability"),
        (lambda: TruncatedPoissonSampledEvent("0.1", 0, 1, PureEvent(1)), "source_size"),
        (lambda: TruncatedPoissonSampledEvent("0.1", 1, 0, PureEvent(1)), "max_sample_size"),
        (lambda: SampledWithoutReplacementEvent(0, 1, PureEvent(1)), "sample_size"),
        (lambda: SampledWithoutReplacementEvent(2, 1, PureEvent(1)), "sample_size"),
        (lambda: RepeatAndSelectEvent(PureEvent(1), "0.5", 1), "mean"),
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
        (lambda: PartitionEvent("ab", 1), "event"),
        (lambda: ComposedEvent(None), "events"),
    ],
)
def test_every_parameter_is_checked_by_name(make, name):
    with pytest.raises(ParameterError, match=name):
        make()


def test_numbers_are_taken_as_written():
    assert PureEvent(0.1) == PureEvent("0.1") == PureEvent(Fraction(1, 10))
    assert DiscreteGaussianEvent(2, "0.5", 1).noise_multiplier == 4
    assert DiscreteLaplaceEvent("0.3", 3).noise_multiplier == Fraction(1, 10)


@pytest.mark.parametrize(("l2", "most"), [("0.5", 1), (1, 1), ("1.5", 2), (2, 4), ("2.5", 6), (10**6, 10**12)])
def test_unknown_coordinates_are_as_many_as_a_vector_of_integers_can_move(l2, most):
    assert DiscreteGaussianEvent(2, l2).l0_sensitivity == most
    assert DiscreteGaussianEvent(2, l2) == DiscreteGaussianEvent(2, l2, None) == DiscreteGaussianEvent(2, l2, most)
    assert DiscreteGaussianEvent(2, l2, 1).l0_sensitivity == 1


def test_every_class_of_the_module_is_an_event():
    classes = {value for name, value in vars(events).items() if name.endswith("Event") and isinstance(value, type)}
    assert len(classes) == 21
    assert classes == set(get_args(Event))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PureEvent(-1), "epsilon"),
        (lambda: ApproxEvent(1, 2), "delta"),
        (lambda: ZCDPEvent(-1), "rho"),
        (lambda: LaplaceEvent(0), "noise_multiplier"),
        (lambda: GaussianEvent(0), "noise_multiplier"),
        (lambda: DiscreteLaplaceEvent(0, 1), "scale"),
        (lambda: DiscreteLaplaceEvent(1, 0), "l1_sensitivity"),
        (lambda: DiscreteGaussianEvent(0, 1), "stddev"),
        (lambda: DiscreteGaussianEvent(1, 0, 1), "l2_sensitivity"),
        (lambda: DiscreteGaussianEvent(1, 1, 0), "l0_sensitivity"),
        (lambda: RandomizedResponseEvent("1.1", 2), "probability"),
        (lambda: RandomizedResponseEvent("0.5", 0), "categories"),
        (lambda: ExponentialEvent("nan"), "epsilon"),
        (lambda: FiniteEvent(("1/2", "1/3"), ("1/2", "1/2")), "p"),
        (lambda: FiniteEvent(("1/2", "1/2"), ("0.3", "0.3", "0.4")), "q"),
        (lambda: MixtureOfGaussiansEvent(0, (1,), (1,)), "stddev"),
        (lambda: MixtureOfGaussiansEvent(1, (-1,), (1,)), "sensitivities"),
        (lambda: MixtureOfGaussiansEvent(1, (1, 2), (1,)), "probabilities"),
        (lambda: FiniteEvent(None, None), "p"),
        (lambda: MixtureOfGaussiansEvent(1, 2, 1), "sensitivities"),
    ],
)
def test_every_parameter_of_an_event_without_others_is_checked_by_name(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
