import os
import shutil
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engines.sources.identities import file_identity, frame_identity
from sfumato.errors import ParameterError

CANARY = "canary-3141592653"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "people.csv").write_text(f"name\n{CANARY}\n")
    return tmp_path / "people.csv"


def test_the_same_file_by_a_link_another_path_or_another_name(path, monkeypatch):
    link, hard = path.with_name("link.csv"), path.with_name("hard.txt")
    link.symlink_to(path)
    os.link(path, hard)
    (path.parent / "inside").mkdir()
    monkeypatch.chdir(path.parent)
    paths = [path, link, hard, path.relative_to(path.parent), path.parent / "inside" / ".." / "people.csv"]
    assert len({file_identity(one) for one in paths}) == 1


def test_a_copy_is_the_same_data(path, tmp_path):
    assert file_identity(shutil.copy(path, tmp_path / "copy.parquet")) == file_identity(path)


@pytest.mark.parametrize(
    "change", [lambda old: old + b"\n", lambda old: old[:-1], lambda old: old.replace(b"6", b"7", 1)]
)
def test_other_bytes_are_other_data(path, change):
    before = file_identity(path)
    path.write_bytes(change(path.read_bytes()))
    assert file_identity(path) != before


def test_nothing_of_the_file_is_in_its_identity(path):
    kind, digest = file_identity(path)
    assert kind == "bytes"
    assert len(digest) == 64


def test_a_file_that_cannot_be_read_is_told_by_its_name(path):
    path.unlink()
    with pytest.raises(ParameterError, match=r"people.csv.*must be a file that can be read"):
        file_identity(path)


def times(*texts):
    return pa.array(texts).cast(pa.timestamp("us"))


DATA = pa.table(
    {
        "name": ["a", CANARY, None, "é", ""],
        "age": pa.array([30, 50, None, -1, 2**40]),
        "pay": [1.5, float("nan"), None, -0.0, float("inf")],
        "whole": [1.0, 2.0, None, 4.0, 5.0],
        "member": [True, False, True, True, False],
        "born": [date(1990, 1, 2), None, date(1, 1, 1), date(9999, 12, 31), date(1990, 1, 2)],
        "seen": times("2026-01-01T09:30", None, "1900-01-01", "2026-01-01", "2026-01-01"),
    }
)
SAME = frame_identity(DATA)


def with_column(name, cells):
    return DATA.set_column(DATA.column_names.index(name), name, cells)


def of(column):
    return frame_identity(pa.table({"v": column}))


@pytest.mark.parametrize(
    "frame",
    [
        DATA.to_pandas(), DATA.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(DATA),
        pl.from_arrow(DATA).to_pandas(),
    ],
    ids=["pandas", "pandas on Arrow", "Polars", "Polars to pandas"],
)  # fmt: skip
def test_it_does_not_depend_on_the_library(frame):
    assert frame_identity(frame) == SAME


def test_it_does_not_depend_on_chunks():
    assert frame_identity(pa.concat_tables([DATA.slice(0, 1), DATA.slice(1, 0), DATA.slice(1)])) == SAME
    assert frame_identity(pa.concat_tables([DATA, DATA]).slice(5)) == SAME


def test_it_does_not_depend_on_the_order_or_the_names_of_columns():
    assert frame_identity(DATA.select(DATA.column_names[::-1])) == SAME
    assert frame_identity(DATA.rename_columns([f"c{place}" for place in range(7)])) == SAME


def test_it_does_not_depend_on_the_order_of_rows():
    assert frame_identity(DATA.take([3, 1, 4, 0, 2])) == SAME


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("name", DATA["name"].dictionary_encode()), ("name", DATA["name"].cast(pa.large_string())),
        ("name", DATA["name"].cast(pa.string_view())), ("name", DATA["name"].cast(pa.binary())),
        ("age", DATA["age"].cast(pa.float64())), ("age", DATA["age"].cast(pa.uint64(), safe=False)),
        ("whole", DATA["whole"].cast(pa.int8())), ("whole", DATA["whole"].cast(pa.float32())),
        ("born", DATA["born"].cast(pa.date64())), ("born", DATA["born"].cast(pa.timestamp("s"))),
        ("born", DATA["born"].cast(pa.string())), ("seen", DATA["seen"].cast(pa.timestamp("ns"))),
        ("seen", DATA["seen"].cast(pa.timestamp("us", "Asia/Kathmandu"))),
        ("member", pa.array(["true", "false", "true", "true", "false"])),
        ("pay", pa.array([1.5, None, None, 0.0, float("inf")])),
    ],
)  # fmt: skip
def test_it_does_not_depend_on_how_equal_values_are_stored(name, cells):
    assert frame_identity(with_column(name, cells)) == SAME


@pytest.mark.parametrize("name", DATA.column_names)
def test_another_value_anywhere_makes_other_data(name):
    cells = DATA[name].to_pylist()
    assert frame_identity(with_column(name, pa.array([cells[1], *cells[1:]], DATA.schema.field(name).type))) != SAME


def test_a_row_or_a_column_more_makes_other_data():
    assert frame_identity(pa.concat_tables([DATA, DATA.slice(0, 1)])) != SAME
    assert frame_identity(DATA.slice(1)) != SAME
    assert frame_identity(DATA.drop_columns(["age"])) != SAME
    assert frame_identity(DATA.append_column("again", DATA["age"])) != SAME


def test_the_same_columns_with_other_rows_are_other_data():
    one = pa.table({"a": [1, 2, 3, 4], "b": ["x", "x", "y", "y"]})
    other = pa.table({"a": [1, 2, 3, 4], "b": ["x", "y", "x", "y"]})
    assert frame_identity(one) != frame_identity(other)


def test_values_that_look_alike_are_other_data():
    hour = 3_600_000_000
    frames = [[1], ["1"], [1.5], ["1.5"], [1, None], [""], [0], [2**60], [True], times("1970-01-01T01:00"), [hour]]
    assert len({of(cells) for cells in frames}) == len(frames)


@pytest.mark.parametrize(
    ("one", "other"), [(["ab", "c"], ["a", "bc"]), (["", "ab"], ["a", "b"]), ([1, 1, 2], [1, 2, 2])]
)
def test_values_cut_or_counted_otherwise_are_other_data(one, other):
    assert of(one) != of(other)


def test_how_many_are_missing_counts():
    assert of([1, None]) != of([1, None, None])


def test_bytes_that_are_no_text_are_read_as_they_are():
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"a"]).buffers())
    assert of(broken) == of([b"\xff", b"a"]) != of(["\ufffd", "a"])


def test_decimals_are_known_as_they_are_written():
    assert of([Decimal("1.50")]) == of(["1.50"]) == frame_identity(pd.DataFrame({"v": [Decimal("1.50")]}))


@pytest.mark.parametrize("frame", [DATA.slice(0, 0), pa.table({}), pa.table({"v": [[1]]}), pd.DataFrame(index=[1, 2])])
def test_where_nothing_can_be_read_there_is_no_identity(frame):
    assert frame_identity(frame) is None


@pytest.mark.parametrize(
    "cells",
    [
        pa.nulls(5),
        pa.array([None] * 5, pa.string()),
        pa.array([float("nan")] * 5),
        pa.array([2**62] * 5, pa.timestamp("s")),
    ],
)
def test_columns_without_a_value_are_left_out(cells):
    assert frame_identity(DATA.append_column("nothing", cells)) == SAME
    assert of(cells) is None


def test_lists_are_left_out_also_where_pandas_holds_them():
    lists = pa.table({"v": [1, 2], "w": [[1], [2]]})
    assert frame_identity(lists) == frame_identity(lists.to_pandas()) == of([1, 2])


def test_columns_that_cannot_be_read_are_left_out():
    nested = DATA.append_column("list", pa.array([[1]] * 5)).append_column("struct", pa.array([{"a": 1}] * 5))
    assert frame_identity(nested.append_column("time", pa.array([None] * 5, pa.time64("us")))) == SAME


def test_times_that_no_engine_sees_are_missing():
    assert of(pa.array([2**62, 0], pa.timestamp("s"))) == of(pa.array([None, 0], pa.timestamp("s")))


def test_nothing_of_the_rows_is_in_it():
    assert CANARY not in repr(SAME)
    assert all(len(word) == 64 for word in SAME[1:])


def test_a_built_in_table_is_known_however_it_is_held():
    votes = sf.datasets.votes()
    assert frame_identity(votes) == frame_identity(votes.to_pandas()) == frame_identity(pl.from_arrow(votes))


def test_what_an_old_ledger_holds_is_found_again():
    assert of([1, 2, 2, None, 5]) == OLD
    assert frame_identity(pa.table({"a": ["x", "y"], "b": [0.5, None]})) == OLD_OF_TWO


OLD = (
    "rows",
    "68f475e1c1bf7213388e287da63f7180d84683ab8c267df53c2493bfecfdb7d3",
    "24ad4d328a910052253b55763ba38b8f621de6fdba24348cb8dd196275ffdc4b",
)
OLD_OF_TWO = (
    "rows",
    "97c7ff3135eefe71de471f988ab8a923a41a22cb3d8438ba05ecfb65f246c5e9",
    "b2862bca4cec492f2b0ea4241777601aa4f27cdc38a5e22bc8a72ca64e86534f",
    "2891d40101b23025364ede3d5d09c3d9e4cd83975374da639291794e05196737",
)

ROWS = st.lists(st.tuples(st.sampled_from([-1, 0, 1, None]), st.sampled_from(["a", "", None])), min_size=1, max_size=6)


@given(ROWS, ROWS)
def test_two_tables_are_the_same_exactly_if_they_have_the_same_rows(one, other):
    def table(rows):
        numbers, texts = zip(*rows, strict=True)
        return pa.table({"v": pa.array(numbers, pa.int64()), "w": pa.array(texts, pa.string())})

    def counted(rows):
        return sorted(map(repr, rows))

    assert (frame_identity(table(one)) == frame_identity(table(other))) == (counted(one) == counted(other))


def test_many_rows_of_every_type_need_no_loop_over_them():
    many = 200_000
    numbers = np.arange(many)
    frame = pa.table({"id": numbers, "x": np.sqrt(numbers), "name": pa.array(numbers).cast(pa.string())})
    assert frame_identity(frame) == frame_identity(frame.take(numbers[::-1]))
