"""Terms know their kind, and which of their doubles stand for NULL."""

import math

import pyarrow as pa
import pytest
from tests.engines.in_sql import values_of

from sfumato.engines.sql.kinds import Term, computed, of_column, storage
from sfumato.engines.sql.terms import column
from sfumato.query.kinds import Kind

CELLS = {"f": pa.array([1.5, math.inf, -math.inf, math.nan, None])}


def test_what_is_computed_is_null_unless_it_is_finite():
    assert values_of(computed(column("f")).settled, CELLS) == [1.5, None, None, None, None]


def test_a_column_may_be_infinite_as_a_value():
    term = of_column(column("f"), Kind.FLOAT)
    assert term.infinite
    assert values_of(term.settled, CELLS)[:3] == [1.5, math.inf, -math.inf]


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.FLOAT])
def test_no_other_kind_is_infinite(kind):
    assert not of_column(column("x"), kind).infinite


def test_whole_numbers_are_taken_for_doubles_where_they_meet_them():
    found = values_of(Term(sql=column("i"), kind=Kind.INTEGER).as_double, {"i": [2**53 + 1]})
    assert found == [float(2**53)]
    assert values_of(computed(column("f")).as_double, CELLS)[0] == 1.5


def test_every_kind_is_held_in_a_type_of_its_own():
    assert len({storage(of_column(column("x"), kind)) for kind in Kind}) == len(Kind)
