import pytest
from tests.query.frames import BILLS, PEOPLE, frame

import sfumato as sf
from sfumato.engines.values.evaluation import evaluate
from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Fold, Folded, Grouped, Select
from sfumato.query.planning.folds import folded, grouped, with_columns

SHAPE = frame(BILLS).shape
AMOUNT = ColumnRef("amount")


@pytest.mark.parametrize(
    ("statistic", "fold", "value"),
    [
        (sf.count(), Fold.COUNT_ROWS, None),
        (sf.count("amount"), Fold.COUNT, AMOUNT),
        (sf.count_distinct("amount"), Fold.COUNT_DISTINCT, AMOUNT),
        (sf.sum("amount"), Fold.SUM, AMOUNT),
        (sf.mean("amount"), Fold.MEAN, AMOUNT),
        (sf.min("amount"), Fold.MIN, AMOUNT),
        (sf.max("amount"), Fold.MAX, AMOUNT),
    ],
)
def test_statistics_have_their_folds(statistic, fold, value):
    made = folded("x", statistic, SHAPE)
    assert (made.name, made.fold, made.value) == ("x", fold, value)


@pytest.mark.parametrize(
    "statistic",
    [
        sf.median("amount"),
        sf.min("amount", bounds=(0, 1)),
        sf.variance("amount"),
        sf.count_units(),
        sf.count_distinct("amount", max_values_per_unit=1),
        sf.sum("amount", bounds="auto"),
        sf.mean("amount", bounds="auto"),
        sf.histogram("amount", edges=[0, 1]),
        sf.mode("amount"),
        sf.covariance("amount", "day"),
        sf.vector_sum("amount"),
    ],
)
def test_other_statistics_are_of_answers_only(statistic):
    with pytest.raises(NotPrivateError, match="in a sub-query"):
        folded("x", statistic, SHAPE)


@pytest.mark.parametrize(("amount", "kept"), [(-5, 0), (5, 5), (500, 10), (None, None)])
def test_stated_bounds_clamp_each_value_before_it_is_added(amount, kept):
    made = folded("x", sf.sum("amount", bounds=(0, 10)), SHAPE)
    assert evaluate(made.value, {"amount": amount}) == kept


def test_a_column_that_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="nosuch"):
        folded("x", sf.sum("nosuch", bounds=(0, 1)), SHAPE)


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
