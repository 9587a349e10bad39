import pytest

from sfumato.ledger.core import clock
from sfumato.ledger.core.clock import DAY, SystemClock


@pytest.fixture
def system(monkeypatch):
    """What both clocks of a machine say, to be set by hand."""
    shown = {"wall": 20_000 * DAY, "steady": 7}
    monkeypatch.setattr(clock, "_wall", lambda: shown["wall"])
    monkeypatch.setattr(clock, "_steady", lambda: shown["steady"])
    return shown


def test_where_both_go_on_it_is_that_late(system):
    told = SystemClock()
    assert told() == 20_000 * DAY
    system["wall"] += DAY
    system["steady"] += DAY
    assert told() == 20_001 * DAY


def test_put_forward_it_hurries_no_more_than_the_steady_clock(system):
    told = SystemClock()
    system["wall"] += 365 * DAY
    system["steady"] += 5
    assert told() == 20_000 * DAY + 5


def test_put_back_it_stands_still_until_the_old_time_is_there_again(system):
    told, start = SystemClock(), system["wall"]
    for wall, steady, expected in ((1, 1, 1), (-DAY, 2, 1), (0, DAY, 1), (3, DAY + 3, 3)):
        system["wall"], system["steady"] = start + wall, 7 + steady
        assert told() == start + expected


def test_put_forward_and_back_again_nothing_was_gained(system):
    told, start = SystemClock(), system["wall"]
    system["wall"] += DAY
    told()
    system["wall"] = start + 2
    system["steady"] += 2
    assert told() == start + 2


def test_a_machine_that_slept_has_its_time_again(system):
    told = SystemClock()
    system["wall"] += 3 * DAY
    system["steady"] += 3 * DAY  # it counts sleep too
    assert told() == 20_003 * DAY


def test_a_jump_of_a_minute_is_named_once_and_less_is_not(system, caplog):
    told = SystemClock()
    for jump in (59, 2, 0, -3600, 30):
        system["wall"] += jump * 10**6
        told()
    assert [record.getMessage() for record in caplog.records] == [
        "the clock of this machine was put forward by 61 s; open ledgers do not follow it",
        "the clock of this machine was put back by 3600 s; in open ledgers time stands still",
    ]


def test_the_clocks_of_this_machine_are_read_in_microseconds():
    assert clock._wall() > 1_700_000_000 * 10**6
    first = clock._steady()
    assert 0 <= clock._steady() - first < DAY


def test_where_no_clock_counts_sleep_the_monotonic_one_is_read(monkeypatch):
    monkeypatch.delattr(clock.time, "CLOCK_BOOTTIME", raising=False)
    assert clock._steady() <= clock._steady()
