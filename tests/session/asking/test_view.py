from dataclasses import replace

import pytest
from tests.session.opened import COUNT, opened, recorded

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.policy.policy import SourceFacts


def two_tables():
    policy = opened().policy
    people = policy.tables["people"]
    tables = {"people": people, "pets": replace(people, name="pets")}
    sources = dict.fromkeys(tables, SourceFacts(source=policy.sources["people"].source))
    return sf.Session(replace(policy, tables=tables, sources=sources), budget=sf.PureDP(1))


def test_all_tables_are_paid_for_by_one_account():
    session = two_tables()
    session.sql(COUNT, epsilon="0.3")
    session.sql(COUNT.replace("people", "pets"), epsilon="0.4")
    assert session.spent == sf.PureDP("0.7")


def test_a_table_is_named_unless_there_is_one():
    assert opened().table().agg(n=sf.count()).release(epsilon="0.1").statistics == ("n",)
    with pytest.raises(ParameterError, match="people, pets"):
        two_tables().table()
    with pytest.raises(ParameterError, match="people, pets"):
        two_tables().table("nosuch")


WITH_PRICE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.3) COUNT(*) AS n FROM people"


def test_the_price_may_stand_in_the_text():
    session = opened()
    session.sql(WITH_PRICE)
    assert session.spent == sf.PureDP("0.3")
    assert session.sql(COUNT, epsilon="0.3").reused
    assert session.sql(WITH_PRICE, epsilon=0.3).reused


def test_a_price_that_is_stated_twice_is_stated_the_same():
    session, engine = recorded(opened())
    with pytest.raises(ParameterError, match="state it once"):
        session.sql(WITH_PRICE, epsilon="0.4")
    with pytest.raises(ParameterError, match="state it once"):
        session.sql(WITH_PRICE.replace("0.3", "0.3, delta = 1e-9"), delta=0)
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_there_is_no_price_unless_it_is_stated():
    session, engine = recorded(opened())
    with pytest.raises(ParameterError, match="epsilon"):
        session.sql(COUNT)
    assert (engine.statements, session.spent) == ([], sf.PureDP(0))


def test_a_question_that_is_not_yet_asked_has_no_price():
    with pytest.raises(ParameterError, match=r"epsilon.*leave it out"):
        opened().query(WITH_PRICE)


@pytest.mark.parametrize(("sql", "parameters"), [("$1", [35]), (":least", {"least": 35})])
def test_parameters_stand_for_constants(sql, parameters):
    session = opened()
    question = session.query(f"{COUNT} WHERE age > {sql}", parameters=parameters)
    assert question.relation == session.query(f"{COUNT} WHERE age > 35").relation
    release = session.sql(f"{COUNT} WHERE age > {sql}", epsilon="0.5", parameters=parameters)
    assert "35" in release.receipt.question
    assert session.sql(f"{COUNT} WHERE age > 35", epsilon="0.5").reused


def test_a_question_in_python_and_in_sql_share_their_answer():
    session = opened()
    people = session.table("people")
    first = people.filter(people.age > 35).group_by("sex").agg(n=sf.count()).release(epsilon="0.5")
    second = session.sql("SELECT sex, COUNT(*) AS n FROM people WHERE 35 < age GROUP BY sex", epsilon=0.5)
    assert (second.reused, second.estimates) == (True, first.estimates)
    assert first.receipt.question == "SELECT sex, COUNT(*) AS n FROM people WHERE age > 35 GROUP BY sex"
