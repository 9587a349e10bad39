from fractions import Fraction

import pyarrow as pa
import pytest
from sqlglot import exp, parse_one
from tests.engines.in_postgres import answer, values_of

from sfumato.engines.postgres.dialect import sql
from sfumato.engines.postgres.names import kept_apart, once, under_names
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import column, double, figure, function, operation
from sfumato.query.analysis.sizes import MAX_DEPTH
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind

V = column("v")

LEVELS = 40


def twice(value):
    return operation(exp.Add, value, value)


def test_a_small_value_is_written_as_often_as_it_is_read():
    assert sql(once(operation(exp.Mul, V, figure(2)), twice)) == '("v" * 2) + ("v" * 2)'


def test_a_large_one_and_one_that_will_be_is_written_once():
    large = V
    for number in range(10):
        large = operation(exp.Add, large, figure(number))
    assert sql(once(large, twice)).count('"v"') == 1
    assert sql(once(function("double_quotient", V, V), twice)).count('OFFSET 0) AS "n")') >= 1
    assert values_of([once(large, twice)], pa.table({"v": [1, None]})) == [[92, None]]


def test_names_hide_those_further_out():
    inner = under_names({"a": operation(exp.Add, column("a"), figure(1))}, column("a"))
    assert values_of([under_names({"a": V}, inner)], pa.table({"v": [1]})) == [[2]]


def test_a_chain_of_what_is_much_sql_grows_with_its_length_alone():
    chain, lengths = V, []
    for _ in range(3):
        for _ in range(5):
            chain = operation(exp.Mul, function("factor", function("operand", chain)), double(7.0))
        lengths.append(len(sql(chain)))
    assert lengths[2] - lengths[1] == lengths[1] - lengths[0] < 20_000


@pytest.mark.parametrize("called", [Function.ADD, Function.MULTIPLY, Function.DIVIDE, Function.POWER])
def test_what_is_nested_as_deeply_as_it_may_be_is_written_and_computed(called):
    x, third = ColumnRef("x"), Literal(Fraction(3))
    deep = x
    for _ in range(MAX_DEPTH):
        deep = Call(called, (deep, third if called is Function.POWER else x))
    term = lower_expression(deep, {"x": Term(sql=column("v"), kind=Kind.FLOAT)})
    assert values_of([term.settled], pa.table({"v": [1.0]})) == [[41.0 if called is Function.ADD else 1.0]]


def nested(column, levels):
    query = "SELECT CAST(1.5 AS DOUBLE PRECISION) AS x FROM pg_class AS r"
    for _ in range(levels):
        query = f"SELECT {column} AS x FROM ({query}) AS r"
    return parse_one(f"SELECT MAX(x) AS x FROM ({query}) AS r", dialect="postgres")


def offsets(query):
    return len(list(kept_apart(query).find_all(exp.Offset)))


def test_what_is_computed_from_what_is_computed_is_kept_apart_at_every_second_level():
    """Merged, these would be a term of 3^40 columns."""
    halved = nested("CASE WHEN x > 0 THEN x / 2 ELSE x END", LEVELS)
    assert answer(halved).to_pylist() == [{"x": 1.5 / 2**LEVELS}]
    assert offsets(halved) == LEVELS // 2


def test_levels_that_compute_nothing_or_are_never_merged_stay_as_they_are():
    assert offsets(nested("x", 5)) == 0
    assert offsets(nested("x + x", 1)) == 0
    assert (
        offsets(parse_one("SELECT x FROM (SELECT x + 1 AS x FROM (SELECT DISTINCT y + 1 AS x FROM t) AS a) AS b")) == 0
    )


def test_levels_of_what_is_joined_or_combined_are_kept_apart_too():
    inner = "(SELECT y + 1 AS x FROM t)"
    assert offsets(parse_one(f"SELECT x FROM (SELECT x + 1 AS x FROM u JOIN {inner} AS a ON TRUE) AS b")) == 1
    both = f"(SELECT x FROM t UNION ALL SELECT x FROM {inner} AS a)"
    assert offsets(parse_one(f"SELECT x FROM (SELECT x + 1 AS x FROM {both} AS b) AS c")) == 1
