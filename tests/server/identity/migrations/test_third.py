"""The third revision adds counts of reports, and keeps what a server of the second one has written."""

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text
from tests.server.identity.databases import KINDS, location

from sfumato.local import DirectEncoding
from sfumato.server.config import Collection
from sfumato.server.identity.collections import Collections, Received
from sfumato.server.identity.database import Database
from sfumato.server.identity.migrations import second, third
from sfumato.server.identity.people import Directory

ORACLE = DirectEncoding(2, epsilon=1)
VOTES = Collection("votes", ORACLE, is_public=False, readers=frozenset())


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_the_second_revision_is_brought_up_to_date(kind, tmp_path, monkeypatch):
    place, revisions = location(kind, tmp_path), ScriptDirectory.iterate_revisions
    with monkeypatch.context() as before:
        before.setattr(ScriptDirectory, "iterate_revisions", lambda own, _, base: revisions(own, second.revision, base))
        old = Database(place)
        Directory(old).add("ann", display_name="Ann")
        old.close()
    new = Database(place)
    assert Directory(new).person("ann").display_name == "Ann"
    with new.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM collection_batch")).scalar_one() == 0
    collections = Collections(new)
    assert collections.receive(
        VOTES, [ORACLE.client().report(1)], batch=f"{collections.days()[0]}.sixteen-at-least", body=b""
    ) == Received(1, 0)
    assert len(collections.counted(VOTES)) == 1
    new.close()


def test_it_follows_the_second_one():
    assert third.down_revision == second.revision
