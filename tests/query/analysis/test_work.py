"""Every function and every operator has a public bound of its work, and what is beyond a ceiling is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from tests.engines.running import statement
from tests.expressions_of import CALLS, INEXACT, expressions
from tests.query.frames import PEOPLE, VISITS, frame

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.work import MAX_PATTERN_WORK, MAX_WORK, WORK, statement_work, work_of
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from sfumato.query.model.facts import Edition, Facts, of_column
from sfumato.query.model.functions import MAX_TEXT, Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table, boolean, date, integer, real, text, timestamp
from sfumato.query.planning.plan import compile_plan
from sfumato.query.planning.sections import draft
from sfumato.query.sql.questions import parse_question

people, visits = map(frame, (PEOPLE, VISITS))
DECLARED = {
    Kind.INTEGER: integer(0, 9), Kind.FLOAT: real(0, 9), Kind.TEXT: text(max_length=100), Kind.BOOLEAN: boolean(),
    Kind.DATE: date(), Kind.TIMESTAMP: timestamp(),
}  # fmt: skip
COLUMNS = {f"{kind.value} {number}": of_column(column) for kind, column in DECLARED.items() for number in (1, 2)}
WORKS = dict.fromkeys(COLUMNS, 1)
LETTERS = "text 1"


def work(expression):
    return work_of(expression, COLUMNS, WORKS)


def calls_of_every_function():
    """One call of each, of columns and short constants."""
    constants = {
        Function.ROUND: [Fraction(2)], Function.POWER: [Fraction(2)], Function.LIKE: ["%a%"],
        Function.SUBSTRING: [Fraction(1), Fraction(5)], Function.TRUNCATE: ["month"],
        Function.ADD_MONTHS: [Fraction(1)], Function.POSITION: ["a"], Function.REPLACE: ["a", "bc"],
    }  # fmt: skip
    made = {}
    for signature in [one for several in CALLS.values() for one in several] + INEXACT:
        function, *arguments = signature
        kinds = [one if isinstance(one, Kind) else min(one) for one in arguments if isinstance(one, Kind | frozenset)]
        columns = [ColumnRef(f"{kind.value} {1 + place % 2}") for place, kind in enumerate(kinds)]
        made[function] = Call(function, (*columns, *map(Literal, constants.get(function, []))))
    for function in (Function.LEAST, Function.GREATEST, Function.COALESCE, Function.NULL_IF):
        made[function] = Call(function, (ColumnRef("text 1"), ColumnRef("text 2")))
    return made


CALLED = calls_of_every_function()


def test_every_function_of_the_grammar_has_a_bound():
    assert set(WORK) == set(Function) == set(CALLED)


@pytest.mark.parametrize("function", Function)
def test_the_bound_of_every_function_is_what_its_arguments_are_long(function):
    """At most so many steps for each character that it reads, and for a call."""
    call = CALLED[function]
    read = sum(known.longest or 0 for known in (facts_of(one, COLUMNS) for one in call.arguments))
    each = 160 if function in {Function.LOWER, Function.UPPER} else 3
    assert 1 <= work(call) <= each * read + 4_200
    if not any(facts_of(one, COLUMNS).kind is Kind.TEXT for one in call.arguments):
        assert work(call) <= 60


OPERATORS = {
    "a comparison": (Compare(Comparison.LESS, ColumnRef("text 1"), ColumnRef("text 2")), 2 + 1 + 100 // 8),
    "a comparison of numbers": (Compare(Comparison.EQUAL, ColumnRef("integer 1"), Literal(Fraction(1))), 1 + 1 + 3),
    "a list": (IsIn(ColumnRef("text 1"), (Literal("a" * 80), Literal("b"))), 1 + 1 + 10 + 1),
    "a list of numbers": (IsIn(ColumnRef("integer 1"), (Literal(Fraction(1)),) * 80), 1 + 1 + 10),
    "whether it is NULL": (IsNull(ColumnRef("text 1")), 2),
    "a negation": (Not(ColumnRef("boolean 1")), 2),
    "a conjunction": (And((ColumnRef("boolean 1"), ColumnRef("boolean 2"))), 4),
    "a disjunction": (Or((ColumnRef("boolean 1"), ColumnRef("boolean 2"))), 4),
    "a choice": (Case(((ColumnRef("boolean 1"), ColumnRef("text 1")),), ColumnRef("text 2")), 4),
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_has_a_bound(operator):
    expression, steps = OPERATORS[operator]
    assert work(expression) == steps


@given(expressions(Kind.BOOLEAN))
def test_any_expression_has_a_bound_which_no_part_of_it_exceeds(expression):
    columns = {name: replace(facts, longest=10 if facts.kind is Kind.TEXT else None) for name, facts in COLUMNS.items()}
    whole = work_of(expression, columns, WORKS)
    assert whole >= 0
    assert work_of(Not(expression), columns, WORKS) == whole + 1


def length(expression):
    return facts_of(expression, COLUMNS).longest


def call(function, *arguments):
    return Call(function, tuple(one if isinstance(one, Call | ColumnRef) else Literal(one) for one in arguments))


LONG = ColumnRef(LETTERS)
DOUBLED = call(Function.CONCAT, LONG, LONG)


@pytest.mark.parametrize(
    ("expression", "characters"),
    [(LONG, 100), (DOUBLED, 200), (call(Function.CONCAT, *[DOUBLED] * 30), MAX_TEXT),
     (call(Function.SUBSTRING, LONG, Fraction(3), Fraction(7)), 7), (call(Function.LOWER, DOUBLED), 200),
     (call(Function.SUBSTRING, LONG, Fraction(3), Fraction(2**31 - 1)), 100), (call(Function.TRIM, LONG), 100),
     (call(Function.TO_TEXT, ColumnRef("integer 1")), 20), (call(Function.TO_TEXT, ColumnRef("date 1")), 10),
     (call(Function.TO_TEXT, ColumnRef("boolean 1")), 5), (call(Function.COALESCE, LONG, "x" * 120), 120),
     (call(Function.NULL_IF, LONG, DOUBLED), 100), (call(Function.LENGTH, LONG), None),
     (call(Function.REPLACE, LONG, "ab", "x"), 100), (call(Function.REPLACE, LONG, "abc", "12345"), 166),
     (call(Function.REPLACE, LONG, "a", "x" * 50), MAX_TEXT), (call(Function.POSITION, LONG, "a"), None)],
)  # fmt: skip
def test_the_length_of_a_text_that_is_made_is_public(expression, characters):
    assert length(expression) == characters


def test_of_a_text_of_which_nothing_is_known_the_worst_is_taken():
    unknown = {"x": Facts(kind=Kind.TEXT)}
    assert work_of(call(Function.LENGTH, ColumnRef("x")), unknown, {"x": 1}) > MAX_WORK


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [("word", 4), ("word%", 4), ("%word", 4), ("%word%", 4 * 97), ("%", 100), ("wo_d", 400), ("w%d", 300),
     ("x" * 200, 100)],
)  # fmt: skip
def test_a_pattern_of_one_word_costs_what_it_takes_to_look_for_it(pattern, steps):
    assert work(call(Function.LIKE, LONG, pattern)) == 1 + 1 + steps


def test_any_other_pattern_is_admitted_only_while_it_is_short():
    most = MAX_PATTERN_WORK // 100
    assert work(call(Function.LIKE, LONG, "_" * most)) == 2 + most * 100
    with pytest.raises(NotPrivateError, match=f"Shorten the pattern to {most} characters"):
        work(call(Function.LIKE, LONG, "_" * (most + 1)))


def planned(sql, table=PEOPLE):
    return compile_plan(parse_question(sql, {table.name: frame(table).relation}).child, PureDP(1),
                        neighboring_relation=ADD_OR_REMOVE_ONE)  # fmt: skip


MANY = " AND ".join(f"LOWER(sex) <> '{number}'" for number in range(9))
"""Beyond the ceiling; each of them alone is within."""


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM people WHERE {MANY}",
        f"SELECT SUM(CASE WHEN {MANY} THEN age END) AS s FROM people",
        f"SELECT COUNT(DISTINCT CASE WHEN {MANY} THEN age END) AS n FROM people",
        f"SELECT COUNT(*) FROM (SELECT {MANY} AS x FROM people) AS p WHERE x",
        f"SELECT COUNT(*) FROM (SELECT age, MAX(CASE WHEN {MANY} THEN 1 END) AS x FROM people GROUP BY age) AS p",
        f"SELECT MEDIAN(CASE WHEN {MANY} THEN age END) AS m FROM people",
        f"SELECT COUNT(*) AS n, MEDIAN(CASE WHEN {MANY} THEN age END) AS m FROM people",
    ],
)
def test_a_query_beyond_the_ceiling_is_refused_with_the_reason_wherever_the_work_is(sql):
    with pytest.raises(NotPrivateError, match=r"could reveal a person.*smaller max_length"):
        planned(sql)


def test_a_column_that_is_computed_counts_wherever_it_is_read():
    """An engine may compute it there once more."""
    once = people.with_columns(low=people.sex.trim())
    first, second = (
        draft(rows.agg(n=sf.count()).child, (), neighboring_relation=ADD_OR_REMOVE_ONE).statements[0]
        for rows in (once.filter(once.low == "a"), once.filter((once.low == "a") | (once.low == "b")))
    )
    trim = 257
    assert statement_work(first) > 2 * trim
    assert statement_work(second) - statement_work(first) > trim


def test_a_computed_key_counts_once_if_it_is_listed_and_else_twice():
    for column, times in ((text(values=["m", "f"], max_length=9), 1), (text(max_length=10), 2)):
        table = Table(name="t", columns={"k": column})
        asked = statement("SELECT UPPER(k), COUNT(*) FROM t GROUP BY 1", table, edition=Edition.LATEST)
        work = work_of(Call(Function.UPPER, (ColumnRef("k"),)), {"k": of_column(column)}, {"k": 1})
        assert statement_work(asked) == times * work + 1  # and the column itself


def test_texts_that_grow_from_step_to_step_are_refused_before_they_are_long():
    rows = people.with_columns(long=people.sex)
    for _ in range(20):
        rows = rows.with_columns(long=rows.long + rows.long)
    with pytest.raises(NotPrivateError, match="could reveal"):
        draft(rows.filter(rows.long == "x").agg(n=sf.count()).child, (), neighboring_relation=ADD_OR_REMOVE_ONE)


def test_ordinary_questions_are_far_below_the_ceiling():
    for sql in ("SELECT sex, COUNT(*) FROM people WHERE sex LIKE 'f%' GROUP BY sex",
                "SELECT AVG(age) AS a FROM people WHERE sex ILIKE '%f%' AND TRIM(sex) IN ('f', 'm')"):  # fmt: skip
        planned(sql)


def test_a_list_of_as_many_numbers_as_a_question_may_hold_is_within():
    planned(f"SELECT COUNT(*) FROM people WHERE age IN ({', '.join(map(str, range(20_000)))})")


def test_a_pattern_is_refused_by_whatever_front_end():
    with pytest.raises(NotPrivateError, match="LIKE: a pattern of 70 characters"):
        planned(f"SELECT COUNT(*) FROM people WHERE sex LIKE '{'_' * 70}'")
    with pytest.raises((NotPrivateError, ParameterError), match="a pattern of 70 characters"):
        draft(people.filter(people.sex.like("_" * 70)).agg(n=sf.count()).child, (),
              neighboring_relation=ADD_OR_REMOVE_ONE)  # fmt: skip
