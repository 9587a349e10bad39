"""The second revision adds sessions, and keeps what a server of the first one has written."""

import pytest
from alembic.script import ScriptDirectory
from tests.server.identity.databases import KINDS, location

from sfumato.server.identity.database import Database
from sfumato.server.identity.migrations import first, second
from sfumato.server.identity.people import Directory
from sfumato.server.identity.sessions import Sessions


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_the_first_revision_is_brought_up_to_date(kind, tmp_path, monkeypatch):
    place, revisions = location(kind, tmp_path), ScriptDirectory.iterate_revisions
    with monkeypatch.context() as before:
        before.setattr(ScriptDirectory, "iterate_revisions", lambda own, _, base: revisions(own, first.revision, base))
        old = Database(place)
        Directory(old).add("ann", display_name="Ann")
        old.close()
    new = Database(place)
    assert Directory(new).person("ann").display_name == "Ann"
    sessions = Sessions(new, secret=tmp_path / "keys.secret")
    assert sessions.find(sessions.begin("ann")).display_name == "Ann"
    new.close()


def test_it_follows_the_first_one():
    assert second.down_revision == first.revision
