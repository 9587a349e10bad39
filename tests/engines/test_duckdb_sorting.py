"""Public rows are put in order on the disk."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb_sorting import sort_file
from sfumato.errors import LedgerError

ROWS = pa.table({"k0": ["b", "é", "B", "a", "b"], "k1": [2, 1, 3, 4, 1], "m": [1, 2, 3, 4, 5]})


def test_rows_come_in_the_order_of_their_keys_in_parts_of_one_size(tmp_path):
    source, target = tmp_path / "draft [1].parquet", tmp_path / "it's.parquet"
    pq.write_table(ROWS, source)
    sort_file(source, target, by=["k0", "k1"], rows_in_a_part=2)
    assert pq.read_table(target)["k0"].to_pylist() == ["B", "a", "b", "b", "é"]
    assert pq.read_table(target)["m"].to_pylist() == [3, 4, 5, 1, 2]
    assert pq.read_table(target).schema.types == ROWS.schema.types
    assert sorted(path.name for path in tmp_path.iterdir()) == ["draft [1].parquet", "it's.parquet"]


def test_many_rows_are_cut_where_their_number_says(tmp_path):
    source, target = tmp_path / "draft", tmp_path / "sorted"
    pq.write_table(pa.table({"k": list(range(10_000))[::-1]}), source)
    sort_file(source, target, by=["k"], rows_in_a_part=4096)
    with pq.ParquetFile(target) as file:
        assert [file.metadata.row_group(place).num_rows for place in range(3)] == [4096, 4096, 1808]


def test_rows_without_keys_stay_as_they_are(tmp_path):
    pq.write_table(ROWS, tmp_path / "draft")
    sort_file(tmp_path / "draft", tmp_path / "sorted", by=[], rows_in_a_part=2)
    assert pq.read_table(tmp_path / "sorted").equals(ROWS)


def test_rows_too_long_for_the_memory_that_is_set_aside_are_put_in_order_with_more_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.engines.duckdb_sorting._MEMORY", "1MB")
    keys = [f"{(7919 * place) % 10_000:05}" + 100 * "x" for place in range(10_000)]
    pq.write_table(pa.table({"k": keys}), tmp_path / "draft")
    sort_file(tmp_path / "draft", tmp_path / "sorted", by=["k"], rows_in_a_part=4096)
    assert pq.read_table(tmp_path / "sorted")["k"].to_pylist() == sorted(keys)


def test_what_cannot_be_written_is_an_error_of_the_ledger(tmp_path):
    with pytest.raises(LedgerError):
        sort_file(tmp_path / "missing", tmp_path / "sorted", by=["k"], rows_in_a_part=2)
