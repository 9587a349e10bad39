"""The pieces of queries: constants of their kinds, and values that are computed once under a name."""

from datetime import date, datetime

import polars as pl
import pytest
from tests.engines.in_frames import value_of, values_of

from sfumato.engines.frames.terms import TYPES, Term, computed, constant, guarded, named, named_together, null
from sfumato.query.kinds import Kind

X = pl.col("x")


@pytest.mark.parametrize(
    "cell",
    [True, "é\x00", "^x$", 2**63 - 1, -(2**63), 0.1, float("inf"), date(1, 1, 1), date(9999, 12, 31),
     datetime.fromisoformat("9999-12-31 23:59:59.999999")],
)  # fmt: skip
def test_constants_are_what_they_are(cell):
    found = value_of(constant(cell))
    assert (type(found), found) == (type(cell), cell)


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(UnicodeEncodeError):
        constant("\ud800")


@pytest.mark.parametrize("kind", Kind)
def test_null_has_the_type_of_its_kind(kind):
    assert pl.select(null(kind).alias("x")).schema == {"x": TYPES[kind]}


def test_what_is_pending_is_null_where_it_is_not_finite():
    cells = {"x": [1.5, float("inf"), float("nan"), None]}
    assert values_of(computed(X).settled, cells) == [1.5, None, None, None]
    assert values_of(Term(value=X, kind=Kind.FLOAT, infinite=True).settled, {"x": [float("inf")]}) == [float("inf")]


def test_a_column_needs_no_name():
    assert str(named(X, lambda x: x + x)) == str(X + X)


def test_names_may_be_nested_and_stand_beside_columns():
    inner = named(X + 1, lambda x: x * x)
    outer = named_together((inner, X + 0), lambda first, second: first - second + pl.col("y"))
    assert values_of(outer, {"x": [1, 2], "y": [10, 20]}) == [4 - 1 + 10, 9 - 2 + 20]


def test_terms_do_not_grow_with_the_power_of_their_depth():
    deep = X
    for _ in range(40):
        deep = guarded(deep + 1, lambda x: x > 0)
    assert values_of(deep, {"x": [1, -50, None]}) == [41, None, None]
