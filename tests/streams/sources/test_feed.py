"""Feeds: which events count at which tick, whatever comes in whatever order, and what is known after a restart."""

import sys
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.streams.feeding import BUDGET, DAYS, SetClock, added, counter_of, day, feed_of

import sfumato as sf
from sfumato.errors import ParameterError, StateError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount, VectorTotal
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources.feed import ARRIVAL
from sfumato.streams.sources.ticks import Ticks

HOURS = timedelta(hours=1)


def counted(feed, clock):
    """What each tick of nine days added, once all have ended."""
    clock.set("2026-02-01")
    feed.advance()
    return added(feed.counter.releases)


def test_events_count_at_the_tick_of_their_own_time_in_any_order():
    times = [day(1), day(2), day(2, 0), day(3, 23)]
    for order in permutations(times):
        clock = SetClock("2026-01-05")
        feed = feed_of(clock)
        for time in order:
            feed.add(time)
        assert counted(feed, clock) == [1, 2, 1, 0, 0, 0, 0, 0, 0]


def test_empty_ticks_are_released():
    clock = SetClock("2026-01-04")
    released = feed_of(clock).advance()
    assert (released.steps.tolist(), released.values.tolist()) == ([1, 2, 3], [0, 0, 0])


def test_a_tick_waits_for_late_events_and_not_longer():
    clock = SetClock(day(2, 5))
    feed = feed_of(clock, lateness=6 * HOURS)
    assert len(feed.advance()) == 0
    feed.add(day(1))
    clock.set(day(2, 6))
    assert feed.advance().values.tolist() == [1]
    feed.add(day(1))
    assert counted(feed, clock) == [1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_a_late_event_moves_no_release_and_raises_nothing():
    clock = SetClock(day(3))
    feed = feed_of(clock)
    feed.add(day(1))
    before = feed.advance().values.tolist()
    for _ in range(5):
        feed.add(day(1))
        feed.add_many([day(1), day(2)])
    assert feed.counter.releases.values.tolist() == before
    assert counted(feed, clock) == [1, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(("ahead", "expected"), [(0, [0, 1, 0, 0]), (1, [0, 1, 1, 0]), (2, [0, 1, 1, 1])])
def test_events_of_ticks_too_far_ahead_are_dropped(ahead, expected):
    clock = SetClock(day(2))
    feed = feed_of(clock, counter_of(horizon=4), ahead=ahead)
    feed.add_many([day(2), day(3), day(4), day(5), day(31)])
    feed.add(day(0 + 31))
    clock.set("2026-02-01")
    assert added(feed.advance()) == expected


def test_before_the_first_tick_and_beyond_the_horizon_there_is_nothing():
    clock = SetClock("2025-12-01")
    feed = feed_of(clock, counter_of(horizon=2), ahead=0)
    feed.add("2025-12-31T23:59:59.999999")
    feed.add(day(1))  # which is ahead by no tick of the first
    clock.set(day(9))
    feed.add(day(3))
    assert added(feed.advance()) == [1, 0]
    assert (feed.counter.is_over, feed.seconds, len(feed.advance())) == (True, float("inf"), 0)
    feed.add(day(2))
    feed.add_many([day(2)])


def test_a_clock_that_is_set_back_opens_no_tick():
    clock = SetClock(day(4))
    feed = feed_of(clock)
    feed.advance()
    clock.set(day(1))
    assert len(feed.advance()) == 0
    feed.add(day(1))
    feed.add(day(4))
    clock.set(day(4, 23))
    assert (len(feed.advance()), round(feed.seconds)) == (0, 3600)
    assert counted(feed, clock) == [0, 0, 0, 1, 0, 0, 0, 0, 0]


def test_a_clock_that_is_set_forward_closes_what_it_skips_unless_that_is_too_much():
    clock = SetClock(day(2))
    feed = feed_of(clock, most_ticks=3)
    feed.advance()
    clock.set(day(8))
    with pytest.raises(ParameterError, match="6 ticks that the clock has passed"):
        feed.advance()
    feed.add(day(2))
    assert feed.counter.next_step == 2
    clock.set(day(5))
    assert feed.advance().values.tolist() == [1, 1, 1]


def test_public_time_that_was_refused_is_not_kept():
    clock = SetClock(day(2))
    feed = feed_of(clock, most_ticks=3)
    with pytest.raises(ParameterError, match="ticks that the clock has passed"):
        feed.advance("2026-01-31")
    feed.add(day(9))  # which is not open
    assert feed.advance().values.tolist() == [0]
    clock.set(day(4))
    assert feed.advance().values.tolist() == [0, 0]
    for number in (7, 10):
        clock.set(day(number))
        assert not feed.advance().values.any()


def test_public_time_may_be_stated_and_never_goes_back_by_it():
    clock = SetClock(day(1))
    feed = feed_of(clock, ahead=0)
    assert len(feed.advance("2026-01-03")) == 2
    feed.add(day(3))
    assert len(feed.advance("2026-01-02")) == 0
    assert feed.advance("2026-01-04").values.tolist() == [1]
    for wrong in ("soon", object()):
        with pytest.raises(ParameterError, match="moment of public time"):
            feed.advance(wrong)


def test_duplicates_of_one_tick_count_once_also_with_other_times_and_after_a_restart(tmp_path):
    with StreamSession("visits", budget=BUDGET, ledger=tmp_path / "ledger.db") as session:
        clock, state = SetClock(day(1)), {"state": tmp_path / "state"}
        with counter_of(session, **state) as counter:
            feed = feed_of(clock, counter, unique=True)
            feed.add(day(1, 1), id=7, unit="ann")
            feed.add(day(1, 2), id=7, unit="ann")
            feed.add_many([day(1)] * 4, ids=np.array([7, 7, 8, 7]), units=["ann", "bob", "ann", "bob"])
            feed.commit()
        with counter_of(session, **state) as counter:
            feed = feed_of(clock, counter, unique=True)
            feed.add_many([day(1), day(1), day(2)], ids=[7, 9, 7], units=["bob", "bob", "ann"])
            assert counted(feed, clock) == [4, 1, 0, 0, 0, 0, 0, 0, 0]


def test_ids_of_closed_ticks_are_forgotten():
    clock = SetClock(day(1))
    feed = feed_of(clock, unique=True)
    feed.add_many([day(1), day(2)], ids=["a", "b"])
    clock.set(day(2))
    feed.advance()
    seen = feed.counter.position["seen"]
    assert list(seen) == ["2"]
    assert len(seen["2"]) == 24  # 16 bytes


def test_where_ids_are_unique_an_event_without_one_is_dropped():
    clock = SetClock(day(1))
    feed = feed_of(clock, unique=True)
    feed.add(day(1))
    feed.add_many([day(1)], ids=[None])
    assert counted(feed, clock)[0] == 0


class Unspeakable:
    """Whatever is asked of it fails with what it holds."""

    def __repr__(self):
        raise RuntimeError("Alice")

    __hash__ = __eq__ = __float__ = __len__ = __str__ = __repr__


class NoZone(tzinfo):
    """A zone that fails."""

    def utcoffset(self, _):
        raise RuntimeError("Alice")


STRANGE = [
    None, "x", b"x", [], {}, set(), 1j, object(), float("nan"), 10**400, True, [[]], Decimal("sNaN"),
    Decimal("1e1000000"), 10**5000, "9" * 5000, "\ud800", np.datetime64("NaT"), np.array([1, 2]), Unspeakable(),
    datetime(2026, 1, 1, tzinfo=NoZone()),
]  # fmt: skip


@pytest.mark.parametrize(
    "measure",
    [
        EventCount(), EventCount(keys=("a", 1)), ClampedSum(0, 5), ClampedSum(0, 5, resolution="0.1"),
        BinCounts((0, 1, 2)), VectorTotal(2, l1_norm=3),
    ], ids=str,
)  # fmt: skip
@pytest.mark.parametrize("has_units", [False, True])
@pytest.mark.parametrize("unique", [False, True])
def test_whatever_an_event_is_nothing_is_raised(measure, has_units, unique):
    session = StreamSession("visits", budget=BUDGET, unit="who" if has_units else sf.EACH_ROW)
    part = Participation(most=1) if has_units else None
    clock = SetClock(day(1))
    feed = feed_of(clock, counter_of(session, measure=measure, participation=part), unique=unique)
    for strange in STRANGE:
        feed.add(strange, strange, key=strange, unit=strange, id=strange)
        feed.add(day(1), strange, key=strange, unit=strange, id=strange)
    many = {
        "values": None if isinstance(measure, EventCount) else STRANGE, "units": STRANGE,
        "ids": STRANGE if unique else None,
        "keys": STRANGE if getattr(measure, "keys", None) else None,
    }  # fmt: skip
    feed.add_many([day(1)] * len(STRANGE), **many)
    feed.add_many(STRANGE, **many)
    feed.add(day(1), 1, key="a", unit="ann", id="e1")
    feed.commit()


def test_one_strange_event_among_many_is_the_only_one_that_is_dropped():
    clock = SetClock(day(1))
    feed = feed_of(clock, counter_of(measure=ClampedSum(0, 5)))
    feed.add_many([day(1)] * 4, [3, "x", None, 9])
    assert counted(feed, clock)[0] == 8


def test_a_strange_event_changes_nothing_of_what_others_may_add():
    """Of a unit whose events come in another order than that of their ticks, the same ones count beside it."""

    def totals(*strange):
        clock = SetClock(day(1))
        session = StreamSession("visits", budget=BUDGET, unit="who")
        feed = feed_of(clock, counter_of(session, participation=Participation(most=9, separation=3)), ahead=9)
        units = ["ann", "ann", *strange]
        feed.add_many([day(4), day(2), *[day(1)] * len(strange)], units=units)
        return counted(feed, clock)

    assert totals() == totals([]) == [0, 1, 0, 0, 0, 0, 0, 0, 0]


def test_columns_are_taken_by_place_also_where_their_cells_have_names():
    clock = SetClock(day(1))
    feed = feed_of(clock, counter_of(measure=ClampedSum(0, 9)))
    feed.add_many([day(1), None, day(1)], {2: 1, 7: 2, 0: 4}.values())
    assert counted(feed, clock)[0] == 5
    for wrong in (7, "abc", {"a": 1}):
        with pytest.raises(ParameterError, match="must be an array or a list"):
            feed.add_many([day(1)], wrong)


def test_columns_that_the_counter_does_not_take_are_refused_before_anything_is_taken():
    feed = feed_of(SetClock(day(1)))
    for columns in ({"values": [1]}, {"keys": ["a"]}, {"ids": [1]}):
        with pytest.raises(ParameterError, match="must be left out"):
            feed.add_many([day(1)], **columns)
    with pytest.raises(ParameterError, match="as long as times"):
        feed.add_many([day(1)], units=[1, 2])
    with pytest.raises(ParameterError, match="is missing"):
        feed_of(SetClock(day(1)), unique=True).add_many([day(1)])


def test_an_event_on_arrival_is_of_the_open_tick():
    clock = SetClock(day(3))
    feed = feed_of(clock)
    feed.add(ARRIVAL)
    assert counted(feed, clock) == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_a_position_is_durable_with_the_events_before_it_and_with_no_others(tmp_path):
    with StreamSession("visits", budget=BUDGET, ledger=tmp_path / "ledger.db") as session:
        clock, state = SetClock(day(1)), {"state": tmp_path / "state"}
        with counter_of(session, **state) as counter:
            feed = feed_of(clock, counter)
            feed.add(day(1), position={"offset": 1})
            feed.commit()
            feed.add(day(1), position={"offset": 2})  # the process ends before this is committed
            assert (feed.position, counter.position["position"]) == ({"offset": 2}, {"offset": 1})
        with counter_of(session, **state) as counter:
            feed = feed_of(clock, counter)
            assert feed.position == {"offset": 1}
            feed.add(day(1), position={"offset": 2})
            clock.set(day(2))
            assert feed.advance().values.tolist() == [2]
            assert counter.position["position"] == {"offset": 2}


class Interrupted(BaseException):
    """What Ctrl-C raises, wherever a process is."""


@pytest.mark.parametrize("is_many", [False, True])
def test_an_interruption_leaves_no_event_without_its_position_and_no_position_without_its_event(is_many):
    """It comes before each line that is run while an event is taken; what is committed then is right, or nothing is."""

    def take(feed, number):
        if is_many:
            feed.add_many([day(1), day(1)], position=number)
        else:
            feed.add(day(1), position=number)

    def stopped_at(place, feed):
        lines = 0

        def trace(frame, kind, _):
            nonlocal lines
            if "/streams/" not in frame.f_code.co_filename:
                return None
            lines += kind == "line"
            if lines == place:
                sys.settrace(None)
                raise Interrupted
            return trace

        sys.settrace(trace)
        try:
            take(feed, 2)
        except Interrupted:
            return True
        finally:
            sys.settrace(None)
        return False

    size, place, refused, is_stopped = 2 if is_many else 1, 0, 0, True
    before = sys.gettrace()
    while is_stopped:
        place += 1
        feed = feed_of(SetClock(day(1)))
        take(feed, 1)
        is_stopped = stopped_at(place, feed)
        try:
            feed.commit()
        except StateError:
            refused += 1
            for call in (lambda: take(feed, 3), lambda: feed.advance(day(2))):  # noqa: B023 # called at once
                with pytest.raises(StateError, match="interrupted while it took an event"):
                    call()
        else:
            assert feed.advance(day(2)).values.tolist() == [size * feed.position]
    sys.settrace(before)
    assert 0 < refused < place


def test_a_counter_goes_on_with_the_clock_and_the_lateness_that_it_was_fed_with(tmp_path):
    with StreamSession("visits", budget=BUDGET, ledger=tmp_path / "ledger.db") as session:
        with counter_of(session, state=tmp_path / "state") as counter:
            feed_of(SetClock(day(1)), counter).commit()
        with counter_of(session, state=tmp_path / "state") as counter:
            other = Ticks(start="2026-01-02", every="day")
            for wrong in ({"ticks": other}, {"lateness": HOURS}, {"unique": True}):
                with pytest.raises(ParameterError, match="as the counter was fed with before"):
                    feed_of(SetClock(day(1)), counter, **wrong)
    counter = counter_of()
    counter.commit(position=17)
    with pytest.raises(ParameterError, match="a Feed has committed"):
        feed_of(SetClock(day(1)), counter)


@pytest.mark.parametrize(
    "wrong", [{"lateness": -HOURS}, {"lateness": 5}, {"ahead": -1}, {"most_ticks": 0}, {"unique": 1}, {"ticks": "day"}],
    ids=lambda wrong: "-".join(f"{name}={value}" for name, value in wrong.items()),
)  # fmt: skip
def test_what_is_no_feed_is_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        feed_of(SetClock(day(1)), **wrong)
    with pytest.raises(ParameterError, match="counter"):
        feed_of(SetClock(day(1)), "counter")


def test_only_the_next_ticks_can_be_closed():
    feed = feed_of(SetClock(day(5)))
    for wrong in (range(2, 4), range(1, 9, 2)):
        with pytest.raises(ParameterError, match="begins with 1"):
            feed.close(wrong)


events = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2), st.sampled_from("ab")), max_size=6)


@given(stream=events, gone=st.tuples(st.integers(1, 4), st.integers(0, 2), st.sampled_from("ab")), cuts=st.data())
def test_without_one_event_at_most_its_tick_has_one_event_less(stream, gone, cuts):
    """An event is all that has its unit and id in its tick; closing comes between events, wherever it is."""
    closings = cuts.draw(st.lists(st.integers(0, len(stream)), max_size=2), label="closings")

    def totals(kept):
        clock = SetClock(day(1))
        feed = feed_of(clock, unique=True, ahead=3, lateness=HOURS)
        for place, event in enumerate(stream):
            for closing in closings:
                if closing == place:
                    clock.set(day(1 + place))
                    feed.advance()
            if kept(event):
                number, own_id, unit = event
                feed.add(day(number), unit=unit, id=own_id)
        return counted(feed, clock)

    differences = [one - other for one, other in zip(totals(lambda _: True), totals(gone.__ne__), strict=True)]
    assert sum(map(abs, differences)) <= 1
    assert all(difference in {0, 1} for difference in differences)
    assert all(place == gone[0] - 1 for place, difference in enumerate(differences) if difference)


records = st.tuples(st.integers(1, 2), st.integers(0, 1), st.sampled_from("ab"), st.sampled_from("xyz"))


@given(stream=st.lists(records, min_size=1, max_size=6), data=st.data())
def test_without_one_record_at_most_its_own_key_has_one_event_less(stream, data):
    """Where each record is a unit: also if others have its id, and say something else."""
    gone = data.draw(st.integers(0, len(stream) - 1), label="gone")

    def totals(kept):
        clock = SetClock(day(1))
        feed = feed_of(clock, counter_of(horizon=2, measure=EventCount(keys=("x", "y"))), unique=True)
        for number, own_id, unit, key in kept:
            feed.add(day(number), unit=unit, id=own_id, key=key)
        clock.set("2026-02-01")
        return feed.advance().values

    difference = totals(stream) - totals(stream[:gone] + stream[gone + 1 :])
    tick, _, _, key = stream[gone]
    assert difference.sum() == np.abs(difference).sum() <= 2  # a total of the first tick is in that of the second
    assert not difference[: tick - 1].any()
    assert key == "z" or not difference[:, "yx".index(key)].any()
    assert np.ptp(difference[tick - 1 :], axis=0).max() == 0
    assert difference.max() <= 1


def test_ticks_are_numbered_as_the_steps_of_the_counter():
    assert DAYS.at(SetClock(day(3))()) == 3
