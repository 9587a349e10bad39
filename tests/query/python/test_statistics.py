from fractions import Fraction

import numpy as np
import pytest
from tests.query.frames import PEOPLE, frame

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import (
    AUTO,
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    Covariance,
    Histogram,
    Mean,
    Quantile,
    Sum,
    TopK,
    Variance,
    VectorSum,
)
from sfumato.query.python import statistics as sf

people = frame(PEOPLE)
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
    (sf.quantile("x", 0.5), Quantile(X, HALF)),
    (sf.median("x", bounds="auto"), Quantile(X, HALF, AUTO)),
    (sf.min("x"), Quantile(X, Fraction(0))),
    (sf.max("x"), Quantile(X, Fraction(1))),
    (sf.histogram("x", edges=[0, 0.5, 10]), Histogram(X, (Fraction(0), HALF, TEN))),
    (sf.mode("x"), TopK(X)),
    (sf.top_k("x", 3), TopK(X, 3)),
    (sf.covariance("x", "y", population=True), Covariance(X, Y, population=True)),
    (sf.correlation("x", "y"), Covariance(X, Y, normalized=True)),
    (sf.vector_sum("x", "y"), VectorSum((X, Y))),
]


@pytest.mark.parametrize(("statistic", "meant"), MEANT)
def test_each_statistic_is_the_relation_of_its_name(statistic, meant):
    assert statistic == meant


def test_what_is_computed_is_asked_like_a_column():
    assert sf.sum(people.age * 2) == Sum((people.age * 2).expression)
    assert sf.count(people.age) == CountValues(ColumnRef("age"))


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
