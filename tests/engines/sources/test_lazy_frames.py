"""A LazyFrame is opened by its types, runs when its rows are needed, is read in batches, and fails without a word."""

from datetime import UTC, date, datetime
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest

from sfumato.engines.sources import lazy_frames
from sfumato.engines.sources.lazy_frames import schema_of, stream
from sfumato.engines.sources.sources import LazyData, open_source, readable
from sfumato.errors import EngineError, ParameterError
from sfumato.query.model.schema import Table, integer, text
from sfumato.query.model.schema import date as day

CANARY = "canary-3141592653"
TABLE = Table(name="t", columns={"v": integer(), "w": text()})
FRAME = pl.DataFrame({"v": [1], "w": [CANARY], "other": [1.5]})
PANIC = pl.exceptions.PanicException


class Unheard(BaseException):
    """Of nobody's, and no `Exception`."""


def failing(error=AssertionError):
    def fail(_):
        raise error(CANARY)

    return fail


def rows_of(query, wanted=None):
    schema, parts = schema_of(query), []
    stream(query, schema=schema, wanted=wanted or schema.names, take=parts.append)
    return pa.concat_tables(parts)


def test_a_query_is_not_run_when_it_is_opened():
    query = FRAME.lazy().map_batches(failing(), schema=FRAME.schema)
    source = readable(open_source(query), TABLE)
    assert isinstance(source, LazyData)
    assert source.frame is query
    assert source.names == ("v", "w", "other")
    assert CANARY not in repr(source)


@pytest.mark.parametrize(
    ("query", "table"),
    [
        (FRAME.lazy().drop("w"), TABLE),
        (FRAME.lazy().rename({"other": "V"}), TABLE),
        (FRAME.lazy().with_columns(pl.lit(1, pl.Int128).alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.lit(1, pl.UInt128).alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.concat_list("v").alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.struct("v").alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.lit(b"x").alias("w")), TABLE),
        (FRAME.lazy().with_columns(pl.lit(None, pl.Object).alias("w")), TABLE),
        (FRAME.lazy().with_columns(pl.lit(1).cast(pl.Date).alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.lit(1).cast(pl.Duration).alias("v")), TABLE),
        (FRAME.lazy().select(pl.col("nosuch")), TABLE),
        (FRAME.lazy().pipe_with_schema(failing(ValueError)), TABLE),
        (FRAME.lazy().pipe_with_schema(failing(PANIC)), TABLE),
        (FRAME.lazy(), Table(name="t", columns={"d": day()})),
    ],
)
def test_a_query_without_a_declared_column_or_of_types_that_cannot_be_read_is_refused(query, table):
    with pytest.raises(ParameterError) as caught:
        readable(open_source(query), table)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize(
    ("cells", "kind", "read"),
    [
        (["a", None], pl.Categorical(), ["a", None]),
        (["a", None], pl.Enum(["a", "b"]), ["a", None]),
        (["", "\x00", "\U0001f600"], pl.String(), ["", "\x00", "\U0001f600"]),
        ([2**63 - 1, None], pl.Int64(), [2**63 - 1, None]),
        ([2**64 - 1], pl.UInt64(), [2**64 - 1]),
        ([Decimal("1.50")], pl.Decimal(38, 2), [Decimal("1.50")]),
        ([True, None], pl.Boolean(), [True, None]),
        ([None], pl.Null(), [None]),
        ([date.min, date.max], pl.Date(), [date.min, date.max]),
        ([2**31 - 1], pl.Date(), [None]),
        ([2**62, -(2**62), 0], pl.Datetime("us"), [None, None, datetime.fromtimestamp(0, UTC).replace(tzinfo=None)]),
        ([2**62], pl.Datetime("ms"), [None]),
        ([1_999], pl.Datetime("ns", "Europe/Berlin"), [datetime(1970, 1, 1, microsecond=1)]),  # noqa: DTZ001 # in UTC
    ],
)
def test_every_type_that_can_be_read_is_repaired_as_other_frames_are(cells, kind, read):
    counted = kind.is_temporal() and isinstance(cells[0], int)
    query = pl.LazyFrame({"x": cells}, {"x": pl.Int64() if counted else kind}).cast({"x": kind})
    assert rows_of(query).to_pydict() == {"x": read}


def test_text_that_is_not_utf_8_is_repaired():
    broken = pa.array([b"1", b"\xff", b"2"]).cast(pa.large_binary()).view(pa.large_string())
    query = pl.LazyFrame(pl.from_arrow(pa.table({"v": broken})))
    assert rows_of(query).to_pydict() == {"v": ["1", "�", "2"]}


def test_half_a_surrogate_pair_gets_into_no_frame():
    with pytest.raises(UnicodeEncodeError):
        pl.LazyFrame({"v": ["\ud800"]})


@pytest.mark.parametrize("rows", [0, 1, 250])
def test_rows_come_in_bounded_batches_of_the_wanted_columns_in_any_order(monkeypatch, rows):
    monkeypatch.setattr(lazy_frames, "_BATCH", 100)
    monkeypatch.setattr(pl.LazyFrame, "collect", failing())
    query, parts = pl.LazyFrame({"a": range(rows), "^b.*$": range(rows), "bc": range(rows)}), []
    stream(query, schema=schema_of(query), wanted=["^b.*$", "a"], take=parts.append)
    assert [part.num_rows for part in parts] == [0, *[100] * (rows // 100), *[rows % 100] * (rows % 100 > 0)]
    assert {tuple(part.column_names) for part in parts} == {("^b.*$", "a")}
    assert pa.concat_tables(parts).column("a").to_pylist() == list(range(rows))


def test_a_query_is_never_in_memory_as_a_whole(tmp_path):
    """Of 4 million rows, 32 MB of one column, no piece is larger than 1 MB."""
    path = tmp_path / "rows.parquet"
    pl.LazyFrame({"n": [0]}).select(pl.int_range(4_000_000).alias("n")).sink_parquet(path)
    query, most, rows = pl.scan_parquet(path), 0, 0

    def take(part):
        nonlocal most, rows
        most, rows = max(most, part.nbytes), rows + part.num_rows

    stream(query, schema=schema_of(query), wanted=["n"], take=take)
    assert rows == 4_000_000
    assert most <= 122_880 * 8


RAISING = {
    "a function of a frame": lambda query, error: query.map_batches(failing(error)),
    "a function of a cell": lambda query, error: query.with_columns(
        pl.col("w").map_elements(failing(error), pl.String)
    ),
}


@pytest.mark.parametrize("error", [ValueError, ParameterError, PANIC, SystemExit, GeneratorExit, Unheard])
@pytest.mark.parametrize("raising", RAISING)
def test_whatever_a_query_raises_is_an_error_that_does_not_lead_to_its_text(raising, error):
    def made(text):
        return ParameterError("w", text, text) if error is ParameterError else error(text)

    query = RAISING[raising](FRAME.lazy(), made)
    with pytest.raises(EngineError) as caught:
        rows_of(query)
    assert_alone(caught.value)


def assert_alone(error):
    assert CANARY not in str(error)
    assert error.__cause__ is error.__context__ is None


def test_a_cell_that_does_not_convert_is_an_error_without_it():
    with pytest.raises(EngineError) as caught:
        rows_of(FRAME.lazy().with_columns(pl.col("w").cast(pl.Int64)))
    assert_alone(caught.value)


def test_a_query_that_panics_after_its_first_rows_is_an_error_and_no_shorter_table():
    def late(part):
        return failing(PANIC)(part) if part["v"][-1] == 999_999 else part

    query = pl.LazyFrame({"v": range(1_000_000)}).map_batches(late, streamable=True)
    with pytest.raises(EngineError) as caught:
        rows_of(query)
    assert_alone(caught.value)


@pytest.mark.parametrize(
    "changed", [lambda frame: frame.with_columns(v=pl.lit(CANARY)), lambda frame: frame.drop("v")], ids=["type", "gone"]
)
def test_a_query_that_gives_other_types_than_it_said_is_an_error(changed):
    with pytest.raises(EngineError) as caught:
        rows_of(FRAME.lazy().map_batches(changed, schema=FRAME.schema), ["v"])
    assert_alone(caught.value)


def test_a_file_that_has_other_types_when_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.write_parquet(path)
    query = pl.scan_parquet(path)
    schema = schema_of(query)
    FRAME.with_columns(v=pl.lit(CANARY)).write_parquet(path)
    with pytest.raises(EngineError) as caught:
        stream(query, schema=schema, wanted=["v"], take=lambda _: None)
    assert_alone(caught.value)


def test_who_takes_the_rows_may_fail_too():
    with pytest.raises(EngineError) as caught:
        stream(FRAME.lazy(), schema=schema_of(FRAME.lazy()), wanted=["v"], take=failing(MemoryError))
    assert_alone(caught.value)
