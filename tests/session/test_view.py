from dataclasses import replace

import pytest
from tests.session.opening import COUNT, opened

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.policy import SourceFacts


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


def test_a_question_in_python_and_in_sql_share_their_answer():
    session = opened()
    people = session.table("people")
    first = people.filter(people.age > 35).group_by("sex").agg(n=sf.count()).release(epsilon="0.5")
    second = session.sql("SELECT sex, COUNT(*) AS n FROM people WHERE 35 < age GROUP BY sex", epsilon=0.5)
    assert (second.reused, second.estimates) == (True, first.estimates)
    assert first.receipt.question == "SELECT sex, COUNT(*) AS n FROM people WHERE age > 35 GROUP BY sex"
