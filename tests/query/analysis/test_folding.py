"""Folding keeps the value of every expression on every row, and makes rewordings of a query the same query."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.expressions_of import COLUMNS, expressions, rows

import sfumato as sf
from sfumato.query.analysis.folding import folded, folded_rows
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.simplify import text_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, IsNull, Literal, Not
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Filter, Source
from sfumato.query.model.schema import Table, integer
from sfumato.query.values.evaluation import evaluate

FACTS = {name: Facts(kind=kind) for name, kind in COLUMNS.items()}
ANY = st.sampled_from(list(Kind)).flatmap(expressions)
WHOLE = [name for name, kind in COLUMNS.items() if kind is Kind.INTEGER]
PARTS = (Fraction(0), Fraction(1, 2), Fraction(1, 10**20))
NEAR_WHOLE = st.sampled_from(
    [Fraction(n) + part for n in (-1, 0, 30, 2**53 - 1, 2**53, -(2**53), 2**62) for part in PARTS]
)
TEXTS = {
    "plain": "SELECT COUNT(*) AS n FROM people WHERE age > 30 AND sex = 'f'",
    "a value that is never NULL": "SELECT COUNT(age) AS n FROM people WHERE sex = 'f' AND age >= 31",
    "constants": "SELECT COUNT(1) AS n FROM people WHERE 'f' = sex AND age > 15 + 15",
    "ones": "SELECT SUM(1) AS n FROM people WHERE NOT (age + 0 <= 30 OR sex <> 'f')",
    "not NULL": "SELECT COUNT(*) AS n FROM people WHERE age IS NOT NULL AND sex = 'f' AND 30 < 1 * age - 0",
    "halves": "SELECT COUNT(*) AS n FROM people WHERE FLOOR(age) > 30.5 AND sex = 'f'",
    "a sub-query": (
        "SELECT COUNT(*) AS n FROM (SELECT age + 0 AS years, sex FROM people) AS p WHERE years > 30 AND sex = 'f'"
    ),
    "python": "",
}  # fmt: skip


def value(expression, row, facts):
    found = evaluate(unmixed(expression, facts), row)
    return type(found), repr(found)


@given(ANY, rows())
def test_a_folded_expression_has_the_same_value_on_every_row_to_the_bit(expression, row):
    known = {name: replace(facts, nullable=row[name] is None) for name, facts in FACTS.items()}
    assert value(folded(expression, known), row, known) == value(expression, row, known)


@given(ANY)
def test_what_is_folded_stays_as_it_is_and_is_of_the_same_kind(expression):
    once = folded(expression, FACTS)
    assert text_of(folded(once, FACTS)) == text_of(once)
    assert facts_of(once, FACTS).kind is facts_of(expression, FACTS).kind


@given(st.sampled_from(Comparison), NEAR_WHOLE, rows(), st.booleans())
def test_whole_numbers_are_compared_with_constants_as_before(comparison, bound, row, is_turned):
    sides = (ColumnRef(WHOLE[0]), Literal(bound))
    asked = Compare(comparison, *(reversed(sides) if is_turned else sides))
    for cell in (row[WHOLE[0]], 0, 30, 31, 2**53 - 1, 2**53, 2**53 + 1, -(2**53), 2**62):
        seen = {**row, WHOLE[0]: cell}
        assert evaluate(folded(asked, FACTS), seen) is evaluate(asked, seen)


def test_a_column_that_may_be_null_stays_in_question():
    asked = Not(IsNull(ColumnRef(WHOLE[0])))
    assert folded(asked, FACTS) == asked


def test_fractions_are_not_added_in_advance_as_engines_add_them_in_doubles():
    tenth = Literal(Fraction(1, 10))
    assert folded(Call(Function.ADD, (tenth, tenth)), {}) == Call(Function.ADD, (tenth, tenth))


def test_rows_with_nothing_to_fold_are_the_same_object():
    people = Source(Table(name="people", columns={"age": integer(0, 120)}))
    rows = Filter(people, Compare(Comparison.GREATER_EQUAL, ColumnRef("age"), Literal(Fraction(30))))
    assert folded_rows(rows) is rows


@pytest.fixture
def people():
    table = pa.table({"age": [20, 30, 40], "sex": ["f", "m", "f"]})
    columns = {"age": sf.integer(17, 90, nullable=False), "sex": sf.text(values=["f", "m"])}
    with sf.open(table, name="people", columns=columns, budget=sf.PureDP(1)) as session:
        yield session


@pytest.mark.parametrize("words", [words for words in TEXTS if words != "plain"])
def test_a_rewording_is_free(people, words):
    first = people.sql(TEXTS["plain"], epsilon="0.1")
    rows = people.table()
    asked = (
        people.query(TEXTS[words])
        if TEXTS[words]
        else rows.filter((rows.sex == "f") & (rows.age > 30)).agg(n=sf.count("age"))
    )
    again = asked.release(epsilon="0.1")
    assert again.receipt.request == first.receipt.request
    assert people.spent == sf.PureDP("0.1")


@pytest.mark.parametrize(
    "other",
    [
        "SELECT COUNT(*) AS n FROM people WHERE age >= 30 AND sex = 'f'",
        "SELECT COUNT(*) AS n FROM people WHERE age > 30 OR sex = 'f'",
        "SELECT COUNT(*) AS n FROM people WHERE age > 30 AND sex = 'f' AND sex IS NOT NULL",
        "SELECT COUNT(*) AS n FROM people WHERE age + 1 > 30 AND sex = 'f'",
        "SELECT SUM(2) AS n FROM people WHERE age > 30 AND sex = 'f'",
    ],
)
def test_another_query_is_charged(people, other):
    people.sql(TEXTS["plain"], epsilon="0.1")
    people.sql(other, epsilon="0.1")
    assert people.spent == sf.PureDP("0.2")
