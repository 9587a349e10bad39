"""Charge, then run: a refused question never reaches the engine, and after the charge nothing is refunded."""

from dataclasses import replace

import pytest
from tests.session.opening import COUNT, DATA, opened, recorded

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, LedgerError
from sfumato.session.pipeline import charge, execute, prepare, stored


def prepared(session, epsilon="0.1", sql=COUNT):
    question = session.query(sql)
    return prepare(session._desk, question.relation, text=sql, total=sf.PureDP(epsilon))


def test_the_cost_is_in_the_ledger_before_the_engine_runs():
    session, engine = recorded(opened())
    seen = []
    run = engine.run
    engine.run = lambda statement, *, salt: (seen.append(session.spent), run(statement, salt=salt))[1]
    session.sql(COUNT, epsilon="0.25")
    assert seen == [sf.PureDP("0.25")]


def test_preparing_and_charging_touch_no_data():
    session, engine = recorded(opened())
    ticket = charge(session._desk, prepared(session))
    assert engine.statements == []
    assert (ticket.spent, ticket.left) == (sf.PureDP("0.1"), sf.PureDP("0.9"))
    execute(session._desk, ticket, library="test")
    assert len(engine.statements) == 1


def test_a_refused_charge_never_reaches_the_engine():
    session, engine = recorded(opened())
    with pytest.raises(BudgetExceededError):
        charge(session._desk, prepared(session, epsilon=2))
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_an_engine_that_fails_after_the_charge_is_not_refunded_and_nothing_is_stored():
    session, engine = recorded(opened(), fails=True)
    for times in (1, 2):
        with pytest.raises(EngineError):
            session.sql(COUNT, epsilon="0.1")
        assert len(engine.statements) == times
    assert session.spent == sf.PureDP("0.2")


def test_every_run_has_a_fresh_salt():
    session, engine = recorded(opened())
    for age in range(5):
        session.sql(f"SELECT COUNT(*) FROM people WHERE age > {age}", epsilon="0.1")
    assert len(set(engine.salts)) == 5
    assert all(len(bytes.fromhex(salt)) == 16 for salt in engine.salts)


SAME = "SELECT COUNT(*) AS other FROM people p WHERE NOT 1 = 2"


def test_the_same_question_again_is_the_same_answer_for_nothing():
    session, engine = recorded(opened())
    first, second = session.sql(COUNT, epsilon="0.4"), session.sql(SAME, epsilon=0.4)
    assert [e.value for e in first["n"]] == [e.value for e in second["other"]]
    assert (first.reused, second.reused) == (False, True)
    assert (session.spent, len(engine.statements)) == (sf.PureDP("0.4"), 1)


def test_a_stored_answer_is_given_also_when_nothing_is_left():
    session = opened()
    session.sql(COUNT, epsilon=1)
    assert session.sql(COUNT, epsilon=1).reused


@pytest.mark.parametrize(
    ("sql", "epsilon"),
    [(COUNT, "0.3"), ("SELECT COUNT(*) FROM people WHERE age >= 0", "0.4"), ("SELECT COUNT(age) FROM people", "0.4")],
)
def test_another_question_or_price_is_charged(sql, epsilon):
    session = opened()
    session.sql(COUNT, epsilon="0.4")
    assert not session.sql(sql, epsilon=epsilon).reused
    assert session.spent == sf.PureDP("0.4") + sf.PureDP(epsilon)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"columns": {"age": sf.integer(0, 99)}},
        {"columns": {"age": sf.integer(0, 100, nullable=False)}},
    ],
)
def test_an_answer_of_another_policy_or_data_version_is_not_used_again(tmp_path, changes):
    columns = {"columns": {"age": sf.integer(0, 100)}}
    sql = "SELECT SUM(age) AS s FROM people"
    with opened(DATA, ledger=tmp_path / "ledger.db", **columns) as session:
        session.sql(sql, epsilon="0.1")
    with opened(DATA, ledger=tmp_path / "ledger.db", **(columns | changes)) as session:
        assert not session.sql(sql, epsilon="0.1").reused
        assert session.spent == sf.PureDP("0.2")


def test_an_answer_on_another_lattice_is_not_used_again(tmp_path):
    sql = "SELECT SUM(pay) AS s FROM people"
    for resolution, upper in (("0.01", 1), ("1", 100)):
        columns = {"pay": sf.real(0, upper, resolution=resolution)}
        with opened(ledger=tmp_path / "ledger.db", columns=columns) as session:
            assert not session.sql(sql, epsilon="0.1").reused


def test_a_data_version_of_its_own_tells_answers_apart(tmp_path):
    policy = opened().policy
    for data_version in ("1", "2"):
        changed = replace(policy, data_version=data_version)
        with sf.Session(changed, budget=sf.PureDP(1), ledger=tmp_path / "ledger.db") as session:
            assert not session.sql(COUNT, epsilon="0.1").reused


def test_a_stored_answer_that_cannot_be_read_is_refused():
    session = opened()
    first = prepared(session)
    ticket = charge(session._desk, first)
    session._desk.ledger.commit(ticket.reservation, key=first.key, answer="from the future")
    with pytest.raises(LedgerError, match="newer version"):
        stored(session._desk, first)


def test_averaging_over_ways_to_write_a_question_gains_nothing():
    session = opened()
    variants = [f"SELECT COUNT(*) AS n FROM people WHERE {'NOT NOT ' * k} age >= {3 + 0.0}" for k in range(10)]
    values = {session.sql(sql, epsilon="0.1")["n"][0].value for sql in variants}
    assert (len(values), session.spent) == (1, sf.PureDP("0.1"))
