"""An answer that was bought by earlier rules stays the answer: nothing is charged again for better rules."""

import pytest
from tests.query.planned import PEOPLE
from tests.session.desk import charge, desk, rows
from tests.session.stored_keys import CASES, Asked, prepared, sql

from sfumato.ledger.core.entry import Committed
from sfumato.query.model.facts import Edition
from sfumato.session.asking.answer_key import is_of_latest_edition
from sfumato.session.asking.execution import execute
from sfumato.session.asking.question import Question

OLDER = sql("SELECT COUNT(*) AS n, AVG(age) AS a, STDDEV(age) AS s FROM people WHERE age > 30")
OTHER = sql("SELECT SUM(age) AS n FROM people WHERE age > 30")


@pytest.fixture
def curator():
    people = [{"age": 20 + number, "sex": "f"} for number in range(40)]
    return desk((PEOPLE, rows(PEOPLE, *people)))


def asked(curator, of: Asked):
    return Question(relation=of.question, text="a query", desk=curator)


def buy(curator, of: Asked, edition: Edition):
    return execute(curator, charge(curator, prepared(of, edition)))


def test_keys_say_by_which_rules():
    first, latest = (prepared(OLDER, edition).key for edition in Edition)
    assert not is_of_latest_edition(first)
    assert is_of_latest_edition(latest)


def test_an_answer_that_was_bought_by_the_first_rules_is_still_free(curator):
    bought = buy(curator, OLDER, Edition.FIRST)
    spent = curator.ledger.spent("test")
    again = asked(curator, OLDER).release(epsilon=1)
    assert again.reused
    assert curator.ledger.spent("test") == spent
    assert again.receipt.request == bought["receipt"]["request"]
    assert again.receipt.event == prepared(OLDER, Edition.FIRST).plan.event


def test_what_was_not_bought_is_planned_by_the_latest_rules(curator):
    buy(curator, OLDER, Edition.FIRST)
    asked(curator, OTHER).release(epsilon=1)
    *_, last = (entry for entry in curator.ledger.entries() if isinstance(entry, Committed))
    assert last.key == prepared(OTHER, Edition.LATEST).key


def test_where_the_oldest_answer_is_of_the_latest_rules_none_is_older(curator, monkeypatch):
    asked(curator, OTHER).release(epsilon=1)
    answers = []
    monkeypatch.setattr(curator.ledger, "answer", lambda _, key: answers.append(key))
    asked(curator, OLDER).cost(epsilon=1)
    assert answers == []


@pytest.mark.parametrize("name", CASES)
def test_each_query_is_found_under_the_key_that_it_had(name):
    keys = [prepared(CASES[name], edition).key for edition in Edition]
    assert keys[1].startswith("2:")
    assert len(keys[0]) == 64
