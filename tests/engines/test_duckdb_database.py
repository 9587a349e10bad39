"""The database reads the files of its sources, whatever they are called, and nothing else."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb_database import connected, literal_path, lock_down
from sfumato.errors import ParameterError

ROWS = pa.table({"v": [1, 2]})


def locked(*files):
    database = connected(memory_limit=None, threads=None)
    lock_down(database, files)
    return database


@pytest.mark.parametrize(
    "statement",
    [
        "SET threads = 1", "SET enable_external_access = true", "SELECT * FROM read_csv('/etc/hostname')",
        "COPY (SELECT 1) TO 'stolen.csv'", "ATTACH 'other.db'", "LOAD httpfs", "SELECT * FROM ROWS", "INSTALL httpfs",
        "SELECT * FROM glob('*')", "RESET allowed_paths",
    ],
)  # fmt: skip
def test_it_reads_and_writes_nothing_of_its_own_accord(statement, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with locked() as database, pytest.raises(duckdb.Error):
        database.execute(statement).fetchall()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["plain", "it's [1]", "a*b?", "é"])
@pytest.mark.parametrize("relative", [False, True])
def test_files_that_are_named_can_be_read_whatever_their_paths(name, relative, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"{name}.parquet"
    other = tmp_path / f"{name} 2.parquet"
    for one in (path, other):
        pq.write_table(ROWS, one)
    path = path.relative_to(tmp_path) if relative else path
    with locked(path) as database:
        assert database.read_parquet(literal_path(path)).fetchall() == [(1,), (2,)]
        with pytest.raises(duckdb.Error):
            database.read_parquet(literal_path(other)).fetchall()


def test_no_character_of_a_path_is_a_wildcard(tmp_path):
    assert literal_path(tmp_path / "a*b?[c]") == f"{tmp_path}/a[*]b[?][[]c]"


def test_tables_can_still_be_made_and_registered():
    with locked() as database:
        database.register("rows", ROWS)
        database.execute("CREATE TABLE kept AS SELECT * FROM rows")
        assert database.execute("SELECT SUM(v) FROM kept").fetchall() == [(3,)]


def test_its_settings_are_those_that_are_asked_for():
    with connected(memory_limit="1GiB", threads=1) as database:
        names = (
            "'memory_limit', 'threads', 'autoload_known_extensions', 'autoinstall_known_extensions', 'temp_directory'"
        )
        found = dict(database.execute(f"SELECT name, value FROM duckdb_settings() WHERE name IN ({names})").fetchall())
    assert found == {
        "memory_limit": "1.0 GiB", "threads": "1", "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false", "temp_directory": "",
    }  # fmt: skip


@pytest.mark.parametrize(("limit", "threads"), [("much", None), (None, 0), (None, -1)])
def test_settings_that_cannot_be_used_are_refused(limit, threads):
    with pytest.raises(ParameterError):
        connected(memory_limit=limit, threads=threads)
