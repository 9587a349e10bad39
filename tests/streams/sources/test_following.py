"""Ticks that close at their time, whether or not an event comes, and sources that begin again."""

from itertools import count
from threading import Event as Signal
from threading import enumerate as threads
from time import sleep

import pytest
from tests.streams.feeding import BUDGET, SetClock, counter_of, day, feed_of

from sfumato.errors import ParameterError, StateError
from sfumato.streams.counting.measures import ClampedSum
from sfumato.streams.keeping.account import StreamSession
from sfumato.streams.sources import following
from sfumato.streams.sources.following import follow, ticking


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch):
    monkeypatch.setattr(following, "_LONGEST_WAIT", 0.01)


def test_events_are_taken_and_at_the_end_ticks_that_have_ended_are_closed():
    clock = SetClock(day(1))
    feed = feed_of(clock)

    def events():
        yield from [(day(1), None), (day(1), None), ("soon", None), "no pair", (day(1), {"value": 3})]

    assert list(follow(feed, events())) == []
    assert (feed.position, feed.counter.position["position"]) == (5, 5)
    clock.set(day(2))
    assert feed.advance().values.tolist() == [3]


def test_ticks_close_while_the_source_is_silent():
    clock, goes_on = SetClock(day(1)), Signal()
    feed = feed_of(clock)

    def events():
        yield day(1), None
        while feed.position is None:
            sleep(0.001)
        clock.set(day(4))
        goes_on.wait(60)
        yield day(4), None

    found = follow(feed, events())
    assert next(found).values.tolist() == [1, 1, 1]
    goes_on.set()
    assert list(found) == []
    clock.set(day(5))
    assert feed.advance().values.tolist() == [2]


def test_a_source_that_begins_again_is_read_past_what_was_taken(tmp_path):
    events = [(day(1), None), (day(1), None), (day(2), None)]
    with StreamSession("visits", budget=BUDGET, ledger=tmp_path / "ledger.db") as session:
        clock = SetClock(day(1))
        for _ in range(3):
            with counter_of(session, state=tmp_path / "state") as counter:
                assert list(follow(feed_of(clock, counter), events)) == []
        clock.set(day(3))
        with counter_of(session, state=tmp_path / "state") as counter:
            feed = feed_of(clock, counter)
            (released,) = follow(feed, [*events, (day(2), None)])
            assert released.values.tolist() == [2, 3]  # the fourth was late: its tick closed with the third
        assert feed.position == 4


def test_events_that_only_follow_are_all_taken():
    clock = SetClock(day(1))
    feed = feed_of(clock)
    for _ in range(2):
        assert list(follow(feed, [(day(1), None)], begins_again=False)) == []
    clock.set(day(2))
    assert feed.advance().values.tolist() == [2]


def test_numbers_and_mappings_are_events():
    clock = SetClock(day(1))
    feed = feed_of(clock, counter_of(measure=ClampedSum(0, 9, keys=("a", "b"))))
    mapped = [{"value": 2, "key": "a"}, {"value": 3, "key": "b"}, {"value": 4, "key": "c"}, {"key": "a"}, 5, None]
    assert list(follow(feed, [(day(1), event) for event in mapped])) == []
    clock.set(day(2))
    assert feed.advance().values.tolist() == [[2, 3]]


def test_a_counter_that_is_over_ends_it_though_events_go_on():
    clock = SetClock(day(3))
    endless = ((day(3), None) for _ in count())
    (released,) = follow(feed_of(clock, counter_of(horizon=2)), endless)
    assert len(released) == 2
    for thread in threads():
        if thread.name == "sfumato-events":
            thread.join(60)
            assert not thread.is_alive()


def test_what_the_source_fails_with_is_raised_and_what_came_before_is_not_committed():
    def events():
        yield day(1), None
        raise OSError("the queue is gone")

    feed = feed_of(SetClock(day(1)))
    with pytest.raises(OSError, match="the queue is gone"):
        list(follow(feed, events()))
    assert feed.counter.position is None


def test_a_feed_of_another_source_is_refused():
    feed = feed_of(SetClock(day(1)))
    feed.add(day(1), position={"batch": 3})
    with pytest.raises(ParameterError, match="number of events"):
        next(follow(feed, []))
    with pytest.raises(ParameterError, match="feed"):
        next(follow("feed", []))


def test_ticks_close_in_a_thread_of_their_own():
    clock, found, closed = SetClock(day(1)), [], Signal()
    feed = feed_of(clock)

    def show(released):
        found.extend(released.values.tolist())
        closed.set()

    with ticking(feed, show):
        feed.add(day(1))
        clock.set(day(3))
        assert closed.wait(60)
    assert found == [1, 1]
    clock.set(day(9))
    assert len(found) == 2
    with pytest.raises(ParameterError, match="on_release"), ticking(feed, None):
        pass


def test_a_commit_that_fails_in_the_thread_is_raised_at_the_end(monkeypatch):
    failed = Signal()
    feed = feed_of(SetClock(day(3)))

    def close(_):
        failed.set()
        raise StateError("visits", "the disk is full")

    monkeypatch.setattr(feed, "close", close)
    with pytest.raises(StateError, match="the disk is full"), ticking(feed, print):
        assert failed.wait(60)
