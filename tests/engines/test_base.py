"""What an engine finds, put on the groups and cells of an answer."""

import numpy as np
import pytest
from tests.query.asking import PEOPLE

from sfumato.engines.base import ExactGroups, aligned, cells, failing, groups
from sfumato.errors import EngineError, ParameterError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.statement import (
    Bins,
    CellCount,
    KeyColumn,
    LatticeValue,
    RowCount,
    Statement,
    ValueCount,
    Values,
)

AGE = ColumnRef("age")
STEPS = LatticeValue(value=AGE, resolution=1, lower=0, upper=100, offset=0, nullable=True)
COUNTS = (RowCount(), ValueCount((AGE,)))
WORDS = Values(value=AGE, values=("x", "y"))


def statement(*keys, cell=None, measures=COUNTS):
    columns = tuple(KeyColumn(name=f"k{index}", values=values) for index, values in enumerate(keys))
    return Statement(rows=Source(PEOPLE), keys=columns, measures=measures, cell=cell)


def found(entries, *, has_cells=False):
    """What an engine found: by place, the keys and behind them the cell, the amounts."""
    columns = list(zip(*entries, strict=True)) or [()]
    amounts = tuple(np.array(column, dtype=object) for column in zip(*entries.values(), strict=True))
    return ExactGroups(
        keys=tuple(columns[: len(columns) - has_cells]) if any(entries) else (),
        cells=columns[-1] if has_cells else None, amounts=amounts,
    )  # fmt: skip


def test_groups_are_listed_as_the_policy_lists_their_keys():
    assert groups(statement(("b", "a"), (2, 1))) == [("b", 2), ("b", 1), ("a", 2), ("a", 1)]
    assert groups(statement()) == [()]


def test_private_groups_are_not_listed():
    with pytest.raises(TypeError, match="private"):
        groups(statement(("a",), None))


@pytest.mark.parametrize(
    ("cell", "listed"),
    [(WORDS, ["x", "y"]), (Bins(steps=STEPS, width=40), [0, 1, 2]), (Bins(steps=STEPS, width=101), [0])],
)
def test_cells_are_listed_in_order(cell, listed):
    assert cells(statement(cell=cell)) == listed


@pytest.mark.parametrize("cell", [None, Values(value=AGE, values=None)])
def test_cells_that_are_only_counted_are_not_listed(cell):
    with pytest.raises(TypeError, match="no public cells"):
        cells(statement(cell=cell))


def test_what_was_found_is_put_on_the_groups_asked_for_and_the_rest_is_zero():
    answer = found({("a",): [1, 2], ("unlisted",): [9, 9]})
    assert aligned(statement(("c", "a")), answer, [("c",), ("a",)]).tolist() == [[0, 0], [1, 2]]
    assert aligned(statement(None), answer, [("unlisted",)]).tolist() == [[9, 9]]


def test_amounts_beyond_64_bits_are_put_on_their_groups_as_they_are():
    answer = ExactGroups(
        keys=(["a", "b"],), cells=None, amounts=(np.array([2**70, 1], dtype=object), np.array([3, 4], dtype=np.int64))
    )  # fmt: skip
    table = aligned(statement(("b", "a", "c")), answer, [("b",), ("a",), ("c",)])
    assert table.tolist() == [[1, 4], [2**70, 3], [0, 0]]


def test_cells_are_the_faster_ones_within_a_group():
    answer = found({("a", "y"): [1], ("b", "x"): [2], ("b", "z"): [9]}, has_cells=True)
    asked = statement(("a", "b"), cell=WORDS, measures=(RowCount(),))
    assert aligned(asked, answer, groups(asked)).tolist() == [[0], [1], [2], [0]]


def test_a_statement_that_counts_cells_has_one_row_a_group():
    asked = statement(("a", "b"), cell=Values(value=AGE, values=None), measures=(CellCount(),))
    assert aligned(asked, found({("b",): [5]}), groups(asked)).tolist() == [[0], [5]]


def test_nothing_found_is_zero_everywhere():
    empty = ExactGroups(keys=((),), cells=None, amounts=(np.array([], dtype=np.int64),) * 2)
    assert aligned(statement(("a", "b")), empty, [("a",), ("b",)]).tolist() == [[0, 0], [0, 0]]
    nobody = ExactGroups(keys=(), cells=None, amounts=(np.array([], dtype=np.int64),) * 2)
    assert aligned(statement(), nobody, [()]).tolist() == [[0, 0]]


def test_integers_never_wrap():
    assert aligned(statement(), found({(): [2**100, -(2**100)]}), [()]).tolist() == [[2**100, -(2**100)]]


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_in_which_groups_were_found_does_not_matter(order):
    answer = found(dict([(("a",), [1, 1]), (("b",), [2, 2])][::order]))
    assert aligned(statement(("a", "b")), answer, [("a",), ("b",)]).tolist() == [[1, 1], [2, 2]]


def test_what_was_found_does_not_print():
    assert repr(found({("canary",): [31415]})) == "ExactGroups()"


def fail(error):
    with failing("duckdb", "ran", (ArithmeticError, ValueError)):
        raise error


def test_a_failure_is_an_error_that_does_not_lead_to_its_text():
    with pytest.raises(EngineError) as caught:
        fail(ZeroDivisionError("row 7: canary"))
    assert (caught.value.engine, caught.value.phase) == ("duckdb", "ran")
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("error", [ParameterError("sql", "x", "is wrong"), KeyError("a mistake of ours")], ids=repr)
def test_what_no_engine_did_is_no_failure(error):
    with pytest.raises(type(error)):
        fail(error)
