from dataclasses import replace
from fractions import Fraction

from tests.query.planned import PEOPLE, ref

from sfumato.query.model.measures import CellCount, LatticeValue, RowCount
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import Bins, KeyColumn, Statement, Values

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
