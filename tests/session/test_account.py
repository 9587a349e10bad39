"""Accounts below a dataset: opened, found, changed and closed by the owner, each in its own measure and window."""

import re
from fractions import Fraction

import pytest
from tests.attacks_on_ledgers.census import COUNT, Clock, asked, believed, census, ledger_of, people

import sfumato as sf
from sfumato.accounting.gaussian.zcdp import zcdp_epsilon_up
from sfumato.errors import BudgetExceededError, LedgerError, NotPrivateError, ParameterError, UnsupportedEventError
from sfumato.ledger.core.entry import Closed, Opened, Rebudgeted
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import ZCDP, RenyiDP

HALF = sf.PureDP("0.5")
DELTA = "1e-6"


@pytest.fixture
def session():
    with census() as session:
        yield session


def test_an_account_pays_with_all_above_it_and_they_do_not_pay_for_each_other(session):
    team = session.open_account("team", budget=sf.PureDP("0.8"))
    ann, bob = (team.open_account(name, budget=HALF) for name in ("ann", "bob"))
    asked(ann, 10, epsilon="0.2")
    asked(bob, 10, epsilon="0.3")
    asked(team, 10, epsilon="0.1")
    asked(session, 10, epsilon="0.1")
    spent = [str(view.spent) for view in (session, team, ann, bob)]
    assert spent == ["ε 0.7", "ε 0.6", "ε 0.2", "ε 0.3"]
    assert [str(view.remaining) for view in (session, team, ann, bob)] == ["ε 0.3", "ε 0.2", "ε 0.3", "ε 0.2"]


@pytest.mark.parametrize("poor", ["session", "team", "ann"])
def test_a_question_that_any_of_them_cannot_pay_is_refused_and_costs_none(poor):
    budgets = {name: sf.PureDP("0.3" if name == poor else 1) for name in ("session", "team", "ann")}
    with census(budget=budgets["session"]) as session:
        team = session.open_account("team", budget=budgets["team"])
        ann = team.open_account("ann", budget=budgets["ann"])
        with pytest.raises(BudgetExceededError):
            asked(ann, epsilon="0.4")
        assert [view.spent for view in (session, team, ann)] == [sf.PureDP(0)] * 3
        asked(ann, epsilon="0.3")


def test_an_account_is_called_by_those_above_it_and_found_by_its_name(session):
    team = session.open_account("team", budget=HALF)
    ann = team.open_account("ann", budget=HALF)
    asked(ann, epsilon="0.2")
    assert ann.account_name == "census/team/ann"
    for found in (session.account("team/ann"), session.account("team").account("ann")):
        assert found.account_name == ann.account_name
        assert (found.spent, found.budget) == (ann.spent, HALF)
    assert repr(ann) == "<Account census/team/ann: spent ε 0.2 of ε 0.5, remaining ε 0.3>"


def test_an_account_that_is_open_is_found_again_and_not_opened_with_other_facts(session):
    asked(session.open_account("ann", budget=HALF), epsilon="0.2")
    assert str(session.open_account("ann", budget=HALF).remaining) == "ε 0.3"
    for other in ({"budget": sf.PureDP(1)}, {"budget": HALF, "window": CalendarWindow("day")}):
        with pytest.raises(LedgerError, match="was opened with"):
            session.open_account("ann", **other)


@pytest.mark.parametrize("name", ["", "a/b", "/"])
def test_a_name_without_a_slash_is_needed(session, name):
    with pytest.raises(ParameterError, match="slash"):
        session.open_account(name, budget=HALF)


@pytest.mark.parametrize("name", ["nobody", "ann/nobody", "", "../census"])
def test_an_account_that_is_not_open_is_not_found(session, name):
    session.open_account("ann", budget=HALF)
    with pytest.raises(LedgerError, match="is not open"):
        session.account(name)


def test_an_account_of_the_same_name_that_is_not_below_is_not_found(tmp_path):
    path = tmp_path / "ledger.db"
    with (
        census(ledger=path) as session,
        pytest.raises((LedgerError, ParameterError)),  # a dataset is not called so, or is no analyst's account
        census(people(7), dataset="census/ann", budget=sf.PureDP(9_000), ledger=path),
    ):
        asked(session.account("ann"), epsilon=2)
    with census(ledger=path) as session:
        assert session.spent == sf.PureDP(0)


def test_an_account_of_another_dataset_is_not_opened_by_its_name(tmp_path):
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ledger.open_account(
            Opened(account="census/ann", budget=HALF, neighboring_relation=sf.ADD_OR_REMOVE_ONE, privacy_unit="row")
        )
    with census(ledger=path) as session:
        with pytest.raises(LedgerError, match="is not a descendant of 'census'"):
            session.account("ann")
        with pytest.raises(LedgerError, match="was not opened as a child of census"):
            session.open_account("ann", budget=HALF)


def test_accounts_are_there_in_another_session_on_the_same_ledger(tmp_path):
    with census(ledger=tmp_path / "ledger.db") as session:
        asked(session.open_account("ann", budget=HALF), epsilon="0.2")
    with census(ledger=tmp_path / "ledger.db") as session:
        assert str(session.account("ann").remaining) == "ε 0.3"
        assert session.spent == sf.PureDP("0.2")


def test_an_account_asks_in_every_way_a_session_does(session):
    ann = session.open_account("ann", budget=HALF)
    ann.sql(COUNT, epsilon="0.1")
    ann.table().filter(ann.table().age > 30).agg(n=sf.count()).release(epsilon="0.1")
    with ann.partition("people", by="sex") as parts:
        for sex in parts:
            parts[sex].sql(COUNT, epsilon="0.3")
    assert (ann.remaining, session.spent) == (sf.PureDP(0), HALF)
    with pytest.raises(ParameterError, match="table"), ann.partition("nobody", by="sex"):
        pass
    with pytest.raises(ParameterError, match="public values"), ann.partition("people", by="town"):
        pass


# What the owner changes.


def test_a_budget_is_raised_and_lowered_with_a_reason_and_what_is_spent_stays_spent(session):
    ann = session.open_account("ann", budget=HALF)
    asked(ann, 10, epsilon="0.5")
    ann.change_budget(sf.PureDP("0.7"), reason="a second study")
    asked(ann, 20, epsilon="0.2")
    ann.change_budget(sf.PureDP("0.1"), reason="the first was too much")
    assert (ann.budget, ann.spent, ann.remaining) == (sf.PureDP("0.1"), sf.PureDP("0.7"), sf.PureDP(0))
    with pytest.raises(BudgetExceededError):
        asked(ann, 30, epsilon="0.01")
    told = [entry.reason for entry in ledger_of(session).entries() if isinstance(entry, Rebudgeted)]
    assert told == ["a second study", "the first was too much"]


def test_a_raised_account_still_has_no_more_than_the_one_above(session):
    ann = session.open_account("ann", budget=HALF)
    ann.change_budget(sf.PureDP(100), reason="trusted")
    asked(ann, 10, epsilon=1)
    with pytest.raises(BudgetExceededError, match="'census'"):
        asked(ann, 20, epsilon="0.1")


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_change_needs_a_reason(session, reason):
    ann = session.open_account("ann", budget=HALF)
    with pytest.raises(ParameterError, match="reason"):
        ann.change_budget(sf.PureDP(1), reason=reason)
    with pytest.raises(ParameterError, match="reason"):
        ann.close_account(reason=reason)


def test_a_budget_stays_in_its_measure(session):
    with pytest.raises(ParameterError, match="measure"):
        session.change_budget(ZCDP(1), reason="more questions")


def test_a_session_after_a_change_is_opened_with_the_new_budget(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        session.change_budget(sf.PureDP(2), reason="a second year")
    with pytest.raises(LedgerError, match="use the same"):
        census(ledger=path)
    with census(ledger=path, budget=sf.PureDP(2)) as session:
        assert session.remaining == sf.PureDP(2)


def test_a_closed_account_and_those_below_answer_only_what_is_stored(session):
    team = session.open_account("team", budget=HALF)
    ann = team.open_account("ann", budget=HALF)
    first = asked(ann, 10)
    team.close_account(reason="the study is over")
    assert asked(ann, 10).records() == first.records()
    for view in (team, ann):
        with pytest.raises(LedgerError, match="closed"):
            asked(view, 20)
    asked(session, 20)
    (closed,) = (entry for entry in ledger_of(session).entries() if isinstance(entry, Closed))
    assert (closed.account, closed.reason) == ("census/team", "the study is over")
    assert (team.spent, session.spent) == (sf.PureDP("0.1"), sf.PureDP("0.2"))


# Windows.


def test_a_budget_comes_back_with_its_window_within_what_is_left_for_life(monkeypatch):
    clock = Clock()
    believed(clock, monkeypatch)
    with census(window=CalendarWindow("month"), lifetime=sf.PureDP("2.5")) as session:
        for month, epsilon in enumerate((1, 1, "0.5")):
            asked(session, 10 + month, epsilon=epsilon)
            with pytest.raises(BudgetExceededError):
                asked(session, 50 + month, epsilon="0.6")
            clock.days += 31
        assert session.remaining == sf.PureDP(1)
        with pytest.raises(BudgetExceededError, match="for life"):
            asked(session, 90, epsilon="0.1")


def test_a_budget_for_life_may_be_in_another_measure(monkeypatch):
    clock = Clock()
    believed(clock, monkeypatch)
    lifetime = ZCDP("0.011")
    with census(window=CalendarWindow("day"), budget=sf.ApproxDP(1, "1e-5"), lifetime=lifetime) as session:
        for day in range(2):
            gaussian(session, day)
            clock.days += 1
        with pytest.raises(BudgetExceededError, match="for life"):
            gaussian(session, 9)
        assert session.remaining == sf.ApproxDP(1, "1e-5")


@pytest.mark.parametrize("first", [False, True])
def test_a_budget_for_life_is_stated_from_the_beginning_and_stays(tmp_path, monkeypatch, first):
    believed(Clock(), monkeypatch)
    where = {"ledger": tmp_path / "ledger.db", "window": CalendarWindow("month")}
    with census(lifetime=sf.PureDP(2) if first else None, **where):
        pass
    if first:
        with census(**where) as session:  # not stated again, and there all the same
            assert ledger_of(session).path("census") == ("census", "census/for life")
        with pytest.raises(LedgerError, match="was opened with"):
            census(lifetime=sf.PureDP(3), **where)
    else:
        with pytest.raises(LedgerError, match="as a child of"):
            census(lifetime=sf.PureDP(2), **where)


def test_analysts_have_windows_of_their_own(monkeypatch):
    clock = Clock()
    believed(clock, monkeypatch)
    with census(budget=sf.PureDP(3)) as session:
        ann = session.open_account("ann", budget=HALF, window=RollingWindow(7))
        bob = session.open_account("bob", budget=HALF)
        for week in range(3):
            asked(ann, week, epsilon="0.5")
            assert ann.remaining == sf.PureDP(0)
            clock.days += 7
        asked(bob, 10, epsilon="0.5")
        clock.days += 70
        assert [view.remaining for view in (ann, bob, session)] == [HALF, sf.PureDP(0), sf.PureDP(1)]


# Other measures.

MEASURES = {
    "zCDP": ZCDP("0.03", "1e-4"),
    "Rényi": RenyiDP((2, 16), ("0.05", "0.4"), "1e-4"),
    "approximate": sf.ApproxDP(3, "1e-4"),
}


def gaussian(view, age):
    return view.query(f"{COUNT} WHERE age >= {age}").release(epsilon="0.4", delta=DELTA, mechanism="gaussian")


@pytest.mark.parametrize("name", MEASURES)
def test_an_account_in_any_measure_pays_exactly_as_often_as_its_receipt_says(name):
    with census(budget=MEASURES[name]) as session:
        release = gaussian(session, 0)
        assert type(release.receipt.spent) is type(release.receipt.remaining) is type(MEASURES[name])
        (told,) = re.findall(r"about (\d+) such quer", repr(release))
        for age in range(1, int(told) + 1):
            assert int(told) > 2
            gaussian(session, age)
        with pytest.raises(BudgetExceededError):
            gaussian(session, 99)
        assert ledger_of(session).verify().length > int(told)


def test_in_rho_many_gaussian_answers_cost_far_less_than_in_epsilon():
    with census(budget=ZCDP("0.11")) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP(8, "1e-3"))
        receipts = [gaussian(ann, age).receipt for age in range(20)]
        assert receipts[-1].spent == ann.spent
        assert ann.spent.epsilon == 8
        assert zcdp_epsilon_up(rho=session.spent.rho, delta=ann.spent.delta) < ann.spent.epsilon / 3


def test_a_receipt_in_rho_comes_back_from_json():
    with census(budget=ZCDP("0.1")) as session:
        first, again = gaussian(session, 0), gaussian(session, 0)
        assert again.reused
        assert again.receipt == first.receipt
        assert str(first.receipt.remaining).startswith("ρ ≈0.09")


@pytest.mark.parametrize("budget", [ZCDP(1, "1e-4"), sf.ApproxDP(1, "1e-4")], ids=str)
def test_a_pure_account_below_refuses_delta_with_the_remedy_and_nothing_is_charged(budget):
    with census(budget=budget) as session:
        ann = session.open_account("ann", budget=HALF)
        with pytest.raises(UnsupportedEventError, match="query without delta"):
            gaussian(ann, 0)
        asked(ann, 0)
        assert ann.spent == sf.PureDP("0.1")


def test_private_keys_need_a_delta_that_every_account_above_has():
    grouped = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"
    with census(budget=ZCDP(1)) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP(1, "1e-4"))
        with pytest.raises(NotPrivateError):
            ann.sql(grouped, epsilon="0.5")
        with pytest.raises(BudgetExceededError):
            ann.sql(grouped, epsilon="0.5", delta=DELTA)
        assert ann.spent == sf.ApproxDP(0, 0)
    with census(budget=ZCDP(1, "1e-4")) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP(1, "1e-4"))
        ann.sql(grouped, epsilon="0.5", delta=DELTA)
        assert 0 < session.spent.delta <= Fraction(DELTA)
