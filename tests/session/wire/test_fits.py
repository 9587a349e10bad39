"""Fits of every estimator cross in tickets; one that was changed on its way is run nowhere."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.learn.ordering.ordered import CASES, declared
from tests.session.desk import desk, rows

import sfumato as sf
from sfumato import learn
from sfumato.errors import ParameterError, TicketError
from sfumato.learn.ordering.orders import order_of
from sfumato.learn.ordering.planning import planned_fit
from sfumato.privacy.codec import encode_event
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.query.model.schema import Table
from sfumato.session.account import AccountView
from sfumato.session.asking.execution import execute
from sfumato.session.asking.planning import charge, names_again
from sfumato.session.asking.view import relations_of
from sfumato.session.training.ordered import FitOrder
from sfumato.session.training.plan import FitPlan
from sfumato.session.wire.fits import (
    declared_rows,
    decode_fit,
    decode_rows,
    encode_fit,
    encode_rows,
    query_again,
)
from sfumato.session.wire.tickets import decode_ticket, encode_ticket, require_charged

PEOPLE = Table(
    name="people", unit=sf.EACH_ROW,
    columns={"age": sf.integer(0, 100), "pay": sf.real(0, 10), "sex": sf.text(values=["f", "m"])},
)  # fmt: skip
DATA = rows(PEOPLE, *({"age": n, "pay": n / 10, "sex": "fm"[n % 2]} for n in range(60)))


def curator():
    """A desk that holds the data, and the training sets of it."""
    held = desk((PEOPLE, DATA))
    return held, AccountView(held, relations_of(held.policy))


def training(view, name):
    """The training set of a case."""
    _, columns, target = CASES[name]
    names = [one.name for one in (*columns, *(() if target is None else (target,)))]
    return view.training_set(f"SELECT {', '.join(names)} FROM people", target=target and target.name)


def ticket_of(name="GaussianNB", estimator=None, **changes):
    """A charged fit, as a gateway writes it: of a plan that has crossed."""
    held, view = curator()
    found = training(view, name)
    fit = planned_fit(
        order_of(estimator or CASES[name][0]), declared_rows(found.query, held.policy.neighboring_relation)
    )
    claimed = replace(decode_fit(encode_fit(fit)), **changes)
    return held, charge(held, found.prepare(claimed))


@pytest.mark.parametrize("name", CASES)
def test_rows_and_fits_cross_as_they_are(name):
    found = declared(name)
    assert decode_rows(encode_rows(found)) == found
    fit = planned_fit(order_of(CASES[name][0]), found)
    again = decode_fit(encode_fit(fit))
    assert (again, again.event, again.document()) == (fit, fit.event, fit.document())
    assert again.planned is None


@pytest.mark.parametrize("name", CASES)
def test_tickets_of_all_fits_cross_and_are_run(name):
    held, ticket = ticket_of(name)
    text = encode_ticket(ticket)
    again = decode_ticket(text, held, fits=planned_fit)
    assert encode_ticket(again) == text
    require_charged(again, held.ledger)
    assert again.prepared.plan.event == CASES[name][0].plan(training(curator()[1], name)).event
    assert execute(held, again)["model"]


def test_a_query_is_made_again_of_the_rows_that_it_asks_for():
    for name in CASES:
        query = training(curator()[1], name).query
        assert query_again(query) == query


def refused(held, text, **changes):
    with pytest.raises(TicketError):
        decode_ticket(text, held, **({"fits": planned_fit} | changes))


def test_without_a_way_to_make_fits_none_is_run():
    held, ticket = ticket_of()
    refused(held, encode_ticket(ticket), fits=None)


CLAIMS = {
    "epsilon": {"order": order_of(learn.GaussianNB(epsilon="0.5", delta=1e-6))},
    "estimator": {"order": FitOrder(estimator="StandardScaler", arguments='{"epsilon":1}')},
    "no estimator": {"order": FitOrder(estimator="open", arguments="{}")},
    "arguments": {"order": FitOrder(estimator="GaussianNB", arguments="[]")},
    "parameters": {"parameters": "{}"},
    "name": {"name": "nothing"},
    "charge": {"charge": PureDP("0.125")},
    "event": {"written_event": json.dumps(encode_event(PureEvent(Fraction(1, 8))))},
    "work": {"steps_a_row": 1},
    "more work": {"steps": 1},
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_that_is_not_what_the_order_says_is_refused(claim):
    changes = CLAIMS[claim]
    held, ticket = ticket_of()
    plan = ticket.prepared.plan
    changed = FitPlan(query=plan.query, fit=replace(plan.fit, **changes))
    text = encode_ticket(replace(ticket, prepared=replace(ticket.prepared, plan=changed)))
    refused(held, text)


def test_rows_that_are_not_those_of_the_question_are_refused():
    held, ticket = ticket_of()
    plan = ticket.prepared.plan
    other = training(curator()[1], "StandardScaler").query
    for query in (
        replace(plan.query, columns=plan.query.columns[:1]), replace(plan.query, target=None),
        replace(plan.query, statement=other.statement), replace(plan.query, question=other.question), other,
    ):  # fmt: skip
        prepared = replace(ticket.prepared, plan=FitPlan(query=query, fit=plan.fit))
        question, key = names_again(held, prepared)  # by whoever charges what they like
        text = encode_ticket(replace(ticket, prepared=replace(prepared, question=question, key=key)))
        with pytest.raises(TicketError, match="plan"):
            decode_ticket(text, held, fits=planned_fit)


def test_a_fit_that_was_charged_less_is_refused_by_the_ledger():
    held, ticket = ticket_of()
    _, cheaper = ticket_of(estimator=learn.GaussianNB(epsilon="0.125", delta=1e-6))
    claimed = replace(cheaper, reservation=ticket.reservation)
    with pytest.raises(TicketError, match="charged for this very query"):
        require_charged(decode_ticket(encode_ticket(claimed), held, fits=planned_fit), held.ledger)


def test_a_charge_below_the_event_is_refused_before_it_is_charged():
    cheap = {"charge": PureDP("0.001"), "written_event": json.dumps(encode_event(PureEvent(5)))}
    with pytest.raises(ParameterError):
        ticket_of(**cheap)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version":1,"schema":"","nodes":[]}'])
def test_other_texts_are_refused(text):
    with pytest.raises(ParameterError):
        decode_rows(text)
    with pytest.raises(TicketError):
        decode_fit(text)
