"""Whoever sets the clock gets no budget early, and never more than the account above has for life."""

import time

import pytest
from tests.attacks_on_ledgers.census import Clock, asked, believed, census, ledger_of

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.ledger.core.windows import DAY, MICROSECONDS, CalendarWindow, RollingWindow

MOMENT = 1 / DAY
"""A microsecond, in days."""
TENTH = sf.PureDP("0.1")
WINDOWS = [CalendarWindow("day"), CalendarWindow("month"), CalendarWindow("year"), RollingWindow(30)]
ages = iter(range(10**6))


@pytest.fixture
def clock(monkeypatch):
    """Noon of the 4th of October 2024, a Friday, in all ledgers that sessions open."""
    clock = Clock()
    believed(clock, monkeypatch)
    return clock


def spend(view, epsilon=1):
    """Ask something new; whether it was answered."""
    try:
        return bool(asked(view, next(ages), epsilon=epsilon))
    except BudgetExceededError:
        return False


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("back", [0, MOMENT, 1, 40, 400, 20_000])
def test_38_a_clock_that_is_set_back_gives_nothing_back(clock, window, back):
    with census(window=window) as session:
        assert spend(session)
        clock.days -= back
        assert not spend(session, "0.1")
        assert session.remaining == sf.PureDP(0)


@pytest.mark.parametrize("back", [MOMENT, 1, 400])
def test_38_a_clock_that_is_set_forward_and_back_again_opens_one_window_and_no_second(clock, back):
    with census(window=CalendarWindow("month")) as session:
        assert spend(session)
        clock.days += 400
        assert spend(session)
        clock.days -= back
        assert not spend(session, "0.1")
        clock.days += back
        assert not spend(session, "0.1")
        assert ledger_of(session).spent_in_all("census") == sf.PureDP(2)


@pytest.mark.parametrize("back", [1, 40])
def test_38_nor_does_it_after_a_restart(clock, tmp_path, back):
    for _ in range(2):
        with census(window=RollingWindow(30), ledger=tmp_path / "ledger.db") as session:
            assert spend(session) == (clock.days == 0)
        clock.days -= back


def test_38_a_rolling_window_ends_to_the_microsecond(clock):
    with census(window=RollingWindow(30)) as session:
        assert spend(session, "0.4")
        clock.days += 10
        assert spend(session, "0.6")
        clock.days = 30 - MOMENT
        assert not spend(session, "0.4")
        clock.days = 30
        assert not spend(session, "0.5")
        assert spend(session, "0.4")
        assert session.remaining == sf.PureDP(0)


TURNS = {"day": 0.5, "week": 2.5, "month": 27.5, "quarter": 88.5, "year": 88.5}
"""When the first period after the 4th of October 2024, 12:00, begins: days from then."""


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/Anchorage"])
@pytest.mark.parametrize("period", TURNS)
def test_38_a_calendar_window_turns_at_midnight_utc_wherever_the_curator_is_and_whatever_its_summer_time(
    clock, monkeypatch, period, zone
):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        with census(window=CalendarWindow(period)) as session:
            assert spend(session)
            clock.days = TURNS[period] - MOMENT
            assert not spend(session, "0.1")
            clock.days = TURNS[period]
            assert spend(session)
            assert not spend(session, "0.1")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_38_a_second_that_comes_twice_is_no_new_day(clock):
    second = MICROSECONDS / DAY
    with census(window=CalendarWindow("day")) as session:
        clock.days = 0.5
        assert spend(session)
        clock.days = 0.5 - second  # the last second of the day before, once more
        assert not spend(session, "0.1")
        clock.days = 0.5
        assert not spend(session, "0.1")


def test_38_however_the_clock_is_set_all_windows_together_stay_within_the_budget_for_life(clock):
    with census(window=CalendarWindow("day"), lifetime=sf.PureDP(5)) as session:
        granted = 0
        for days in (1, 30, -29, 365, 400, -800, 3_650, 36_500):
            clock.days += days
            granted += spend(session, "0.7") + spend(session, "0.3") + spend(session, "0.1")
        ledger = ledger_of(session)
        assert ledger.spent("census/for life") == ledger.spent_in_all("census") == sf.PureDP(5)
        assert granted == 10
        clock.days += 1_000
        assert session.remaining == sf.PureDP(1)
        assert not spend(session, "0.1")


def test_38_an_analysts_window_does_not_open_that_of_the_dataset(clock):
    with census(budget=sf.PureDP(2), window=CalendarWindow("year")) as session:
        ann = session.open_account("ann", budget=sf.PureDP(1), window=CalendarWindow("day"))
        for expected in (True, True, False):
            assert spend(ann) == expected
            clock.days += 1
        assert (ann.remaining, session.remaining) == (sf.PureDP(1), sf.PureDP(0))


def test_38_a_stored_answer_stays_free_in_every_window_and_is_not_drawn_anew(clock):
    with census(window=CalendarWindow("month")) as session:
        first = asked(session, 30)
        for _ in range(5):
            clock.days += 31
            assert asked(session, 30).records() == first.records()
            assert session.spent == sf.PureDP(0)
        assert ledger_of(session).spent_in_all("census") == TENTH


def test_38_a_budget_for_life_belongs_to_a_window():
    with pytest.raises(ParameterError, match="lifetime"):
        census(lifetime=sf.PureDP(3))
