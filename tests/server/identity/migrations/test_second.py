"""The second revision adds sessions, and keeps what a server of the first one has written."""

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text
from tests.server.identity.databases import KINDS, location

from sfumato.server.identity.database import Database
from sfumato.server.identity.migrations import first, second
from sfumato.server.identity.people import Directory, Grant, Role
from sfumato.server.identity.sessions import Sessions


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_of_the_first_revision_is_brought_up_to_date(kind, tmp_path, monkeypatch):
    place, revisions = location(kind, tmp_path), ScriptDirectory.iterate_revisions
    with monkeypatch.context() as before:
        before.setattr(ScriptDirectory, "iterate_revisions", lambda own, _, base: revisions(own, first.revision, base))
        old = Database(place)
        Directory(old).add("ann", display_name="Ann")
        with old.writing() as connection:
            connection.execute(text("INSERT INTO dataset_grant VALUES ('ann', 'adult', 'owner', '')"))
        old.close()
    new = Database(place)
    assert Directory(new).person("ann").display_name == "Ann"
    assert Directory(new).grants("ann") == (Grant("adult", Role.OWNER),)
    with new.reading() as connection:  # groups did not give it, so that no sign-in takes it
        assert connection.execute(text("SELECT provider FROM dataset_grant")).scalar_one() == ""
    sessions = Sessions(new, secret=tmp_path / "keys.secret")
    assert sessions.find(sessions.begin("ann")).display_name == "Ann"
    new.close()


def test_it_follows_the_first_one():
    assert second.down_revision == first.revision
