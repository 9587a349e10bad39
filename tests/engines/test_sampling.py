import math
from datetime import date, datetime
from hashlib import md5

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expressions_of import DOUBLES, cells

from sfumato.engines.sampling import encoded, least, rank_hash
from sfumato.query.kinds import Kind

lists = st.lists(st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8), max_size=4)
SAME_IN_SQL = {
    Kind.INTEGER: "CAST(v AS VARCHAR)",
    Kind.FLOAT: "CAST(CAST(CAST(v + CAST(0 AS DOUBLE) AS BIT) AS BIGINT) AS VARCHAR)",
    Kind.TEXT: "v",
    Kind.BOOLEAN: "CAST(v AS VARCHAR)",
    Kind.DATE: "CAST(v AS VARCHAR)",
    Kind.TIMESTAMP: "STRFTIME(v, '%Y-%m-%d %H:%M:%S.%f')",
}
ARROW = {
    Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip


def encoded_in_sql(values, kind):
    with duckdb.connect() as database:
        database.register("t", pa.table({"v": pa.array(values, ARROW[kind])}))
        found = database.execute(f"SELECT {SAME_IN_SQL[kind]} FROM t").fetchall()
    return [f"V{len(text.encode())}:{text}" for (text,) in found]


@given(lists, lists)
def test_no_two_lists_of_values_have_one_encoding(first, second):
    def texts(values):
        return [None if value is None else encoded(value).partition(":")[2] for value in values]

    same = "".join(map(encoded, first)) == "".join(map(encoded, second))
    assert same == (texts(first) == texts(second))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "N"),
        (True, "V4:true"),
        (False, "V5:false"),
        (-7, "V2:-7"),
        ("é", "V2:é"),
        ("", "V0:"),
        (0.0, "V1:0"),
        (-0.0, "V1:0"),
        (1.5, "V19:4609434218613702656"),
        (-math.inf, "V17:-4503599627370496"),
        (date(1, 2, 3), "V10:0001-02-03"),
        (datetime.fromisoformat("2026-01-31"), "V26:2026-01-31 00:00:00.000000"),
    ],
)
def test_a_value_is_encoded_with_its_length_in_bytes(value, text):
    assert encoded(value) == text


@given(cells(Kind.FLOAT), cells(Kind.FLOAT))
def test_doubles_have_one_encoding_only_if_they_are_equal(first, second):
    assert (encoded(first) == encoded(second)) == (first == second)


@pytest.mark.parametrize("kind", Kind)
@given(st.data())
@settings(max_examples=20)
def test_the_encoding_in_sql_is_the_same(kind, data):
    values = data.draw(st.lists(cells(kind).filter(lambda v: v is not None), min_size=1, max_size=50))
    assert encoded_in_sql(values, kind) == list(map(encoded, values))


def test_doubles_on_which_libraries_differ_have_the_same_encoding_in_sql():
    values = [*DOUBLES, -0.0, 1e15, 1e16, 1e22, 123456789012345678.0, 0.0001, 0.00001, 2.2250738585072014e-308, 1 / 3]
    assert encoded_in_sql(values, Kind.FLOAT) == list(map(encoded, values))


def test_the_hash_is_of_salt_and_values_and_of_nothing_else():
    assert rank_hash("00", ("a", 1)) == md5(b"00V1:aV1:1", usedforsecurity=False).hexdigest()
    assert len({rank_hash(salt, values) for salt in ("00", "01") for values in (("a", 1), ("a", 2), ("b", 1))}) == 6


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=20), st.integers(1, 4))
def test_the_least_items_of_each_group_are_kept(items, most):
    kept = least(items, most, within=lambda item: item[0], rank=lambda item: item[1])
    for group in "abc":
        own = sorted(item for item in items if item[0] == group)
        assert sorted(item for item in kept if item[0] == group) == own[:most]
