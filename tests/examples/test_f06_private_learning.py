"""F6: a model of the Adult census through a session, for what it says it costs."""

import pytest

import sfumato as sf
from examples import f06_private_learning as example


@pytest.mark.statistical
def test_a_model_is_better_than_the_larger_class_and_a_second_one_is_free():
    """Its accuracy lies more than ten standard deviations above the bound."""
    with example.curator() as adult:
        first, second = (
            sf.learn.LogisticRegression(epsilon=1, delta="1e-6").fit(example.QUERY, "income", session=adult)
            for _ in range(2)
        )
        assert example.accuracy(first) > 0.84
        assert (first.coef_ == second.coef_).all()
        assert adult.spent == sf.ApproxDP(1, "1e-6")


def test_the_query_reads_declared_columns_alone():
    with example.curator() as adult:
        rows = adult.training_set(example.QUERY, target="income")
        assert [column.name for column in rows.columns] == [*example.NUMBERS, *example.CATEGORIES]
        assert rows.target.values == ("<=50K", ">50K")
        assert adult.spent == sf.ApproxDP(0, 0)
