import pytest
from sqlglot import exp
from tests.query.asking import ORDERS, PEOPLE, SOURCES, parsed, rows, text_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Select, Source, UnionAll
from sfumato.query.sql.context import (
    RULES,
    Context,
    Named,
    Visible,
    aliased,
    check_labels,
    found,
    label_of,
    name_of,
    named_outputs,
    qualified,
    resolved,
    same,
    scope_of,
    unit_columns,
)
from sfumato.query.sql.expressions import logic, numbers, texts, times
from sfumato.query.sql.parsing import parsed as parsed_text

CONTEXT = Context(sources=SOURCES)


def name(text, *, quoted=False):
    return exp.to_identifier(text, quoted=quoted)


def test_each_class_of_nodes_has_one_rule():
    assert sum(len(own.RULES) for own in (logic, numbers, texts, times)) == len(RULES)


def test_tables_are_found_without_regard_to_case_unless_quoted():
    assert CONTEXT.source(name("VISITS")) == ("visits", SOURCES["visits"])
    assert CONTEXT.source(name("visits", quoted=True)) == ("visits", SOURCES["visits"])
    with pytest.raises(ParameterError, match="people, customers"):
        CONTEXT.source(name("Visits", quoted=True))


def test_the_innermost_cte_of_a_name_is_meant():
    scope = scope_of(SOURCES["visits"])
    inner, outer = Named("A", scope, 1), Named("a", scope, 2)
    context = Context(sources=SOURCES, ctes=(inner, outer))
    assert context.cte(name("a")) is inner
    assert context.cte(name("a", quoted=True)) is outer
    assert context.cte(name("b")) is None


SCOPE = aliased(scope_of(Source(PEOPLE)), None, "people")


def column(sql):
    return parsed_text(f"SELECT {sql}").expressions[0]


@pytest.mark.parametrize(
    ("written", "name", "means"),
    [("Sex", "sex", True), ("sex", "Sex", True), ('"Sex"', "Sex", True), ('"sex"', "Sex", False), ("se", "sex", False)],
)
def test_names_are_matched_without_regard_to_case_unless_quoted(written, name, means):
    assert same(column(written).this, name) is means


@pytest.mark.parametrize("sql", ["SEX", "people.sex", 'PEOPLE."Sex"'])
def test_a_column_is_found_by_its_name_and_that_of_its_table(sql):
    assert found(SCOPE, column(sql)) == Visible("people", "Sex", "Sex")
    assert resolved(SCOPE, column(sql)) == ColumnRef("Sex")


@pytest.mark.parametrize(("sql", "named"), [("nosuch", "age, Sex"), ("q.age", "people"), ('"SEX"', "age, Sex")])
def test_an_unknown_name_is_answered_with_the_known_ones(sql, named):
    with pytest.raises(ParameterError, match=named):
        resolved(SCOPE, column(sql))


@pytest.mark.parametrize("sql", ["main.people.age", "people.*"])
def test_names_in_full_are_of_a_table_and_a_column(sql):
    with pytest.raises(NotPrivateError):
        found(SCOPE, column(sql))


def test_a_name_of_two_columns_is_refused_with_both():
    with pytest.raises(ParameterError, match=r"o\.status, p\.status"):
        parsed("SELECT COUNT(*) FROM orders o JOIN orders p USING (customer_id) WHERE status = 'paid'")


def test_a_column_that_using_merged_is_one():
    named = "SELECT COUNT(customer_id) AS n FROM orders o JOIN customers c USING (customer_id)"
    assert text_of(named) == text_of(named.replace("COUNT(customer_id)", "COUNT(o.customer_id)"))


def test_an_alias_names_tables_and_columns_anew():
    alias = parsed_text("SELECT 1 FROM people AS p (a, b)").args["from_"].this.args["alias"]
    scope = aliased(SCOPE, alias, "people")
    assert [visible.label for visible in scope.visible] == ["a", "b", "smoker", "pay", "select"]
    assert resolved(scope, column("p.b")) == ColumnRef("Sex")
    assert label_of(scope, "Sex") == "b"
    with pytest.raises(ParameterError, match="table"):
        resolved(scope, column("people.a"))


def test_an_alias_names_no_more_columns_than_there_are():
    alias = parsed_text("SELECT 1 FROM people AS p (a, b, c, d, e, f)").args["from_"].this.args["alias"]
    with pytest.raises(ParameterError, match="at most 5"):
        aliased(SCOPE, alias, "people")


def test_columns_differ_in_more_than_case():
    check_labels(["a", "b"])
    with pytest.raises(ParameterError, match="twice"):
        check_labels(["a", "A"])


def test_columns_are_called_by_the_names_of_their_tables():
    scope = qualified(aliased(scope_of(Source(ORDERS)), None, "o"))
    assert isinstance(scope.relation, Select)
    assert list(scope.shape.columns)[:2] == ["o.order_id", "o.customer_id"]
    assert resolved(scope, exp.column("order_id", "o")) == ColumnRef("o.order_id")


def test_a_relation_that_means_nothing_is_refused_with_the_fragment():
    ages = Select(SOURCES["people"], (("n", ColumnRef("age")),))
    orders = Select(SOURCES["orders"], (("n", ColumnRef("order_id")),))
    with pytest.raises(NotPrivateError, match=r"^ages and orders: "):
        scope_of(UnionAll(ages, orders), shown_as="ages and orders")


def test_columns_that_say_whose_a_row_is_are_named_for_suggestions():
    orders, lines = (aliased(scope_of(SOURCES[name]), None, name) for name in ("orders", "lineitem"))
    assert unit_columns(orders) == ["orders.customer_id"]
    assert unit_columns(lines) == ["lineitem.order_id"]
    assert unit_columns(lines, exactly=True) == []
    assert unit_columns(scope_of(Source(ORDERS))) == ["customer_id"]


VISITS = aliased(scope_of(SOURCES["visits"]), None, "v")


def names(select):
    return [name for name, _ in named_outputs(VISITS, parsed_text(f"SELECT {select} FROM visits v"))]


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
    assert name_of(parsed_text(f"SELECT {sql}").expressions[0]) == name


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
