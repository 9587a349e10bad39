"""What was left by when, window by window, and straight lines into the future."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.ledger.stories import account, reserved, rho, time

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Rebudgeted, Shared
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.ledger.reading.spending import project, spending
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP

START = time("2024-11-01T00:00")
MONTH = CalendarWindow("month")


def day(number):
    return START + int(number * DAY)


def asked(number, epsilon="0.1", payer="people", request=None):
    return replace(reserved(request or f"r{number}", payer, epsilon), at=day(number))


def opened(budget=None, name="people", **facts):
    return account(name, budget, at=START, **facts)


def course(*entries, of="people", now=None):
    points = spending(entries, now=now)[of]
    return [((point.at - START) / DAY, None if point.left is None else str(point.left["epsilon"])) for point in points]


def projected(*entries, now, window=None, days=30):
    return project(spending(entries, now=day(now))["people"], window, days=days)


def test_each_charge_and_change_is_a_point():
    more = Rebudgeted(account="people", budget=PureDP(2), reason="more", at=day(3))
    assert course(opened(), asked(1), asked(2, "0.4"), more, now=day(5)) == [
        (0, "1"), (1, "9/10"), (2, "1/2"), (3, "3/2"), (5, "3/2"),
    ]  # fmt: skip


def test_accounts_above_pay_with_those_below_and_only_those_asked_for_are_told():
    entries = [opened(PureDP(3), "all"), opened(parents=("all",)), asked(1)]
    assert course(*entries, of="all") == [(0, "3"), (1, "29/10")]
    assert list(spending(entries, accounts={"people"})) == ["people"]


def test_an_answer_that_is_shared_is_not_paid_again_above():
    ann, bob = opened(name="ann", parents=("all",)), opened(name="bob", parents=("all",))
    share = Shared(account="bob", source="ann", request="s", event=asked(1).event, charge=PureDP("0.1"), at=day(2))
    entries = [opened(PureDP(3), "all"), ann, bob, asked(1, payer="ann"), share]
    assert course(*entries, of="all") == [(0, "3"), (1, "29/10"), (2, "29/10")]
    assert course(*entries, of="bob") == [(0, "1"), (2, "9/10")]


def test_a_calendar_window_comes_back_when_its_period_begins():
    entries = [opened(window=MONTH), asked(20), asked(40)]
    assert course(*entries) == [(0, "1"), (20, "9/10"), (30, "1"), (40, "9/10")]


def test_a_rolling_window_comes_back_charge_by_charge():
    entries = [opened(window=RollingWindow(10)), asked(1), asked(4), asked(30)]
    assert course(*entries) == [(0, "1"), (1, "9/10"), (4, "4/5"), (11, "9/10"), (14, "1"), (30, "9/10")]


def test_a_window_comes_back_also_after_the_last_entry():
    assert course(opened(window=MONTH), asked(20), now=day(45)) == [(0, "1"), (20, "9/10"), (30, "1"), (45, "1")]


def test_what_nothing_limits_has_nothing_left():
    (point, *_) = spending([opened(NO_GUARANTEE)])["people"]
    assert (point.left, point.share_left) == (None, 1)


def test_the_share_that_is_left_is_of_the_scarcest_number():
    tight = replace(asked(1), charge=ApproxDP("0.1", "5e-7"))
    *_, last = spending([opened(ApproxDP(1, "1e-6")), tight])["people"]
    assert last.share_left == Fraction(1, 2)


def test_a_budget_of_nothing_has_no_share_left():
    assert spending([opened(PureDP(0))])["people"][0].share_left == 0


def test_a_pace_is_a_straight_line_to_the_end():
    found = projected(opened(), asked(1), asked(5, "0.4"), now=10)
    assert (found.days, found.lasts_until) == (10, day(20))
    assert str(found) == "at the pace of the last 10 days the budget lasts until 2024-11-21"


def test_only_the_last_days_count():
    found = projected(opened(), asked(1, "0.5"), asked(35), now=40, days=30)
    assert (found.days, found.lasts_until) == (30, day(40 + 120))


def test_what_was_charged_just_at_the_beginning_of_the_days_is_not_of_them():
    found = projected(opened(), asked(10, "0.5"), asked(35), now=40, days=30)
    assert found.lasts_until == day(40 + 120)


def test_a_lower_budget_is_used_up_now():
    less = Rebudgeted(account="people", budget=PureDP("0.1"), reason="less", at=day(2))
    assert projected(opened(), asked(1, "0.5"), less, now=10).lasts_until == day(10)


def test_who_asks_nothing_is_never_through():
    found = projected(opened(), now=10)
    assert found.lasts_until is None
    assert str(found) == "at the pace of the last 10 days the budget is never used up"


def test_a_budget_that_comes_back_before_is_told_so():
    found = projected(opened(window=MONTH), asked(1), now=10, window=MONTH)
    assert str(found) == "at the pace of the last 10 days the budget lasts until it refills on 2024-12-01"


def test_a_calendar_budget_that_is_through_before_it_comes_back_is_told_so():
    found = projected(opened(window=MONTH), asked(1, "0.8"), now=10, window=MONTH)
    assert str(found) == "at the pace of the last 10 days the budget lasts until 2024-11-13"


def test_a_rolling_budget_that_the_pace_never_fills_lasts():
    window = RollingWindow(10)
    assert projected(opened(window=window), asked(1), now=10, window=window).lasts_until is None
    assert projected(opened(window=window), asked(5, "0.8"), now=6, window=window).lasts_until is not None


@pytest.mark.parametrize(("now", "days"), [(1, "1 day"), (2, "2 days")])
def test_days_are_those_that_there_were(now, days):
    assert f"the last {days} " in str(projected(opened(), asked(0.5), now=now))


def test_an_account_of_less_than_a_day_has_no_pace():
    assert projected(opened(), asked(0.1), now=0.9) is None


def test_what_nothing_limits_has_no_projection():
    assert projected(opened(NO_GUARANTEE), asked(1), now=10) is None


def test_in_rho_the_pace_is_that_of_rho():
    paid = replace(asked(5), prices=rho("people", "0.5"))
    assert projected(opened(ZCDP(1)), paid, now=10).lasts_until == day(20)


@pytest.mark.parametrize("days", [0, -1, 1.5])
def test_a_pace_of_no_days_is_refused(days):
    with pytest.raises(ParameterError, match="days"):
        projected(opened(), now=10, days=days)
