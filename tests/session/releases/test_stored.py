"""Released numbers as JSON, and back to the same values of the same types."""

import datetime as dt
import json
from datetime import date, datetime

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.query.model.kinds import Kind
from sfumato.session.releases.releasing import BATCH, Released, ReleasedBatch
from sfumato.session.releases.stored import decode_released, encode_released, read_batches, write_batches

DAY, TIME = dt.date(2026, 1, 31), dt.datetime.fromisoformat("2026-01-31T23:59:59.999999")


def survived(released):
    """What a ledger gives back: its JSON as text, read again."""
    return decode_released(json.loads(json.dumps(encode_released(released))))


keys = (
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"])) | st.dates()
    | st.datetimes()
)  # fmt: skip
numbers = st.integers(-(2**200), 2**200)


@given(
    st.lists(st.lists(keys, max_size=3).map(tuple), max_size=4).map(tuple),
    st.lists(st.lists(st.lists(numbers, max_size=3).map(tuple), max_size=3).map(tuple), max_size=3).map(tuple),
)
def test_whatever_is_released_survives_the_ledger(groups, measured):
    released = Released(groups=groups, measured=measured)
    again = survived(released)
    assert again == released
    assert [[type(key) for key in group] for group in again.groups] == [[type(key) for key in g] for g in groups]


@pytest.mark.parametrize(
    "key", [True, 1, "1", "true", DAY, TIME, dt.datetime.fromisoformat("2026-01-31"), "2026-01-31", ""]
)
def test_keys_that_look_alike_are_told_apart(key):
    ((again,),) = survived(Released(groups=((key,),), measured=())).groups
    assert (again, type(again)) == (key, type(key))


@pytest.mark.parametrize("key", [None, 1.5, {"time": "x"}, []])
def test_what_is_no_key_is_refused(key):
    with pytest.raises(TypeError, match="a stored key"):
        decode_released({"groups": [[key]], "measured": []})


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
