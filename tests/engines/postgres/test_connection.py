import re
from contextlib import suppress

import adbc_driver_postgresql.dbapi as adbc
import pytest
from tests.engines.postgres_server import READER, server
from tests.meta.repository import ROOT

from sfumato.engines.postgres.connection import FAILURES, Connection, UnreachableError, cause_of

MANY = "SELECT g FROM generate_series(1, 3000000) AS r(g)"
"""More than fits between two processes."""


@pytest.fixture
def connection():
    made = Connection(server().url(), {"work_mem": "123kB"})
    yield made
    made.close()


@pytest.fixture
def contrary_role():
    """The role has settings of its own, all of them worse."""
    others = {"TimeZone": "Asia/Kathmandu", "DateStyle": "SQL, DMY", "search_path": "two", "client_encoding": "LATIN1"}
    others |= {"jit": "on", "standard_conforming_strings": "off", "transform_null_equals": "on"}
    for other, worse in others.items():
        server().execute(f"ALTER ROLE {READER} SET {other} = '{worse}'")
    yield
    server().execute(f"ALTER ROLE {READER} RESET ALL")


def setting(asked, name):
    ((value,),) = asked.rows("SELECT current_setting($1)", (name,))
    return value


def end(asked):
    """What the owner does to the process of a transaction."""
    ((process,),) = asked.rows("SELECT pg_backend_pid()")
    server().execute(f"SELECT pg_terminate_backend({process}, 60000)")


@pytest.mark.usefixtures("contrary_role")
@pytest.mark.parametrize(
    ("name", "value"),
    [("transaction_read_only", "on"), ("transaction_isolation", "repeatable read"), ("TimeZone", "UTC"), ("jit", "off"),
     ("search_path", "pg_catalog, pg_temp"), ("DateStyle", "ISO, YMD"), ("client_encoding", "UTF8"),
     ("standard_conforming_strings", "on"), ("transform_null_equals", "off"), ("work_mem", "123kB"),
     ("row_security", "off"), ("application_name", "sfumato"), ("lock_timeout", "1min"),
     ("idle_in_transaction_session_timeout", "1min")],
)  # fmt: skip
def test_a_transaction_has_its_own_settings_whatever_the_role_has(connection, name, value):
    with connection.transaction() as asked:
        assert setting(asked, name) == value


def test_an_application_may_have_a_name_of_its_own():
    made = Connection(server().url() + "?application_name=reports", {})
    with made.transaction() as asked:
        assert setting(asked, "application_name") == "reports"
    made.close()


def quiet_role():
    """The settings of a role that the documentation names, so that the server keeps nothing of what it is asked."""
    text = (ROOT / "docs" / "how-to" / "engines.md").read_text("utf-8")
    found = re.findall(r"^ALTER ROLE curator SET \w+ = [^;]+;$", text, re.MULTILINE)
    assert len(found) > 5
    return found


def test_with_the_settings_of_the_documentation_the_log_keeps_nothing_of_a_question():
    asked = ["SELECT 'canary 1 ' || count(*) FROM pg_class", "SELECT ('canary ' || count(*))::integer FROM pg_class"]

    def ask():
        before = server().log.stat().st_size
        made = Connection(server().url(), {})
        for query in asked:
            with suppress(adbc.Error), made.transaction() as open_one:
                open_one.rows(query)
        made.close()
        return server().log.read_text("utf-8")[before:]

    server().execute(f"ALTER ROLE {READER} SET log_statement = 'all'")
    try:
        assert ask().count("canary") >= 3  # what was asked, and what the error quotes
        server().execute(*quiet_role())
        assert ask() == ""
    finally:
        server().execute(f"ALTER ROLE {READER} RESET ALL")


@pytest.mark.usefixtures("contrary_role")
def test_names_in_any_script_are_read_whatever_the_encoding_of_the_role(connection):
    server().execute('CREATE TABLE scripts ("имя" integer)')
    try:
        with connection.transaction() as asked:
            found = asked.rows("SELECT attname::text FROM pg_attribute WHERE attname = $1", ("имя",))
    finally:
        server().execute("DROP TABLE scripts")
    assert found == [("имя",)]


def test_nothing_can_be_written_not_even_what_is_temporary(connection):
    for statement in ("CREATE TEMP TABLE t (v integer)", "CREATE TABLE t (v integer)", "SELECT lo_create(0)"):
        with pytest.raises(adbc.Error), connection.transaction() as asked:
            asked.rows(statement)


def test_a_transaction_sees_one_state_of_the_database(connection):
    server().execute("CREATE TABLE changing (v integer)", f"GRANT SELECT ON changing TO {READER}")
    with connection.transaction() as asked:
        before = asked.rows("SELECT * FROM public.changing")
        server().execute("INSERT INTO changing VALUES (1)")
        assert asked.rows("SELECT * FROM public.changing") == before == []
    with connection.transaction() as asked:
        assert asked.rows("SELECT * FROM public.changing") == [(1,)]
    server().execute("DROP TABLE changing")


def test_schemas_are_those_of_the_role(connection):
    assert connection.schemas() == '["public"]'


def test_an_answer_comes_in_batches_of_which_the_first_has_its_columns(connection):
    with connection.transaction() as asked:
        first, *others = asked.batches(MANY)
    assert (first.num_rows, first.schema.names, sum(one.num_rows for one in others)) == (0, ["g"], 3_000_000)
    assert len(others) > 1


def test_a_connection_that_was_lost_since_is_opened_anew(connection):
    with connection.transaction() as asked:
        ((lost,),) = asked.rows("SELECT pg_backend_pid()")
    server().execute(f"SELECT pg_terminate_backend({lost}, 60000)")
    with connection.transaction() as asked:
        assert asked.rows("SELECT 1 WHERE pg_backend_pid() <> $1", (lost,)) == [(1,)]


def lost_within(connection):
    """Asks on a connection that ends meanwhile."""
    with connection.transaction() as asked:
        end(asked)
        asked.rows("SELECT 1")


def cut_off(connection):
    """Reads an answer of which the server sends only the beginning."""
    with connection.transaction() as asked:
        ((process,),) = asked.rows("SELECT pg_backend_pid()")
        batches = asked.batches(MANY)
        next(batches)
        server().execute(f"SELECT pg_terminate_backend({process}, 60000)")
        return list(batches)


@pytest.mark.parametrize("failing", [lost_within, cut_off])
def test_one_that_is_lost_within_fails_and_the_next_transaction_does_not(connection, failing):
    with pytest.raises(FAILURES):
        failing(connection)
    with connection.transaction() as asked:
        assert asked.rows("SELECT 1") == [(1,)]


def test_an_answer_that_nobody_reads_to_its_end_is_let_go_of(connection):
    with connection.transaction() as asked:
        batches = asked.batches(MANY)
        next(batches)
        batches.close()
    with connection.transaction() as asked:
        assert asked.rows("SELECT 1") == [(1,)]


def test_a_database_that_cannot_be_reached_is_no_reason_to_try_again():
    gone = Connection(f"postgresql://{READER}@127.0.0.1:1/postgres", {})
    with pytest.raises(UnreachableError) as caught, gone.transaction():
        pass
    assert (cause_of(caught.value), str(caught.value)) == (None, "")


@pytest.mark.parametrize(
    ("query", "cause"),
    [
        ("SELECT nothing", None), ("SELECT pg_terminate_backend(pg_backend_pid())", None),
        ("SELECT 1 / (g - 5) FROM generate_series(1, 9) AS r(g)", "SQLSTATE class 22"),
        ("SELECT pg_cancel_backend(pg_backend_pid())", "SQLSTATE class 57"),
        ("SELECT (SELECT g FROM generate_series(1, 2) AS r(g))", "SQLSTATE class 21"),
    ],
)  # fmt: skip
def test_only_what_cannot_be_about_rows_has_no_cause(connection, query, cause):
    with pytest.raises(adbc.Error) as caught, connection.transaction() as asked:
        list(asked.batches(query))
    assert cause_of(caught.value) == cause
