"""What is stored is read; what is computed when it is read is looked up with all that it reads."""

import pytest
from tests.engines.in_postgres import connection
from tests.engines.postgres_server import server

from sfumato.engines.postgres.definitions import definitions, unproved


@pytest.fixture(scope="module", autouse=True)
def schema():
    server().execute("CREATE SCHEMA defined", "SET search_path = defined", "CREATE TABLE rows_of (i4 int)")
    yield
    server().execute("RESET search_path", "DROP SCHEMA defined CASCADE")


def failing(name, columns=(), *, has_policies=False):
    with connection().transaction() as asked:
        found = definitions(asked, "defined", name)
        return unproved(asked, found, place=("defined", name), columns=columns, has_policies=has_policies)


def test_a_view_of_a_view_is_known_with_all_that_it_reads():
    server().execute(
        "CREATE VIEW inner_one AS SELECT i4 FROM rows_of", "CREATE VIEW outer_one AS SELECT i4 FROM inner_one"
    )
    with connection().transaction() as asked:
        found = definitions(asked, "defined", "outer_one")
    assert [(one.name, one.kind) for one in found] == [("rows_of", "r"), ("inner_one", "v"), ("outer_one", "v")]
    assert [[(each.kind, each.has_foreign_parts) for each in one.computed] for one in found] == [
        [], [("view", False)], [("view", False)],
    ]  # fmt: skip
    server().execute("DROP VIEW outer_one, inner_one")


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("CREATE MATERIALIZED VIEW {} AS SELECT 1 / i4 AS r FROM rows_of", None),
        ("CREATE TABLE {} (i int, r int GENERATED ALWAYS AS (1 / i) STORED)", None),
        ("CREATE TABLE {} (i int, r int GENERATED ALWAYS AS (1 / i) VIRTUAL)", "made"),
        ("CREATE TABLE {} (i int, r int GENERATED ALWAYS AS (i) VIRTUAL)", None),
        ("CREATE TABLE {} (i int, r int) PARTITION BY LIST (i)", None),
    ],
)
def test_what_is_stored_is_read_and_what_is_computed_is_proved(made, name):
    server().execute(made.format("made"))
    try:
        assert failing("made", ["r"]) == name
        assert failing("made", ["i"]) is None
    finally:
        kind = "MATERIALIZED VIEW" if "MATERIALIZED" in made else "TABLE"
        server().execute(f"DROP {kind} made")


def test_a_partition_on_another_server_is_not_proved():
    server().execute(
        "CREATE FOREIGN DATA WRAPPER away", "CREATE SERVER there FOREIGN DATA WRAPPER away",
        "CREATE TABLE parts (i int) PARTITION BY LIST (i)",
        "CREATE FOREIGN TABLE far PARTITION OF parts FOR VALUES IN (1) SERVER there",
    )  # fmt: skip
    try:
        assert failing("parts", ["i"]) == failing("far", ["i"]) == "far"
    finally:
        server().execute("DROP TABLE parts CASCADE", "DROP FOREIGN DATA WRAPPER away CASCADE")


@pytest.mark.parametrize(("rule", "name"), [("i = 1", None), ("1 / i = 1", "secured")])
def test_policies_are_computed_where_rows_may_be_hidden(rule, name):
    server().execute("CREATE TABLE secured (i int)", f"CREATE POLICY own ON secured USING ({rule})")
    try:
        assert failing("secured", ["i"], has_policies=True) == name
        assert failing("secured", ["i"]) is None
    finally:
        server().execute("DROP TABLE secured")
