"""A database is made private, brought up to date once, refused if it is newer, and says nothing of what it holds."""

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.engines.postgres_server import server
from tests.ledger.postgres_ledgers import PASSWORD, keeper
from tests.server.identity.databases import KINDS, location

from sfumato.errors import DatabaseError
from sfumato.server.identity.database import VERSION_TABLE, Database, utc_now
from sfumato.server.identity.tables import PEOPLE


def people(database):
    with database.reading() as connection:
        return connection.execute(text("SELECT name FROM person ORDER BY name")).scalars().all()


def person(name):
    return {"name": name, "display_name": name, "is_platform_admin": False, "is_active": True}


def add(database, name):
    with database.writing() as connection:
        return database.insert_new(connection, PEOPLE, **person(name))


def test_only_its_owner_may_read_the_files(tmp_path):
    (tmp_path / "people.db").touch(mode=0o644)
    database = Database(f"sqlite:///{tmp_path}/people.db")
    add(database, "ann")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 3
    database.close()


def test_every_connection_to_sqlite_waits_for_the_disk_and_keeps_foreign_keys(in_a_file):
    for connected in (in_a_file.reading, in_a_file.writing):
        with connected() as connection:
            asked = ("journal_mode", "synchronous", "foreign_keys")
            assert [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in asked] == ["wal", 2, 1]


def test_what_postgresql_acknowledges_is_on_the_disk_whatever_the_role_was_given():
    server().execute(f"CREATE SCHEMA of_keeper AUTHORIZATION {keeper()}")
    database = Database(f"{server().url(user=keeper(), password=PASSWORD)}?options=-csearch_path%3Dof_keeper")
    add(database, "ann")
    for connected in (database.reading, database.writing):
        with connected() as connection:
            asked = ("synchronous_commit", "transaction_isolation", "transaction_read_only")
            found = [connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in asked]
            assert found == ["on", "read committed", "off"]
    assert people(database) == ["ann"]
    database.close()


def test_a_block_that_fails_leaves_nothing(database):
    def fail():
        with database.writing() as connection:
            database.insert_new(connection, PEOPLE, **person("ann"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert people(database) == []


def test_what_is_there_already_is_not_inserted_again(database):
    assert [add(database, name) for name in ("ann", "bob", "ann")] == [True, True, False]
    assert people(database) == ["ann", "bob"]


@pytest.mark.parametrize("kind", KINDS)
def test_servers_that_start_at_once_make_one_database(kind, tmp_path):
    where = location(kind, tmp_path)
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(lambda _: Database(where), range(4)))
    add(opened[0], "ann")
    assert [people(database) for database in opened] == [["ann"]] * 4
    for database in opened:
        database.close()


def test_who_opens_a_file_again_takes_no_lock_away_from_who_has_it_open(tmp_path):
    """A process that closes a file loses all its locks on it; the next process to leave would remove the journal."""
    database = Database(f"sqlite:///{tmp_path}/people.db")
    add(database, "ann")
    Database(f"sqlite:///{tmp_path}/people.db").close()
    journal = (tmp_path / "people.db-wal").stat().st_ino
    code = f"import sqlite3; c = sqlite3.connect('{tmp_path}/people.db'); c.execute('SELECT * FROM person'); c.close()"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "people.db-wal").stat().st_ino == journal
    database.close()


@pytest.mark.parametrize("kind", KINDS)
def test_writers_wait_for_each_other(kind, tmp_path):
    where = location(kind, tmp_path)
    opened = [Database(where) for _ in range(2)]
    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(lambda n: add(opened[n % 2], f"p{n // 2}"), range(40)))
    assert (sum(done), len(people(opened[0]))) == (20, 20)
    for database in opened:
        database.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_of_a_newer_version_is_refused(kind, tmp_path):
    where = location(kind, tmp_path)
    database = Database(where)
    with database.writing() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    database.close()
    with pytest.raises(DatabaseError, match="a newer version of sfumato wrote it; upgrade sfumato"):
        Database(where)


@pytest.mark.parametrize(
    "where", ["", "people.db", "sqlite://", "sqlite:///:memory:", "sqlite:///a.db?x=1", "mysql://u:p4ss@h/d", "postgresql+psycopg2://h/d"]
)  # fmt: skip
def test_another_location_is_refused(where):
    with pytest.raises(DatabaseError, match="must be sqlite:///FILE or postgresql://") as refused:
        Database(where)
    assert "p4ss" not in str(refused.value)


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(DatabaseError, match="cannot be made; name a file in an existing local folder"):
        Database(f"sqlite:///{tmp_path}/none/people.db")


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "people.db"
    path.write_text("no database, but a long enough text of a letter to somebody\n" * 100)
    with pytest.raises(DatabaseError, match="could not be"):
        Database(f"sqlite:///{path}")
    assert path.read_text().startswith("no database")


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE act (x)")
    other.close()
    with pytest.raises(DatabaseError, match="could not be written"):
        Database(f"sqlite:///{path}")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("act",)]
    other.close()


def test_errors_and_names_hold_neither_values_nor_passwords(database):
    with pytest.raises(DatabaseError) as refused, database.writing() as connection:
        connection.execute(text("INSERT INTO person VALUES (:canary, NULL, NULL, NULL)"), {"canary": "c4nary"})
    shown = f"{refused.value} {refused.value.__cause__} {database.name}"
    assert "c4nary" not in shown
    assert "secret" not in shown


def test_a_server_that_is_not_there_is_an_error_without_its_password():
    with pytest.raises(DatabaseError, match=r"could not be written \(OperationalError\)") as refused:
        Database("postgresql://ann:p4ss@127.0.0.1:1/people")
    assert "p4ss" not in str(refused.value)


def test_what_knows_people_loads_no_engine():
    code = (
        "import sys\n"
        "from sfumato.server.identity import acts, approvals, database, keys, people, releases\n"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert loaded & {"duckdb", "pyarrow", "sqlglot", "pandas", "fastapi"} == set()
    assert "sqlalchemy" in loaded


def test_the_clock_is_in_utc():
    assert utc_now().utcoffset().total_seconds() == 0


def test_revisions_lie_in_the_package():
    from sfumato.server.identity.migrations import first

    assert Path(first.__file__).parent.name == "migrations"


def test_a_database_that_is_open_is_opened_again_without_letting_go_of_its_locks(tmp_path, monkeypatch):
    """POSIX forgets all locks of a process on a file when it closes any descriptor of it."""
    where = f"sqlite:///{tmp_path / 'people.db'}"
    first, opened = Database(where), []
    real = os.open

    def watched(path, *arguments, **options):
        opened.append(str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", watched)
    Database(where).close()
    assert opened == []
    first.close()
