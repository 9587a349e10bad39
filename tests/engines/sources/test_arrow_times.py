"""Days and times of every unit are those that Python counts, or NULL; and no count of 64 bits is fatal."""

from datetime import UTC, date, datetime, timedelta

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.sources.arrow_tables import is_time, plain_times

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EXTREMES = (2**63 - 1, -(2**63), -(2**63) + 1, 0, -1)
ENDS = {"s": (-62_135_596_800, 253_402_300_799), "ms": (-62_135_596_800_000, 253_402_300_799_999),
        "us": (-62_135_596_800_000_000, 253_402_300_799_999_999)}  # fmt: skip


def stored(counts, kind):
    return pa.chunked_array([pa.array(counts, pa.int32() if pa.types.is_date32(kind) else pa.int64()).cast(kind)])


def moment(count, unit):
    """The time by Python's own calendar, cut off toward the past."""
    microseconds = count * 10**6 // PER_SECOND[unit]
    try:
        return (EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=None)
    except OverflowError:
        return None


@pytest.mark.parametrize("zone", [None, "Europe/Rome", "UTC"])
@pytest.mark.parametrize("unit", PER_SECOND)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**18), 10**18), max_size=20))
def test_times_of_every_unit_and_zone_are_microseconds_in_utc_or_null(unit, zone, counts):
    found = plain_times(stored([*counts, *EXTREMES], pa.timestamp(unit, zone)))
    assert found.type == pa.timestamp("us")
    assert found.to_pylist() == [None if count is None else moment(count, unit) for count in [*counts, *EXTREMES]]


@pytest.mark.parametrize("unit", ENDS)
def test_the_first_and_the_last_time_are_kept_and_their_neighbours_are_not(unit):
    first, last = ENDS[unit]
    found = plain_times(stored([first - 1, first, last, last + 1], pa.timestamp(unit))).to_pylist()
    assert found[0] is found[3] is None
    assert (found[1].isoformat(), found[2].isoformat()[:19]) == ("0001-01-01T00:00:00", "9999-12-31T23:59:59")


@given(st.lists(st.none() | st.integers(-(2**31), 2**31 - 1) | st.integers(-800_000, 3_000_000), max_size=20))
def test_days_are_those_of_the_calendar_or_null(counts):
    def day(count):
        ordinal = date(1970, 1, 1).toordinal() + count
        return date.fromordinal(ordinal) if 1 <= ordinal <= date.max.toordinal() else None

    days = [None if count is None else day(count) for count in counts]
    assert plain_times(stored(counts, pa.date32())).to_pylist() == days
    milliseconds = [None if count is None else count * 86_400_000 + abs(count) % 86_400_000 for count in counts]
    assert plain_times(stored(milliseconds, pa.date64())).to_pylist() == days
    assert plain_times(stored(EXTREMES[:3], pa.date64())).to_pylist() == [None] * 3


@pytest.mark.parametrize(
    "kind", [pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us"), pa.date64()], ids=str
)
def test_an_engine_reads_what_is_left_of_any_counts(kind):
    column = plain_times(stored(EXTREMES, kind))
    with duckdb.connect() as database:
        database.register("t", pa.table({"v": column}))
        found = database.execute("SELECT CAST(v AS TIMESTAMP), CAST(v AS DATE) FROM t").fetchall()
    assert [row[0] is None for row in found] == [True, True, True, False, False]


def test_an_empty_column_stays_empty_and_chunks_do_not_matter():
    assert plain_times(stored([], pa.timestamp("ns"))).to_pylist() == []
    chunks = pa.chunked_array([pa.array([0], pa.int64()).cast(pa.timestamp("s")), pa.array([], pa.timestamp("s"))])
    assert len(plain_times(chunks)) == 1


def test_times_of_day_and_spans_are_no_times():
    assert all(map(is_time, (pa.date32(), pa.date64(), pa.timestamp("s", "UTC"))))
    assert not any(map(is_time, (pa.time32("s"), pa.duration("s"), pa.int64(), pa.string())))
