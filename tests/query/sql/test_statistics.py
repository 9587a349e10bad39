from fractions import Fraction

import pytest
from tests.query.asking import SOURCES, hashed, parsed

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, Case, ColumnRef, Compare, Comparison, Literal, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Fold, Folded
from sfumato.query.sql.context import Context, scope_of
from sfumato.query.sql.parsing import parsed as parsed_text
from sfumato.query.sql.statistics import AggregateArguments, fold_of, has_aggregate, is_aggregate
from sfumato.query.statistics.counts import CountDistinct, CountRows, CountUnits, CountValues
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance

TOTAL, STATUS = ColumnRef("total"), ColumnRef("status")
BIG = Compare(Comparison.GREATER, TOTAL, Literal(Fraction(9)))


def statistic(sql):
    ((_, found),) = parsed(f"SELECT {sql} AS x FROM orders").child.statistics
    return found


def kept(value, kind):
    return Case(((BIG, value),), Null(kind))


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("COUNT(*)", CountRows()),
        ("COUNT(1)", CountRows()),
        ("COUNT(ALL status)", CountValues(STATUS)),
        ("COUNT(DISTINCT status)", CountDistinct(STATUS)),
        ("COUNT(DISTINCT customer_id)", CountUnits()),
        ("SUM(total)", Sum(TOTAL)),
        ("SUM(total * 2)", Sum(Call(Function.MULTIPLY, (TOTAL, Literal(Fraction(2)))))),
        ("AVG(total)", Mean(TOTAL)),
        ("VARIANCE(total)", Variance(TOTAL)),
        ("VAR_SAMP(total)", Variance(TOTAL)),
        ("VAR_POP(total)", Variance(TOTAL, population=True)),
        ("STDDEV(total)", Variance(TOTAL, root=True)),
        ("STDDEV_SAMP(total)", Variance(TOTAL, root=True)),
        ("STDDEV_POP(total)", Variance(TOTAL, population=True, root=True)),
        ("MIN(total)", Percentile(TOTAL, Fraction(0))),
        ("MAX(total)", Percentile(TOTAL, Fraction(1))),
        ("MEDIAN(total)", Percentile(TOTAL, Fraction(1, 2))),
        ("QUANTILE(total, 0.9)", Percentile(TOTAL, Fraction(9, 10))),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY total)", Percentile(TOTAL, Fraction(9, 10))),
        ("PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY total ASC)", Percentile(TOTAL, Fraction(1))),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY total DESC)", Percentile(TOTAL, Fraction(1, 10))),
        ("MODE() WITHIN GROUP (ORDER BY status)", TopValues(STATUS)),
        ("MODE(status)", TopValues(STATUS)),
        ("COVAR_SAMP(total, order_id)", Covariance(TOTAL, ColumnRef("order_id"))),
        ("COVAR_POP(total, order_id)", Covariance(TOTAL, ColumnRef("order_id"), population=True)),
        ("CORR(total, order_id)", Covariance(TOTAL, ColumnRef("order_id"), normalized=True)),
    ],
)
def test_aggregates_are_statistics(sql, meaning):
    assert statistic(sql) == meaning


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("COUNT(*)", CountValues(kept(Literal(Fraction(1)), Kind.INTEGER))),
        ("COUNT(status)", CountValues(kept(STATUS, Kind.TEXT))),
        ("COUNT(DISTINCT status)", CountDistinct(kept(STATUS, Kind.TEXT))),
        ("COUNT(DISTINCT customer_id)",
         CountDistinct(kept(ColumnRef("customer_id"), Kind.INTEGER), max_values_per_unit=1)),
        ("SUM(total)", Sum(kept(TOTAL, Kind.FLOAT))),
        ("AVG(total)", Mean(kept(TOTAL, Kind.FLOAT))),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY total)", Percentile(kept(TOTAL, Kind.FLOAT), Fraction(1, 2))),
        ("CORR(total, order_id)", Covariance(kept(TOTAL, Kind.FLOAT), ColumnRef("order_id"), normalized=True)),
    ],
)  # fmt: skip
def test_filter_leaves_values_out(sql, meaning):
    assert statistic(f"{sql} FILTER (WHERE total > 9)") == meaning


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("COUNT(NULL)", NotPrivateError, "NULL"),
        ("COUNT(status, total)", NotPrivateError, "one column"),
        ("COUNT(DISTINCT status, total)", NotPrivateError, "one column"),
        ("COUNT(orders.*)", NotPrivateError, r"\*"),
        ("SUM(*)", NotPrivateError, r"\*"),
        ("SUM(DISTINCT total)", NotPrivateError, "COUNT"),
        ("AVG(total ORDER BY status)", NotPrivateError, "ORDER"),
        ("SUM(total) OVER ()", NotPrivateError, "window"),
        ("SUM(AVG(total))", NotPrivateError, r"AVG\(total.*inside another one"),
        ("SUM(status)", ParameterError, "numbers"),
        ("MODE(note)", NotPrivateError, "public values"),
        ("MODE()", NotPrivateError, "WITHIN GROUP"),
        ("PERCENTILE_CONT(0.5)", NotPrivateError, "WITHIN GROUP"),
        ("PERCENTILE_CONT(2) WITHIN GROUP (ORDER BY total)", ParameterError, "from 0 to 1"),
        ("PERCENTILE_CONT(total) WITHIN GROUP (ORDER BY total)", NotPrivateError, "constant"),
        ("PERCENTILE_CONT(ARRAY[0.5]) WITHIN GROUP (ORDER BY total)", NotPrivateError, "arrays"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY total, order_id)", NotPrivateError, "one column"),
        ("SUM(total) WITHIN GROUP (ORDER BY total)", NotPrivateError, "this statistic is not supported"),
        ("SUM(total) FILTER (WHERE total)", ParameterError, "true or false"),
        ("SUM((SELECT 1))", NotPrivateError, "SELECT without FROM"),
        ("RANK() WITHIN GROUP (ORDER BY total)", NotPrivateError, "this statistic is not supported"),
    ],
)
def test_other_aggregates_are_refused(sql, error, message):
    with pytest.raises(error, match=message):
        statistic(sql)


def test_an_aggregate_that_a_parser_tells_more_of_is_refused():
    scope = scope_of(SOURCES["orders"])
    node = parsed_text("SELECT SUM(total)").expressions[0]
    values = AggregateArguments(Context(sources=SOURCES).of_rows(scope))
    assert fold_of(node, values, scope.shape) == Folded("value", Fold.SUM, TOTAL)
    node.set("only_some", value=True)
    with pytest.raises(NotPrivateError, match="ONLY SOME"):
        fold_of(node, values, scope.shape)


@pytest.mark.parametrize(
    ("sql", "has"),
    [
        ("SUM(a) + 1", True),
        ("a + 1", False),
        ("(SELECT SUM(a) FROM t)", False),
        ("MODE() WITHIN GROUP (ORDER BY a)", True),
    ],
)
def test_aggregates_of_sub_queries_are_their_own(sql, has):
    node = parsed_text(f"SELECT {sql}").expressions[0]
    assert has_aggregate(node) is has
    assert not is_aggregate(node) or has


def test_quantiles_of_equal_parts_are_columns_or_one_of_them():
    several = parsed("SELECT APPROX_QUANTILES(hours, 2) AS q FROM visits")
    assert [name for name, _ in several.child.statistics] == ["q_0", "q_1", "q_2"]
    third = "SELECT QUANTILE(hours, 0.3) AS q FROM visits"
    for index in ("OFFSET(3)", "SAFE_OFFSET(3)", "ORDINAL(4)", "4"):
        assert hashed(f"SELECT APPROX_QUANTILES(hours, 10)[{index}] AS q FROM visits") == hashed(third)


@pytest.mark.parametrize(
    "call",
    ["(hours, 0)", "(hours, 101)", "(hours, ward)", "(hours, 4)[OFFSET(5)]", "(hours, 4)[0]",
     "(hours, 4)[OFFSET(ward)]", "(hours)"],
)  # fmt: skip
def test_quantiles_have_their_numbers(call):
    with pytest.raises(ParameterError):
        parsed(f"SELECT APPROX_QUANTILES{call} FROM visits")
