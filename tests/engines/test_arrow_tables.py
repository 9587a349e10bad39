"""Frames and Parquet files become tables on which no engine can stumble, whatever the cells."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.arrow_tables import arrow_table, check_types, parquet_schema, read_parquet, repaired
from sfumato.errors import EngineError, ParameterError
from sfumato.query.schema import Limits, Table, integer, text

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
        pa.binary(),
        pa.list_(pa.int8()),
        pa.duration("s"),
    ],
    ids=str,
)
def test_a_type_of_which_some_value_could_fail_is_refused(kind):
    with pytest.raises(ParameterError, match="cast it"):
        check_types(pa.schema([("v", kind)]), TABLE)


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


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(9, 2)], ids=str)
def test_ids_are_not_stored_as_fractions(kind):
    by_unit = Table(name="t", columns={"v": integer()}, unit=_unit("v"), limits=Limits(max_rows_per_unit=1))
    with pytest.raises(ParameterError, match="ids"):
        check_types(pa.schema([("v", kind)]), by_unit)


def _unit(column):
    from sfumato.privacy.neighbors import UnitColumn

    return UnitColumn(column)


def test_bytes_that_are_not_utf_8_are_repaired_also_in_dictionaries():
    for column in (BROKEN, BROKEN.dictionary_encode()):
        assert repaired(pa.table({"v": column})).column("v").to_pylist() == ["ok", "\ufffd", None]


def test_a_parquet_file_is_repaired_when_it_is_read(tmp_path):
    pq.write_table(pa.table({"v": BROKEN, "w": [1, 2, 3]}), tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet", TABLE).to_pydict() == {"v": ["ok", "\ufffd", None]}


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
        (pd.to_datetime(["2026-01-01", None]), ["2026-01-01T00:00:00", None]),
        (pd.array(["a", None], dtype=pd.StringDtype("python")), ["a", None]),
        (pd.interval_range(0, 2), [None, None]),
    ],
)
def test_no_pandas_column_is_an_error(column, found):
    assert repaired(arrow_table(pd.DataFrame({"v": column}))).column("v").to_pylist() == found


def test_a_pandas_column_that_is_not_utf_8_is_repaired():
    frame = pd.DataFrame({"v": pd.Series(pd.arrays.ArrowExtensionArray(BROKEN))})
    assert repaired(arrow_table(frame)).column("v").to_pylist() == ["ok", "\ufffd", None]


def test_two_pandas_columns_of_one_name_are_refused():
    with pytest.raises(ParameterError, match="distinct"):
        arrow_table(pd.DataFrame([[1, 2]], columns=["v", "v"]))


def test_sparse_and_nullable_pandas_columns_are_read():
    frame = pd.DataFrame({"s": pd.arrays.SparseArray([0, 1]), "n": pd.array([1, None], dtype="Int64")})
    assert arrow_table(frame).to_pydict() == {"s": [0, 1], "n": [1, None]}


def test_polars_frames_are_read_lazy_or_not():
    for frame in (pl.DataFrame({"v": ["x"]}), pl.LazyFrame({"v": ["x"]})):
        assert repaired(arrow_table(frame)).to_pydict() == {"v": ["x"]}
