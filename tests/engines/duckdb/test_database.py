"""The database reads the files of its sources, whatever they are called, and nothing else.

Public rows are put in order on the disk, in another one.
"""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb.database import connected, literal_path, lock_down, sort_file
from sfumato.errors import LedgerError, ParameterError

ROWS = pa.table({"v": [1, 2]})

SHUFFLED = pa.table({"k0": ["b", "é", "B", "a", "b"], "k1": [2, 1, 3, 4, 1], "m": [1, 2, 3, 4, 5]})


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


def test_rows_come_in_the_order_of_their_keys_in_parts_of_one_size(tmp_path):
    source, target = tmp_path / "draft [1].parquet", tmp_path / "it's.parquet"
    pq.write_table(SHUFFLED, source)
    sort_file(source, target, by=["k0", "k1"], rows_in_a_part=2)
    assert pq.read_table(target)["k0"].to_pylist() == ["B", "a", "b", "b", "é"]
    assert pq.read_table(target)["m"].to_pylist() == [3, 4, 5, 1, 2]
    assert pq.read_table(target).schema.types == SHUFFLED.schema.types
    assert sorted(path.name for path in tmp_path.iterdir()) == ["draft [1].parquet", "it's.parquet"]


def test_many_rows_are_cut_where_their_number_says(tmp_path):
    source, target = tmp_path / "draft", tmp_path / "sorted"
    pq.write_table(pa.table({"k": list(range(10_000))[::-1]}), source)
    sort_file(source, target, by=["k"], rows_in_a_part=4096)
    with pq.ParquetFile(target) as file:
        assert [file.metadata.row_group(place).num_rows for place in range(3)] == [4096, 4096, 1808]


def test_rows_without_keys_stay_as_they_are(tmp_path):
    pq.write_table(SHUFFLED, tmp_path / "draft")
    sort_file(tmp_path / "draft", tmp_path / "sorted", by=[], rows_in_a_part=2)
    assert pq.read_table(tmp_path / "sorted").equals(SHUFFLED)


def test_rows_too_long_for_the_memory_that_is_set_aside_are_put_in_order_with_more_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.engines.duckdb.database._MEMORY", "1MB")
    keys = [f"{(7919 * place) % 10_000:05}" + 100 * "x" for place in range(10_000)]
    pq.write_table(pa.table({"k": keys}), tmp_path / "draft")
    sort_file(tmp_path / "draft", tmp_path / "sorted", by=["k"], rows_in_a_part=4096)
    assert pq.read_table(tmp_path / "sorted")["k"].to_pylist() == sorted(keys)


def test_what_cannot_be_written_is_an_error_of_the_ledger(tmp_path):
    with pytest.raises(LedgerError):
        sort_file(tmp_path / "missing", tmp_path / "sorted", by=["k"], rows_in_a_part=2)
