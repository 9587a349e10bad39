import pytest
from tests.ledger.stories import account, amounts, time, ward

from sfumato.ledger.core.account import AccountState
from sfumato.ledger.core.clock import DAY
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP

NOON = time("2024-11-21T12:00")
TENTH = amounts(epsilon="0.1")


def opened(budget=None, window=None):
    return AccountState.of(account(budget=budget, window=window), ("people",))


def charged(state, *times, price=TENTH, part=None):
    for at in times:
        state.charge(price, part, at)
    return state


@pytest.mark.parametrize(
    ("budget", "tenth", "least"),
    [
        (PureDP(1), amounts(epsilon="0.1"), amounts(epsilon="1e-15")),
        (ApproxDP(5, "1e-5"), amounts(epsilon="0.1", delta="1e-6"), amounts(delta="1e-50")),
        (ZCDP(1), amounts(rho="0.1"), amounts(rho="1e-24")),
        (ZCDP(5, "1e-5"), amounts(rho="0.1", delta="1e-6"), amounts(delta="1e-50")),
        (RenyiDP((2, 8), (1, 5)), amounts(D_2="0.1", D_8="0.1"), amounts(D_2="1e-24")),
        (RenyiDP((2, 8), (5, 1)), amounts(D_2="0.1", D_8="0.1"), amounts(D_8="1e-24")),
        (RenyiDP((2,), (5,), "1e-5"), amounts(D_2="0.1", delta="1e-6"), amounts(delta="1e-50")),
    ],
    ids=str,
)
def test_ten_tenths_fill_every_measure_to_the_last_digit(budget, tenth, least):
    state = charged(opened(budget), *range(9), price=tenth)
    assert state.fits(tenth, None, 9)
    charged(state, 9, price=tenth)
    assert state.fits(amounts(), None, 9)
    assert not state.fits(least, None, 9)
    assert not state.fits(tenth, None, 9)


def test_a_budget_without_a_promise_holds_everything_and_counts():
    state = charged(opened(NO_GUARANTEE), *range(3), price=amounts(epsilon=10**9, delta="0.9"))
    assert state.fits(amounts(epsilon=10**9), None, 3)
    assert state.spent(3) == amounts(epsilon=3 * 10**9, delta="2.7")
    assert state.left(3) == NO_GUARANTEE


def test_below_what_was_spent_nothing_is_left_and_not_even_nothing_fits():
    state = charged(opened(), 0, 0)
    state.budget = PureDP("0.1")
    assert state.left(0) == PureDP(0)
    assert not state.fits(amounts(epsilon=0), None, 0)


def test_a_part_that_another_outweighs_fits_a_full_account():
    state = charged(opened(), 0, price=amounts(epsilon=1), part=ward("A"))
    assert state.fits(amounts(epsilon=1), ward("B"), 0)
    assert not state.fits(amounts(epsilon="0.1"), ward("A"), 0)
    assert state.increase(amounts(epsilon="1.2"), ward("B"), 0)["epsilon"] == amounts(e="0.2")["e"]


def test_without_a_window_nothing_comes_back():
    state = charged(opened(), 0)
    assert state.spent(10**6 * DAY) == TENTH
    assert not state.recent


def test_a_rolling_window_forgets_a_charge_just_when_so_many_days_have_passed():
    state = charged(opened(window=RollingWindow(30)), NOON)
    assert state.spent(NOON + 30 * DAY - 1)["epsilon"] == TENTH["epsilon"]
    assert state.spent(NOON + 30 * DAY)["epsilon"] == 0
    assert state.lifetime.total() == TENTH


def test_a_calendar_window_forgets_at_the_turn_of_the_month():
    state = charged(opened(window=CalendarWindow("month")), time("2024-02-29T23:59:59"), time("2024-02-29T23:59:59"))
    assert state.left(time("2024-02-29T23:59:59")) == PureDP("0.8")
    assert state.left(time("2024-03-01T00:00")) == PureDP(1)


def test_of_charges_at_one_time_all_stay_or_none():
    state = charged(opened(window=RollingWindow(1)), *[NOON] * 5, NOON + 1)
    assert state.spent(NOON + DAY - 1)["epsilon"] == 6 * TENTH["epsilon"]
    assert state.spent(NOON + DAY)["epsilon"] == TENTH["epsilon"]


def test_parts_leave_a_window_too():
    state = opened(window=RollingWindow(1))
    charged(state, NOON, price=amounts(epsilon=1), part=ward("A"))
    charged(state, NOON + 5, price=TENTH, part=ward("B"))
    assert state.spent(NOON + 5)["epsilon"] == 1
    assert state.spent(NOON + DAY)["epsilon"] == TENTH["epsilon"]
    assert state.fits(amounts(epsilon="0.9"), ward("B"), NOON + DAY)
    assert not state.fits(amounts(epsilon="1"), ward("B"), NOON + DAY)


def test_in_every_window_the_whole_budget_fits_again_and_no_more():
    state = opened(window=CalendarWindow("day"))
    for day in range(5):
        at = NOON + day * DAY
        assert state.fits(amounts(epsilon=1), None, at)
        charged(state, at, price=amounts(epsilon=1))
        assert not state.fits(amounts(epsilon="1e-15"), None, at)
    assert state.lifetime.total() == amounts(epsilon=5)


def test_what_a_part_costs_beside_a_dearer_one_is_not_forgotten_when_it_becomes_the_dearest():
    state = opened()
    for value in "ABB":
        charged(state, 0, price=amounts(epsilon="0.5"), part=ward(value))
    assert state.spent(0)["epsilon"] == 1
