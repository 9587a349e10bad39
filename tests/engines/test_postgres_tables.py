import pyarrow as pa
import pytest
from tests.engines.in_postgres import answer, connection
from tests.engines.postgres_tables import loaded

from sfumato.engines.postgres_address import address_of
from sfumato.engines.postgres_tables import PostgresTables, one_database
from sfumato.engines.sources import ArrowData, PostgresData
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.schema import PUBLIC, Limits, Table, UnitPath, integer, text

LIMITS = Limits(max_rows_per_unit=9)
ORDERS = Table(name="orders", columns={"id": integer(), "who": text()}, unit=UnitColumn("who"), limits=LIMITS)
LINES = Table(name="lines", columns={"of": integer(), "n": integer()}, unit=UnitPath("of", ORDERS, "id"), limits=LIMITS)
CODES = Table(name="codes", columns={"code": text()}, unit=PUBLIC, matches={("code",): 1})
ROWS = {
    "orders": pa.table({"id": [1, 2, 3], "who": ["a", "b", None]}),
    "lines": pa.table({"of": ["1", " 1", "2", "3", "x"], "n": [1, 2, 3, 4, 5]}),
    "codes": pa.table({"code": ["x", "x", "y", None, None]}),
}


def test_rows_have_their_owners_and_no_more_matches_than_declared():
    sources = {table.name: loaded(table, ArrowData(ROWS[table.name], ())) for table in (ORDERS, LINES, CODES)}
    tables = PostgresTables(connection(), sources, may_write=False)
    found = {
        table.name: [tuple(row.values()) for row in answer(tables.named(table)).to_pylist()]
        for table in (ORDERS, LINES, CODES)
    }
    assert sorted(found["orders"]) == [("a", 1, "a"), ("b", 2, "b")]
    assert sorted(found["lines"]) == [("a", 1, 1), ("a", 1, 2), ("b", 2, 3)]
    assert sorted(found["codes"], key=str) == [("x",), ("y",), (None,), (None,)]


def data(source, table=ORDERS):
    return PostgresData(address_of(source), table)


def test_all_tables_are_in_one_database():
    first, second = data("postgresql://db/x?table=a"), data("postgresql://db/x?table=b")
    address, own = one_database({"a": first, "b": second})
    assert (address.shown, own) == ("postgresql://db/x", {"a": first, "b": second})
    with pytest.raises(ParameterError, match="all tables of the policy"):
        one_database({"a": first, "b": data("postgresql://db/y?table=b")})


def test_other_sources_are_refused_with_the_fix():
    with pytest.raises(ParameterError, match=r"postgresql://user@host/database\?table"):
        one_database({"orders": ArrowData(ROWS["orders"], ())})
