from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.lowering import _hash
from sfumato.engines.sampling import encoded, rank_hash
from sfumato.engines.sql_terms import column

cells = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8)
lists = st.lists(cells, max_size=4)


@given(lists, lists)
def test_no_two_lists_of_values_have_one_encoding(first, second):
    def texts(values):
        return [None if value is None else encoded(value).partition(":")[2] for value in values]

    same = "".join(map(encoded, first)) == "".join(map(encoded, second))
    assert same == (texts(first) == texts(second))


@pytest.mark.parametrize(
    ("value", "text"), [(None, "N"), (True, "V4:true"), (False, "V5:false"), (-7, "V2:-7"), ("é", "V2:é"), ("", "V0:")]
)
def test_a_value_is_encoded_with_its_length_in_bytes(value, text):
    assert encoded(value) == text


def test_the_hash_is_of_salt_and_values_and_of_nothing_else():
    assert rank_hash("00", ("a", 1)) == md5(b"00V1:aV1:1", usedforsecurity=False).hexdigest()
    assert len({rank_hash(salt, values) for salt in ("00", "01") for values in (("a", 1), ("a", 2), ("b", 1))}) == 6


@pytest.mark.parametrize("kind", ["VARCHAR", "BIGINT", "BOOLEAN"])
def test_the_hash_in_sql_is_the_same(kind):
    values = {
        "VARCHAR": ["", "é ✓", "a'b", "\x00", None],
        "BIGINT": [0, -(2**63), None],
        "BOOLEAN": [True, False, None],
    }
    engine = DuckDBEngine({})
    term = _hash("00ff", [column("v")]).sql(dialect="duckdb")
    for value in values[kind]:
        sql = f"SELECT {term} FROM (SELECT CAST(? AS {kind}) AS v)"  # emitted by the code under test
        assert engine._database.execute(sql, [value]).fetchone() == (rank_hash("00ff", (value,)),)
    engine.close()
