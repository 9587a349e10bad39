"""A view, and a table by another name, is known by the relations that its rows are stored in."""

import psycopg
import pytest
from tests.engines.postgres_server import HOST, OWNER, OWNER_PASSWORD, READER, server

from sfumato.engines.postgres import identities as postgres_identities
from sfumato.engines.postgres.identities import table_identities
from sfumato.engines.sources.sources import address_of
from sfumato.errors import EngineError

OTHER_DATABASE = "other_lineage"
MADE = (
    "CREATE TABLE kept.people (who text)",
    "CREATE TABLE kept.others (who text)",
    "CREATE TABLE apart.people (who text)",
    "CREATE VIEW kept.seen AS SELECT who FROM kept.people WHERE who <> ''",
    "CREATE VIEW apart.seen_again AS SELECT upper(who) AS who FROM kept.seen",
    "CREATE VIEW kept.both AS SELECT who FROM kept.people UNION SELECT who FROM kept.others",
    "CREATE VIEW kept.inside AS SELECT count(*) AS n FROM kept.others WHERE who IN (SELECT who FROM kept.seen)",
    "CREATE MATERIALIZED VIEW kept.copied AS SELECT who FROM kept.people",
    "CREATE VIEW kept.nobody AS SELECT 'x'::text AS who",
    "CREATE TABLE kept.days (who text, day integer) PARTITION BY LIST (day)",
    "CREATE TABLE kept.monday PARTITION OF kept.days FOR VALUES IN (1)",
    "CREATE TABLE kept.tuesday PARTITION OF kept.days FOR VALUES IN (2)",
    f"GRANT USAGE ON SCHEMA kept, apart TO {READER}",
)


@pytest.fixture(scope="module", autouse=True)
def tables():
    """Two schemas with tables, and views of them and of views."""
    made = server()
    made.execute("CREATE SCHEMA kept", "CREATE SCHEMA apart", *MADE)
    yield
    made.execute("DROP SCHEMA kept, apart CASCADE")


def of(name, *, database="postgres"):
    """What a relation reads."""
    return both(name, database=database)[1]


def both(name, *, database="postgres"):
    return table_identities(address_of(server().url(table=name).replace("/postgres?", f"/{database}?")))


def test_a_table_is_known_by_its_number_and_by_its_name():
    numbered, named = sorted(of("kept.people"), key=len)
    assert named[-2:] == ("kept", "people")
    assert numbered[:2] == named[:2] == ("relation", "cluster")
    assert numbered[2:4] == named[2:4]


@pytest.mark.parametrize("name", ["kept.seen", "apart.seen_again"])
def test_a_view_and_a_view_of_a_view_is_what_it_reads(name):
    assert of(name) == of("kept.people")


@pytest.mark.parametrize("name", ["kept.people", "kept.seen", "kept.both", "kept.copied", "kept.nobody", "kept.days"])
def test_a_relation_is_itself_whatever_it_reads(name):
    own, _ = both(name)
    assert {identity[-1] for identity in own if len(identity) == 6} == {name.partition(".")[2]}
    assert len(own) == 2
    assert (own <= of(name)) == (name not in {"kept.seen", "kept.both"})


@pytest.mark.parametrize("name", ["kept.both", "kept.inside"])
def test_a_view_of_several_is_all_of_them_wherever_it_names_them(name):
    assert of(name) == of("kept.people") | of("kept.others")


def test_a_stored_copy_is_itself_and_what_it_reads():
    assert of("kept.copied") > of("kept.people")
    assert len(of("kept.copied")) == 4


def test_a_view_that_reads_no_table_is_itself():
    assert {identity[-1] for identity in of("kept.nobody")} >= {"nobody"}


def test_parts_share_nothing_with_each_other_and_all_with_the_whole():
    monday, tuesday, whole = of("kept.monday"), of("kept.tuesday"), of("kept.days")
    assert not monday & tuesday
    assert monday | tuesday < whole


def test_other_tables_are_others_also_by_the_same_name_in_another_schema():
    assert not of("kept.people") & of("kept.others")
    assert not of("kept.people") & of("apart.people")


def test_a_table_under_another_name_shares_its_number_and_one_rebuilt_its_name():
    server().execute("CREATE TABLE kept.old (v integer)")
    before = of("kept.old")
    server().execute("ALTER TABLE kept.old RENAME TO older", "CREATE TABLE kept.old (v integer)")
    renamed, rebuilt = of("kept.older"), of("kept.old")
    assert {len(identity) for identity in before & renamed} == {5}
    assert {len(identity) for identity in before & rebuilt} == {6}
    assert not renamed & rebuilt


def test_a_name_without_a_schema_is_looked_for_where_the_role_looks():
    name = server().load(_table())
    assert of(name) == of(f"public.{name}")


def test_a_table_of_another_database_is_another():
    server().execute(f"CREATE DATABASE {OTHER_DATABASE}")
    try:
        with psycopg.connect(
            host=HOST, port=server().port, dbname=OTHER_DATABASE, user=OWNER, password=OWNER_PASSWORD, autocommit=True
        ) as other:
            for statement in ("CREATE SCHEMA kept", MADE[0], f"GRANT USAGE ON SCHEMA kept TO {READER}"):
                other.execute(statement)
        assert of("public.pg_none", database=OTHER_DATABASE) == frozenset()
        found = of("kept.people", database=OTHER_DATABASE)
        assert len(found) == 2
        assert not found & of("kept.people")
    finally:
        server().execute(f"DROP DATABASE {OTHER_DATABASE} WITH (FORCE)")


def test_where_the_role_may_not_read_the_number_of_the_cluster_its_address_is_taken(monkeypatch):
    monkeypatch.setattr(
        postgres_identities,
        "_DATABASE",
        postgres_identities._DATABASE.replace("has_function_privilege('pg_control_system()', 'EXECUTE')", "false"),
    )
    found = of("kept.people")
    assert {identity[1:5] for identity in found} == {("server", "127.0.0.1", str(server().port), "postgres")}
    assert found == of("kept.seen")


def test_no_row_is_read_and_nobody_needs_the_right_to():
    assert len(of("kept.others")) == 2  # the reader may not SELECT from it


def test_a_database_that_cannot_be_reached_is_told_without_its_text():
    with pytest.raises(EngineError, match="looked up where a table is stored") as caught:
        table_identities(address_of("postgresql://curator:canary@127.0.0.1:1/postgres?table=people"))
    assert "canary" not in str(caught.value)


def _table():
    import pyarrow as pa

    return pa.table({"v": [1]})
