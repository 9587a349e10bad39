"""Frames and Parquet files become tables on which no engine can stumble, whatever the cells."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.sources.arrow_tables import (
    arrow_table,
    check_types,
    holds_times,
    parquet_schema,
    read_parquet,
    repaired,
)
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Limits, Table, boolean, date, integer, real, text, timestamp

TIMES = [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "Europe/Rome")]
BROKEN = pa.array([b"ok", b"\xff", None]).cast(pa.large_binary()).view(pa.large_string())
TABLE = Table(name="t", columns={"v": text()})


@pytest.mark.parametrize(
    "kind",
    [
        pa.float16(),
        pa.decimal128(5, -2),
        pa.dictionary(pa.int8(), pa.string_view()),
        pa.decimal256(50, 2),
        pa.timestamp("us"),
        pa.date32(),
        pa.time64("us"),
        pa.dictionary(pa.int8(), pa.date32()),
        pa.binary(),
        pa.list_(pa.int8()),
        pa.duration("s"),
    ],
    ids=str,
)
def test_a_type_of_which_some_value_could_fail_is_refused(kind):
    with pytest.raises(ParameterError, match="cast it"):
        check_types(pa.schema([("v", kind)]), TABLE)


@pytest.mark.parametrize("kind", TIMES, ids=str)
@pytest.mark.parametrize("declared", [integer(), real(), boolean()])
def test_days_and_times_are_nothing_but_days_and_times(kind, declared):
    with pytest.raises(ParameterError, match="declare it as a date or a timestamp"):
        check_types(pa.schema([("v", kind)]), Table(name="t", columns={"v": declared}))


@pytest.mark.parametrize("kind", TIMES, ids=str)
@pytest.mark.parametrize("declared", [date(), timestamp()])
def test_days_and_times_are_read_as_either(kind, declared):
    table = Table(name="t", columns={"v": declared})
    check_types(pa.schema([("v", kind)]), table)
    assert holds_times(pa.schema([("v", kind), ("w", pa.string())]), table)


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float64(), pa.bool_()], ids=str)
def test_what_else_is_declared_as_a_day_is_read_by_its_text(kind):
    table = Table(name="t", columns={"v": date()})
    check_types(pa.schema([("v", kind)]), table)
    assert not holds_times(pa.schema([("v", kind), ("w", pa.date32())]), table)


@pytest.mark.parametrize(
    "kind",
    [
        pa.bool_(),
        pa.uint64(),
        pa.float32(),
        pa.decimal128(38, 10),
        pa.string_view(),
        pa.null(),
        pa.dictionary(pa.int8(), pa.string()),
    ],
    ids=str,
)
def test_plain_types_are_read(kind):
    check_types(pa.schema([("v", kind)]), TABLE)


@pytest.mark.parametrize("kind", [pa.uint64(), pa.decimal128(19, 0), pa.decimal128(38, 18)], ids=str)
def test_whole_numbers_beyond_64_bits_are_refused_by_the_type_alone(kind):
    schema = pa.schema([("v", kind)])
    with pytest.raises(ParameterError, match="beyond 64 bits; declare ids as text and amounts as a float"):
        check_types(schema, Table(name="t", columns={"v": integer(0, 9)}))
    for declared in (text(), real(0, 9), boolean()):
        check_types(schema, Table(name="t", columns={"v": declared}))


@pytest.mark.parametrize("kind", [pa.uint32(), pa.int64(), pa.decimal128(18, 0), pa.decimal128(38, 20)], ids=str)
def test_types_of_which_64_bits_hold_every_whole_number_are_read_as_one(kind):
    check_types(pa.schema([("v", kind)]), Table(name="t", columns={"v": integer()}))


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(9, 2)], ids=str)
def test_ids_are_not_stored_as_fractions(kind):
    by_unit = Table(name="t", columns={"v": integer()}, unit=UnitColumn("v"), limits=Limits(max_rows_per_unit=1))
    with pytest.raises(ParameterError, match="ids"):
        check_types(pa.schema([("v", kind)]), by_unit)


def test_bytes_that_are_not_utf_8_are_repaired_also_in_dictionaries():
    for column in (BROKEN, BROKEN.dictionary_encode()):
        assert repaired(pa.table({"v": column})).column("v").to_pylist() == ["ok", "\ufffd", None]


def test_a_parquet_file_is_repaired_when_it_is_read(tmp_path):
    pq.write_table(pa.table({"v": BROKEN, "w": [1, 2, 3]}), tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet", TABLE).to_pydict() == {"v": ["ok", "\ufffd", None]}


def test_times_are_repaired_wherever_they_come_from(tmp_path):
    stored = pa.array([0, 1_500, 2**63 - 1, None], pa.int64()).cast(pa.timestamp("ms", "Europe/Rome"))
    table = Table(name="t", columns={"v": timestamp()})
    pq.write_table(pa.table({"v": stored}), tmp_path / "t.parquet")
    for data in (repaired(pa.table({"v": stored})), read_parquet(tmp_path / "t.parquet", table)):
        assert data.column("v").type == pa.timestamp("us")
        assert [None if t is None else t.isoformat() for t in data.column("v").to_pylist()] == [
            "1970-01-01T00:00:00", "1970-01-01T00:00:01.500000", None, None,
        ]  # fmt: skip


def test_a_file_without_a_schema_is_an_error_without_its_text(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"canary")
    with pytest.raises(EngineError) as caught:
        parquet_schema(tmp_path / "t.parquet")
    assert "canary" not in str(caught.value)


class Failing:
    def __str__(self):
        raise RuntimeError("canary")


def test_objects_of_a_pandas_column_become_text_one_by_one_and_none_is_an_error():
    cells = [1, 2.0, 2.5, True, "x", None, float("nan"), pd.NA, pd.NaT, {"a": 1}, "\ud800", 10**5000]
    cells += [Decimal("sNaN"), Decimal("1.50"), Failing(), dt.date(2026, 1, 2), np.int8(7), np.float32(0.5)]
    found = arrow_table(pd.DataFrame({"v": pd.Series(cells, dtype=object)})).column("v").to_pylist()
    assert found == [
        "1", "2", "2.5", "true", "x", None, None, None, None, None, "?", None,
        None, "1.50", None, "2026-01-02", "7", "0.5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (pd.Categorical(["secret-name", 3, None]), ["secret-name", "3", None]),
        (pd.array(["a", None], dtype=pd.StringDtype("python")), ["a", None]),
        (pd.interval_range(0, 2), [None, None]),
    ],
)
def test_no_pandas_column_is_an_error(column, found):
    assert repaired(arrow_table(pd.DataFrame({"v": column}))).column("v").to_pylist() == found


ZONES = ["Europe/Rome", None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", ZONES)
def test_times_of_a_pandas_column_are_times_in_utc(unit, zone):
    column = pd.Series(pd.to_datetime(["2026-07-01 12:00", None])).dt.as_unit(unit).dt.tz_localize(zone)
    for stored in (column, column.astype("category")):
        found = repaired(arrow_table(pd.DataFrame({"v": stored}))).column("v")
        assert found.type == pa.timestamp("us")
        assert [str(cell) for cell in found.to_pylist()] == [f"2026-07-01 {10 if zone else 12}:00:00", "None"]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (pd.Timestamp("2026-01-01 12:00:00.123456789"), "2026-01-01T12:00:00.123456"),
        (pd.Timestamp("1969-12-31 23:59:59.999999999"), "1969-12-31T23:59:59.999999"),
        (pd.Timestamp("2026-07-01 12:00", tz="Europe/Rome"), "2026-07-01T10:00:00"),
        (dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), None),
        (dt.time(12), None),
    ],
)
def test_a_time_among_objects_is_one_in_utc_cut_off_at_microseconds(cell, found):
    frame = pd.DataFrame({"v": pd.Series([cell, "x"], dtype=object)})
    assert arrow_table(frame).column("v").to_pylist() == [found, "x"]


def test_a_pandas_column_that_is_not_utf_8_is_repaired():
    frame = pd.DataFrame({"v": pd.Series(pd.arrays.ArrowExtensionArray(BROKEN))})
    assert repaired(arrow_table(frame)).column("v").to_pylist() == ["ok", "\ufffd", None]


def test_two_pandas_columns_of_one_name_are_refused():
    with pytest.raises(ParameterError, match="distinct"):
        arrow_table(pd.DataFrame([[1, 2]], columns=["v", "v"]))


def test_sparse_and_nullable_pandas_columns_are_read():
    frame = pd.DataFrame({"s": pd.arrays.SparseArray([0, 1]), "n": pd.array([1, None], dtype="Int64")})
    assert arrow_table(frame).to_pydict() == {"s": [0, 1], "n": [1, None]}


def test_polars_frames_are_tables_and_lazy_ones_are_not():
    assert repaired(arrow_table(pl.DataFrame({"v": ["x"]}))).to_pydict() == {"v": ["x"]}
    with pytest.raises(ParameterError, match="LazyFrame"):
        arrow_table(pl.LazyFrame({"v": ["x"]}))


def test_a_polars_column_that_arrow_does_not_know_is_refused():
    with pytest.raises(ParameterError, match="a Polars frame"):
        arrow_table(pl.DataFrame({"v": pl.Series([1], dtype=pl.Int128)}))


class Shouting(str):
    __slots__ = ()

    def __str__(self):
        return self.upper()


def test_text_is_what_it_is_and_not_what_a_subclass_shows():
    frame = pd.DataFrame({"v": pd.Series([Shouting("x"), 1], dtype=object)})
    assert arrow_table(frame).column("v").to_pylist() == ["x", "1"]
