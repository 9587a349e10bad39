from datetime import date as day
from datetime import datetime

import pytest
from sqlglot import exp
from tests.engines.in_postgres import connection, rows_of
from tests.engines.postgres_server import READER, server

from sfumato.engines.postgres.catalogue import check_server, reading, stored
from sfumato.engines.sources.sources import address_of
from sfumato.engines.sql.expressions.casts import as_kind
from sfumato.engines.sql.expressions.terms import aliased, constant
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Limits, Table, date, integer, real, text
from sfumato.query.policy.policy import Risk

SCHEMAS = ("one", "two")
VISITS = Table(name="visits", columns={"who": text(), "Day": date()})
STORED = 'CREATE TABLE one.visits (who text, "Day" date, mood mood, w money, v point, id serial PRIMARY KEY)'

at = datetime.fromisoformat
CASES = [
    ("int2", "'-7'", Kind.INTEGER, -7), ("int8", "'9223372036854775807'", Kind.INTEGER, 2**63 - 1),
    ("numeric", "'1.50'", Kind.FLOAT, 1.5), ("numeric", "'NaN'", Kind.FLOAT, None),
    ("numeric", "'1.50'", Kind.TEXT, "1.50"),
    ("float4", "'0.5'", Kind.FLOAT, 0.5), ("float8", "'NaN'", Kind.FLOAT, None),
    ("float8", "'NaN'", Kind.INTEGER, None),
    ("text", "'é'", Kind.TEXT, "é"), ("bpchar", "'a  '", Kind.TEXT, "a"), ("name", "'n'", Kind.TEXT, "n"),
    ("uuid", "'00000000-0000-0000-0000-00000000000A'", Kind.TEXT, "00000000-0000-0000-0000-00000000000a"),
    ("bool", "'t'", Kind.BOOLEAN, True), ("bool", "'f'", Kind.INTEGER, 0),
    ("date", "'2026-01-31'", Kind.DATE, day(2026, 1, 31)), ("date", "'infinity'", Kind.DATE, None),
    ("date", "'0044-03-15 BC'", Kind.DATE, None), ("date", "'10000-01-01'", Kind.DATE, None),
    ("timestamp", "'2026-01-31 12:00:00.000001'", Kind.TIMESTAMP, at("2026-01-31 12:00:00.000001")),
    ("timestamp", "'-infinity'", Kind.TIMESTAMP, None),
    ("timestamptz", "'2026-01-31 12:00+02'", Kind.TIMESTAMP, at("2026-01-31 10:00")),
    ("timestamptz", "'0001-01-01 00:00+14'", Kind.TIMESTAMP, None), ("timestamptz", "'infinity'", Kind.DATE, None),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def tables():
    """Two schemas with a table of one name, and what may be wrong with one."""
    made = server()
    made.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')", "CREATE DOMAIN word AS text", "CREATE DOMAIN name2 AS word"
    )
    for schema in (*SCHEMAS, "hidden"):
        made.execute(f"CREATE SCHEMA {schema}", f"GRANT USAGE ON SCHEMA {schema} TO {READER}")
    made.execute(
        STORED,
        'CREATE VIEW two.visits AS SELECT who, "Day" FROM one.visits',
        "CREATE TABLE one.names (who name2, feels mood, at timestamptz, x double precision, j json)",
        'CREATE TABLE one."a""b; --" ("c""d; --" integer)',
        "CREATE TABLE one.written (who text)",
        "CREATE TABLE one.unseen (who text, secret text)",
        "CREATE TABLE hidden.unseen (who text)",
        "CREATE DOMAIN number AS numeric(30, 0)",
        "CREATE TABLE one.ids (v numeric(20, 0), w numeric(5, -2), x numeric(5, 2), y numeric, z number)",
        f"GRANT SELECT ON one.visits, two.visits, one.names, one.written, hidden.unseen, one.ids TO {READER}",
        f'GRANT SELECT ON one."a""b; --" TO {READER}',
        f"GRANT SELECT (who) ON one.unseen TO {READER}",
        f"GRANT UPDATE (who) ON one.written TO {READER}",
        f"REVOKE USAGE ON SCHEMA hidden FROM {READER}",
    )  # fmt: skip
    yield
    made.execute(
        *(f"DROP SCHEMA {schema} CASCADE" for schema in (*SCHEMAS, "hidden")),
        "DROP TYPE mood",
        "DROP DOMAIN number CASCADE",
        "DROP DOMAIN word CASCADE",
    )


def looked_up(name, table=VISITS, *, path='["one", "public"]', may_write=False, accepted_risks=()):
    address = address_of(f"postgresql://db/hospital?table={name}")
    with connection().transaction() as asked:
        return stored(asked, address, table, path=path, may_write=may_write, accepted_risks=accepted_risks)


@pytest.mark.parametrize(("name", "schema"), [("visits", "one"), ("one.visits", "one"), ("two.visits", "two")])
def test_a_table_or_a_view_is_found_in_its_schema_or_by_the_path(name, schema):
    found = looked_up(name)
    assert (found.name.db, found.name.name) == (schema, "visits")
    assert found.storage == {"who": "VARCHAR", "Day": "DATE"}


def test_a_name_in_two_schemas_of_the_path_is_refused_with_both():
    with pytest.raises(ParameterError, match=r"schema\.name: it exists in one, two"):
        looked_up("visits", path='["one", "two"]')


@pytest.mark.parametrize("name", ["nosuch", "Visits", "three.visits", "two.names"])
def test_a_table_that_is_not_there_is_refused(name):
    with pytest.raises(ParameterError, match="names no table or view"):
        looked_up(name)


def test_names_come_from_the_catalog_whatever_is_in_them():
    declared = Table(name="t", columns={'c"d; --': integer()})
    found = looked_up("%22a%22%22b;%20--%22".replace("%22a", "one.%22a"), declared)
    assert found.query.sql("postgres") == ('SELECT "c""d; --" AS "c""d; --" FROM "one"."a""b; --" AS "r"')


def test_domains_and_enumerations_are_read_as_what_they_are_over():
    table = Table(name="names", columns={"who": text(), "feels": text(), "at": date()})
    assert looked_up("names", table).storage == {"who": "VARCHAR", "feels": "VARCHAR", "at": "TIMESTAMP"}


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
     ("visits", {"nosuch": text()}, "is not a column of t"), ("visits", {"day": text()}, "upper and lower case"),
     ("visits", {"v": text()}, "is stored as point"), ("visits", {"w": text()}, "is stored as money"),
     ("names", {"j": text()}, "is stored as json"), ("visits", {"Day": text()}, "declare it as a date"),
     ("names", {"at": text()}, "is stored as timestamp with time zone"),
     ("unseen", {"secret": text()}, "GRANT SELECT")],
)  # fmt: skip
def test_a_column_that_cannot_be_read_as_declared_is_refused_with_the_fix(name, columns, words):
    with pytest.raises(ParameterError, match=words):
        looked_up(name, Table(name="t", columns=columns))


def test_units_that_are_doubles_are_refused():
    table = Table(name="t", columns={"x": text()}, unit=UnitColumn("x"), limits=Limits(max_rows_per_unit=1))
    with pytest.raises(ParameterError, match="cast the ids"):
        looked_up("names", table)


def with_ids(name, declared):
    return Table(name="t", columns={name: declared}, unit=UnitColumn(name), limits=Limits(max_rows_per_unit=1))


@pytest.mark.parametrize(("name", "declared"), [("v", text()), ("w", text()), ("z", text()), ("w", integer())])
def test_units_that_are_numerics_without_a_fraction_are_whole_numbers(name, declared):
    assert looked_up("one.ids", with_ids(name, declared)).storage == {name: "HUGEINT"}


@pytest.mark.parametrize("name", ["v", "y", "z"])
def test_whole_numbers_beyond_64_bits_are_refused_by_the_type_alone(name):
    for table in (with_ids(name, integer()), Table(name="t", columns={name: integer(0, 9)})):
        with pytest.raises(ParameterError, match="beyond 64 bits; declare ids as text and amounts as a float"):
            looked_up("one.ids", table)
    assert looked_up("one.ids", Table(name="t", columns={name: real(0, 9)})).storage == {name: "DECIMAL"}


def test_a_numeric_that_64_bits_hold_is_a_whole_number():
    assert looked_up("one.ids", Table(name="t", columns={"x": integer()})).storage == {"x": "DECIMAL"}


@pytest.mark.parametrize("name", ["x", "y"])
def test_units_that_are_numerics_with_a_fraction_are_refused(name):
    with pytest.raises(ParameterError, match="cast the ids"):
        looked_up("one.ids", with_ids(name, text()))


def test_numbers_that_may_be_beyond_doubles_are_read_as_decimals():
    assert looked_up("one.ids", Table(name="t", columns={"v": real(0, 1)})).storage == {"v": "DECIMAL"}


def test_a_right_to_read_one_column_is_enough_for_it():
    assert looked_up("unseen", Table(name="t", columns={"who": text()})).storage == {"who": "VARCHAR"}


def test_a_schema_that_may_not_be_used_is_refused_with_the_fix():
    with pytest.raises(ParameterError, match="GRANT USAGE ON SCHEMA hidden"):
        looked_up("hidden.unseen")


def test_a_role_that_may_write_as_much_as_one_column_is_refused_unless_told():
    table = Table(name="t", columns={"who": text()})
    with pytest.raises(ParameterError, match="allow_writing_role"):
        looked_up("written", table)
    assert looked_up("written", table, may_write=True).name.name == "written"


@pytest.mark.parametrize(
    "rights",
    ["GRANT INSERT ON one.safe TO writer", "ALTER TABLE one.safe OWNER TO writer",
     "GRANT TRIGGER ON one.safe TO writer", "GRANT UPDATE (who) ON one.safe TO writer",
     "GRANT DELETE ON one.safe_part TO writer"],
)  # fmt: skip
@pytest.mark.parametrize("seen", ["one.safe", "two.seen"])
def test_a_role_that_can_become_one_that_writes_the_table_a_part_of_it_or_what_a_view_reads_is_refused(rights, seen):
    table = Table(name="t", columns={"who": text()})
    server().execute(
        "CREATE ROLE writer", f"GRANT writer TO {READER} WITH INHERIT FALSE",
        "CREATE TABLE one.safe (who text) PARTITION BY LIST (who)",
        "CREATE TABLE one.safe_part PARTITION OF one.safe DEFAULT", "CREATE VIEW two.seen AS SELECT who FROM one.safe",
        f"GRANT SELECT ON one.safe, two.seen TO {READER}",
    )  # fmt: skip
    try:
        assert looked_up(seen, table).name.name == seen.partition(".")[2]
        server().execute(rights)
        server().execute(f"GRANT SELECT ON one.safe TO {READER}")
        with pytest.raises(ParameterError, match="allow_writing_role"):
            looked_up(seen, table)
    finally:
        server().execute("DROP TABLE one.safe CASCADE", "DROP ROLE writer")


@pytest.fixture
def secured():
    """A table that shows the role only some rows; and views of it, one with the rights of its owner, who sees all."""
    server().execute(
        "CREATE TABLE one.secured (who text)", "INSERT INTO one.secured VALUES ('a'), ('b')",
        "ALTER TABLE one.secured ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY seen ON one.secured USING (who = 'a')",
        "CREATE VIEW two.all_of_it AS SELECT who FROM one.secured",
        "CREATE VIEW two.some_of_it WITH (security_invoker) AS SELECT who FROM one.secured",
        f"GRANT SELECT ON one.secured, two.all_of_it, two.some_of_it TO {READER}",
    )  # fmt: skip
    yield Table(name="t", columns={"who": text()})
    server().execute("DROP TABLE one.secured CASCADE")


@pytest.mark.parametrize("name", ["one.secured", "two.some_of_it"])
def test_rows_that_the_server_hides_from_the_role_are_refused_unless_the_owner_accepts_it(secured, name):
    with pytest.raises(ParameterError, match=r'reads secured, where row-level security.*"row_security"'):
        looked_up(name, secured)
    assert looked_up(name, secured, accepted_risks=[Risk.ROW_SECURITY]).storage == {"who": "VARCHAR"}


def test_a_table_whose_security_does_not_concern_the_role_is_read(secured):
    assert looked_up("two.all_of_it", secured).storage == {"who": "VARCHAR"}
    server().execute(f"ALTER ROLE {READER} BYPASSRLS")
    try:
        assert looked_up("one.secured", secured).storage == {"who": "VARCHAR"}
    finally:
        server().execute(f"ALTER ROLE {READER} NOBYPASSRLS")


class Answering:
    """A server that says so of itself."""

    def __init__(self, *row):
        self.row = row

    def rows(self, _):
        return [self.row]


@pytest.mark.parametrize(
    ("row", "words"), [((150018, "15.18", "UTF8"), "16 or newer"), ((180004, "18.4", "SQL_ASCII"), "ENCODING 'UTF8'")]
)
def test_a_server_that_is_old_or_of_another_encoding_is_refused(row, words):
    with pytest.raises(ParameterError, match=words):
        check_server(Answering(*row), "postgresql://db/hospital")


def test_the_server_of_the_tests_is_none_of_those():
    with connection().transaction() as asked:
        check_server(asked, "postgresql://db/hospital")


@pytest.mark.parametrize(("name", "literal", "kind", "expected"), CASES)
def test_a_type_is_read_as_a_kind(name, literal, kind, expected):
    known = reading(name, schema="pg_catalog", form="b")
    stored = exp.Cast(this=constant(literal.strip("'")), to=exp.DataType.build(name, dialect="postgres", udt=True))
    (row,) = rows_of(exp.Select(expressions=[aliased(as_kind(known.read(stored), known.storage, kind), "v")]))
    assert row["v"] == expected
    assert type(row["v"]) is type(expected)


def test_enumerations_are_text_and_what_has_no_values_is_not_read():
    assert reading("mood", schema="public", form="e").storage == "VARCHAR"
    assert reading("citext", schema="public", form="b").storage == "VARCHAR"
    assert [
        reading(name, schema="pg_catalog", form="b") for name in ("json", "bytea", "interval", "money", "_int4")
    ] == [None] * 5
    assert reading("int4", schema="public", form="b") is None
