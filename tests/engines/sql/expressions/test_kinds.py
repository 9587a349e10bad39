"""Terms know their kind, and which of their doubles stand for NULL."""

import math

import pyarrow as pa
import pytest
from tests.engines.in_sql import values_of
from tests.query.values.test_numbers import SPECIAL

from sfumato.engines.sql.expressions.kinds import Term, computed, storage
from sfumato.engines.sql.expressions.terms import column
from sfumato.query.model.kinds import Kind
from sfumato.query.values.numbers import LARGEST, LIMIT, factor, limited

CELLS = [*SPECIAL, *(-value for value in SPECIAL), LIMIT, -LIMIT, 1e308, math.inf, -math.inf, math.nan]
F = column("f")


def found(sql):
    return values_of(sql, {"f": pa.array([*CELLS, None])})


def test_what_is_computed_is_null_unless_it_is_within_the_range():
    assert found(computed(F).settled) == [*map(limited, CELLS), None]
    assert computed(F).settled == computed(F).settled_double


def test_an_operand_is_itself_or_stands_for_null():
    assert [limited(value) for value in found(computed(F).operand)[:-1]] == list(map(limited, CELLS))
    assert computed(F).operand != F == Term(sql=F, kind=Kind.FLOAT).operand


@pytest.mark.parametrize("part", ["factor", "divisor"])
def test_factors_and_divisors_are_multiples(part):
    cells = CELLS[: 2 * len(SPECIAL)]
    for term in (Term(sql=F, kind=Kind.FLOAT), computed(F)):
        assert found(getattr(term, part))[: len(cells)] == list(map(factor, cells))
    assert found(computed(F).divisor)[len(cells) :] == [None] * 7


@pytest.mark.parametrize("term", [Term(sql=F, kind=Kind.FLOAT, rounded=True), Term(sql=F, kind=Kind.INTEGER)])
def test_what_is_known_to_be_a_multiple_is_not_rounded(term):
    assert term.factor == term.divisor == term.as_double


def test_whole_numbers_are_taken_for_doubles_where_they_meet_them():
    whole = Term(sql=column("i"), kind=Kind.INTEGER)
    for sql in (whole.as_double, whole.settled_double, whole.operand, whole.factor):
        assert values_of(sql, {"i": [2**53 + 1]}) == [float(2**53)]


def test_every_kind_is_held_in_a_type_of_its_own():
    assert len({storage(Term(sql=F, kind=kind)) for kind in Kind}) == len(Kind)
    assert LARGEST < LIMIT
