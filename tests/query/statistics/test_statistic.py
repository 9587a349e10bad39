"""What all statistics are asked: what they mean in Python, how SQL writes them, and of which rows they make sense."""

from fractions import Fraction

import numpy as np
import pytest
from tests.query.frames import PEOPLE, VISITS, WARDS, frame

import sfumato as sf
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.statement import AUTO
from sfumato.query.statistics.counts import CountDistinct, CountRows, CountUnits, CountValues
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.means import Mean, Sum
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.top_values import TopValues
from sfumato.query.statistics.variances import Covariance, Variance
from sfumato.query.statistics.vectors import VectorSum

rows = frame(PEOPLE)
X, Y = ColumnRef("x"), ColumnRef("y")
HALF, TEN = Fraction(1, 2), Fraction(10)

MEANT = [
    (sf.count(), CountRows()),
    (sf.count("x"), CountValues(X)),
    (sf.count_units(), CountUnits()),
    (sf.count_distinct("x"), CountDistinct(X)),
    (sf.count_distinct("x", max_values_per_unit=3), CountDistinct(X, 3)),
    (sf.sum("x"), Sum(X)),
    (sf.sum("x", bounds=("0.5", 10)), Sum(X, (HALF, TEN))),
    (sf.sum("x", bounds="auto"), Sum(X, AUTO)),
    (sf.mean("x", bounds=[0.5, 10]), Mean(X, (HALF, TEN))),
    (sf.variance("x"), Variance(X)),
    (sf.variance("x", population=True), Variance(X, population=True)),
    (sf.stddev("x", bounds="auto"), Variance(X, AUTO, root=True)),
    (sf.quantile("x", 0.5), Percentile(X, HALF)),
    (sf.median("x", bounds="auto"), Percentile(X, HALF, AUTO)),
    (sf.min("x"), Percentile(X, Fraction(0))),
    (sf.max("x"), Percentile(X, Fraction(1))),
    (sf.histogram("x", edges=[0, 0.5, 10]), Histogram(X, (Fraction(0), HALF, TEN))),
    (sf.mode("x"), TopValues(X)),
    (sf.top_k("x", 3), TopValues(X, 3)),
    (sf.covariance("x", "y", population=True), Covariance(X, Y, population=True)),
    (sf.correlation("x", "y"), Covariance(X, Y, normalized=True)),
    (sf.vector_sum("x", "y"), VectorSum((X, Y))),
]


@pytest.mark.parametrize(("statistic", "meant"), MEANT)
def test_each_statistic_is_the_relation_of_its_name(statistic, meant):
    assert statistic == meant


def test_what_is_computed_is_asked_like_a_column():
    assert sf.sum(rows.age * 2) == Sum((rows.age * 2).expression)
    assert sf.count(rows.age) == CountValues(ColumnRef("age"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: sf.sum(3), "name of a column"),
        (lambda: sf.sum("x", bounds="wide"), '"auto"'),
        (lambda: sf.sum("x", bounds=(1, 2, 3)), "a pair"),
        (lambda: sf.sum("x", bounds=5), "a pair"),
        (lambda: sf.sum("x", bounds=np.array([0, 100])), "a pair"),
        (lambda: sf.sum("x", bounds=(0, float("inf"))), "finite"),
        (lambda: sf.quantile("x", "a lot"), "quantile"),
        (lambda: sf.histogram("x", edges=[0, "much"]), "edges"),
        (lambda: sf.variance("x", population="no"), "True or False"),
    ],
)
def test_parameters_of_another_kind_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


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
    assert statistic.sql([value.name for value in statistic.expressions]) == text


@pytest.mark.parametrize(
    ("statistic", "values"),
    [
        (CountRows(), ()),
        (CountUnits(), ()),
        (CountValues(X), (X,)),
        (CountDistinct(X, 2), (X,)),
        (Sum(X, AUTO), (X,)),
        (Mean(X), (X,)),
        (Variance(X), (X,)),
        (Percentile(X, Fraction(1, 2)), (X,)),
        (Histogram(X, (Fraction(0), Fraction(1))), (X,)),
        (TopValues(X), (X,)),
        (Covariance(X, Y), (X, Y)),
        (VectorSum((X, Y)), (X, Y)),
    ],
)
def test_a_statistic_reads_its_values(statistic, values):
    assert statistic.expressions == values


people, visits, wards = (frame(table).shape for table in (PEOPLE, VISITS, WARDS))

SOUND = [
    sf.count(), sf.count("born"), sf.count_units(), sf.count_distinct("seen"),
    sf.count_distinct("age", max_values_per_unit=2), sf.sum("age"), sf.sum("pay", bounds=(0, 5)),
    sf.mean("age", bounds="auto"), sf.variance("pay"), sf.stddev("pay", bounds=(0, 1)), sf.quantile("age", 0),
    sf.quantile("age", 1, bounds=(1, 2)), sf.histogram("age", edges=[0, 0.5]), sf.mode("sex"), sf.top_k("sex", 2),
    sf.covariance("age", "pay"), sf.vector_sum("age", "pay"),
]  # fmt: skip


@pytest.mark.parametrize("statistic", SOUND)
def test_a_statistic_that_means_something_passes(statistic):
    statistic.check("x", people)


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        (sf.count("nosuch"), "nosuch"),
        (sf.sum("sex"), "x = 'Sum of a text'"),
        (sf.mean("smoker"), "of numbers"),
        (sf.variance("born"), "of numbers"),
        (sf.median("sex"), "of numbers, dates or timestamps"),
        (sf.histogram("sex", edges=[0, 1]), "of numbers"),
        (sf.covariance("age", "sex"), "of numbers"),
        (sf.vector_sum("age", "sex"), "of numbers"),
        (sf.vector_sum(), "at least one"),
        (sf.sum("age", bounds=(1, 1)), "lower bound below"),
        (sf.mean("age", bounds=(2, 1)), "bounds of x"),
        (sf.variance("age", bounds=(2, 1)), "bounds of x"),
        (sf.median("age", bounds=(2, 1)), "bounds of x"),
        (sf.quantile("age", "1.01"), "between 0 and 1"),
        (sf.quantile("age", -1), "between 0 and 1"),
        (sf.histogram("age", edges=[0]), "at least two"),
        (sf.histogram("age", edges=[0, 2, 2]), "in ascending order"),
        (sf.top_k("sex", 0), "at least 1"),
        (sf.top_k("sex", 3), "number of public values"),
        (sf.count_distinct("age", max_values_per_unit=0), "at least 1"),
    ],
)
def test_one_that_does_not_is_refused(statistic, message):
    with pytest.raises(ParameterError, match=message):
        statistic.check("x", people)


def test_what_nobody_listed_has_no_most_frequent():
    sf.mode("age").check("x", people)  # whole numbers between bounds are listed
    with pytest.raises(NotPrivateError, match="the most frequent of x"):
        sf.mode("born").check("x", people)


def test_units_are_counted_where_there_are_any():
    sf.count_units().check("x", visits)
    with pytest.raises(ParameterError, match="public"):
        sf.count_units().check("x", wards)
