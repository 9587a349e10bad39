import pyarrow as pa
import pytest
from tests.session.opened import CUSTOMERS, LINES, NATIONS, ORDERS, SHOP

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import open_source
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Limits, Table, UnitPath, integer
from sfumato.session.opening.violations import violations

LIMITS = Limits(max_rows_per_unit=9)
SOURCES = {name: open_source(frame) for name, frame in SHOP.items()}


def broken(table, sources=SOURCES, start=ReferenceEngine):
    """How often each claim is broken, in the order of the claims."""
    return list(violations(table, sources, start).values())


@pytest.mark.parametrize(("table", "counts"), [(LINES, [1]), (ORDERS, [0, 1]), (CUSTOMERS, [1]), (NATIONS, [1])])
def test_rows_that_break_a_claim_are_counted(table, counts):
    assert broken(table) == counts


def test_where_rows_have_no_owners_nothing_is_claimed_and_nothing_is_read():
    assert broken(Table(name="gone", columns={"id": integer()}), sources={"gone": None}) == []


def rows(**columns):
    return open_source(pa.table({name: pa.array(cells, pa.int64()) for name, cells in columns.items()}))


def table(name, *columns, **facts):
    return Table(name=name, columns=dict.fromkeys(columns, integer()), limits=LIMITS, **facts)


def test_a_path_of_several_steps_leads_to_nobody_if_any_of_them_does():
    a = table("a", "k", "who", unit=UnitColumn("who"))
    b = table("b", "k", "m", unit=UnitPath("k", a, "k"))
    c = table("c", "m", unit=UnitPath("m", b, "m"))
    sources = {
        "a": rows(k=[1, 2, None], who=[7, None, 7]),
        "b": rows(k=[1, 2, 3, None], m=[10, 20, 30, 40]),
        "c": rows(m=[10, 10, 20, 30, 40, 50, None]),
    }
    assert [broken(one, sources) for one in (a, b, c)] == [[1], [3], [5]]


def test_tables_may_be_called_anything():
    owners = table("t (all)", "k", "who", unit=UnitColumn("who"))
    made = table("t", "k", "m", unit=UnitPath("k", owners, "k"), matches={("m",): 1})
    sources = {"t (all)": rows(k=[1, 2], who=[7, 8]), "t": rows(k=[1, 1, 2, 3], m=[5, 5, 5, 5])}
    assert broken(made, sources) == [1, 1]


@pytest.mark.parametrize("start", [ReferenceEngine, DuckDBEngine])
def test_each_claim_is_counted_by_itself_within_the_rows_of_one_unit(start):
    matches = {("x",): 1, ("x", "y"): 1, ("y",): 2}
    made = table("t", "u", "x", "y", unit=UnitColumn("u"), matches=matches)
    source = rows(u=[1, 1, 1, 1, 2, None, 1], x=[5, 5, 5, 6, 5, 5, None], y=[1, 1, 2, 1, 1, 1, 1])
    assert broken(made, {"t": source}, start) == [1, 2, 1, 2]  # the owner is missing once; of y = 1 are there four
