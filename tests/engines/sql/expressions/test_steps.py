"""Lattice steps in SQL are those of `entries`, also where doubles no longer tell halves apart."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engines.in_sql import ARROW, values_of
from tests.expressions_of import DOUBLES, INTEGERS

from sfumato.engines.sql.expressions.kinds import Term, clamped_steps, computed, double_steps, moved_steps
from sfumato.engines.sql.expressions.terms import column
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import COARSEST, LatticeValue
from sfumato.query.values.evaluation import clamped_steps as clamped_in_python
from sfumato.query.values.numbers import LARGEST

FAR = 2**53
NEAR = st.integers(-100, 100)
ENDS = NEAR | st.integers(FAR - 9, FAR) | st.integers(-FAR, 9 - FAR) | st.integers(2**52 - 9, 2**52 + 9)
RESOLUTIONS = st.sampled_from(
    [Fraction(1), Fraction(1, 3), Fraction(1, 100), Fraction(7), Fraction(2**40), COARSEST, 1 / COARSEST]
)
CELLS = {
    Kind.INTEGER: st.sampled_from(INTEGERS) | NEAR | ENDS,
    Kind.FLOAT: st.sampled_from(DOUBLES) | st.floats(-LARGEST, LARGEST) | ENDS.map(lambda n: n / 2) | ENDS.map(float),
}


def steps(lower, upper, **facts):
    own = {"resolution": Fraction(1), "offset": 0, "nullable": True} | facts
    return LatticeValue(value=ColumnRef("x"), lower=min(lower, upper), upper=max(lower, upper), **own)


@pytest.mark.parametrize("kind", CELLS)
@given(st.data(), ENDS, ENDS, RESOLUTIONS)
def test_steps_are_those_of_python(kind, data, lower, upper, resolution):
    own = steps(lower, upper, resolution=resolution)
    cells = data.draw(st.lists(st.none() | CELLS[kind], min_size=1, max_size=20))
    found = values_of(clamped_steps(Term(sql=column("x"), kind=kind), own), {"x": pa.array(cells, ARROW[kind])})
    assert found == [clamped_in_python(cell, own) for cell in cells]


@given(ENDS, ENDS)
@example(2**52 + 1, FAR)
def test_what_lies_on_a_bound_stays_there(lower, upper):
    own = steps(lower, upper)
    cells = [float(own.lower), float(own.upper), -LARGEST, LARGEST]
    found = values_of(clamped_steps(Term(sql=column("x"), kind=Kind.FLOAT), own), {"x": pa.array(cells)})
    assert found == [own.lower, own.upper, own.lower, own.upper]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [({}, [0, 9, None]), ({"offset": 4}, [-4, 5, None]), ({"nullable": False, "offset": 4}, [-4, 5, -4])],
)
def test_the_offset_is_taken_off_and_null_adds_what_its_steps_say(facts, expected):
    moved = moved_steps(Term(sql=column("x"), kind=Kind.INTEGER), steps(0, 9, **facts))
    assert values_of(moved, {"x": pa.array([-7, 70, None], pa.int64())}) == expected


@given(st.data(), ENDS, ENDS, RESOLUTIONS, st.booleans())
def test_as_doubles_they_are_the_same_numbers(data, lower, upper, resolution, nullable):
    own = steps(lower, upper, resolution=resolution, offset=min(lower, upper) // 2, nullable=nullable)
    cells = {"x": pa.array(data.draw(st.lists(st.none() | CELLS[Kind.FLOAT], min_size=1, max_size=20)), pa.float64())}
    term = Term(sql=column("x"), kind=Kind.FLOAT, pending=True)
    doubles = double_steps(term, own)
    if max(map(abs, own.ends)) <= 2**52 and doubles is not None:
        assert values_of(doubles, cells) == values_of(moved_steps(term, own), cells)


def test_of_whole_numbers_and_far_bounds_there_are_none_as_doubles():
    assert double_steps(Term(sql=column("x"), kind=Kind.FLOAT), steps(0, 2**52)) is not None
    assert double_steps(Term(sql=column("x"), kind=Kind.FLOAT), steps(0, 2**52 + 1)) is None
    assert double_steps(Term(sql=column("x"), kind=Kind.INTEGER), steps(0, 9)) is None


def test_a_number_that_overflowed_is_null():
    found = values_of(
        clamped_steps(computed(column("x")), steps(0, 9)), {"x": pa.array([math.inf, math.nan, 4.0, 1e200])}
    )
    assert found == [None, None, 4, None]
