"""Declarations cross to a process without data: plans, hashes and keys are the same there, and no source is known."""

from dataclasses import replace

import pytest
from tests.query.planned import PEOPLE, VISITS
from tests.session.desk import desk, rows
from tests.session.stored_keys import CASES
from tests.session.wire.plans import of_case

from sfumato.errors import TicketError
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.policy.policy import SourceFacts
from sfumato.session.asking.answer_key import declared_tables
from sfumato.session.asking.planning import Planning, names_again
from sfumato.session.wire.policies import DECLARATIONS, Declarations, decode_declarations, encode_declarations

ADDRESS = "postgresql://curator:swordfish@host/base"


def declared(**changes):
    own = desk((PEOPLE, rows(PEOPLE)), (VISITS, rows(VISITS)))
    sources = {name: SourceFacts(source=ADDRESS, snapshot=ADDRESS) for name in own.policy.tables}
    return replace(own, policy=replace(own.policy, sources=sources, **changes))


def crossed(planning):
    return decode_declarations(encode_declarations(planning, planning.ledger), planning.ledger)


def test_a_policy_is_the_same_but_for_its_sources():
    planning = declared(views={"adults": "SELECT * FROM people WHERE age >= 18"}, shares_answers=True)
    found = crossed(planning).policy()
    assert {facts.source for facts in found.sources.values()} == {None}
    assert replace(found, sources=planning.policy.sources) == planning.policy
    assert declared_tables(found) == declared_tables(planning.policy)


def test_no_source_is_written():
    assert "swordfish" not in encode_declarations(declared(), declared().ledger)


@pytest.mark.parametrize("case", list(CASES), ids=str)
def test_plans_have_the_same_hash_and_key(case):
    planning, ticket = of_case(case)
    there = Planning(
        policy=crossed(planning).policy(), ledger=planning.ledger, account=planning.account, places=planning.places
    )
    assert names_again(there, ticket.prepared) == (ticket.prepared.question, ticket.prepared.key)


def test_formats_of_csv_files_are_part_of_keys_and_cross():
    planning = declared()
    csv = CsvFormat(delimiter=";", decimal=",", dates=("%d.%m.%Y",), null=("NA",))
    sources = {name: SourceFacts(source="a.csv", csv=csv) for name in planning.policy.tables}
    planning = replace(planning, policy=replace(planning.policy, sources=sources))
    assert {facts.csv for facts in crossed(planning).policy().sources.values()} == {csv}


def test_places_cross():
    planning = replace(declared(), places={"people": "duckdb", "visits": "postgres"})
    assert crossed(planning).places == planning.places


def test_what_another_key_sealed_is_refused():
    planning = declared()
    text = encode_declarations(planning, planning.ledger)
    for wrong in (text[1:], text.partition(" ")[2], text.replace("people", "peoplf"), f"{'0' * 64} x"):
        with pytest.raises(TicketError, match="seal"):
            decode_declarations(wrong, planning.ledger)
    with pytest.raises(TicketError):
        decode_declarations(text, desk((PEOPLE, rows(PEOPLE))).ledger)


def test_what_is_no_policy_is_refused():
    planning = declared()
    wrong = DECLARATIONS.encode(replace(Declarations.of(planning), dataset=""))
    sealed = f"{planning.ledger.key.seal('declarations', wrong)} {wrong}"
    with pytest.raises(TicketError, match="policy"):
        decode_declarations(sealed, planning.ledger)
