"""Accounts above one another: whatever is charged is charged to all of them, each in its own measure, or to none."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.ledger.stories import (
    NOON,
    TREE,
    account,
    decided,
    gaussian,
    of,
    reserve,
    reserved,
    spent,
    ward,
)

from sfumato.errors import (
    BudgetExceededError,
    ParameterError,
    UnsupportedEventError,
)
from sfumato.ledger.core.prices import in_words
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.ledger.writing import rules
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import ApproxEvent, GaussianEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP


def test_every_account_above_is_charged_by_one_entry():
    store = of(*TREE)
    reservation = reserve(store, reserved("r", "ann", "0.3"))
    assert spent(store) == dict.fromkeys(("dataset", "team", "ann"), PureDP("0.3")) | {"bob": PureDP(0)}
    assert (reservation.spent, reservation.left) == (PureDP("0.3"), PureDP("0.7"))
    assert len(store.read(0)) == len(TREE) + 1


@pytest.mark.parametrize("name", ["dataset", "team"])
def test_two_below_it_never_pass_what_an_account_above_may_spend(name):
    store = of(*(replace(one, budget=PureDP(5)) if one.account != name else one for one in TREE))
    for _ in range(2):
        reserve(store, reserved(f"a{_}", "ann", "0.3"))
        reserve(store, reserved(f"b{_}", "bob", "0.2"))
    before = spent(store)
    with pytest.raises(BudgetExceededError) as caught:
        reserve(store, reserved("c", "bob", "1e-15"))
    assert (caught.value.account, caught.value.remaining) == (name, PureDP(0))
    assert spent(store) == before


def test_who_is_refused_is_charged_nowhere():
    store = of(*TREE[:3], replace(TREE[3], budget=PureDP("0.1")))
    with pytest.raises(BudgetExceededError):
        reserve(store, reserved("r", "bob", "0.2"))
    assert set(spent(store).values()) == {PureDP(0)}
    assert len(store.read(0)) == len(TREE)


def test_who_is_above_on_two_ways_is_charged_once():
    diamond = account("dataset"), *(account(name, parents=("dataset",)) for name in "ab")
    store = of(*diamond, account("x", parents=("a", "b")))
    for number in range(10):
        reserve(store, reserved(f"r{number}", "x"))
    assert set(spent(store).values()) == {PureDP(1)}
    with pytest.raises(BudgetExceededError):
        reserve(store, reserved("r", "x"))


def test_each_account_above_prices_the_event_in_its_own_measure():
    store = of(
        account("dataset", ZCDP("0.5")),
        account("team", ApproxDP(2, "1e-5"), parents=("dataset",)),
        account("ann", RenyiDP((2, 8), (1, 4)), parents=("team",)),
        account("bob", NO_GUARANTEE, parents=("ann",)),
    )
    reserve(store, reserved("r", "bob", **gaussian(GaussianEvent(10), "0.6", "1e-6")))
    found = spent(store)
    divergences = found.pop("ann").bounds
    assert found == {"dataset": ZCDP("0.005"), "team": ApproxDP("0.6", "1e-6"), "bob": ApproxDP("0.6", "1e-6")}
    assert [float(one) for one in divergences] == pytest.approx([0.01, 0.04])
    assert all(one >= exact for one, exact in zip(divergences, (Fraction("0.01"), Fraction("0.04")), strict=True))


def test_many_gaussian_answers_cost_far_less_where_rho_is_kept():
    charge = gaussian(GaussianEvent(10), "0.6", "1e-8")
    in_rho = of(account("dataset", ZCDP("0.5")))
    for number in range(100):
        reserve(in_rho, reserved(f"r{number}", "dataset", **charge))
    assert spent(in_rho) == {"dataset": ZCDP("0.5")}
    with pytest.raises(BudgetExceededError) as caught:
        reserve(in_rho, reserved("r", "dataset", **charge))
    assert (caught.value.requested, caught.value.remaining) == (ZCDP("0.005"), ZCDP(0))


@pytest.mark.parametrize("event", [GaussianEvent(10), ApproxEvent("0.1", "1e-9")], ids=["noise", "private keys"])
@pytest.mark.parametrize("pure", ["dataset", "team", "ann"])
def test_one_pure_account_on_the_way_refuses_a_delta_and_says_why(event, pure):
    budgets = dict.fromkeys(("dataset", "team", "ann"), ApproxDP(1, "1e-5")) | {pure: PureDP(1)}
    store = of(*(replace(one, budget=budgets[one.account]) for one in TREE[:3]))
    with pytest.raises(UnsupportedEventError, match=f"account '{pure}' has a pure ε and no δ"):
        reserve(store, reserved("r", "ann", **gaussian(event, "0.6", "1e-6")))
    assert len(store.read(0)) == 3


def test_a_part_may_cost_one_account_nothing_more_and_another_all():
    store = of(*TREE)
    reserve(store, reserved("r", "ann", "0.6", part=ward("A")))
    reserve(store, reserved("s", "bob", "0.6", part=ward("B")))
    assert spent(store) == dict.fromkeys(("dataset", "team", "ann", "bob"), PureDP("0.6"))
    with pytest.raises(BudgetExceededError) as caught:
        reserve(store, reserved("t", "bob", "0.5", part=ward("A")))
    assert (caught.value.account, caught.value.requested) == ("team", PureDP("0.5"))


@pytest.mark.parametrize("facts", [{"budget": NO_GUARANTEE}, {"budget": PureDP(5), "window": RollingWindow(1)}])
def test_a_partition_that_one_above_knows_otherwise_leaves_everything_as_it_was(facts):
    store = of(replace(TREE[0], **facts), *TREE[1:])
    reserve(store, reserved("r", "ann", part=ward("A", 1)))
    with pytest.raises(ParameterError, match="declared with 1"):
        reserve(store, reserved("s", "bob", part=ward("A", 2)), at=NOON + 5 * DAY)
    assert spent(store)["bob"] == PureDP(0)


def refused_part(draft):
    with pytest.raises(ParameterError, match="declared with 1"):
        rules.reserve(draft, reserved("s", "bob", part=ward("A", 2)))
    return in_words(draft.replay.state("bob").spent(NOON), PureDP(1))


def test_what_is_refused_within_a_turn_is_charged_to_nobody_in_it():
    store = of(replace(TREE[0], budget=NO_GUARANTEE), *TREE[1:])
    reserve(store, reserved("r", "ann", part=ward("A", 1)))
    assert decided(store, refused_part) == PureDP(0)


@pytest.mark.parametrize("window", [CalendarWindow("day"), RollingWindow(1)], ids=str)
def test_in_each_window_the_budget_is_there_again_and_never_more_of_it(window):
    store = of(account("dataset", PureDP(3)), account("ann", PureDP(1), parents=("dataset",), window=window))
    for day in range(3):
        reserve(store, reserved(f"r{day}", "ann", 1), at=NOON + day * DAY)
        with pytest.raises(BudgetExceededError, match="0 remaining"):
            reserve(store, reserved("more", "ann", "1e-15"), at=NOON + day * DAY)
    with pytest.raises(BudgetExceededError) as caught:
        reserve(store, reserved("r3", "ann", "0.1"), at=NOON + 3 * DAY)
    assert caught.value.account == "dataset"
