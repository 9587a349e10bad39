"""The salted hash in SQL is `sampling.rank_hash`, and its halves are in the order of its text."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import ARROW, run, values_of
from tests.expressions_of import DOUBLES, cells

from sfumato.engines.sampling import encoded as encoded_in_python
from sfumato.engines.sampling import rank_hash as rank_hash_in_python
from sfumato.engines.sql.expressions.terms import aliased, column, function, select, table
from sfumato.engines.sql.hashes import encoded, halved, halves, rank_hash, rank_text
from sfumato.query.model.kinds import Kind

SALT = "00112233445566778899aabbccddeeff"


@pytest.mark.parametrize("kind", Kind)
@given(st.data())
def test_values_are_encoded_as_in_python(kind, data):
    drawn = data.draw(st.lists(cells(kind), min_size=1, max_size=20))
    term = function("CONCAT", *encoded(column("x"), kind))
    assert values_of(term, {"x": pa.array(drawn, ARROW[kind])}) == [encoded_in_python(cell) for cell in drawn]


def test_doubles_on_which_libraries_differ_are_encoded_as_in_python():
    doubles = [*DOUBLES, 1e15, 1e16, 1e22, 123456789012345678.0, 0.0001, 0.00001, 2.2250738585072014e-308, 1 / 3]
    term = function("CONCAT", *encoded(column("x"), Kind.FLOAT))
    assert values_of(term, {"x": pa.array(doubles)}) == list(map(encoded_in_python, doubles))


def test_a_value_that_is_never_null_is_encoded_alike():
    pieces = encoded(column("x"), Kind.TEXT, nullable=False)
    assert values_of(function("CONCAT", *pieces), {"x": ["", "é:1"]}) == ["V0:", "V4:é:1"]


def test_zero_has_one_encoding_whatever_its_sign():
    term = function("CONCAT", *encoded(column("x"), Kind.FLOAT))
    assert values_of(term, {"x": pa.array([-0.0, 0.0])}) == ["V1:0", "V1:0"]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.none() | st.text("aé:V1", max_size=4)), min_size=1))
def test_the_hash_is_that_of_python_and_its_halves_are_its_digits(rows):
    data = pa.table({"i": [i for i, _ in rows], "t": pa.array([t for _, t in rows], pa.string())})
    encodings = [encoded(column("i"), Kind.INTEGER, nullable=False), encoded(column("t"), Kind.TEXT)]
    hashed = select([column("i"), aliased(rank_hash(SALT, encodings), "e")], table("cells"))
    expected = [rank_hash_in_python(SALT, row) for row in rows]
    found = run(halved(hashed, ["i"], ["e"]), cells=data)
    assert [f"{high:016x}{low:016x}" for _, high, low in found] == expected
    assert [text for (text,) in run(select([rank_text(SALT, encodings)], table("cells")), cells=data)] == expected


def test_several_hashes_are_halved_at_once():
    names = ["e", "g"]
    hashed = select([aliased(rank_hash(salt, [(column("t"),)]), name) for salt, name in zip("01", names, strict=True)],
                    table("cells"))  # fmt: skip
    ((*found,),) = run(halved(hashed, [], names), cells=pa.table({"t": ["a"]}))
    assert len(found) == len(set(found)) == len([half for name in names for half in halves(name)])
