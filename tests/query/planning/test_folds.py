from fractions import Fraction

import pytest
from tests.query.frames import BILLS, PEOPLE, frame

from sfumato.engines.values.evaluation import evaluate
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.conditions import clamped
from sfumato.query.model.expressions import ColumnRef, Literal
from sfumato.query.model.relations import Fold, Folded, Grouped, Select
from sfumato.query.planning.folds import folded, grouped, with_columns
from sfumato.query.python import statistics

SHAPE = frame(BILLS).shape
AMOUNT = ColumnRef("amount")


@pytest.mark.parametrize(
    ("statistic", "fold", "value"),
    [
        (statistics.count(), Fold.COUNT_ROWS, None),
        (statistics.count("amount"), Fold.COUNT, AMOUNT),
        (statistics.count_distinct("amount"), Fold.COUNT_DISTINCT, AMOUNT),
        (statistics.sum("amount"), Fold.SUM, AMOUNT),
        (statistics.mean("amount"), Fold.MEAN, AMOUNT),
        (statistics.min("amount"), Fold.MIN, AMOUNT),
        (statistics.max("amount"), Fold.MAX, AMOUNT),
    ],
)
def test_statistics_have_their_folds(statistic, fold, value):
    made = folded("x", statistic, SHAPE)
    assert (made.name, made.fold, made.value) == ("x", fold, value)


@pytest.mark.parametrize(
    "statistic",
    [
        statistics.median("amount"),
        statistics.min("amount", bounds=(0, 1)),
        statistics.variance("amount"),
        statistics.count_units(),
        statistics.count_distinct("amount", max_values_per_unit=1),
        statistics.sum("amount", bounds="auto"),
        statistics.mean("amount", bounds="auto"),
        statistics.histogram("amount", edges=[0, 1]),
        statistics.mode("amount"),
        statistics.covariance("amount", "day"),
        statistics.vector_sum("amount"),
    ],
)
def test_other_statistics_are_of_answers_only(statistic):
    with pytest.raises(NotPrivateError, match="in a sub-query"):
        folded("x", statistic, SHAPE)


@pytest.mark.parametrize(("amount", "kept"), [(-5, 0), (5, 5), (500, 10), (None, None)])
def test_stated_bounds_clamp_each_value_before_it_is_added(amount, kept):
    made = folded("x", statistics.sum("amount", bounds=(0, 10)), SHAPE)
    assert evaluate(made.value, {"amount": amount}) == kept


def test_a_value_that_is_never_null_is_clamped_without_a_case():
    facts = frame(PEOPLE).age.is_null().cast("integer").facts
    assert not facts.nullable
    ends = Literal(Fraction(0)), Literal(Fraction(1))
    assert clamped(AMOUNT, *ends, facts).function.value == "least"


def test_a_column_that_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="nosuch"):
        folded("x", statistics.sum("nosuch", bounds=(0, 1)), SHAPE)


def test_a_key_that_holds_the_unit_is_a_value_of_the_group():
    bills, n = frame(BILLS).relation, Folded("n", Fold.COUNT_ROWS)
    unit = Folded("visitor", Fold.MIN, ColumnRef("visitor"))
    assert grouped(bills, ("visitor", "day"), (n,), used=("visitor", "n")) == Grouped(bills, ("day",), (unit, n))
    assert grouped(bills, ("visitor", "day"), (n,), used=("n",)) == Grouped(bills, ("day",), (n,))
    assert grouped(bills, ("visitor",), (), used=()) == Grouped(bills, (), (unit,))
    people = frame(PEOPLE).relation
    assert grouped(people, ("age",), (n,), used=()) == Grouped(people, ("age",), (n,))


def test_columns_that_are_a_relation_s_own_leave_it_as_it_is():
    bills = frame(BILLS).relation
    own = tuple((name, ColumnRef(name)) for name in ("visitor", "day", "amount"))
    assert with_columns(bills, own) is bills
    assert with_columns(bills, own[:2]) == Select(bills, own[:2])
