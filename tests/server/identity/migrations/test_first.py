"""The revisions make exactly the declared tables, in both databases, with triggers that keep acts and releases."""

from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from tests.server.identity.databases import KINDS, location

from sfumato.errors import DatabaseError
from sfumato.server.identity.acts import GENESIS, Act, append
from sfumato.server.identity.database import VERSION_TABLE, Database
from sfumato.server.identity.migrations import fourth
from sfumato.server.identity.people import Action
from sfumato.server.identity.releases import ReleaseRegistry
from sfumato.server.identity.tables import METADATA


def described(connection):
    """Everything that a database says of its tables."""
    found = inspect(connection)
    schema = found.default_schema_name

    def listed(items):
        return sorted(repr(sorted(item.items(), key=lambda pair: pair[0])) for item in items)

    return {
        table: (
            [repr({**column, "default": None}) for column in found.get_columns(table)],
            listed([found.get_pk_constraint(table)]),
            listed(found.get_foreign_keys(table)),
            listed(found.get_unique_constraints(table)),
            listed(found.get_check_constraints(table)),
            listed(found.get_indexes(table)),
        )
        for table in found.get_table_names(schema)
        if table != VERSION_TABLE
    }


def test_the_revisions_make_the_declared_tables(database):
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_heads() == (fourth.revision,)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_checks_are_the_declared_ones_too(kind, tmp_path, monkeypatch):
    migrated = Database(location(kind, tmp_path))
    monkeypatch.setattr(Database, "_migrate", lambda _: None)
    declared = Database(location(kind, tmp_path))
    with declared.writing() as connection:
        METADATA.create_all(connection)
    with migrated.reading() as one, declared.reading() as other:
        assert described(one) == described(other) != {}
    migrated.close()
    declared.close()


STATEMENTS = [
    "UPDATE act SET person = 'bob' WHERE number = 1",
    "DELETE FROM act",
    "DELETE FROM act WHERE number = 1",
    "INSERT INTO act SELECT 3, at, person, action, dataset, target, outcome, query_hash, previous, hash FROM act",
    "INSERT INTO act SELECT 1, at, 'bob', action, dataset, target, outcome, query_hash, previous, hash FROM act",
    "UPDATE kept_release SET document = shown_key",
    "DELETE FROM kept_release",
]
OF_SQLITE = [
    "INSERT OR REPLACE INTO act SELECT * FROM act",
    "UPDATE OR REPLACE act SET person = 'bob'",
]
OF_POSTGRESQL = [
    "TRUNCATE act",
    "TRUNCATE kept_release",
    "INSERT INTO act SELECT * FROM act ON CONFLICT (number) DO UPDATE SET person = 'bob'",
]


@pytest.mark.parametrize("statement", [*STATEMENTS, *OF_SQLITE, *OF_POSTGRESQL])
def test_acts_and_releases_are_never_changed_nor_deleted(database, statement):
    is_sqlite = database.name.startswith("sqlite")
    if statement in (OF_POSTGRESQL if is_sqlite else OF_SQLITE):
        return
    with database.writing() as connection:
        append(connection, database, [(datetime(2026, 11, 27, tzinfo=UTC), Act(person="ann", action=Action.ASK))])
    keep(database)
    before = contents(database)
    with pytest.raises(DatabaseError), database.writing() as connection:
        connection.execute(text(statement))
    assert contents(database) == before
    assert before[0][0].previous == GENESIS


@pytest.mark.parametrize("where", ["1, 'other', 'k2'", "7, id, 'k2'", "7, 'other', shown_key"])
def test_nothing_takes_the_place_of_a_release_in_sqlite(in_a_file, where):
    keep(in_a_file)
    before = contents(in_a_file)
    with in_a_file.writing() as connection:
        connection.execute(
            text(
                "REPLACE INTO kept_release"
                " (number, id, shown_key, dataset, account, principal, question_hash, document, at)"
                f" SELECT {where}, dataset, account, principal, question_hash, 'other', at FROM kept_release"
            )
        )
    assert contents(in_a_file) == before


def keep(database):
    ReleaseRegistry(database).keep(
        b"{}", dataset="d", account="d/ann", principal="ann", question_hash="0" * 64, shown_key="k"
    )


def contents(database):
    with database.reading() as connection:
        return [connection.execute(text(f"SELECT * FROM {table}")).all() for table in ("act", "kept_release")]
