import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.counting.intake import EventIntake, PendingSums
from sfumato.streams.counting.measures import ClampedSum, EventCount, VectorTotal

HORIZON = 6
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y", "z"]), st.integers(-1, 9), st.integers(-3, 9)
    ),
    max_size=20,
)


def sums(intake):
    return intake.pending.taken(1, HORIZON).tolist()


def together(intake, next_step, events):
    units, keys, steps, values = (list(column) for column in zip(*events, strict=True)) if events else ([],) * 4
    intake.add_many(
        next_step, values=values, keys=keys, units=units, steps=np.array(steps, dtype=np.int64), count=len(events)
    )


@given(EVENTS, st.integers(1, HORIZON))
def test_many_at_once_in_order_of_steps_are_as_one_after_the_other(events, next_step):
    measure, participation = ClampedSum(0, 5, keys=("x", "y")), Participation(2, 2)
    one, all_of_them = (EventIntake(measure, participation, HORIZON) for _ in range(2))
    ordered = sorted(events, key=lambda event: event[2])
    for unit, key, step, value in ordered:
        one.add(next_step, value, key, unit, step)
    together(all_of_them, next_step, events)
    assert sums(one) == sums(all_of_them)


@given(EVENTS, st.integers(1, HORIZON))
def test_the_stream_without_a_unit_differs_in_so_many_steps_and_by_so_much(events, next_step):
    """What a guarantee for units rests on, whatever comes in: late, unknown, too often, too large."""
    participation = Participation(2, 2)
    intakes = [EventIntake(ClampedSum(-2, 5, keys=("x", "y")), participation, HORIZON) for _ in range(2)]
    together(intakes[0], next_step, events)
    together(intakes[1], next_step, [event for event in events if event[0] != "a"])
    difference = np.array(sums(intakes[0])) - np.array(sums(intakes[1]))
    steps = np.flatnonzero(np.abs(difference).sum(axis=1))
    assert len(steps) <= participation.most
    assert (np.diff(steps) >= participation.separation).all()
    assert np.abs(difference).sum(axis=1).max(initial=0) <= 5


def test_late_events_and_those_beyond_the_horizon_are_dropped_without_a_word():
    intake = EventIntake(EventCount(), None, HORIZON)
    for step in (-5, 2, 3, 6, 7, 1 << 60):
        intake.add(3, None, None, None, step)
    intake.add_many(3, values=None, keys=None, units=None, steps=[1, 3, 5, 9], count=None)
    assert sums(intake) == [[0], [0], [2], [0], [1], [1]]


def test_after_the_horizon_nothing_counts():
    intake = EventIntake(EventCount(), None, HORIZON)
    intake.add(HORIZON + 1, None, None, None, None)
    intake.add_many(HORIZON + 1, values=None, keys=None, units=None, steps=None, count=5)
    assert intake.pending.saved() == []


def test_plain_events_are_counted_without_columns():
    intake = EventIntake(EventCount(), None, None)
    intake.add(1, None, None, None, None)
    intake.add_many(1, values=None, keys=None, units=None, steps=None, count=10**12)
    intake.add_many(1, values=None, keys=None, units=None, steps=None, count=0)
    assert intake.pending.taken(1, 1).tolist() == [[10**12 + 1]]


def test_columns_of_frames_are_taken_as_they_are():
    frame = pd.DataFrame({"who": ["a", "a", None, "b"], "when": [1, 1, 2, 2], "what": [3.0, 4.0, 5.0, None]})
    intake = EventIntake(ClampedSum(0, 9), Participation(3), HORIZON)
    intake.add_many(1, values=frame.what, keys=None, units=frame.who, steps=frame.when, count=None)
    assert sums(intake)[:2] == [[3], [0]]


def test_a_vector_adds_to_all_numbers_of_its_step():
    intake = EventIntake(VectorTotal(2, l1_norm=10), Participation(1), HORIZON)
    intake.add_many(1, values=[[1, 2], [3, 4], [5, 5]], keys=None, units=["a", "b", "a"], steps=[1, 2, 2], count=None)
    intake.add(1, [1, 1], None, "c", 2)
    assert sums(intake)[:2] == [[1, 2], [4, 5]]


@pytest.mark.parametrize(
    "columns",
    [
        {}, {"steps": [1, 2], "count": 3}, {"steps": [1.5]}, {"steps": [[1]]}, {"steps": ["a"]}, {"count": -1},
        {"count": "two"}, {"units": "ann"}, {"units": ["ann"]}, {"steps": iter([1])}, {"values": [1]}, {"keys": ["a"]},
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_refused_and_nothing_is_added(columns):
    intake = EventIntake(EventCount(), None, HORIZON)
    empty = dict.fromkeys(("values", "keys", "units", "steps", "count"))
    with pytest.raises(ParameterError):
        intake.add_many(1, **(empty | columns))
    assert intake.pending.saved() == []


def test_a_unit_where_each_event_is_one_is_refused():
    with pytest.raises(ParameterError, match="each event is a unit"):
        EventIntake(EventCount(), None, HORIZON).add(1, None, None, "ann", None)


AMOUNTS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2), st.integers(-(2**62), 2**62)), max_size=12)


def expected(events, numbers):
    sums = {(step, place): 0 for step in range(1, 5) for place in range(numbers)}
    for step, place, amount in events:
        sums[step, place] += amount
    return [[sums[step, place] for place in range(numbers)] for step in range(1, 5)]


@given(AMOUNTS)
def test_sums_are_exact_of_any_size_and_alone_as_together(events):
    alone, together = PendingSums(3), PendingSums(3)
    for event in events:
        alone.add(*event)
    columns = [np.array([event[at] for event in events], dtype=np.int64) for at in range(3)]
    together.add_many(*columns)
    assert alone.taken(1, 4).tolist() == together.taken(1, 4).tolist() == expected(events, 3)


@given(AMOUNTS, st.integers(1, 4))
def test_steps_that_are_not_taken_stay_and_are_saved_as_json(events, closed):
    pending, restored = PendingSums(3), PendingSums(3)
    for event in events:
        pending.add(*event)
    first = pending.taken(1, closed).tolist()
    restored.restore(json.loads(json.dumps(pending.saved())))
    assert first + restored.taken(closed + 1, 4 - closed).tolist() == expected(events, 3)
    assert first + pending.taken(closed + 1, 4 - closed).tolist() == expected(events, 3)
    assert pending.saved() == []


def test_a_taken_step_is_empty_and_many_steps_without_events_cost_nothing():
    pending = PendingSums(1)
    pending.add(7, 0, 5)
    assert pending.taken(1, 10).ravel().tolist() == [0] * 6 + [5, 0, 0, 0]
    assert pending.taken(7, 1).tolist() == [[0]]
    pending.add_many(2, np.array([0, 0]), np.array([3, 4]))
    assert pending.taken(1, 2).tolist() == [[0], [7]]
