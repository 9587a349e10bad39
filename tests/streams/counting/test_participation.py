from itertools import pairwise, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.counting.participation import ParticipationMemory, unit_of, units_of

EVENTS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 12)), max_size=30)


def accepted(memory, events):
    return [event for event in events if memory.accepts(*event)]


@given(EVENTS, st.integers(1, 4), st.integers(1, 5))
def test_whatever_comes_no_unit_takes_part_more_often_or_closer_than_it_may(events, most, separation):
    memory = ParticipationMemory(Participation(most, separation))
    kept = accepted(memory, events)
    for unit in "abc":
        steps = [step for name, step in kept if name == unit]
        assert len(steps) <= most
        assert all(after - before >= separation for before, after in pairwise(steps))


@given(EVENTS, st.integers(1, 4), st.integers(1, 5))
def test_the_events_of_one_unit_never_change_what_is_accepted_of_others(events, most, separation):
    with_all = accepted(ParticipationMemory(Participation(most, separation)), events)
    without = accepted(ParticipationMemory(Participation(most, separation)), [e for e in events if e[0] != "a"])
    assert [event for event in with_all if event[0] != "a"] == without


@given(EVENTS, st.integers(0, 30))
def test_who_took_part_is_known_again_after_a_restart(events, cut):
    participation = Participation(2, 3)
    whole, before, after = (ParticipationMemory(participation) for _ in range(3))
    expected = accepted(whole, events)
    first = accepted(before, events[:cut])
    taken = before.taken()
    assert taken == first
    assert before.taken() == []
    after.recall(taken)
    assert first + accepted(after, events[cut:]) == expected


def test_the_first_event_of_a_unit_counts_and_many_at_once_as_one_after_the_other():
    for steps in product((1, 2, 4), repeat=4):
        alone = ParticipationMemory(Participation(2, 2))
        expected = [alone.accepts("a", step) for step in steps]
        together = ParticipationMemory(Participation(2, 2))
        assert together.accept_many(["a"] * 4, [0, 1, 2, 3], list(steps)).tolist() == expected
        assert len(together) == 1


def test_units_are_texts_and_whole_numbers_however_they_are_held():
    assert [unit_of(unit) for unit in ("a", 1, np.int64(1), 1.0, np.float32(1), True)] == ["a", 1, 1, 1, 1, 1]
    missing = (None, float("nan"), np.nan, pd.NA, pd.NaT, 1.5, float("inf"))
    assert [unit_of(unit) for unit in missing] == [None] * len(missing)
    assert units_of(pd.Series([1, None])) == [1, None]
    assert units_of(pa.array(["a", None])) == ["a", None]
    assert units_of(np.array([3, 4])) == [3, 4]
    assert units_of(("a", "b")) == ["a", "b"]


def test_an_event_without_a_unit_never_counts():
    memory = ParticipationMemory(Participation(5))
    assert not memory.accepts(None, 1)
    assert memory.accept_many([None, "a"], [0, 1], [1, 1]).tolist() == [False, True]


@pytest.mark.parametrize("unit", [b"a", 1j, ("a",), {"a": 1}], ids=["bytes", "complex", "tuple", "dict"])
def test_other_units_are_refused_before_any_is_remembered(unit):
    memory = ParticipationMemory(Participation())
    with pytest.raises(ParameterError, match="must be text or whole numbers"):
        memory.accept_many(["a", unit], [0, 1], [1, 1])
    assert len(memory) == 0
