"""Baskets: each unit has one, whatever its rows are, and engines agree which."""

from functools import partial
from itertools import combinations, product

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.baskets import basket_query

ITEMS = [f"item {place}" for place in range(43)]
COLUMNS = {"who": sf.text(), "item": sf.text(values=ITEMS), "note": sf.text()}
SCHEMA = pa.schema([("who", pa.string()), ("item", pa.string()), ("note", pa.string())])
RECORDS = [
    *[("a", "item 0", note) for note in "xyz"], ("a", "item 42", "x"), ("a", None, "x"), ("b", "item 0", "x"),
    ("b", "gin", "x"), ("c", None, "x"), ("d", "item 42", "x"), ("d", "item 0", "y"), (None, "item 1", "x"),
]  # fmt: skip


def opened(records=RECORDS, **changed):
    data = pa.table({name: [row[place] for row in records] for place, name in enumerate(COLUMNS)}, schema=SCHEMA)
    given = {"name": "sales", "columns": COLUMNS, "unit": "who", "limits": sf.Limits(max_rows_per_unit=2)}
    return sf.open(data, budget=sf.PureDP(1), **(given | changed))


def baskets_of(session, sql="SELECT item FROM sales"):
    """How many units have each basket, as sets of places."""
    found = session.baskets(sql, item="item").query.read(partial(session.desk.engine.run, salt="00" * 16))
    exact = found.open_for_noise()
    has = [exact.has(place) for place in range(len(ITEMS))]
    sets = [frozenset(place for place in range(len(ITEMS)) if has[place][row]) for row in range(len(exact.counts))]
    assert len(set(sets)) == len(sets)
    return dict(zip(sets, exact.counts.tolist(), strict=True))


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_each_unit_has_one_basket_of_all_its_rows(engine):
    session = opened(engine=engine)
    assert session.baskets("SELECT item FROM sales", item="item").rows_per_unit == 1
    assert baskets_of(session) == {frozenset({0, 42}): 2, frozenset({0}): 1, frozenset(): 1}
    filtered = baskets_of(session, "SELECT item FROM sales WHERE note = 'x'")
    assert filtered == {frozenset({0, 42}): 1, frozenset({0}): 1, frozenset({42}): 1, frozenset(): 1}


def test_a_unit_that_enters_moves_one_count_by_one():
    found = {}
    for units in (units for size in range(5) for units in combinations("abcd", size)):
        found[units] = baskets_of(opened([row for row in RECORDS if row[0] in units], engine="reference"))
    for one, other in product(found, repeat=2):
        if set(other) < set(one) and len(one) == len(other) + 1:
            kinds = found[one].keys() | found[other].keys()
            moved = [found[one].get(kind, 0) - found[other].get(kind, 0) for kind in kinds]
            assert sorted(moved)[-1:] == [1]
            assert sum(map(abs, moved)) == 1


def test_what_has_no_baskets_is_refused():
    with pytest.raises(NotPrivateError, match="Declare the unit"):
        opened(unit=sf.EACH_ROW, limits=sf.Limits()).baskets("SELECT item FROM sales", item="item")
    with pytest.raises(UnboundedSensitivityError, match="values"):
        opened().baskets("SELECT note FROM sales", item="note")
    with pytest.raises(ParameterError, match="one of: item"):
        opened().baskets("SELECT item FROM sales", item="who")
    many = sf.text(values=[f"item {place}" for place in range(1_001)])
    with pytest.raises(UnboundedSensitivityError):
        opened(columns=COLUMNS | {"item": many}).baskets("SELECT item FROM sales", item="item")


def test_bits_are_named_in_the_key_under_which_baskets_are_stored():
    session = opened()
    query = basket_query(parse_view("SELECT item FROM sales", session._tables), item="item")
    assert query.lattices == [repr(item) for item in ITEMS]
    assert len(query.statement.keys) == 2
    assert repr(session.baskets("SELECT item FROM sales", item="item")) == "<BasketSet: SELECT item FROM sales>"
