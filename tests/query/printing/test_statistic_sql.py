import pytest

from sfumato.query.model.expressions import ColumnRef
from sfumato.query.printing.statistic_sql import statistic_sql
from sfumato.query.python import statistics as sf

WRITTEN = [
    (sf.count(), "COUNT(*)"),
    (sf.count("x"), "COUNT(x)"),
    (sf.count_units(), "COUNT(DISTINCT /* unit */)"),
    (sf.count_distinct("x"), "COUNT(DISTINCT x)"),
    (sf.count_distinct("x", max_values_per_unit=2), "COUNT(DISTINCT x /* at most 2 of a unit */)"),
    (sf.sum("x"), "SUM(x)"),
    (sf.sum("x", bounds=(0, "0.5")), "SUM(x /* bounds: 0 to 0.5 */)"),
    (sf.mean("x", bounds="auto"), "AVG(x /* bounds: auto */)"),
    (sf.variance("x"), "VAR_SAMP(x)"),
    (sf.variance("x", population=True), "VAR_POP(x)"),
    (sf.stddev("x"), "STDDEV_SAMP(x)"),
    (sf.stddev("x", population=True), "STDDEV_POP(x)"),
    (sf.covariance("x", "y"), "COVAR_SAMP(x, y)"),
    (sf.covariance("x", "y", population=True), "COVAR_POP(x, y)"),
    (sf.correlation("x", "y"), "CORR(x, y)"),
    (sf.min("x"), "MIN(x)"),
    (sf.median("x"), "MEDIAN(x)"),
    (sf.max("x", bounds=(0, 1)), "MAX(x /* bounds: 0 to 1 */)"),
    (sf.quantile("x", 0.9), "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"),
    (sf.quantile("x", "1/3"), "PERCENTILE_CONT(0.33333333333333331) WITHIN GROUP (ORDER BY x)"),
    (sf.histogram("x", edges=[0, 18, 65]), "HISTOGRAM(x, ARRAY[0, 18, 65])"),
    (sf.mode("x"), "MODE() WITHIN GROUP (ORDER BY x)"),
    (sf.top_k("x", 3), "TOP_K(x, 3)"),
    (sf.vector_sum("x", "y"), "VECTOR_SUM(x, y)"),
]


@pytest.mark.parametrize(("statistic", "text"), WRITTEN)
def test_a_statistic_is_written_as_its_aggregate(statistic, text):
    assert statistic_sql(statistic, {}) == text


def test_columns_are_written_as_what_they_are_computed_from():
    assert statistic_sql(sf.sum("x"), {"x": ColumnRef("order")}) == 'SUM("order")'
