from datetime import date, datetime
from fractions import Fraction

import pytest
from sqlglot import exp
from tests.query.asking import PEOPLE, SOURCES, condition_of, expression_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.sizes import MAX_RELATIONS
from sfumato.query.model.expressions import FALSE, TRUE, And, Call, ColumnRef, Compare, Comparison, Literal, Not, Null
from sfumato.query.model.facts import of_column
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.sql.context import Context, scope_of
from sfumato.query.sql.expressions.scalars import Effort, KnownFacts, as_time
from sfumato.query.sql.parsing import parsed


def scalars(table):
    return Context(sources=SOURCES).of_rows(scope_of(SOURCES[table]))


def nodes(*texts):
    return parsed(f"SELECT {', '.join(texts)}").expressions


def test_a_node_without_a_rule_is_refused():
    with pytest.raises(NotPrivateError, match=r"age << 1: this is not supported"):
        expression_of("age << 1")


def test_a_node_that_says_more_than_its_rule_reads_is_refused():
    node = nodes("age = 1")[0]
    node.set("only_some", exp.true())
    with pytest.raises(NotPrivateError, match="ONLY SOME"):
        scalars("people").lower(node)


def test_an_error_of_kinds_names_the_fragment():
    with pytest.raises(ParameterError, match=r"LOWER\(age\).*must be of text; found a integer"):
        expression_of("LOWER(age)")


@pytest.mark.parametrize(("sql", "condition"), [("TRUE", TRUE), ("FALSE", FALSE), ("smoker", ColumnRef("smoker"))])
def test_a_truth_is_a_condition(sql, condition):
    assert scalars("people").condition(nodes(sql)[0]) == condition


@pytest.mark.parametrize("sql", ["age", "1", "'x'", "NULLIF(age, 1)", "CASE WHEN smoker THEN 1 END"])
def test_what_is_neither_true_nor_false_is_no_condition(sql):
    with pytest.raises(ParameterError, match="true or false"):
        condition_of(sql)


def test_null_is_of_the_kind_of_the_other_alternatives():
    values = scalars("people").alternatives(nodes("NULL", "age", "(NULL)"))
    assert values == (Null(Kind.INTEGER), ColumnRef("age"), Null(Kind.INTEGER))
    with pytest.raises(NotPrivateError, match="CAST"):
        scalars("people").alternatives(nodes("NULL", "NULL"))


def test_constant_text_beside_a_time_is_a_time():
    values = scalars("orders").alternatives(nodes("placed", "'2026-01-31 10:00'", "DATE '2026-01-31'"))
    moment, midnight = datetime(2026, 1, 31, 10), datetime(2026, 1, 31)  # noqa: DTZ001 # without a zone
    assert values == (ColumnRef("placed"), Literal(moment), Literal(midnight))


def test_a_date_beside_a_timestamp_is_its_midnight():
    assert as_time(ColumnRef("day"), Kind.DATE, Kind.TIMESTAMP) == Call(Function.TO_TIMESTAMP, (ColumnRef("day"),))
    assert as_time(ColumnRef("day"), Kind.DATE, Kind.DATE) == ColumnRef("day")
    assert as_time(Literal("2026-01-31"), Kind.TEXT, Kind.DATE) == Literal(date(2026, 1, 31))


def test_text_stays_text_where_there_is_no_time():
    assert scalars("people").alternatives(nodes("sex", "'2026-01-31'"))[1] == Literal("2026-01-31")


def test_constants_are_folded_signs_and_parentheses_included():
    assert scalars("people").constant(nodes("-(3.0)")[0]) == Literal(Fraction(-3))
    with pytest.raises(NotPrivateError, match="IS NULL"):
        scalars("people").constant(nodes("NULL")[0])


def test_a_question_cannot_be_made_of_more_than_it_may_hold():
    effort = Effort()
    for _ in range(MAX_RELATIONS):
        effort.spend_relation()
    with pytest.raises(ParameterError, match="at most"):
        effort.spend()


COLUMNS = {name: of_column(column) for name, column in PEOPLE.columns.items()}


@pytest.mark.parametrize(
    "sql",
    [
        "age",
        "3",
        "age + 2 * pay",
        "ROUND(pay / 3, 2)",
        "CASE WHEN smoker THEN age WHEN pay > 3 THEN 7 ELSE NULL END",
        "CASE WHEN smoker THEN 1 END",
        "NOT (age IN (1, 2) OR Sex IS NULL) AND smoker",
        "COALESCE(LOWER(Sex), 'x') LIKE 'm%'",
        "SUBSTRING(Sex, 1, 2)",
        "GREATEST(LEAST(age, 10), 2)",
    ],
)
def test_what_is_known_is_what_facts_of_says(sql):
    expression = expression_of(sql)
    known = KnownFacts(COLUMNS)
    assert known.of(expression) == known.of(expression) == facts_of(expression, COLUMNS)


def test_kinds_that_do_not_go_together_are_refused():
    with pytest.raises(ParameterError, match="one kind"):
        KnownFacts(COLUMNS).of(Not(Compare(Comparison.EQUAL, ColumnRef("age"), Literal("x"))))


def test_an_expression_in_many_places_is_looked_at_once():
    condition = ColumnRef("smoker")
    for _ in range(60):
        condition = And((condition, condition))
    assert KnownFacts(COLUMNS).of(condition).kind == "boolean"
