"""In which group the rows of a cell are: never otherwise than the reference engine puts them."""

from fractions import Fraction
from itertools import product

import pytest
from tests.query.brute_force import SALTS
from tests.query.test_tiny_databases import PlainRows

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import ArrowData
from sfumato.query.analysis.cells import UNKNOWN, Beyond, CellGroups, TableCells, held_by
from sfumato.query.analysis.keys import key_columns
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Filter, Select, Source
from sfumato.query.model.schema import Table, boolean, integer, real, text
from sfumato.query.model.statement import RowCount, Statement

TABLE = Table(
    name="t",
    columns={"n": integer(1, 3), "s": text(values=["a", "b"]), "t": boolean(), "free": text(), "x": real(0, 1)},
)  # fmt: skip
N, S, T = ColumnRef("n"), ColumnRef("s"), ColumnRef("t")
STORED = {"n": (1, 2, 3, None, -5, 0, 4, 99), "s": ("a", "b", None, "z", ""), "t": (True, False, None)}


def number(value):
    return Literal(Fraction(value))


def of(comparison, left, right):
    return Compare(comparison, left, right)


CONDITIONS = {
    "all": And(()),
    **{f"n {one} {value}": of(one, N, number(value)) for one in Comparison for value in (0, 1, 2, 3, 4)},
    "n in (1, 3)": IsIn(N, (number(1), number(3))),
    "n in (1, 4)": IsIn(N, (number(1), number(4))),
    "n is null": IsNull(N),
    "n is not null": Not(IsNull(N)),
    "s = a": of(Comparison.EQUAL, S, Literal("a")),
    "s <> a": of(Comparison.NOT_EQUAL, S, Literal("a")),
    "s = z": of(Comparison.EQUAL, S, Literal("z")),
    "s < b": of(Comparison.LESS, S, Literal("b")),
    "not s in (a, b)": Not(IsIn(S, (Literal("a"), Literal("b")))),
    "t": T,
    "not t": Not(T),
    "n > 2 and s = a": And((of(Comparison.GREATER, N, number(2)), of(Comparison.EQUAL, S, Literal("a")))),
    "n > 2 or t": Or((of(Comparison.GREATER, N, number(2)), T)),
    "not (n > 2 or s = z)": Not(Or((of(Comparison.GREATER, N, number(2)), of(Comparison.EQUAL, S, Literal("z"))))),
    "n + 1 > 3": of(Comparison.GREATER, Call(Function.ADD, (N, number(1))), number(3)),
    "n = n": of(Comparison.EQUAL, N, N),
}
KEYS = {
    "none": (),
    "n": (N,),
    "s, t": (S, T),
    "n / 2": (Call(Function.DIVIDE, (N, number(2))),),
    "upper s": (Call(Function.UPPER, (S,)),),
    "a bucket": (Case(((of(Comparison.LESS, N, number(2)), Literal("low")),), Literal("high")),),
    "listed, and others": (Case(((IsIn(N, (number(1), number(2), number(3))), N),), number(4)),),
    "listed texts, and others": (Case(((IsIn(S, (Literal("a"), Literal("b"))), S),), Literal("other")),),
    "a cut line": (
        Case(
            ((of(Comparison.LESS, N, number(2)), number(0)), (of(Comparison.LESS, N, number(4)), number(1)),
             (Not(IsNull(N)), number(2))),
            number(3),
        ),
    ),
    "what is beyond a bound": (Case(((T, N),), number(0)), S),
    "beyond another constant": (Case(((of(Comparison.LESS, N, number(-2)), number(0)),), number(1)),),
}  # fmt: skip
CERTAIN = ("listed, and others", "listed texts, and others", "a cut line")


def cell_of(row):
    """The cell that a stored row is in."""
    n, s = row["n"], row["s"]
    beyond = Beyond.BELOW if n is not None and n < 1 else Beyond.ABOVE if n is not None and n > 3 else n
    return {"n": beyond, "s": s if s in {"a", "b", None} else Beyond.UNLISTED, "t": row["t"]}


def group_in_engine(where, keys, row):
    """The group that the reference engine puts one row in."""
    source = Filter(Source(TABLE), where)
    rows = Select(source, tuple((f"k{place}", key) for place, key in enumerate(keys)) or (("n", N),))
    columns = key_columns(rows, tuple(f"k{place}" for place in range(len(keys))))
    statement = Statement(rows=rows, keys=columns, measures=(RowCount(),))
    engine = ReferenceEngine({"t": ArrowData(PlainRows([row]), ("n", "s", "t", "free", "x"))})
    found = engine.run(statement, salt=SALTS[0]).open_for_noise()
    if not found.amounts[0].tolist() or found.amounts[0].tolist() == [0]:
        return None
    return next(zip(*found.keys, strict=True)) if found.keys else ()


ROWS = [dict(zip("nst", held, strict=True)) | {"free": None, "x": None} for held in product(*STORED.values())]


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("where", CONDITIONS)
def test_a_cell_is_in_the_group_in_which_all_of_its_rows_are(where, keys):
    """For every stored value within its cell; what is unknown may be one way or the other."""
    grouping = CellGroups(TABLE, CONDITIONS[where], KEYS[keys])
    read = {name for name in grouping.columns if name in STORED}
    seen = set()
    for row in ROWS:
        own = tuple(row[name] for name in sorted(read))
        if own in seen:
            continue
        seen.add(own)
        said = grouping.group(cell_of(row))
        if said is not UNKNOWN:
            assert said == group_in_engine(CONDITIONS[where], KEYS[keys], row), row


@pytest.mark.parametrize("keys", CERTAIN)
def test_keys_that_put_every_row_in_a_group_say_so_of_every_cell(keys):
    grouping = CellGroups(TABLE, And(()), KEYS[keys])
    assert all(isinstance(grouping.group(cell_of(row)), tuple) for row in ROWS)


def test_much_is_known():
    cells = {tuple(cell.items()): cell for cell in map(cell_of, ROWS)}.values()
    groupings = [CellGroups(TABLE, where, keys) for where, keys in product(CONDITIONS.values(), KEYS.values())]
    known = [one for one in groupings if all(one.group(cell) is not UNKNOWN for cell in cells)]
    assert len(known) > len(CONDITIONS) * len(KEYS) / 3


def test_what_a_column_may_hold():
    assert held_by(TABLE, "n") == (1, 2, 3, None, Beyond.BELOW, Beyond.ABOVE)
    assert held_by(TABLE, "s") == ("a", "b", None, Beyond.UNLISTED)
    assert held_by(TABLE, "t") == (False, True, None)
    assert held_by(TABLE, "free") is held_by(TABLE, "x") is None


def test_every_combination_is_a_cell():
    cells = TableCells(table=TABLE, columns={name: held_by(TABLE, name) for name in "nt"})
    assert cells.count == len(list(cells)) == 18
