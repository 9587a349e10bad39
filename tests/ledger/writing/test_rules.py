from dataclasses import replace

import pytest
from tests.ledger.stories import (
    KEY,
    NOON,
    TREE,
    account,
    committed,
    decided,
    held,
    kept,
    of,
    release,
    reserve,
    reserved,
    spent,
    ward,
)

from sfumato.errors import (
    BudgetExceededError,
    LedgerError,
    ParameterError,
    ReservationError,
)
from sfumato.ledger.core.entry import Abandoned, Closed, Opened, Rebudgeted, Recognized, Shared
from sfumato.ledger.core.windows import RollingWindow
from sfumato.ledger.keeping.follower import Follower
from sfumato.ledger.writing import rules
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

ASKED = reserved("r", principal="ann", idempotency_key="one", body="b")


def open_account(store, opened, *fingerprints):
    tables = (held(opened.account, *fingerprints),) if fingerprints else ()
    decided(store, lambda pending: rules.open_account(pending, opened, tables, ()))
    return Follower(KEY).caught_up(store).state(opened.account)


def share(store, entry, answer="of another"):
    first = committed("r", owner=entry.source, answer=answer)
    own = lambda found, reservation: [found, str(reservation.left)]  # noqa: E731
    return decided(store, lambda pending: rules.share(pending, entry, first, own))


def shared(reader, source, epsilon="0.1", **facts):
    return Shared(account=reader, source=source, request="s", **release(epsilon) | facts)


# Opening, and closing


def test_an_account_is_opened_once_however_often_it_is_asked_for():
    store = of()
    for _ in range(3):
        open_account(store, account())
    assert len(store.read(0)) == 1
    assert open_account(store, account(at=5)).opened.at == NOON  # the ledger's own time


@pytest.mark.parametrize(
    "change",
    [
        {"budget": PureDP(2)},
        {"neighboring_relation": REPLACE_ONE},
        {"privacy_unit": "household"},
        {"window": RollingWindow(1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_account_is_not_opened_again_with_other_facts(change):
    (name,) = change
    with pytest.raises(LedgerError, match=name):
        open_account(of(account()), replace(account(), **change))


def test_the_budget_it_has_now_is_the_one_that_counts():
    store = of(account(), Rebudgeted(account="people", budget=PureDP(2), reason="r"))
    open_account(store, account(budget=PureDP(2)))
    with pytest.raises(LedgerError, match="budget"):
        open_account(store, account())


def test_an_account_is_not_moved_below_another_one():
    with pytest.raises(LedgerError, match="not opened as a child of dataset"):
        open_account(of(account("dataset"), account("ann")), account("ann", parents=("dataset",)))


def test_whoever_names_all_above_may_do_so_again():
    store = of(*TREE[:2])
    for _ in range(2):
        opened = open_account(store, account("ann", parents=("team", "dataset")))
    assert opened.path == ("ann", "team", "dataset")


def test_the_topmost_is_the_last_of_a_path():
    store = of(account("dataset"), *(account(name, parents=("dataset",)) for name in "ab"))
    assert open_account(store, account("x", parents=("a", "b"))).path == ("x", "a", "b", "dataset")


@pytest.mark.parametrize(
    ("opened", "match"),
    [
        (account("ann", parents=("nobody",)), "must be open before"),
        (account("ann", parents=("people",), privacy_unit="household"), "has privacy_unit 'each row'"),
        (account("ann", parents=("people",), neighboring_relation=REPLACE_ONE), "has neighboring_relation"),
    ],
    ids=["unknown", "other units", "other neighbors"],
)
def test_a_parent_is_open_and_about_the_same_people(opened, match):
    with pytest.raises(ParameterError, match=match):
        open_account(of(account()), opened)


@pytest.mark.parametrize("parents", [("ann",), ("a", "a")])
def test_nobody_is_above_itself_or_twice_above_another(parents):
    with pytest.raises(ParameterError, match="parents"):
        Opened(account="ann", budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="u",
               parents=parents)  # fmt: skip


@pytest.mark.parametrize("closed", ["dataset", "team", "ann"])
def test_a_closed_account_grants_nothing_nor_does_any_below_it(closed):
    store = of(*TREE, Closed(account=closed, reason="the study is over"))
    with pytest.raises(LedgerError, match=f"'{closed}': was closed"):
        reserve(store, reserved("r", "ann", 0))
    with pytest.raises(LedgerError, match=f"'{closed}': was closed"):
        share(store, shared("ann", "bob"))
    assert rules.questions_left(Follower(KEY).caught_up(store), "ann", **release(), at=NOON) == 0


def test_an_account_lowered_below_what_is_spent_grants_not_even_nothing():
    store = of(account(), reserved(epsilon="0.5"), Rebudgeted(account="people", budget=PureDP("0.1"), reason="r"))
    with pytest.raises(BudgetExceededError) as caught:
        reserve(store, reserved("s", epsilon=0))
    assert caught.value.remaining == PureDP(0)


# Lineage


def test_the_same_data_under_a_new_name_is_below_the_account_that_had_it_first():
    store = of(account("census"), Recognized(account="census", fingerprints=("f",)))
    assert open_account(store, account("copy"), "f").path == ("copy", "census")
    assert open_account(store, account("view"), "g", "f").path == ("view", "census")
    assert open_account(store, account("of the view"), "g").path == ("of the view", "view", "census")
    assert open_account(store, account("other"), "h").path == ("other",)


def test_it_comes_from_the_data_of_several():
    store = of(account("a"), account("b"), Recognized(account="a", fingerprints=("1",)))
    open_account(store, account("b"), "2")
    assert set(open_account(store, account("both"), "1", "2").path) == {"both", "a", "b"}


def test_an_open_account_cannot_take_the_data_of_another():
    store = of(account("census"), Recognized(account="census", fingerprints=("f",)), account("other"))
    with pytest.raises(LedgerError, match="has the data of account 'census', which is not its parent"):
        open_account(store, account("other"), "f")
    assert len(store.read(0)) == 3


def test_data_that_grows_stays_with_its_account():
    store = of()
    for fingerprints in (("f",), ("f",), ("f", "g"), ("g",)):
        open_account(store, account("census"), *fingerprints)
    assert list(Follower(KEY).caught_up(store).lineage.items()) == [("f", "census"), ("g", "census")]
    assert len(store.read(0)) == 3


def test_the_same_data_with_other_units_is_refused():
    store = of(account("census"), Recognized(account="census", fingerprints=("f",)))
    with pytest.raises(ParameterError, match="privacy_unit"):
        open_account(store, account("copy", privacy_unit="household"), "f")


# Asking again


def test_who_asks_again_under_a_key_is_charged_once():
    store = of(account())
    first = reserve(store, ASKED)
    again = reserve(store, replace(ASKED, request="new"), at=NOON + 1)
    assert (again.request, again.spent) == (first.request, PureDP("0.1"))
    assert (first.is_repeated, again.is_repeated, again.is_answered) == (False, True, False)
    assert len(store.read(0)) == 2


def test_who_asks_again_on_a_full_budget_or_a_closed_account_has_what_was_granted():
    store = of(account(budget=PureDP("0.1")))
    reserve(store, ASKED)
    kept(store, Closed(account="people", reason="r", at=NOON))
    assert reserve(store, ASKED).is_repeated


def test_once_there_is_an_answer_it_is_to_be_given_again():
    store = of(account(), ASKED, committed("r"))
    assert reserve(store, replace(ASKED, request="new")).is_answered


def test_what_failed_under_a_key_stays_failed_and_charged():
    store = of(account(), ASKED, Abandoned(account="people", request="r", reason="the engine failed"))
    with pytest.raises(ReservationError, match="failed and stays charged"):
        reserve(store, ASKED)
    assert spent(store) == {"people": PureDP("0.1")}


@pytest.mark.parametrize(
    "change",
    [
        {"body": "other"},
        {"question": "other"},
        {"account": "others"},
        {"event": PureEvent("0.05")},
        {"charge": PureDP("0.2")},
        {"part": ward("A")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_question_under_the_same_key_is_refused(change):
    store = of(account(), account("others"), ASKED)
    with pytest.raises(ReservationError, match="is for another query"):
        reserve(store, replace(ASKED, request="new", **change))
    assert spent(store) == {"people": PureDP("0.1"), "others": PureDP(0)}


def test_the_same_key_of_somebody_else_is_another_one():
    store = of(account(), ASKED)
    assert not reserve(store, replace(ASKED, request="s", principal="bob", body="other")).is_repeated
    assert spent(store) == {"people": PureDP("0.2")}


def test_without_a_key_every_question_is_charged():
    store = of(account())
    for name in "rst":
        assert not reserve(store, replace(ASKED, request=name, idempotency_key="")).is_repeated
    assert spent(store) == {"people": PureDP("0.3")}


# Sharing


def test_a_shared_answer_is_charged_to_the_reader_and_not_again_to_those_above_both():
    store = of(*TREE, reserved("r", "ann", "0.4"))
    reservation = share(store, shared("bob", "ann", "0.4"))
    assert spent(store) == dict.fromkeys(("dataset", "team", "ann", "bob"), PureDP("0.4"))
    assert reservation.left == PureDP("0.6")


def test_those_above_the_reader_alone_pay_too():
    store = of(TREE[0], *(account(name, parents=("dataset",)) for name in ("team", "other")),
               account("ann", parents=("team",)), account("bob", parents=("other",)), reserved("r", "ann"))  # fmt: skip
    share(store, shared("bob", "ann"))
    assert set(spent(store).values()) == {PureDP("0.1")}


def test_a_reader_who_cannot_pay_gets_nothing():
    store = of(*TREE[:3], replace(TREE[3], budget=PureDP("0.05")), reserved("r", "ann"))
    with pytest.raises(BudgetExceededError):
        share(store, shared("bob", "ann"))
    assert spent(store)["bob"] == PureDP(0)
    assert len(store.read(0)) == 5


def test_a_reader_keeps_its_own_copy_of_the_answer_with_what_is_its_own():
    store = of(*TREE, reserved("r", "ann"))
    share(store, shared("bob", "ann"))
    kept_answer = decided(store, lambda pending: pending.find('answer ["bob", "k"]'))
    assert kept_answer == replace(committed("s", owner="bob", answer=["of another", "ε 0.9"]), at=NOON)


# How many more


@pytest.mark.parametrize(
    ("budgets", "count"),
    [
        ((PureDP(1), PureDP(1)), 10),
        ((PureDP("0.5"), PureDP(1)), 5),
        ((PureDP(1), PureDP("0.39")), 3),
        ((NO_GUARANTEE, PureDP(1)), 10),
        ((NO_GUARANTEE, NO_GUARANTEE), None),
        ((ZCDP("0.02"), NO_GUARANTEE), 4),
        ((PureDP(0), PureDP(1)), 0),
    ],
)
def test_how_many_more_is_what_the_scarcest_account_above_can_pay(budgets, count):
    store = of(account("dataset", budgets[0]), account("ann", budgets[1], parents=("dataset",)))
    replay = Follower(KEY).caught_up(store)
    assert rules.questions_left(replay, "ann", **release("0.1"), at=NOON) == count
    for number in range(count or 0):
        reserve(store, reserved(f"r{number}", "ann"))
    if count is not None:
        with pytest.raises(BudgetExceededError):
            reserve(store, reserved("r", "ann"))


def test_an_account_that_has_overrun_one_of_its_numbers_can_pay_no_more():
    with_delta = reserved("r", "ann", **release("0.1", "1e-7"))
    without = Rebudgeted(account="ann", budget=PureDP(1), reason="no δ any more")
    store = of(account("ann", ApproxDP(1, "1e-6")), with_delta, without)
    assert rules.questions_left(Follower(KEY).caught_up(store), "ann", **release("0.1"), at=NOON) == 0
