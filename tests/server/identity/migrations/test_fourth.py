"""The fourth revision adds federations, and keeps what a server of the third one has written."""

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text
from tests.server.identity.databases import KINDS, location

from sfumato.server.identity.database import Database
from sfumato.server.identity.federations import Federations, FederationState, FederationTerms
from sfumato.server.identity.migrations import fourth, third
from sfumato.server.identity.people import Directory

TERMS = FederationTerms(
    parties=("ann", "bob"), rounds=1, least=2, seconds=60.0, message_characters=1_000, plan={"ε": "8"}
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_the_third_revision_is_brought_up_to_date(kind, tmp_path, monkeypatch):
    place, revisions = location(kind, tmp_path), ScriptDirectory.iterate_revisions
    with monkeypatch.context() as before:
        before.setattr(ScriptDirectory, "iterate_revisions", lambda own, _, base: revisions(own, third.revision, base))
        old = Database(place)
        Directory(old).add("ann", display_name="Ann")
        old.close()
    new = Database(place)
    assert Directory(new).person("ann").display_name == "Ann"
    with new.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM federation_message")).scalar_one() == 0
    federations = Federations(new)
    federations.open("hospitals", TERMS)
    assert federations.terms("hospitals") == TERMS
    assert federations.send("hospitals", "ann", FederationState(round=0, attempt=0, phase="keys"), "one")
    assert federations.sent("hospitals", "ann") == ("keys",)
    new.close()


def test_it_follows_the_third_one():
    assert fourth.down_revision == third.revision
