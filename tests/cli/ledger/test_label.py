import json

from tests.cli.commands import refusal
from tests.cli.ledger.telling import told

from sfumato.ledger.labels import label_of
from sfumato.ledger.locations import open_ledger


def test_a_label_is_printed_for_people(ledger):
    with open_ledger(ledger) as opened:
        assert told("label", ledger, "hospital/bob") == f"{label_of(opened, 'hospital/bob')}\n"


def test_a_label_is_printed_for_programs_at_the_delta_asked_for(ledger):
    document = json.loads(told("label", ledger, "hospital/bob", "--json", "--delta", "1e-9"))
    assert (document["account"], document["bounds"][0]["delta"]) == ("hospital/bob", 1e-9)


def test_an_account_that_is_not_open_is_refused(ledger):
    assert "'nobody': is not open" in refusal("ledger", "label", ledger, "nobody")


def test_a_delta_outside_is_refused(ledger):
    assert "delta = '2'" in refusal("ledger", "label", ledger, "hospital", "--delta", "2")
