"""Fits that are asked for by name: what requests may say, what is shown, and what is refused before a charge."""

import json

import pytest
from pydantic import ValidationError
from tests.server.gateway.planned import PlannerHere
from tests.session.opened import opened

import sfumato as sf
from sfumato import learn
from sfumato.errors import ParameterError, SfumatoError
from sfumato.query.model.relations import GroupBy
from sfumato.query.planning.questions import Aggregate, Presented
from sfumato.query.statistics.counts import CountRows
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway import fitting
from sfumato.server.gateway.answering import Ask, asked_in, rows_in
from sfumato.server.gateway.fitting import FitEntry, estimate_of, model_document, planned_for, training_set_of
from sfumato.session.training.ordered import fit_digest
from sfumato.session.wire.fits import decode_rows
from sfumato.session.wire.questions import encode_question

ROWS = "SELECT age, sex FROM people"
BAYES = {"estimator": "GaussianNB", "arguments": {"epsilon": "0.5"}, "target": "sex"}


@pytest.fixture
def people():
    """A session of which nothing is spent."""
    session = opened()
    yield session
    assert session.spent == sf.PureDP(0)


def rows_of(people, entry=BAYES, **ask):
    asked = Ask(**({"sql": ROWS} | ask), fit=FitEntry(**entry))
    return rows_in(asked, asked.fit, people, LimitsEntry())


def counted(frame):
    return encode_question(Presented(Aggregate(GroupBy(frame.relation), (("rows", CountRows()),), frame.limits)))


def test_a_statement_and_a_frame_are_the_same_rows(people):
    frame = people.table().select("age", "sex")
    first, second = rows_of(people), rows_of(people, sql=None, plan=counted(frame))
    assert first.query == second.query == people.training_set(ROWS, target="sex").query


def test_a_plan_that_asks_something_is_no_set_of_rows(people):
    question = people.table().group_by("sex").agg(rows=sf.count()).relation
    with pytest.raises(ParameterError, match="count rows"):
        training_set_of(FitEntry(**BAYES), people, sql=None, plan=encode_question(question))


def test_the_fit_is_that_of_a_session(people):
    entry = FitEntry(**BAYES)
    own = learn.GaussianNB(epsilon="0.5").plan(people.training_set(ROWS, target="sex"))
    found = planned_for(entry, rows_of(people), PlannerHere())
    assert (found.event, found.charge, fit_digest(found)) == (own.event, own.charge, fit_digest(own))


def test_whoever_plans_otherwise_is_told_before_a_charge(people):
    rows = rows_of(people)
    digest = fit_digest(planned_for(FitEntry(**BAYES), rows, PlannerHere()))
    assert planned_for(FitEntry(**BAYES, plan=digest), rows, PlannerHere())
    with pytest.raises(ParameterError, match="same version"):
        planned_for(FitEntry(**BAYES, plan=digest[::-1]), rows, PlannerHere())


def test_an_estimate_says_what_is_declared_and_what_a_fit_costs(people):
    rows = rows_of(people)
    shown = estimate_of(FitEntry(target="sex"), rows, PlannerHere())
    assert decode_rows(shown["training"]).columns == rows.columns
    assert shown["columns"] == [{"name": "age", "lower": "0", "upper": "100", "steps": 100}]
    assert (shown["target"], shown["rows_per_unit"]) == ({"name": "sex", "values": ["f", "m"]}, 1)
    costs = estimate_of(FitEntry(**BAYES), rows, PlannerHere())
    assert (costs["cost"]["epsilon"], costs["method"]) == ("1/2", "naive Bayes by noisy moments")
    json.dumps([shown, costs])


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": 1}, {"delta": "1e-6"}, {"error": {"n": 1}}, {"mechanism": "laplace"}, {"size": 3}, {"sql": None},
        {"plan": "x"}, {"queries": []}, {"parameters": [1]}, {"intervals": True}, {"sql": "x" * 100_001},
        {"sql": "SELECT COUNT(*) FROM people"}, {"sql": "SELECT name, age FROM people"}, {"sql": "DROP TABLE people"},
    ],
    ids=str,
)  # fmt: skip
def test_requests_that_say_something_else_are_refused(people, changed):
    with pytest.raises(SfumatoError):
        rows_of(people, **changed)


@pytest.mark.parametrize(
    "entry",
    [
        {}, {"target": "sex"}, BAYES | {"target": None}, BAYES | {"target": "wage"}, BAYES | {"estimator": "Pipeline"},
        BAYES | {"arguments": {}}, BAYES | {"arguments": {"epsilon": 1, "n_jobs": 4}}, BAYES | {"classes": []},
        BAYES | {"arguments": {"epsilon": "x" * 200_000}}, BAYES | {"arguments": {"epsilon": [[1]]}},
    ],
    ids=lambda entry: str(entry)[:60],
)  # fmt: skip
def test_bad_fits_are_refused(people, entry):
    with pytest.raises(ParameterError):
        planned_for(FitEntry(**entry), rows_of(people, entry), PlannerHere())


@pytest.mark.parametrize(
    "entry",
    [
        {"estimator": 1}, {"arguments": []}, {"classes": [[1]]}, {"classes": [None]}, {"more": 1}, {"target": 7},
        {"classes": ["x"] * 1_001}, {"estimator": "x" * 101},
    ],
    ids=lambda entry: str(entry)[:40],
)  # fmt: skip
def test_other_kinds_of_values_are_no_request(entry):
    with pytest.raises(ValidationError):
        FitEntry(**entry)


def test_too_many_columns_are_refused(people, monkeypatch):
    monkeypatch.setattr(fitting, "MOST_COLUMNS", 0)
    with pytest.raises(ParameterError, match="at most 0"):
        rows_of(people)


def test_a_fit_has_no_other_answers(people):
    with pytest.raises(ParameterError, match="no other answers"):
        asked_in(Ask(sql=ROWS, fit=FitEntry(**BAYES)), people, LimitsEntry())


def test_a_model_is_shown_with_its_receipt():
    people, entry = opened(), FitEntry(**BAYES)
    rows = rows_of(people)
    found = rows.fit(planned_for(entry, rows, PlannerHere()))
    shown = json.loads(model_document(found, entry))
    assert shown["model"] == found.model
    assert shown["receipt"]["guarantee"]["epsilon"] == "1/2"
    assert (shown["estimator"], shown["target"], shown["reused"]) == ("GaussianNB", "sex", False)
