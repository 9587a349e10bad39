"""Texts are read only as they were written: whatever else stands in one is refused, before anything is made of it."""

import json
from dataclasses import replace

import pytest
from tests.session.wire.plans import of_case

from sfumato.errors import TicketError
from sfumato.session.asking.free_answers import EstimatedOutput
from sfumato.session.wire import nodes
from sfumato.session.wire.tickets import TICKETS, VERSION

CANARY = "canary in the query"
"""What stands in a text and may be in no error."""

_, TICKET = of_case("groups")
TEXT = TICKETS.encode(TICKET)
DOCUMENT = json.loads(TEXT)


def refused(text, match):
    with pytest.raises(TicketError, match=match) as told:
        TICKETS.decode(text)
    assert CANARY not in str(told.value)
    assert told.value.__cause__ is None


def written(document):
    return json.dumps(document, separators=(",", ":"))


def changed(**parts):
    return written(DOCUMENT | parts)


def with_node(place, **fields):
    """The text with other fields of one node."""
    own = list(DOCUMENT["nodes"])
    own[place] = own[place] | fields
    return changed(nodes=own)


def place_of(name):
    """Where the first node of a class is."""
    return [node["class"] for node in DOCUMENT["nodes"]].index(name)


def test_the_text_as_it_was_written_is_accepted():
    assert TICKETS.decode(written(DOCUMENT)) == TICKET


NO_TICKETS = {
    "": "JSON",
    "ticket": "JSON",
    "[]": "a version, a schema and nodes",
    "null": "a version, a schema and nodes",
    "{}": "a version, a schema and nodes",
    "[" * 100_000: "JSON",
    '{"version":' * 300 + "1" + "}" * 300: "JSON",
    "1" * 5000: "JSON",
    changed(more=1): "a version, a schema and nodes",
    changed(version=VERSION + 1): "same version",
    changed(version=True): "as this package writes it",
    changed(version=None): "same version",
    changed(schema="0" * 16): "same version",
    changed(nodes=None): "must end with a Ticket",
    changed(nodes=[]): "must end with a Ticket",
    changed(nodes=DOCUMENT["nodes"][:-1]): "must end with a Ticket",
    changed(nodes=[*DOCUMENT["nodes"], *DOCUMENT["nodes"][:1]]): "must end with a Ticket",
    changed(nodes=[DOCUMENT["nodes"][0], *DOCUMENT["nodes"]]): "place|type|together|writes",
    changed(nodes=[None]): "class",
    changed(nodes=[{"class": "Exception"}]): "class that a ticket may hold",
    changed(nodes=[{"class": ["Ticket"]}]): "class that a ticket may hold",
    changed(nodes=[{"class": "os.system", "command": CANARY}]): "class that a ticket may hold",
    with_node(-1, more=CANARY): "must have the fields",
    with_node(-1, prepared=CANARY): "declared type",
    with_node(-1, prepared={"node": len(DOCUMENT["nodes"])}): "a node before it",
    with_node(-1, prepared={"node": -1}): "a node before it",
    with_node(-1, prepared={"node": True}): "a node before it",
    with_node(-1, prepared={"nodes": 1}): "can be together",
    with_node(-1, prepared={"node": 1, "mapping": []}): "can be together",
    with_node(-2, request=None): "declared type",
    with_node(-2, is_answered=0): "declared type",
    with_node(-2, account=["test"]): "declared type",
    with_node(-2, spent={"rational": "1"}): "declared type",
    with_node(-2, spent={"Edition": 1}): "declared type",
    with_node(place_of("PureDP"), epsilon={"rational": "1e9"}): "can be together",
    with_node(place_of("PureDP"), epsilon={"rational": "1/0"}): "can be together",
    with_node(place_of("PureDP"), epsilon={"rational": 1}): "can be together",
    with_node(place_of("PureDP"), epsilon={"float": "inf"}): "declared type",
    with_node(place_of("PureDP"), epsilon={"rational": "2/2"}): "as this package writes it",
    with_node(place_of("PureDP"), epsilon={"rational": "-1"}): "can be together",
    with_node(place_of("Additive"), statement=False): "declared type",
    with_node(place_of("Table"), columns={"mapping": [["a", 1]]}): "declared type",
    with_node(place_of("Table"), columns={"mapping": 1}): "can be together",
    with_node(place_of("Table"), columns={"mapping": [[["a"], {"node": 0}]]}): "declared type|together",
    TEXT + " ": "as this package writes it",
    TEXT.replace('"version":', '"version": '): "as this package writes it",
    TEXT.replace('"version":1', '"version":2,"version":1'): "as this package writes it",
}


@pytest.mark.parametrize("text", NO_TICKETS, ids=range(len(NO_TICKETS)))
def test_a_text_that_is_no_ticket_is_refused(text):
    refused(text, NO_TICKETS[text])


def test_a_text_that_is_too_long_is_not_read(monkeypatch):
    monkeypatch.setattr(nodes, "MAX_LENGTH", len(TEXT) - 1)
    refused(TEXT, "at most")


def test_a_text_that_doubles_at_every_step_is_refused_before_it_is_looked_at():
    """Each node names the one before it twice, so that the last one has more parts than can be counted."""
    steps = [{"class": "Literal", "value": CANARY}]
    steps += [{"class": "And", "conditions": [{"node": place}] * 2} for place in range(60)]
    refused(changed(nodes=steps), "at most")


def test_what_is_no_plan_of_a_question_is_not_written():
    with pytest.raises(TicketError, match="no ticket"):
        TICKETS.encode(replace(TICKET, prepared=replace(TICKET.prepared, plan=object())))
    with pytest.raises(TicketError, match="no ticket"):
        TICKETS.encode(replace(TICKET, reservation=replace(TICKET.reservation, request=CANARY.encode())))


def test_estimates_of_stored_answers_are_not_written():
    """They cost nothing, so no ticket is of them."""
    section = TICKET.prepared.plan.sections[0]
    estimated = EstimatedOutput(name="n", values=(1.0,), reaches=lambda _: [0.5])
    plan = replace(TICKET.prepared.plan, sections=(replace(section, outputs=(estimated,)),))
    with pytest.raises(TicketError, match="no ticket"):
        TICKETS.encode(replace(TICKET, prepared=replace(TICKET.prepared, plan=plan)))
