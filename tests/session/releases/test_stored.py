"""Released numbers in a file, and back to the same values in the order of their keys."""

import datetime as dt
from datetime import date, datetime

import numpy as np
import pyarrow.parquet as pq
import pytest

from sfumato.query.model.kinds import Kind
from sfumato.session.releases.releasing import BATCH, ReleasedBatch
from sfumato.session.releases.stored import read_batches, write_batches

DAY, TIME = dt.date(2026, 1, 31), dt.datetime.fromisoformat("2026-01-31T23:59:59.999999")


def batch(keys, *measured):
    return ReleasedBatch(keys=tuple(keys), measured=tuple(np.array(rows) for rows in measured))


def read(path):
    return [
        row for one in read_batches(path) for row in zip(*one.keys, *(m.tolist() for m in one.measured), strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (Kind.TEXT, ["B", "a", "é"]), (Kind.INTEGER, [-1, 0, 7]), (Kind.BOOLEAN, [False, True]),
        (Kind.DATE, [date(1, 1, 1), date(2026, 1, 31)]),
        (Kind.TIMESTAMP, [datetime.fromisoformat("2026-01-31 12:00"), datetime.fromisoformat("2026-01-31 12:01")]),
    ],
)  # fmt: skip
def test_keys_of_every_kind_come_back_in_order(tmp_path, kind, keys):
    numbers = [[place, 10 * place] for place in range(len(keys))]
    write_batches(tmp_path / "a", [kind], [batch([keys[::-1]], numbers[::-1], numbers[::-1])])
    assert read(tmp_path / "a") == [(key, own, own) for key, own in zip(keys, numbers, strict=True)]


def test_batches_of_any_size_become_parts_of_one_size_and_nothing_else_stays(tmp_path):
    size = BATCH + 10
    pieces = [batch([range(place, size, 3)], [[key] for key in range(place, size, 3)]) for place in range(3)]
    write_batches(tmp_path / "a", [Kind.INTEGER], pieces)
    with pq.ParquetFile(tmp_path / "a") as file:
        assert [file.metadata.row_group(place).num_rows for place in range(2)] == [BATCH, 10]
    assert read(tmp_path / "a") == [(key, [key]) for key in range(size)]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_one_group_without_keys_and_no_groups_at_all(tmp_path):
    write_batches(tmp_path / "one", [], [batch([], [[1, 2]], [[3]])])
    assert [[m.tolist() for m in one.measured] for one in read_batches(tmp_path / "one")] == [[[[1, 2]], [[3]]]]
    write_batches(tmp_path / "none", [Kind.TEXT], [])
    assert list(read_batches(tmp_path / "none")) == []


@pytest.mark.parametrize("numbers", [(2**63, -(2**63) - 1), (2**124, -(2**124)), (2**63 - 1, -(2**63))])
def test_numbers_beyond_64_bits_come_back_too(tmp_path, numbers):
    small = batch([["c"]], [[5]])  # of 64 bits, before those that are of more
    wide = batch([["a", "b"]], np.array([[number] for number in numbers], dtype=object))
    write_batches(tmp_path / "a", [Kind.TEXT], [small, wide])
    assert read(tmp_path / "a") == [("a", [numbers[0]]), ("b", [numbers[1]]), ("c", [5])]
