import pytest
from tests.query.asking import PEOPLE, expression_of

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.expressions import And, ColumnRef, Compare, Comparison, Literal, Not
from sfumato.query.model.facts import of_column
from sfumato.query.sql.facts import KnownFacts

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
