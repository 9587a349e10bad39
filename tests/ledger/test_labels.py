"""A label says what holds, whatever the owner did to the budgets, and never less than what was spent."""

import json
import math

import pytest
from tests.ledger.stories import HandClock, account, gaussian, release, time

from sfumato.accounting.adaptive.divergence_filters import RDPFilter
from sfumato.accounting.gaussian.zcdp import zcdp_epsilon_up
from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.ledger.labels import label_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.numeric.rationals import exact
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP

MONTH = CalendarWindow("month")


def ledger_of(*accounts, clock=None):
    ledger = Ledger(MemoryStore(), clock=clock or HandClock())
    for one in accounts:
        ledger.open_account(one)
    return ledger


def label(*accounts, of="people", **options):
    return label_of(ledger_of(*accounts), of, **options)


def test_a_budget_for_life_is_the_guarantee():
    found = label(account(budget=ApproxDP(3, "1e-6")))
    assert [str(bound) for bound in found.guarantee] == ["ε 3, δ 1e-06"]
    assert (found.window, found.privacy_unit, str(found.neighboring_relation)) == (
        "never refills", "each row", "add_or_remove_one",
    )  # fmt: skip


def test_a_window_below_a_budget_for_life_says_what_it_is_at_most():
    found = label(account("all", PureDP(4)), account(window=MONTH, parents=("all",)))
    assert found.window == "per calendar month (UTC), at most ε 4 for life"


@pytest.mark.parametrize("above", [[], [account("all", NO_GUARANTEE)], [account("all", PureDP(9), window=MONTH)]])
def test_a_window_without_a_finite_budget_above_is_unbounded_in_total(above):
    found = label(*above, account(window=RollingWindow(30), parents=tuple(one.account for one in above)))
    assert found.window == "per any 30 days; per window, unbounded in total"
    assert found.guarantee == ()
    assert "total guarantee: none" in str(found)


def test_no_guarantee_is_none_and_infinite_in_json():
    found = label(account(budget=NO_GUARANTEE))
    assert found.guarantee == ()
    assert json.loads(found.to_json())["bounds"][0]["epsilon"] == "infinite"


def test_of_several_accounts_the_tightest_of_each_measure_is_stated_and_all_are_listed():
    accounts = [
        account("top", PureDP(5)), account("team", PureDP(2), parents=("top",)),
        account("loose", ZCDP(8), parents=("team",)), account("people", ZCDP("0.5"), parents=("loose",)),
    ]  # fmt: skip
    found = label(*accounts)
    assert [(bound.account, bound.measure) for bound in found.guarantee] == [("team", "DP"), ("people", "ZCDP")]
    assert [bound.account for bound in found.bounds] == ["people", "loose", "team", "top"]
    assert "loose: ρ 8, so ε" in str(found)


def test_rho_is_told_as_epsilon_at_the_stated_delta():
    (bound,) = label(account(budget=ZCDP("0.5")), delta="1e-9").guarantee
    assert (bound.epsilon, bound.delta) == (zcdp_epsilon_up(rho="0.5", delta="1e-9"), exact("1e-9", "delta"))


def test_a_delta_of_its_own_is_part_of_the_stated_one():
    (bound,) = label(account(budget=ZCDP("0.5", "4e-7")), delta="1e-6").guarantee
    assert (bound.epsilon, bound.delta) == (zcdp_epsilon_up(rho="0.5", delta="6e-7"), exact("1e-6", "delta"))


def test_a_delta_of_its_own_that_is_as_large_as_the_stated_one_comes_on_top():
    (bound,) = label(account(budget=ZCDP("0.5", "1e-6")), delta="1e-6").guarantee
    assert (bound.epsilon, bound.delta) == (zcdp_epsilon_up(rho="0.5", delta="1e-6"), exact("2e-6", "delta"))


def test_renyi_divergences_are_told_as_the_filter_tells_them():
    (bound,) = label(account(budget=RenyiDP((2, 8), (1, "3.1")))).guarantee
    assert bound.epsilon == RDPFilter((2, 8), (1, "3.1"), "1e-6").event.budget.epsilon
    assert bound.measure == "RenyiDP"


def test_a_budget_below_what_is_spent_promises_what_is_spent():
    ledger = ledger_of(account())
    ledger.reserve("people", question="q", **release("0.8"))
    ledger.change_budget("people", PureDP("0.5"), reason="less")
    found = label_of(ledger, "people")
    assert [str(bound) for bound in found.guarantee] == ["ε 0.8"]
    assert "budget: ε 0.5, and ε 0.8 was spent before it was lowered" in str(found)


def test_a_delta_that_was_spent_stays_in_the_promise_of_a_pure_budget():
    ledger = ledger_of(account(budget=ApproxDP(2, "1e-6")))
    ledger.reserve("people", question="q", **release("0.5", "1e-7"))
    ledger.change_budget("people", PureDP(1), reason="pure from now on")
    assert label_of(ledger, "people").bounds[0].promise == ApproxDP(1, "1e-7")


def test_what_was_spent_in_a_window_and_ever_are_told_apart():
    clock = HandClock(time("2024-11-21T12:00"))
    ledger = ledger_of(account(window=MONTH), clock=clock)
    ledger.reserve("people", question="q", **release("0.8"))
    clock.at = time("2024-12-01T00:00")
    ledger.reserve("people", question="q", **release("0.1"))
    found = label_of(ledger, "people")
    assert "spent: ε 0.1 in this window, ε 0.9 in total" in str(found)
    assert found.bounds[0].promise == PureDP(1)


def test_what_is_paid_above_is_told_with_what_they_spent():
    ledger = ledger_of(account("all", ZCDP(1)), account(budget=ApproxDP(100, "1e-5"), parents=("all",)))
    ledger.reserve("people", question="q", **gaussian(GaussianEvent(10)))
    assert "all: ρ 1, so ε 7.76622 at δ 1e-6 for life, spent ρ 0.005" in str(label_of(ledger, "people"))


def test_a_closed_account_and_one_below_a_closed_one_say_so():
    ledger = ledger_of(account("all", PureDP(4)), account(parents=("all",)))
    assert "state: open" in str(label_of(ledger, "people"))
    ledger.close_account("all", reason="over")
    assert label_of(ledger, "people").to_dict()["state"] == "closed"


def test_json_has_a_version_and_exact_budgets_and_epsilon_rounded_up():
    document = json.loads(label(account(budget=PureDP("1/3"))).to_json())
    (bound,) = document["bounds"]
    assert document["version"] == 1
    assert bound["promise"] == {"type": "PureDP", "epsilon": "1/3"}
    assert bound["epsilon"] >= exact("1/3", "epsilon") > math.nextafter(bound["epsilon"], 0)


def test_accounts_beside_and_below_are_not_in_a_label():
    accounts = [account(), account("people/ann", parents=("people",)), account("people/bob", parents=("people",))]
    assert "bob" not in label(*accounts, of="people/ann").to_json()
    assert "ann" not in label(*accounts, of="people").to_json()


@pytest.mark.parametrize("delta", [0, 1, -1, "x"])
def test_a_delta_outside_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        label(account(), delta=delta)


def test_an_account_that_is_not_open_has_no_label():
    with pytest.raises(LedgerError, match="nobody"):
        label(account(), of="nobody")
