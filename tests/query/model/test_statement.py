from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, ref
from tests.strategies import POISON

from sfumato.engines.reference.groups import amount
from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.facts import Facts, of_column
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, integer, real, text
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    KeyColumn,
    LatticeValue,
    RowCount,
    Statement,
    StepProduct,
    StepSum,
    UnitCount,
    ValueCount,
    Values,
    steps_of,
)
from sfumato.query.values.cells import typed

STATEMENT = Statement(rows=Source(PEOPLE), keys=(), measures=(RowCount(),))
STEPS = LatticeValue(value=ref("age"), resolution=Fraction(1), lower=-3, upper=6, offset=0, nullable=True)


def test_the_number_of_groups_is_the_product_of_the_public_keys():
    keys = (KeyColumn(name="a", values=(1, 2, 3)), KeyColumn(name="b", values=("x", "y")))
    assert replace(STATEMENT, keys=keys).group_count == 6
    assert STATEMENT.group_count == 1


def test_it_is_unknown_if_any_key_is_private():
    keys = (KeyColumn(name="a", values=(1, 2, 3)), KeyColumn(name="b", values=None))
    assert replace(STATEMENT, keys=keys).group_count is None


def test_bins_hold_every_step_between_the_bounds():
    assert [Bins(steps=STEPS, width=width).count for width in (1, 2, 3, 4, 10, 11)] == [10, 5, 4, 3, 1, 1]


def test_cells_are_as_many_as_their_values_if_those_are_public():
    assert Values(value=ref("sex"), values=("f", "m")).count == 2
    assert Values(value=ref("sex"), values=None).count is None


def test_a_statement_has_no_limits_unless_it_is_told():
    assert (STATEMENT.limits, STATEMENT.cell) == (Limits(), None)


def test_cells_that_are_only_counted_are_not_shown():
    cell = Values(value=ref("age"), values=None)
    assert replace(STATEMENT, cell=cell).shown_cell is cell
    assert replace(STATEMENT, cell=cell, measures=(RowCount(), CellCount())).shown_cell is None
    assert STATEMENT.shown_cell is None


def test_a_cell_says_what_it_follows_from():
    assert Bins(steps=STEPS, width=2).value == Values(value=ref("age"), values=None).value == ref("age")


def test_a_bin_has_its_steps_and_the_last_one_may_have_fewer():
    assert [Bins(steps=STEPS, width=4).ends(place) for place in range(3)] == [(-3, 0), (1, 4), (5, 6)]


V, W = ColumnRef("v"), ColumnRef("w")


def steps(lower, upper, *, offset=0, nullable=True, value=V):
    return LatticeValue(value=value, resolution=Fraction(1), lower=lower, upper=upper, offset=offset, nullable=nullable)


def of(column, *, bounds=None, **choices):
    bounds = None if bounds is None else tuple(map(Fraction, bounds))
    return steps_of(V, of_column(column), bounds=bounds, what="v", **choices)


def test_counts_add_one_or_nothing():
    assert RowCount().range() == (1, 1)
    assert ValueCount((V,)).range() == (0, 1)
    assert ValueCount(()).range() == (1, 1)
    assert UnitCount().range() == CellCount().range() == (0, 1)


def test_only_values_that_can_be_null_must_be_present():
    assert RowCount().present == UnitCount().present == CellCount().present == ()
    assert StepSum(steps(0, 1)).present == (V,)
    assert StepSum(steps(0, 1, nullable=False)).present == ()
    assert StepProduct(steps(0, 1), steps(0, 1)).present == (V,)
    assert StepProduct(steps(0, 1), steps(0, 1, value=W)).present == (V, W)
    assert StepProduct(steps(0, 1, nullable=False), steps(0, 1, value=W)).present == (W,)


@pytest.mark.parametrize(
    ("bounds", "nullable", "centered", "reach"),
    [
        ((4, 9), True, False, (0, 9)), ((4, 9), False, False, (4, 9)), ((-9, -4), True, False, (-9, 0)),
        ((-3, 7), True, False, (-3, 7)), ((4, 9), True, True, (-2, 3)), ((4, 9), False, True, (-2, 3)),
        ((-5, -2), True, True, (-1, 2)),
    ],
)  # fmt: skip
def test_a_sum_adds_what_lies_in_its_bounds_around_its_centre(bounds, nullable, centered, reach):
    assert StepSum(of(integer(*bounds, nullable=nullable), centered=centered)).range() == reach


@st.composite
def any_steps(draw, value=V):
    lower, width = draw(st.integers(-6, 6)), draw(st.integers(0, 5))
    return steps(lower, lower + width, offset=draw(st.integers(-9, 9)), nullable=draw(st.booleans()), value=value)


def amounts(own):
    """All that a row can add: the steps of a value, and of a NULL; None for a NULL that adds nothing."""
    low, high = own.ends
    return {*range(low, high + 1), None if own.nullable else own.null_amount}


@given(any_steps())
def test_the_range_of_a_sum_is_what_a_row_can_add_and_no_wider(own):
    added = [amount or 0 for amount in amounts(own)]
    assert StepSum(own).range() == (min(added), max(added))


@given(any_steps(), any_steps(value=W))
def test_the_range_of_a_product_is_what_a_row_can_add_and_no_wider(first, second):
    added = [0 if None in pair else pair[0] * pair[1] for pair in product(amounts(first), amounts(second))]
    assert StepProduct(first, second).range() == (min(added), max(added))


@given(any_steps())
def test_the_range_of_a_square_is_what_a_row_can_add_and_no_wider(own):
    added = [(amount or 0) ** 2 for amount in amounts(own)]
    assert StepProduct(own, own).range() == (min(added), max(added))


def test_a_product_of_values_that_only_python_takes_for_equal_is_no_square():
    first, second = (
        Case(((Compare(Comparison.EQUAL, ColumnRef("s"), Call(Function.TO_TEXT, (Literal(one),))), V),), W)
        for one in (Fraction(1), True)
    )
    assert StepProduct(steps(-2, 3, value=first), steps(-2, 3, value=second)).range() == (-6, 9)
    assert StepProduct(steps(-2, 3, value=first), steps(-2, 3, value=first)).range() == (0, 9)


STORED = st.none() | st.floats() | st.text(max_size=5) | st.sampled_from(POISON) | st.integers()


@given(STORED, st.integers(-50, 50), st.integers(1, 50), st.booleans(), st.booleans())
def test_no_stored_value_adds_anything_outside_of_the_range(stored, lower, width, nullable, centered):
    column = real(lower, lower + width, resolution="0.5", nullable=nullable)
    own = of(column, centered=centered)
    for measure in (StepSum(own), StepProduct(own, own), ValueCount((V,) if nullable else ())):
        low, high = measure.range()
        assert low <= amount(measure, {"v": typed(stored, column)}) <= high


@given(any_steps(), any_steps(), st.none() | st.floats(allow_nan=False))
def test_no_cell_adds_anything_outside_of_the_range_whatever_is_said_of_null(first, second, cell):
    for measure in (StepSum(first), StepProduct(first, second), StepProduct(first, first)):
        low, high = measure.range()
        assert low <= amount(measure, {"v": cell}) <= high


@pytest.mark.parametrize(("bounds", "at"), [((2, 9), 2), ((-9, -2), -2), ((-9, 9), 0)])
def test_null_counts_as_the_bound_nearest_to_zero_where_a_column_is_not_nullable(bounds, at):
    assert of(integer(*bounds, nullable=False)).null_amount == at
    centered = of(integer(*bounds, nullable=False), centered=True)
    assert centered.null_amount == at - centered.offset
    assert of(integer(*bounds), centered=True).null_amount == 0


def test_bounds_are_steps_of_the_declared_lattice():
    found = of(real(0, 100, resolution="0.5"))
    assert (found.resolution, found.lower, found.upper) == (Fraction(1, 2), 0, 200)
    assert (of(integer(2, 9), bounds=("2.5", "7.4")).lower, of(integer(2, 9), bounds=("2.5", "7.4")).upper) == (3, 7)


def test_the_lattice_is_made_coarser_where_bounds_would_have_too_many_steps():
    assert of(integer(0, 100), finest=10).resolution == 16
    assert of(integer(0, 100), finest=10).upper == 6
    assert of(integer(0, 1), bounds=(0, 2**60)).upper < 2**53


def test_stated_bounds_alone_give_a_lattice_of_a_million_steps():
    unknown = Facts(kind=Kind.FLOAT, resolution=None)
    found = steps_of(V, unknown, bounds=(Fraction(-1), Fraction(1)), what="v")
    assert 2**20 <= found.upper - found.lower < 10 * 2**20


@pytest.mark.parametrize("bounds", [(5, 5), (0, 0), (-3, -3)])
def test_stated_bounds_without_width_have_one_step(bounds):
    unknown = Facts(kind=Kind.FLOAT, resolution=None)
    found = steps_of(V, unknown, bounds=tuple(map(Fraction, bounds)), what="v")
    assert found.lower == found.upper


def test_reversed_bounds_are_refused():
    for resolution in (None, Fraction(1)):
        with pytest.raises(ParameterError, match="lower bound"):
            steps_of(V, Facts(kind=Kind.FLOAT, resolution=resolution), bounds=(Fraction(2), Fraction(1)), what="v")
    with pytest.raises(ParameterError, match="lower bound"):
        steps(2, 1)


def test_bounds_beyond_the_whole_doubles_are_refused():
    with pytest.raises(ParameterError, match="2\\^53"):
        steps(0, 2**53 + 1)


@pytest.mark.parametrize(
    "interval", [Interval(Fraction(0), Fraction(10) ** 400), Interval(Fraction(0), Fraction(1, 10**390))]
)
def test_a_lattice_that_doubles_cannot_hold_is_refused_before_data_is_touched(interval):
    beyond = Facts(kind=Kind.FLOAT, interval=interval, resolution=Fraction(1, 10**400))
    with pytest.raises(ParameterError, match="resolution"):
        steps_of(V, beyond, bounds=None, what="v")


def test_only_bounded_numbers_are_summed():
    with pytest.raises(UnboundedSensitivityError, match="no lower and upper bound"):
        of(real())
    with pytest.raises(UnboundedSensitivityError, match="no upper bound"):
        steps_of(V, Facts(kind=Kind.INTEGER, interval=Interval(Fraction(0))), bounds=None, what="v")
    with pytest.raises(ParameterError, match="kind text"):
        of(text())
