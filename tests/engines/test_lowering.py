import pytest
from tests.engines.running import SALT, question

from sfumato.engines.lowering import lower, lower_condition
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.bounding import enforce_limits
from sfumato.query.compile import exact_half
from sfumato.query.schema import Limits, Table, integer, text

HOSTILE = "\"; DROP TABLE t; --'"


def lowered(sql, table):
    statement, _, _ = exact_half(enforce_limits(question(sql, table)))
    return lower(statement, salt=SALT).sql(dialect="duckdb")


def visits(**columns):
    return Table(
        name="t", columns={"u": text(), "k": text(values=["x"])} | columns, unit=UnitColumn("u"),
        limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip


def test_names_and_literals_are_quoted_however_hostile():
    sql = lowered("SELECT COUNT(*) FROM t WHERE k = '\"; DROP TABLE t; --'''", visits())
    assert "'\"; DROP TABLE t; --'''" in sql
    table = Table(name="t", columns={HOSTILE: text(values=[HOSTILE])})
    statement = lowered("SELECT COUNT(*) FROM t", table)
    assert HOSTILE not in statement


def test_the_text_of_the_analyst_is_not_in_what_an_engine_gets():
    sql = lowered("SELECT COUNT(*) AS canary /* comment */ FROM t AS alias WHERE alias.k = 'x'", visits())
    assert [word for word in ("canary", "comment", "alias") if word in sql] == []


def test_only_sums_per_group_come_back():
    sql = lowered("SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k", visits(v=integer(0, 9)))
    assert sql.startswith('SELECT "k0", SUM("m0"), SUM("m1") FROM')
    assert sql.endswith('GROUP BY "k0"')


def test_the_statement_of_a_question_does_not_change_from_run_to_run():
    sql = "SELECT k, COUNT(*) FROM t WHERE k > 'a' GROUP BY k"
    assert lowered(sql, visits()) == lowered(sql, visits())


@pytest.mark.parametrize(
    ("condition", "emitted"),
    [
        ("k IS NOT NULL", 'NOT ("k" IS NULL)'),
        ("v < 1e400", "\"v\" < CAST('inf' AS DOUBLE)"),
        ("v IN (1, 0.5)", '"v" IN (CAST(1 AS BIGINT)) OR "v" IN (CAST(\'0.5\' AS DOUBLE))'),
    ],
)
def test_conditions_are_emitted_with_typed_constants(condition, emitted):
    asked = question(f"SELECT COUNT(*) FROM t WHERE {condition}", visits(v=integer()))
    assert lower_condition(asked.child.child.condition).sql(dialect="duckdb") == emitted
