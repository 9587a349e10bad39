"""What comes back from DuckDB has the types of Python, and integers of any size."""

from datetime import date, datetime

import numpy as np
import pytest
from sqlglot import exp

from sfumato.engines.sql.entries import GroupColumn
from sfumato.engines.sql.lowering import LOW_BITS, Lowered, exact_groups, of_halves
from sfumato.engines.sql.lowering import halves as halves_of
from sfumato.query.model.kinds import Kind


def lowered(*keys, cell=None, fitting=(False,)):
    return Lowered(totals=exp.Select(), keys=keys, cell=cell, lists=(), fitting=fitting)


def halves(*totals):
    high, low = ([total >> LOW_BITS for total in totals], [total & (2**LOW_BITS - 1) for total in totals])
    return {"h0": np.array(high, dtype=np.int64), "l0": np.array(low, dtype=np.int64)}


@pytest.mark.parametrize(
    ("totals", "kind"),
    [
        ((0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63)), np.int64), ((2**63, 0), np.object_),
        ((-(2**63) - 1, 5), np.object_), ((2**120, -(2**120)), np.object_), ((), np.int64),
    ],
)  # fmt: skip
def test_amounts_are_machine_integers_where_all_of_them_fit(totals, kind):
    (amounts,) = exact_groups(lowered(), halves(*totals)).amounts
    assert amounts.dtype == kind
    assert tuple(amounts.tolist()) == totals


def test_a_total_that_machine_integers_hold_is_read_as_it_is():
    found = exact_groups(lowered(fitting=(False, True)), {"t1": np.array([2**63 - 1, -5]), **halves(2**70, 1)})
    assert [amounts.tolist() for amounts in found.amounts] == [[2**70, 1], [2**63 - 1, -5]]


@pytest.mark.parametrize("totals", [(0, 1, -1, 2**63 - 1, -(2**63)), (2**125 - 1, -(2**124), 3)])
def test_numbers_are_halved_and_put_together_again(totals):
    numbers = np.array(totals, dtype=np.int64 if max(totals) < 2**63 else object)
    assert tuple(of_halves(*halves_of(numbers)).tolist()) == totals


def test_of_numbers_that_two_halves_cannot_hold_the_last_ones_are_kept():
    high, low = halves_of(np.array([2**125, 2**200, -(2**200)], dtype=object))
    assert tuple(of_halves(high, low).tolist()) == (2**125 - 1, 2**125 - 1, 1 - 2**125)


@pytest.mark.parametrize(
    ("kind", "column", "keys"),
    [
        (Kind.TEXT, np.array(["a", "é"], dtype=object), ["a", "é"]), (Kind.INTEGER, np.array([1, 2]), [1, 2]),
        (Kind.BOOLEAN, np.array([True, False]), [True, False]),
        (Kind.DATE, np.array(["0001-01-01", "9999-12-31"], "datetime64[us]"), [date.min, date.max]),
        (
            Kind.TIMESTAMP, np.array(["2026-01-31T23:59:59.999999"] * 2, "datetime64[us]"),
            [datetime.fromisoformat("2026-01-31 23:59:59.999999")] * 2,
        ),
    ],
)  # fmt: skip
def test_private_keys_and_cells_have_the_type_of_their_kind(kind, column, keys):
    group = GroupColumn(name="k0", kind=kind, values=None)
    answer = exact_groups(lowered(group, cell=group), {"k0": column, **halves(5, 5)})
    for values in (answer.keys[0], answer.cells):
        assert values == keys
        assert [type(value) for value in values] == [type(key) for key in keys]


def test_public_keys_are_found_by_their_places():
    group = GroupColumn(name="k0", kind=Kind.TEXT, values=("x", "y"))
    assert exact_groups(lowered(group), {"k0": np.array([1, 0, 1]), **halves(1, 2, 3)}).keys == (["y", "x", "y"],)


def test_without_cells_there_are_none():
    assert exact_groups(lowered(), halves(1)).cells is None
