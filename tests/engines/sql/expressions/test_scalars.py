"""SQL gives of every expression what `scalars.evaluate` gives, to the bit, and never fails."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.engines.function_edges import EDGES
from tests.engines.in_sql import ARROW, value_of, values_of
from tests.expressions_of import COLUMNS, expressions, rows
from tests.sizes import COSTLY

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import TYPES, column, function
from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.unmixed import unmixed
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
    Null,
    Or,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate
from sfumato.query.values.numbers import LARGEST

FACTS = {name: Facts(kind=kind) for name, kind in COLUMNS.items()}
NAMES = {name: f"c{place}" for place, name in enumerate(COLUMNS)}
TERMS = {name: Term(sql=column(NAMES[name]), kind=kind) for name, kind in COLUMNS.items()}
INEXACT = {Function.LN, Function.LOG10, Function.EXP, Function.POWER}
ONE, HALF = Literal(Fraction(1)), Literal(Fraction(1, 2))
X = ColumnRef("float 1")


def in_sql(expression, table):
    """The kind and the values of an expression on rows."""
    term = lower_expression(expression, TERMS)
    cells = {NAMES[name]: pa.array([row[name] for row in table], ARROW[kind]) for name, kind in COLUMNS.items()}
    assert set(values_of(function("TYPEOF", term.settled), cells)) <= {TYPES[term.kind]}
    return term.kind, values_of(term.settled, cells)


def same(first, second, *, exactly=True):
    if exactly or not isinstance(second, float):
        return type(first) is type(second) and first == second
    return isinstance(first, float) and math.isclose(first, second, rel_tol=1e-12)


def accepted(expression):
    try:
        return facts_of(expression, FACTS).kind
    except ParameterError:
        reject()


def assert_alike(expression, table, *, exactly=True):
    kind = accepted(expression)
    own = unmixed(expression, FACTS)
    found_kind, found = in_sql(expression, table)
    assert found_kind is kind
    for value, row in zip(found, table, strict=True):
        expected = evaluate(own, row)
        assert same(value, expected, exactly=exactly), (value, expected, row)


@pytest.mark.parametrize("kind", Kind)
@given(st.data())
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_sql_and_python_give_the_same_of_random_expressions(kind, data):
    assert_alike(data.draw(expressions(kind)), data.draw(st.lists(rows(), min_size=3, max_size=8)))


@given(expressions(Kind.FLOAT, inexact=True), st.lists(rows(), min_size=3, max_size=8))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_logarithms_and_powers_differ_in_the_last_bits_at_most(expression, table):
    if not isinstance(expression, Call) or expression.function not in INEXACT:
        reject()
    assert_alike(expression, table, exactly=False)


@given(
    st.sampled_from(Kind).flatmap(lambda kind: expressions(kind, depth=6, inexact=True)), st.lists(rows(), max_size=9)
)
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_no_expression_fails_on_any_row(expression, table):
    accepted(expression)
    assert len(in_sql(expression, table)[1]) == len(table)


@pytest.mark.parametrize(("function", "case"), [(f, case) for f, cases in EDGES.items() for case in cases], ids=repr)
def test_functions_have_their_meaning_at_their_edges(function, case):
    *arguments, expected = case
    kinds = [facts_of(_literal(value, None), FACTS).kind for value in arguments if value is not None]
    call = Call(function, tuple(_literal(value, kinds[0] if kinds else Kind.TEXT) for value in arguments))
    found = value_of(lower_expression(call, TERMS).settled)
    assert same(found, expected, exactly=function not in INEXACT)


def _literal(value, kind):
    """A constant, or NULL of a kind."""
    match value:
        case None:
            return Null(kind)
        case float() if value.is_integer():
            return Call(Function.TO_FLOAT, (Literal(Fraction(value)),))
        case int() | float() if not isinstance(value, bool):
            return Literal(Fraction(value))
        case _:
            return Literal(value)


def test_a_chain_of_sums_has_one_case():
    chain = X
    for _ in range(50):
        chain = Call(Function.ADD, (chain, ONE))
    emitted = sql(lower_expression(chain, TERMS).settled)
    assert emitted.count("CASE") == 1
    assert len(emitted) < 12_000


@pytest.mark.parametrize("function", [Function.SQRT, Function.TO_INTEGER, Function.NULL_IF, Function.EXP])
def test_terms_stay_small_however_deep(function):
    deep = X
    for _ in range(25):
        inner = (deep, HALF) if function is Function.NULL_IF else (deep,)
        deep = Call(function, inner) if function is not Function.TO_INTEGER else Call(
            Function.TO_FLOAT, (Call(function, inner),)
        )  # fmt: skip
    emitted = sql(lower_expression(deep, TERMS).settled)
    assert len(emitted) < 15_000
    assert values_of(lower_expression(deep, TERMS).settled, {"c2": [0.0]}) != []


def test_what_is_beyond_the_range_is_null_wherever_it_is_read():
    cells = {"c2": pa.array([LARGEST, 1.0])}
    doubled = Call(Function.ADD, (X, X))
    assert values_of(lower_expression(doubled, TERMS).settled, cells) == [None, 2.0]
    back = Call(Function.SUBTRACT, (doubled, X))
    assert values_of(lower_expression(back, TERMS).settled, cells) == [None, 1.0]
    assert values_of(lower_expression(IsNull(doubled), TERMS).sql, cells) == [True, False]
    least = Call(Function.LEAST, (doubled, HALF))
    assert values_of(lower_expression(least, TERMS).sql, cells) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (And(()), True), (Or(()), False), (Not(Null(Kind.BOOLEAN)), None), (And((Null(Kind.BOOLEAN), Or(()))), False),
        (Or((Null(Kind.BOOLEAN), And(()))), True), (IsIn(ONE, (HALF, ONE)), True),
        (IsIn(Null(Kind.TEXT), (Literal("x"),)), None),
        (Compare(Comparison.EQUAL, ONE, Literal(Fraction(10**150))), False),
        (Case(((Null(Kind.BOOLEAN), And(())),), Or(())), False),
    ],
)  # fmt: skip
def test_conditions_have_the_three_values_of_sql(condition, expected):
    assert value_of(lower_expression(condition, {}).settled) is expected
