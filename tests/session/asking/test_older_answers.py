"""Answers that were bought by the first edition of the rules: they are found, read as they were drawn, and free."""

from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from tests.query.planned import PEOPLE, N, ref
from tests.session.desk import asked, desk, rows
from tests.session.opened import RecordingEngine
from tests.session.stored_keys import CASES, prepared

import sfumato as sf
from sfumato.query.model.facts import Edition
from sfumato.query.model.statement import AUTO
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.variances import Variance
from sfumato.session.asking import planning
from sfumato.session.asking.answer_key import is_of_latest_edition
from sfumato.session.asking.execution import Desk

AGE, KIDS = ref("age"), ref("kids")
DATA = rows(PEOPLE, *[{"sex": "f" if i % 2 else "m", "age": i, "kids": i % 9} for i in range(60)])
QUESTIONS = {
    "moments": (("m", Mean(AGE)), ("v", Variance(AGE)), ("d", Variance(AGE, root=True))),
    "sums": (N, ("s", Sum(KIDS)), ("m", Mean(KIDS))),
    "chosen bounds": (N, ("s", Sum(KIDS, AUTO)), ("m", Mean(KIDS, AUTO))),
    "the same by all rules": (N, ("s", Sum(AGE))),
}  # fmt: skip


def curator(**changes) -> tuple[Desk, RecordingEngine]:
    plain = desk((PEOPLE, DATA), budget=sf.PureDP(10), **changes)
    engine = RecordingEngine(plain.engine)
    return Desk(policy=plain.policy, engine=engine, ledger=plain.ledger, account=plain.account), engine


@contextmanager
def older_version():
    """Inside, queries are planned as by a version that knew the first edition alone."""
    compiled = planning.compile_plan

    def by_the_first_rules(question, total, **options):
        return compiled(question, total, **options | {"edition": Edition.FIRST})

    with patch.object(planning, "compile_plan", by_the_first_rules):
        yield


def released(own: Desk, name: str, **options):
    return asked(own, PEOPLE, statistics=QUESTIONS[name], keys=("sex",)).release(epsilon=1, **options)


def released_before(own: Desk, name: str, **options):
    with older_version():
        return released(own, name, **options)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_older_answer_is_the_answer_and_costs_nothing_again(name):
    own, engine = curator()
    first = released_before(own, name)
    runs, spent = len(engine.statements), own.ledger.spent("test")
    again = released(own, name)
    assert (again.reused, again.estimates, again.notes) == (True, first.estimates, first.notes)
    assert (len(engine.statements), own.ledger.spent("test")) == (runs, spent)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_idempotency_key_of_then_is_that_of_the_same_question(name):
    own, _ = curator()
    first = released_before(own, name, idempotency_key="monday")
    again = released(own, name, idempotency_key="monday")
    assert (again.reused, again.estimates) == (False, first.estimates)
    assert own.ledger.spent("test") == sf.PureDP(1)


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_bought_now_is_bought_by_the_latest_rules_and_once(name):
    own, _ = curator()
    first, again = released(own, name), released(own, name)
    assert (first.reused, again.reused, again.estimates) == (False, True, first.estimates)
    assert own.ledger.spent("test") == sf.PureDP(1)
    assert len(first.receipt.event.events) <= 3


def test_answers_of_other_accounts_do_not_choose_the_rules():
    """Else an account would see by them that somebody asked the same before."""
    query = "SELECT AVG(kids) AS m, STDDEV(kids) AS d FROM people"
    with sf.open(DATA, name="people", columns=PEOPLE.columns, budget=sf.PureDP(10), engine="reference") as session:
        session._desk = replace(session._desk, policy=replace(session._desk.policy, shares_answers=True))
        ann, bob = (session.open_account(name, budget=sf.PureDP(1)) for name in ("ann", "bob"))
        with older_version():
            assert len(ann.sql(query, epsilon="0.5").receipt.event.events) == 5
        assert len(bob.sql(query, epsilon="0.5").receipt.event.events) == 3
        assert ann.sql(query, epsilon="0.5").reused


def test_keys_say_by_which_rules():
    first, latest = (prepared(CASES["moments"], edition).key for edition in Edition)
    assert not is_of_latest_edition(first)
    assert is_of_latest_edition(latest)


def test_where_the_oldest_answer_is_by_the_latest_rules_none_is_looked_for_by_the_first():
    own, _ = curator()
    released(own, "sums")
    with patch.object(own.ledger, "answer") as looked_for:
        asked(own, PEOPLE, statistics=QUESTIONS["moments"], keys=("sex",)).cost(epsilon=1)
    looked_for.assert_not_called()
