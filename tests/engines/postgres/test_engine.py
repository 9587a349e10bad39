"""PostgreSQL keeps the contract of engines, and agrees with the reference engine on anything at all."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines import postgres_tables
from tests.engines.engine_contract import BUSY, EngineContract, visited, visits
from tests.engines.in_postgres import answer, connection
from tests.engines.marks import never
from tests.engines.own_hash_contract import OwnHashContract
from tests.engines.postgres_server import OWNER, OWNER_PASSWORD, READER, READER_PASSWORD, server
from tests.engines.postgres_tables import loaded
from tests.engines.reading_contract import PEOPLE, QUESTION, RECORDS, ReadingContract
from tests.engines.running import SALT, by_place, found, started, statement
from tests.sizes import COSTLY
from tests.statements_of import statement as random_statement
from tests.strategies import database, policy, stored

import sfumato as sf
from sfumato.engines.postgres.connection import Connection
from sfumato.engines.postgres.engine import PostgresEngine, PostgresTables, one_database
from sfumato.engines.sources.sources import ArrowData, PostgresData, address_of, open_in_place, open_source
from sfumato.errors import EngineError, FailedOnRowsError, ParameterError, UnavailableError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import Filter, PeoplePart, SemiJoin, Source, tables_of
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, real, text, timestamp
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, UnitCount
from sfumato.query.policy.policy import Policy, Risk

NO_NUL = "no text of PostgreSQL has NUL in it"

NINE_ROWS = Limits(max_rows_per_unit=9)
ORDERS = Table(name="orders", columns={"id": integer(), "who": text()}, unit=UnitColumn("who"), limits=NINE_ROWS)
LINES = Table(
    name="lines", columns={"of": integer(), "n": integer()}, unit=UnitPath("of", ORDERS, "id"), limits=NINE_ROWS
)
CODES = Table(name="codes", columns={"code": text()}, unit=PUBLIC, matches={("code",): 1})
ROWS = {
    "orders": pa.table({"id": [1, 2, 3], "who": ["a", "b", None]}),
    "lines": pa.table({"of": ["1", " 1", "2", "3", "x"], "n": [1, 2, 3, 4, 5]}),
    "codes": pa.table({"code": ["x", "x", "y", None, None]}),
}


@pytest.fixture(autouse=True, scope="module")
def server_of_all():
    with postgres_tables.started():
        yield


@pytest.fixture
def engine():
    return "postgres"


class TestPostgresEngine(EngineContract):
    test_keys_are_compared_exactly = never(NO_NUL)(EngineContract.test_keys_are_compared_exactly)


class TestPostgresOwnHash(OwnHashContract):
    pass


class TestReadingByPostgres(ReadingContract):
    """What is read in a stored value is tested in one query each in `sql/dialects/test_postgres.py`."""

    test_numbers_are_read_as_declared_or_are_null = None
    test_booleans_are_read_as_declared_or_are_null = None
    test_days_and_times_are_read_as_declared_or_are_null = None
    test_a_source_that_is_gone_is_an_error_without_its_text = None  # of files; of a table, below
    test_an_engine_reads_nothing_before_it_is_asked = None


@pytest.mark.essential
@given(st.randoms(use_true_random=False), st.sampled_from([SALT, "ff" * 16, "00" * 16]))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_both_engines_give_the_same_integers_whatever_the_rows_and_their_order(random, salt):
    drawn = policy(random)
    asked = random_statement(random, drawn, depth=3)
    names = {table.name for table in tables_of(asked.rows)}
    rows = database(random, drawn, tables=[table for table in drawn.tables if table.name in names])
    tables = {table.name: table for table in drawn.tables}
    data, turned = (
        {name: _arrow(own[::step], drawn.storage[name], tables[name]) for name, own in rows.items()} for step in (1, -1)
    )
    expected = by_place(found("reference", asked, data, salt=salt))
    assert by_place(found("postgres", asked, data, salt=salt)) == expected
    assert by_place(found("postgres", asked, turned, salt=salt)) == expected


def _arrow(rows, storage, table):
    return ArrowData(postgres_tables.storable(stored(rows, storage), table), tuple(storage))


@contextmanager
def own_engine(*tables, accepted_risks=(), **options):
    """An engine with a connection of its own, over addresses of tables."""
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr("sfumato.engines.postgres.engine.Connection", Connection)
        sources = {
            table.name: open_in_place(source, table, accepted_risks=accepted_risks) for table, source in tables
        }  # fmt: skip
        engine = PostgresEngine(sources, **options)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def another():
    """One more connection of the owner."""
    address = server().url(user=OWNER, password=OWNER_PASSWORD)
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


@pytest.fixture
def names():
    """A table of a million names, which somebody else may lock."""
    table = Table(name="names", columns={"k": text()})
    server().execute("CREATE TABLE names AS SELECT 'canary ' || g AS k FROM generate_series(1, 300000) AS r(g)")
    server().execute(f"GRANT SELECT ON names TO {READER}")
    yield table, server().url(table="public.names")
    server().execute("DROP TABLE names")


COUNTED = "SELECT COUNT(*) FROM names"


def counted(engine, table, sql=COUNTED):
    return by_place(engine.run(statement(sql, table), salt=SALT).open_for_noise())


def failure_of(engine, table, sql=COUNTED):
    """The error of a question, which says nothing of what the server said."""
    with pytest.raises(EngineError) as caught:
        counted(engine, table, sql)
    assert (caught.value.engine, caught.value.__cause__, caught.value.__suppress_context__) == ("postgres", None, True)
    assert str(caught.value) == (
        "the postgres engine failed while it computed the exact values of a query; its message is hidden,"
        " as it can quote rows"
    )


@pytest.fixture
def rates():
    """A view that divides by 0 for one person."""
    table = Table(name="rates", columns={"name": text(), "rate": real(0, 100)})
    pay = "SELECT 'p' || g AS name, 10.0 AS total, 77 - g AS hours FROM generate_series(1, 100) AS r(g)"
    server().execute(
        f"CREATE TABLE pay AS {pay}", "CREATE VIEW rates AS SELECT name, total / hours AS rate FROM pay",
        f"GRANT SELECT ON rates TO {READER}",
    )  # fmt: skip
    yield table, server().url(table="rates")
    server().execute("DROP TABLE pay CASCADE")


def test_a_view_that_may_fail_on_a_row_is_refused_with_three_ways_out(rates):
    table, address = rates
    with pytest.raises(ParameterError, match=r"reads rates.*sfumato prepare.*COALESCE and CASE.*failing_rows"):
        PostgresEngine({"rates": open_in_place(address, table)})


def test_a_view_that_comes_to_fail_while_a_session_is_open_is_not_read(rates):
    table, address = rates
    server().execute("CREATE OR REPLACE VIEW rates AS SELECT name, total AS rate FROM pay")
    with own_engine((table, address)) as engine:
        assert counted(engine, table, "SELECT COUNT(rate) FROM rates") == {(): [100]}
        server().execute("CREATE OR REPLACE VIEW rates AS SELECT name, total / hours AS rate FROM pay")
        with pytest.raises(EngineError, match="whether a definition changed since the session was opened") as caught:
            counted(engine, table, "SELECT COUNT(*) FROM rates")
        assert not isinstance(caught.value, FailedOnRowsError)
        server().execute(
            "CREATE OR REPLACE VIEW rates AS SELECT name, hours::numeric AS rate FROM pay WHERE hours <> 0"
        )
        assert counted(engine, table, "SELECT COUNT(rate) FROM rates") == {(): [99]}


def test_only_what_is_stored_is_read_several_times(rates):
    """A view may say something else each time, by random() for instance."""
    table, address = rates
    server().execute("CREATE OR REPLACE VIEW rates AS SELECT name, total AS rate FROM pay")
    server().execute(f"GRANT SELECT ON pay TO {READER}")
    pay, own = Table(name="pay", columns={"name": text()}), server().url(table="pay")
    for tables, risks, stored_ones in (
        ([(pay, own), (table, address)], [], {"pay"}), ([(pay, own)], [Risk.FAILING_ROWS], set()),
    ):  # fmt: skip
        with own_engine(*tables, accepted_risks=risks) as engine, engine._connection.transaction() as asked:
            assert engine._tables.check(asked, [one for one, _ in tables]) == stored_ones
    server().execute("ALTER TABLE pay ADD COLUMN double_pay numeric GENERATED ALWAYS AS (total * 2) VIRTUAL")
    with own_engine((pay, own)) as engine, engine._connection.transaction() as asked:
        assert engine._tables.check(asked, [pay]) == set()


def test_one_person_whose_row_fails_is_told_to_no_analyst(rates):
    table, address = rates
    policy = Policy(
        dataset="pay", version="1", data_version="1", unit_name="row", tables={"rates": table},
        sources={"rates": sf.SourceFacts(source=address, accepted_risks=["failing_rows"])},
    )  # fmt: skip
    with sf.Session(policy, budget=sf.PureDP(10)) as session:
        session.sql("SELECT COUNT(*) FROM rates WHERE name = 'p76'", epsilon="0.1")
        shown = set()
        for name in ("p77", "p78", "p76"):
            with pytest.raises(UnavailableError) as caught:
                session.sql(f"SELECT SUM(rate) FROM rates WHERE name = '{name}'", epsilon="0.1")
            shown.add(str(caught.value))
        assert len(shown) == 1
        assert str(session.spent) == "ε 0.2"


def test_a_row_that_fails_is_told_from_what_is_about_no_row(rates):
    table, address = rates
    with own_engine((table, address), accepted_risks=[Risk.FAILING_ROWS]) as engine:
        assert counted(engine, table, "SELECT COUNT(*) FROM rates WHERE name = 'p76'") == {(): [1]}
        asked = statement("SELECT COUNT(rate) FROM rates WHERE name = 'p77'", table)
        for ask in (engine.run, lambda *asked, **how: list(engine.batches(*asked, **how, size=1))):
            with pytest.raises(FailedOnRowsError) as caught:
                ask(asked, salt=SALT)
            assert caught.value.cause == "SQLSTATE class 22"


@pytest.mark.parametrize("how", ["pg_terminate_backend", "pg_cancel_backend"])
def test_a_question_that_is_ended_by_the_server_is_an_error_and_the_next_one_is_answered(names, how):
    waiting = "SELECT pid FROM pg_stat_activity WHERE usename = %s AND wait_event_type = 'Lock'"
    with own_engine(names) as engine, ThreadPoolExecutor(1) as pool, another() as locking:
        with locking.transaction():
            locking.execute("LOCK TABLE names IN ACCESS EXCLUSIVE MODE")
            asked = pool.submit(failure_of, engine, names[0])
            while not (found := locking.execute(waiting, [READER]).fetchall()):
                locking.execute("SELECT pg_stat_clear_snapshot()")
            locking.execute(f"SELECT {how}(%s)", found[0])
            asked.result()
        assert counted(engine, names[0]) == {(): [300_000]}


def test_a_question_that_takes_too_long_is_given_up(names):
    with own_engine(names, statement_timeout=1) as engine:
        with another() as locking, locking.transaction():
            locking.execute("LOCK TABLE names IN ACCESS EXCLUSIVE MODE")
            failure_of(engine, names[0])
        assert counted(engine, names[0]) == {(): [300_000]}


def test_a_disk_that_is_full_while_it_spills_is_an_error_and_the_next_question_is_answered(names):
    # Less than these groups take, and more than it takes to look at the tables of all tests.
    server().execute(f"ALTER ROLE {READER} SET temp_file_limit = '2MB'")
    try:
        with own_engine(names, work_mem="64kB") as engine:
            failure_of(engine, names[0], "SELECT COUNT(*) FROM names GROUP BY k")
            assert counted(engine, names[0]) == {(): [300_000]}
    finally:
        server().execute(f"ALTER ROLE {READER} RESET ALL")


def test_groups_by_the_million_come_in_batches(names):
    table, _ = names
    asked = statement("SELECT COUNT(*) FROM names GROUP BY k", table)
    with own_engine(names) as engine:
        batches = [one.open_for_noise() for one in engine.batches(asked, salt=SALT, size=70_000)]
        assert max(len(batch.amounts[0]) for batch in batches) == 70_000
        assert len({key for batch in batches for key in batch.keys[0]}) == 300_000
        answers = engine.batches(asked, salt=SALT, size=10)
        next(answers)
        answers.close()
        assert counted(engine, table) == {(): [300_000]}


def test_a_table_that_is_gone_is_an_error_without_its_text(names):
    with own_engine(names) as engine:
        server().execute("ALTER TABLE names RENAME TO others")
        failure_of(engine, names[0])
        server().execute("ALTER TABLE others RENAME TO names")
        assert counted(engine, names[0]) == {(): [300_000]}


def test_an_engine_reads_no_row_before_it_is_asked_and_then_what_is_there(names):
    with own_engine(names) as engine:
        server().execute("DELETE FROM names WHERE k < 'canary 2'")
        assert counted(engine, names[0]) == {(): [300_000 - 111_111]}


@pytest.mark.parametrize(
    "change", [{"password": "wrong"}, {"user": "nobody"}, {"password": "wrong", "user": "postgres"}], ids=str
)
def test_who_is_not_let_in_hears_what_to_check_and_no_password(change):
    table = Table(name="t", columns={"v": integer()})
    with pytest.raises(ParameterError, match="check host, port, database, user and password") as caught:
        PostgresEngine({"t": open_in_place(server().url(table="t", **change), table)})
    assert "wrong" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_the_password_may_come_from_where_libpq_takes_it(names, monkeypatch):
    table, address = names
    monkeypatch.setenv("PGPASSWORD", READER_PASSWORD)
    with own_engine((table, re.sub(":[^:@]+@", "@", address))) as engine:
        assert counted(engine, table) == {(): [300_000]}


def test_an_owner_is_refused_unless_told(names):
    table, _ = names
    source = server().url(table="names", user=OWNER, password=OWNER_PASSWORD)
    with pytest.raises(ParameterError, match="allow_writing_role"):
        PostgresEngine({"names": open_in_place(source, table)})
    with own_engine((table, source), allow_writing_role=True) as engine:
        assert counted(engine, table) == {(): [300_000]}


@pytest.mark.parametrize(
    "settings_of",
    [
        {"sampling": "sha"},
        {"work_mem": "much"},
        {"work_mem": "1MB'; --"},
        {"work_mem": "9kB"},
        {"work_mem": "2TB"},
        {"statement_timeout": 0},
        {"statement_timeout": 10**9},
    ],
    ids=str,
)
def test_settings_that_cannot_be_used_are_refused(settings_of):
    with pytest.raises(ParameterError, match=next(iter(settings_of))):
        PostgresEngine({}, **settings_of)


def test_threads_share_an_engine(names):
    with own_engine(names) as engine, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: counted(engine, names[0]), range(8))) == [{(): [300_000]}] * 8


@pytest.mark.parametrize("stored", ["text", 'text COLLATE "C"', 'text COLLATE "C.utf8"', "citext"])
def test_text_is_compared_by_code_points_whatever_its_collation_says(stored):
    server().execute(*LIKE_CITEXT)
    words = ["a", "A", "a ", "B", "b", "é", "e\u0301", "ß", "ss", "_", "-", ""]
    name = server().load(pa.table({"k": words * 2, "u": ["a", "A"] * len(words)}), types={"k": stored, "u": stored})
    table = Table(
        name="t", columns={"u": text(), "k": text()}, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=99)
    )  # fmt: skip
    with own_engine((table, server().url(table=name))) as engine:
        found = by_place(engine.run(statement("SELECT COUNT(*) FROM t GROUP BY k", table), salt=SALT).open_for_noise())
        assert {key for (key,) in found} == set(words)
        for sql, kept in (("k < 'a'", {"A", "B", "_", "-", ""}), ("k IN ('A', 'E')", {"A"}), ("k LIKE 'A%'", {"A"})):
            (count,) = counted(engine, table, f"SELECT COUNT(*) FROM t WHERE {sql}")[()][:1]
            assert count == 2 * len(kept), sql
    server().execute(f"DROP TABLE {name}", "DROP TYPE IF EXISTS citext CASCADE")


LIKE_CITEXT = (
    "CREATE TYPE citext",
    "CREATE FUNCTION citextin(cstring) RETURNS citext AS 'textin' LANGUAGE internal IMMUTABLE STRICT",
    "CREATE FUNCTION citextout(citext) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT",
    "CREATE TYPE citext (INPUT = citextin, OUTPUT = citextout, LIKE = text, CATEGORY = 'S', COLLATABLE = true)",
    "CREATE CAST (citext AS text) WITHOUT FUNCTION AS IMPLICIT",
    "CREATE FUNCTION folded(citext, citext) RETURNS boolean AS 'SELECT lower($1::text) = lower($2::text)' LANGUAGE sql",
    "CREATE OPERATOR = (LEFTARG = citext, RIGHTARG = citext, PROCEDURE = folded)",
)
"""What the extension of that name makes, of which the server of the tests has none."""


@pytest.fixture
def secured():
    """A table that shows the role two of three rows, and one that shows all."""
    server().execute(
        "CREATE TABLE secured (k text)", "INSERT INTO secured VALUES ('a'), ('b'), ('c')",
        "ALTER TABLE secured ENABLE ROW LEVEL SECURITY", "CREATE POLICY seen ON secured USING (k <> 'c')",
        "CREATE TABLE codes (code text)", "INSERT INTO codes VALUES ('a'), ('c')",
        f"GRANT SELECT ON secured, codes TO {READER}",
    )  # fmt: skip
    yield Table(name="secured", columns={"k": text()})
    server().execute("DROP TABLE secured, codes")


JOINED = Statement(
    rows=SemiJoin(child=Source(Table(name="secured", columns={"k": text()})), other=Source(CODES), on=(("k", "code"),)),
    keys=(), measures=(RowCount(),),
)  # fmt: skip


def test_rows_that_the_server_hides_are_missing_only_where_the_owner_accepts_it(secured):
    source = server().url(table="secured")
    with pytest.raises(ParameterError, match="row-level security"):
        PostgresEngine({"secured": open_in_place(source, secured)})
    codes = open_in_place(server().url(table="codes"), CODES)
    accepted = open_in_place(source, secured, accepted_risks=[Risk.ROW_SECURITY])
    with pytest.MonkeyPatch.context() as changes, closing(_unshared(changes, secured=accepted, codes=codes)) as engine:
        assert counted(engine, secured, "SELECT COUNT(*) FROM secured") == {(): [2]}
        assert by_place(engine.run(JOINED, salt=SALT).open_for_noise()) == {(): [1]}
        server().execute("ALTER TABLE codes ENABLE ROW LEVEL SECURITY")
        with pytest.raises(EngineError):
            engine.run(JOINED, salt=SALT)


def _unshared(changes, **sources):
    changes.setattr("sfumato.engines.postgres.engine.Connection", Connection)
    return PostgresEngine(sources)


def test_a_server_without_md5_draws_other_samples_within_the_same_limits():
    """As one whose cryptography follows FIPS 140; here the role may not call it."""
    rows = [(unit, key, 1) for unit in "abcdefgh" for key in "xyz"]
    table = visits(max_rows_per_unit=2)
    address = postgres_tables.address(table, open_source(visited(*rows)))
    asked = Statement(
        rows=Source(table), keys=(KeyColumn(name="k", values=("x", "y", "z")),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=2),
    )  # fmt: skip
    server().execute("REVOKE EXECUTE ON FUNCTION md5(text) FROM PUBLIC")
    try:
        with own_engine((table, address), sampling="md5") as engine:
            assert engine.sampling == "sha256"
            assert "SHA256" in engine.sql(asked)
            counts = by_place(engine.run(asked, salt=SALT).open_for_noise())
            assert sum(map(sum, counts.values())) == 16
    finally:
        server().execute("GRANT EXECUTE ON FUNCTION md5(text) TO PUBLIC")


@pytest.mark.parametrize(
    ("digits", "first", "kinds"), [(18, 2**59, (integer(), text())), (20, 2**63 - 1, (text(),))]
)  # fmt: skip
def test_ids_that_are_numerics_of_any_length_are_told_apart(digits, first, kinds):
    ids = pa.table({"who": [str(first), str(first + 1), "-7", None]})
    name = server().load(ids, types={"who": f"numeric({digits}, 0)"})
    for kind in kinds:
        table = Table(name="t", columns={"who": kind}, unit=UnitColumn("who"), limits=Limits(max_rows_per_unit=1))
        asked = Statement(rows=Source(table), keys=(), measures=(UnitCount(),), limits=table.limits)
        with own_engine((table, server().url(table=name))) as engine:
            assert by_place(engine.run(asked, salt=SALT).open_for_noise()) == {(): [3]}
    server().execute(f"DROP TABLE {name}")


def test_times_are_those_of_utc_whatever_zone_the_role_is_in():
    moments = pa.table({"at": ["2026-01-31 23:30:00-05", "2026-02-01 00:00:00+00", "infinity", None]})
    name = server().load(moments, types={"at": "timestamptz"})
    server().execute(f"ALTER ROLE {READER} SET TimeZone = 'Asia/Kathmandu'")
    table = Table(name="t", columns={"at": timestamp()})
    with own_engine((table, server().url(table=name))) as engine:
        asked = statement("SELECT COUNT(*) FROM t GROUP BY at", table)
        found = by_place(engine.run(asked, salt=SALT).open_for_noise())
    server().execute(f"ALTER ROLE {READER} RESET ALL")
    assert {key for (key,) in found} == {datetime.fromisoformat(day) for day in ("2026-02-01 04:30", "2026-02-01")}


def test_names_of_columns_never_collide_with_the_engines_own():
    for name in ("u", "unit", "c0", "k0", "n", "x", "entries", "list k0", 'say "x"', "c:x", "é\u0301", "select"):
        declared = Table(
            name=name, columns={name: text(values=["x", "y"]), f"{name} 2": integer(0, 9)}, unit=UnitColumn(name),
            limits=Limits(max_rows_per_unit=1),
        )  # fmt: skip
        asked = Statement(
            rows=Source(declared), keys=(KeyColumn(name=name, values=("x", "y")),), measures=(RowCount(),),
            limits=Limits(max_rows_per_unit=2),
        )  # fmt: skip
        data = pa.table({name: ["x", "x", "x", "y", None], f"{name} 2": [1, 2, 3, 4, 5]})
        assert by_place(found("postgres", asked, {name: data})) == {("x",): [2], ("y",): [1]}


@given(st.randoms(use_true_random=False))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_the_engines_own_hash_keeps_as_many_groups(random):
    """Which of them differs; how many units have a group does not, where only groups are limited."""
    rows = [(random.choice("abc"), random.choice("xyz"), 1) for _ in range(random.randrange(30))]
    table = visits(max_rows_per_unit=99)
    asked = Statement(
        rows=Source(table), keys=(KeyColumn(name="k", values=("x", "y", "z")),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=random.randrange(1, 4)),
    )  # fmt: skip
    expected = by_place(found("reference", asked, visited(*rows)))
    engine = postgres_tables.engine({"visits": (table, open_source(visited(*rows)))}, sampling="native")
    counts = by_place(engine.run(asked, salt=SALT).open_for_noise())
    assert sum(map(sum, counts.values())) == sum(map(sum, expected.values()))


def test_text_that_no_database_can_read_is_an_error_without_it():
    table, condition = visits(max_rows_per_unit=9), Compare(Comparison.EQUAL, ColumnRef("k"), Literal("\ud800"))
    asked = Statement(rows=Filter(Source(table), condition), keys=(), measures=(RowCount(),))
    with pytest.raises(EngineError):
        found("postgres", asked, BUSY)


def test_the_sql_that_people_read_says_no_salt_and_names_tables_as_the_policy_does():
    part = PeoplePart(child=Source(PEOPLE), by="sex", values=("f", "m"), value="f", max_parts_per_unit=1, salt=SALT)
    asked = replace(statement(QUESTION, PEOPLE), rows=part)
    shown = started("postgres", asked, pa.Table.from_pylist(RECORDS)).sql(asked)
    assert 'FROM "people"' in shown
    assert SALT not in shown


def test_a_session_asks_a_policy_file(names, tmp_path):
    (tmp_path / "names.toml").write_text(
        'version = "1"\n[unit]\nname = "name"\n[tables.names]\nunit = "row"\n'
        f'source = "{names[1]}"\n[tables.names.columns.k]\ntype = "text"\n'
    )
    with sf.Session(tmp_path / "names.toml", budget=sf.NO_GUARANTEE) as session:
        release = session.sql("SELECT COUNT(*) AS n FROM names WHERE k = 'canary 7'", epsilon=1_000)
    assert round(release["n"][0].value) == 1
    assert READER_PASSWORD not in str(release.receipt)


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
