"""What the ledger recorded, added up by others: prices, events, and all who pay for one question."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.attacks_on_ledgers.census import COUNT, PEOPLE, asked, census, ledger_of, people, policy
from tests.session.opened import recorded

import sfumato as sf
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant, zcdp_epsilon_up
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.accounting.renyi.conversion import rdp_epsilon_up
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.ledger.core.entry import PartitionPart, Reserved
from sfumato.ledger.core.prices import price_of
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.query.policy.policy import SourceFacts

DELTA = "1e-6"
MIXED = (
    (COUNT, 0),
    ("SELECT AVG(age) AS a, COUNT(*) AS n FROM people", 0),
    ("SELECT sex, SUM(pay) AS s FROM people GROUP BY sex HAVING COUNT(*) > 3", DELTA),
    ("SELECT town, COUNT(*) AS n FROM people GROUP BY town", DELTA),
    ("SELECT MEDIAN(age) AS m FROM people", 0),
)
"""Questions in which more is released than is shown: counts of means, keys, what is compared."""
HUNDREDTHS = Fraction(1, 100)


def ask_all(view, epsilon="0.1"):
    return [view.sql(sql, epsilon=epsilon, delta=delta).receipt for sql, delta in MIXED]


def reservations(view):
    return [entry for entry in ledger_of(view).entries() if isinstance(entry, Reserved)]


def test_27_an_analyst_who_chooses_each_price_by_the_answers_fills_every_account_exactly():
    with census() as session:
        views = [session.open_account(name, budget=sf.PureDP("0.7")) for name in ("ann", "bob")]
        granted, price = [Fraction(0), Fraction(0)], HUNDREDTHS
        for age in range(100):
            turn = age % 2
            try:
                answer = asked(views[turn], age, epsilon=price)["n"][0].value
            except BudgetExceededError:
                price = HUNDREDTHS
                continue
            granted[turn] += price
            price = (answer % 7 + 1) * HUNDREDTHS
        assert [view.spent.epsilon for view in views] == granted
        assert session.spent.epsilon == sum(granted) == 1


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_28_what_is_recorded_adds_up_to_what_is_spent_and_covers_every_event(relation):
    with census(budget=sf.ApproxDP(1, "1e-5"), neighboring_relation=relation) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP("0.5", "1e-5"))
        receipts = ask_all(ann)
        entries = reservations(session)
        assert [entry.charge for entry in entries] == [receipt.guarantee for receipt in receipts]
        assert [entry.event for entry in entries] == [receipt.event for receipt in receipts]
        for entry in entries:
            assert entry.charge.delta <= Fraction(DELTA)
            assert price_of(entry.event, delta=entry.charge.delta, neighboring_relation=relation) <= Fraction(1, 10)
        for view in (ann, session):
            assert view.spent.epsilon == sum(entry.charge.epsilon for entry in entries)
            assert view.spent.delta == sum(entry.charge.delta for entry in entries)


@pytest.mark.parametrize("budget", [ZCDP(1, "1e-4"), RenyiDP((2, 8, 32), (1, 2, 9), "1e-4")], ids=str)
def test_28_an_account_in_another_measure_pays_the_recorded_prices_and_nothing_else(budget):
    with census(budget=budget) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP(1, "1e-5"))
        ask_all(ann)
        entries = reservations(session)
        assert {price.account for entry in entries for price in entry.prices} == {"census"}
        paid = [dict(price.amounts.numbers) for entry in entries for price in entry.prices]
        total = {name: sum(amounts[name] for amounts in paid) for name in paid[0]}
        match session.spent:
            case ZCDP(rho, delta):
                assert total == {"rho": rho, "delta": delta}
            case RenyiDP(_, bounds, delta):
                assert sorted(total.values()) == sorted((*bounds, delta))
        assert ann.spent.epsilon == Fraction(1, 2)


def told_by_others(session, delta):
    """What all recorded events reveal together, at least, by an accountant that composes privacy losses."""
    events = tuple(entry.event for entry in reservations(session))
    return PLDAccountant().compose(ComposedEvent(events)).interval(delta).lower


def test_29_the_recorded_events_reveal_no_more_than_was_spent_whoever_composes_them():
    with census(budget=sf.ApproxDP(1, "1e-5")) as session:
        ask_all(session)
        assert 0 < told_by_others(session, session.spent.delta) <= session.spent.epsilon * (1 + Fraction(1, 10**6))


COUNTS = [f"{COUNT} WHERE age >= {age}" for age in range(12)]


def test_29_in_rho_they_reveal_no_more_than_was_spent_either():
    with census(budget=ZCDP(1)) as session:
        for sql in COUNTS:
            session.query(sql).release(epsilon="0.1", delta=DELTA, mechanism="gaussian")
        spent = zcdp_epsilon_up(rho=session.spent.rho, delta=Fraction(DELTA))
        again = ZCDPAccountant().compose(ComposedEvent(tuple(entry.event for entry in reservations(session))))
        assert told_by_others(session, Fraction(DELTA)) <= again.epsilon(Fraction(DELTA)) <= spent * (1 + 1e-9)


def test_29_in_divergences_they_reveal_no_more_than_was_spent_either():
    orders = (Fraction(3), Fraction(30))
    with census(budget=RenyiDP(orders, (9, 9))) as session:
        for sql in COUNTS:
            session.query(sql).release(epsilon="0.1", delta=DELTA, mechanism="gaussian")
        pairs = zip(orders, session.spent.bounds, strict=True)
        spent = min(rdp_epsilon_up({order: bound}, delta=Fraction(DELTA)) for order, bound in pairs)
        assert told_by_others(session, Fraction(DELTA)) <= spent


VIEWS = {"women": "SELECT age, sex, town FROM people WHERE sex = 'f'"}


def test_30_views_accounts_parts_and_sessions_spend_from_one_account(tmp_path):
    where = {"ledger": tmp_path / "ledger.db", "views": VIEWS}
    with census(**where) as first, census(**where) as second:
        first.sql("SELECT COUNT(*) AS n FROM women", epsilon="0.2")
        ann = first.open_account("ann", budget=sf.PureDP(1))
        ann.sql("SELECT COUNT(*) AS n FROM women", epsilon="0.2")
        same = second.account("ann")
        same.table("people").agg(n=sf.count()).release(epsilon="0.2")
        with same.partition("people", by="sex") as parts:
            for sex in parts:
                parts[sex].sql(COUNT, epsilon="0.4")
        assert (first.remaining, second.remaining, ann.remaining) == (sf.PureDP(0), sf.PureDP(0), sf.PureDP("0.2"))
        for view in (first, second, ann, same):
            with pytest.raises(BudgetExceededError):
                asked(view, 99, epsilon="0.01")


def below(*datasets, ledger, budget, data=None, name="joined"):
    """A session on people of several other datasets."""
    return census(data or people(7, town="Bonn"), dataset=name, derived_from=datasets, budget=budget, ledger=ledger)


@pytest.mark.parametrize("poor", ["census", "register"])
def test_32_a_question_about_several_datasets_is_paid_by_all_of_them_or_by_none(tmp_path, poor):
    ledger = tmp_path / "ledger.db"
    budgets = {name: sf.PureDP("0.2" if name == poor else 1) for name in ("census", "register")}
    data = {"census": people(10), "register": people(20)}
    with (
        census(data["census"], dataset="census", budget=budgets["census"], ledger=ledger) as first,
        census(data["register"], dataset="register", budget=budgets["register"], ledger=ledger) as second,
        below("census", "register", ledger=ledger, budget=sf.PureDP(1)) as view,
    ):
        joined, engine = recorded(view)
        with pytest.raises(BudgetExceededError, match=poor):
            asked(joined, epsilon="0.3")
        assert [view.spent for view in (first, second, joined)] == [sf.PureDP(0)] * 3
        assert engine.statements == []
        asked(joined, epsilon="0.2")
        assert [view.spent for view in (first, second, joined)] == [sf.PureDP("0.2")] * 3
        assert len(reservations(joined)) == 1


def test_32_who_is_above_by_several_ways_pays_once(tmp_path):
    ledger = tmp_path / "ledger.db"
    with (
        census(people(9), dataset="country", ledger=ledger) as top,
        below("country", ledger=ledger, budget=sf.PureDP(1), data=people(8), name="north") as north,
        below("country", ledger=ledger, budget=sf.PureDP(1), data=people(6), name="south") as south,
        below("north", "south", ledger=ledger, budget=sf.PureDP(1)) as joined,
    ):
        asked(joined, epsilon="0.3")
        assert [view.spent for view in (top, north, south, joined)] == [sf.PureDP("0.3")] * 4


def test_32_a_question_that_reads_two_tables_of_people_is_charged_once_for_both():
    other = replace(PEOPLE, name="others")
    tables = {"people": PEOPLE, "others": other}
    sources = {name: SourceFacts(source=people()) for name in tables}
    with sf.Session(policy(tables=tables, sources=sources), budget=sf.PureDP(1), engine="reference") as session:
        session.sql(COUNT, epsilon="0.4")
        session.sql("SELECT COUNT(*) AS n FROM others", epsilon="0.4")
        session.table("people").union(session.table("others")).agg(n=sf.count()).release(epsilon="0.2")
        assert session.remaining == sf.PureDP(0)


def test_33_a_price_is_the_same_whoever_is_in_the_data():
    found = []
    for size in (0, 1, 40):
        with census(people(size), budget=ZCDP(1, "1e-4")) as session:
            ann = session.open_account("ann", budget=sf.ApproxDP(1, "1e-5"))
            found.append(([receipt.guarantee for receipt in ask_all(ann)], ann.spent, session.spent))
    assert found == [found[0]] * len(found)


def test_33_an_error_that_is_relative_to_the_answer_cannot_be_asked_for():
    with census() as session, pytest.raises(ParameterError, match="error"):
        session.query(COUNT).release(error={"n": "5%"})


def test_30_a_part_is_no_way_out_of_an_account_above():
    with census() as session:
        ann = session.open_account("ann", budget=sf.PureDP("0.5"))
        with ann.partition("people", by="sex") as parts:
            parts["f"].sql(COUNT, epsilon="0.5")
            with pytest.raises(BudgetExceededError):
                parts["m"].sql(COUNT, epsilon="0.6")
            parts["m"].sql(COUNT, epsilon="0.5")
        assert (ann.spent, session.spent) == (sf.PureDP("0.5"), sf.PureDP("0.5"))
        (part,) = {entry.part.partition for entry in reservations(session)}
        with pytest.raises(ParameterError, match="max_parts_per_unit"):
            PartitionPart(partition=part, value="f", max_parts_per_unit=0)
