import pytest
from tests.query.asking import SOURCES, rows

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import shape_of
from sfumato.query.sql.names import aliased, scope_of
from sfumato.query.sql.outputs import name_of, named_outputs
from sfumato.query.sql.parsing import parsed

VISITS = aliased(scope_of(SOURCES["visits"]), None, "v")


def names(select):
    return [name for name, _ in named_outputs(VISITS, parsed(f"SELECT {select} FROM visits v"))]


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("COUNT(*)", "count"),
        ("SUM(a)", "sum"),
        ("AVG(a)", "avg"),
        ("VAR_POP(a)", "var_pop"),
        ("STDDEV(a)", "stddev"),
        ("COUNT(*) FILTER (WHERE b)", "count"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)", "percentile_cont"),
        ("LOWER(a)", "lower"),
        ("EXTRACT(YEAR FROM a)", "extract"),
        ("DATE_TRUNC('year', a)", "date_trunc"),
        ("CASE WHEN a THEN 1 END", "case"),
        ("a::date", "a"),
        ("1::text", "text"),
        ("(t.a)", "a"),
        ("a + 1", "?column?"),
        ("a AND b", "?column?"),
        ("'x'", "?column?"),
    ],
)
def test_columns_without_an_alias_are_called_as_postgresql_calls_them(sql, name):
    assert name_of(parsed(f"SELECT {sql}").expressions[0]) == name


def test_columns_keep_their_declared_names_and_aliases_their_case():
    assert names("WARD, hours AS Stay, v.day") == ["ward", "Stay", "day"]


def test_names_that_postgresql_gives_twice_are_made_unique():
    assert names("hours + 1, hours + 2, LOWER(ward), LOWER(ward), 1 AS lower") == [
        "?column?", "?column?_2", "lower_2", "lower_3", "lower",
    ]  # fmt: skip


@pytest.mark.parametrize("star", ["*", "v.*", "V.*"])
def test_a_star_is_all_columns(star):
    assert names(star) == ["patient", "ward", "hours", "day"]


def test_a_star_of_tables_side_by_side_has_merged_columns_once():
    relation = rows("SELECT * FROM (SELECT customer_id, segment FROM customers) a JOIN (SELECT customer_id, total FROM "
                    "orders) b USING (customer_id)")  # fmt: skip
    assert list(shape_of(relation).columns) == ["customer_id", "segment", "total"]


def test_a_star_is_of_a_table_that_is_there():
    with pytest.raises(ParameterError, match=r"q.*must be one of: v"):
        names("q.*")


def test_a_star_with_exceptions_is_refused():
    with pytest.raises(NotPrivateError, match="EXCEPT"):
        names("* EXCLUDE (ward)")
