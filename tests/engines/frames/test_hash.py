"""The salted hash in Polars is `sampling.rank_hash`, and its halves are in the order of its text."""

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import frame, values_of
from tests.engines.in_sql import ARROW
from tests.expressions_of import DOUBLES, cells

from sfumato.engines.frames.hash import encoded, halves, message, native_hash, rank_hash
from sfumato.engines.sampling import encoded as encoded_in_python
from sfumato.engines.sampling import rank_hash as rank_hash_in_python
from sfumato.query.kinds import Kind

SALT = "00112233445566778899aabbccddeeff"
X = pl.col("x")


@pytest.mark.parametrize("kind", Kind)
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_values_are_encoded_as_in_python(kind, data):
    drawn = data.draw(st.lists(cells(kind), min_size=1, max_size=20))
    found = values_of(encoded(X, kind), {"x": pa.array(drawn, ARROW[kind])})
    assert found == [encoded_in_python(cell) for cell in drawn]


def test_doubles_on_which_libraries_differ_are_encoded_as_in_python():
    doubles = [*DOUBLES, 1e15, 1e16, 1e22, 123456789012345678.0, 0.0001, 0.00001, 2.2250738585072014e-308, 1 / 3, -0.0]
    assert values_of(encoded(X, Kind.FLOAT), {"x": doubles}) == list(map(encoded_in_python, doubles))


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.none() | st.text("aé:V1", max_size=4)), min_size=1))
@settings(max_examples=30, deadline=None)
def test_the_hash_is_that_of_python_and_its_halves_are_its_digits(rows):
    data = frame({"i": [i for i, _ in rows], "t": pa.array([t for _, t in rows], pa.string())})
    encodings = [encoded(pl.col("i"), Kind.INTEGER, nullable=False), encoded(pl.col("t"), Kind.TEXT)]
    hashed = data.select(rank_hash(message(SALT, encodings)).alias("h")).collect()
    assert hashed["h"].to_list() == [rank_hash_in_python(SALT, row) for row in rows]
    high, low = halves(pl.col("h"))
    both = hashed.select(high.alias("high"), low.alias("low")).rows()
    assert [f"{first:016x}{second:016x}" for first, second in both] == hashed["h"].to_list()


def test_the_engines_own_hash_depends_on_all_of_the_salt_and_on_every_value():
    cells = {"x": ["a", "b"], "y": [1, 1]}
    both = [pl.col("x"), pl.col("y")]
    salts = ("0" * 32, "0" * 31 + "1", "1" + "0" * 31)
    found = [value for salt in salts for value in values_of(native_hash(salt, both), cells)]
    found += values_of(native_hash(SALT, [pl.col("x")]), cells) + values_of(native_hash(SALT, [pl.col("y")]), cells)[:1]
    assert len(set(found)) == 9


def test_the_engines_own_hash_of_a_unit_does_not_depend_on_other_rows():
    alone = values_of(native_hash(SALT, [pl.col("x"), pl.col("y")]), {"x": ["a"], "y": [7]})
    together = values_of(native_hash(SALT, [pl.col("x"), pl.col("y")]), {"x": ["c", "a", "b"], "y": [1, 7, 7]})
    assert together[1] == alone[0]
