import json
from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from tests.privacy.event_strategies import EVENTS

from sfumato.errors import ParameterError
from sfumato.privacy.codec import VERSION, decode_event, decode_guarantee, encode_event, encode_guarantee
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
from sfumato.privacy.formats import MAX_DIGITS
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP

GOLDEN = Path(__file__).parents[1] / "golden" / "events.json"
ONE_OF_EACH: tuple[Event, ...] = (
    NonPrivateEvent(),
    PureEvent("0.1"),
    ApproxEvent("0.1", "1e-6"),
    ZCDPEvent("1/3"),
    LaplaceEvent(10),
    GaussianEvent("2.5"),
    DiscreteLaplaceEvent(10, 2),
    DiscreteGaussianEvent("37/10", 2, 3),
    RandomizedResponseEvent("0.75", 4),
    ExponentialEvent(1),
    PoissonSampledEvent("0.01", GaussianEvent(1)),
    SelfComposedEvent(PureEvent("0.1"), 10),
    ComposedEvent((PureEvent(1), LaplaceEvent(2))),
    PartitionEvent((PureEvent(1), PureEvent(2)), 2),
    GroupEvent(PureEvent("0.1"), 5),
    FiniteEvent(("1/2", "1/2", 0), ("1/4", "1/2", "1/4")),
    MixtureOfGaussiansEvent(2, (0, 1, 2), ("0.9", "0.08", "0.02")),
    TruncatedPoissonSampledEvent("0.01", 10000, 150, GaussianEvent(1)),
    SampledWithoutReplacementEvent(10, 1000, PureEvent(1)),
    RepeatAndSelectEvent(GaussianEvent(10), 10, "0.5"),
    RepeatAndSelectEvent(GaussianEvent(10), "2.5", None),
    FullyAdaptiveEvent(ZCDPEvent("0.5")),
)


@given(EVENTS)
def test_every_event_comes_back_through_json(event):
    document = json.loads(json.dumps(encode_event(event)))
    assert decode_event(document) == event
    assert type(decode_event(document)) is type(event)


def test_a_sum_of_many_different_prices_comes_back():
    total = PureEvent(sum(Fraction(1, count) for count in range(1, 2000)))
    assert len(str(total.epsilon)) > 1000
    assert decode_event(encode_event(total)) == total


def test_what_is_beside_the_event_is_not_ignored():
    with pytest.raises(ParameterError, match="count"):
        decode_event(encode_event(PureEvent(1)) | {"count": 100})


def test_a_document_nested_too_deeply_is_refused():
    event = {"type": "PureEvent", "epsilon": "1"}
    for _ in range(5000):
        event = {"type": "GroupEvent", "event": event, "size": 1}
    with pytest.raises(ParameterError, match="nested too deeply"):
        decode_event({"version": VERSION, "event": event})


def test_a_document_of_lists_nested_too_deeply_is_refused():
    events = []
    for _ in range(5000):
        events = [events]
    with pytest.raises(ParameterError, match="nested too deeply"):
        decode_event({"version": VERSION, "event": {"type": "ComposedEvent", "events": events}})


def test_as_deep_an_event_as_there_may_be_is_read_again():
    event = PureEvent(1)
    for _ in range(MAX_NESTING // 2):
        event = ComposedEvent((GroupEvent(event, 2),))
    assert decode_event(encode_event(event)) == event


@pytest.mark.parametrize("digits", [MAX_DIGITS, MAX_DIGITS + 1])
def test_a_rational_has_at_most_so_many_digits(digits):
    document = {"type": "PureEvent", "epsilon": "1/1" + "0" * (digits - 1)}
    with pytest.raises(ParameterError, match="rational" if digits > MAX_DIGITS else "epsilon"):
        decode_event({"version": VERSION, "event": document})


def test_the_golden_file_has_every_kind_of_event():
    assert {type(event) for event in ONE_OF_EACH} == set(get_args(Event))


def test_the_written_form_never_changes():
    assert json.loads(GOLDEN.read_text()) == [encode_event(event) for event in ONE_OF_EACH]


def test_old_ledgers_load_for_ever():
    assert tuple(decode_event(document) for document in json.loads(GOLDEN.read_text())) == ONE_OF_EACH


def test_coordinates_that_were_not_written_are_unknown_and_those_that_were_stay():
    written = {"type": "DiscreteGaussianEvent", "stddev": "2", "l2_sensitivity": "3"}
    assert decode_event({"version": 1, "event": written}) == DiscreteGaussianEvent(2, 3, 9)
    assert decode_event({"version": 1, "event": written | {"l0_sensitivity": None}}).l0_sensitivity == 9
    assert decode_event({"version": 1, "event": written | {"l0_sensitivity": 1}}).l0_sensitivity == 1


@pytest.mark.parametrize(
    ("event", "missing"),
    [
        (DiscreteGaussianEvent(2, 1), "l2_sensitivity"),
        (DiscreteLaplaceEvent(2, 1), "l1_sensitivity"),
        (PartitionEvent((PureEvent(1),), 1), "max_parts_per_unit"),
        (RepeatAndSelectEvent(PureEvent(1), 2, 1), "shape"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_guarantee_rests_on_is_not_guessed_where_a_document_lacks_it(event, missing):
    document = encode_event(event)
    del document["event"][missing]
    with pytest.raises(ParameterError, match=rf"must have the fields .*{missing}"):
        decode_event(document)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"version": VERSION},
        {"version": VERSION + 1, "event": {"type": "NonPrivateEvent"}},
        {"event": {"type": "NonPrivateEvent"}},
        {"version": VERSION, "event": {"type": "os.system"}},
        {"version": VERSION, "event": {"type": "Event"}},
        {"version": VERSION, "event": {"type": ["PureEvent"], "epsilon": "1"}},
        {"version": VERSION, "event": {"type": "PureEvent"}},
        {"version": VERSION, "event": {"type": "PureEvent", "epsilon": "1", "other": "1"}},
        {"version": VERSION, "event": {"type": "PureEvent", "epsilon": "x"}},
        {"version": VERSION, "event": {"type": "PureEvent", "epsilon": "1/0"}},
        {"version": VERSION, "event": {"type": "PureEvent", "epsilon": "-1"}},
        {"version": VERSION, "event": {"type": "PureEvent", "epsilon": "1e999999999"}},
        {"version": VERSION, "event": {"type": "PureEvent", "epsilon": {"type": "NonPrivateEvent"}}},
        {"version": VERSION, "event": {"type": "SelfComposedEvent", "event": "1", "count": 2}},
        {"version": VERSION, "event": {"type": "ComposedEvent", "events": ["1"]}},
        {"version": VERSION, "event": {"type": "GroupEvent", "event": {"type": "NonPrivateEvent"}, "size": "2"}},
    ],
)
def test_what_this_package_did_not_write_is_refused(document):
    with pytest.raises(ParameterError):
        decode_event(document)


@pytest.mark.parametrize(
    "guarantee", [PureDP("1/3"), PureDP(Fraction(3**800, 2**1200)), ApproxDP(1, "1e-6"), ApproxDP(1, 0), NO_GUARANTEE]
)
def test_guarantees_come_back_through_json(guarantee):
    back = decode_guarantee(json.loads(json.dumps(encode_guarantee(guarantee))))
    assert back == guarantee
    assert type(back) is type(guarantee)


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"type": "PureDP"},
        {"type": "PureDP", "epsilon": 0.1},
        {"type": "PureDP", "epsilon": "1e9999999"},
        {"type": "Other", "epsilon": "1"},
    ],
)
def test_what_is_no_guarantee_is_refused(document):
    with pytest.raises(ParameterError):
        decode_guarantee(document)
