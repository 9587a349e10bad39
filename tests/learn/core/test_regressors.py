"""Targets that are numbers: declared bounds alone, checked before a row is read."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.learn import LinearRegression
from sfumato.learn.core.bounds import declared_columns
from sfumato.learn.core.inputs import array_data
from sfumato.learn.core.regressors import PrivateRegressor, ends_of
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.session.training.columns import TrainingColumn

PAY = TrainingColumn(name="y", lower=Fraction(-1, 2), upper=Fraction(300))


def data(target):
    rows = np.zeros((2, 1))
    return array_data(
        rows, None, columns=declared_columns(["x0"], bounds=(0, 1), norm=None), target=target,
        neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
    )  # fmt: skip


def test_a_target_has_the_bounds_that_are_declared_whatever_occurs():
    model = LinearRegression(epsilon=1, bounds=(0, 1), target_bounds=("-0.5", 300))
    assert isinstance(model, PrivateRegressor)
    for numbers in ([1, 2], [-1e9, 1e9]):
        found, declared = model._array_target(numbers)
        assert (found.tolist(), declared) == (numbers, PAY)
    assert ends_of(PAY) == (-0.5, 300.0)


@pytest.mark.parametrize("wrong", [None, (1,), (1, 1), (2, 1), (0, 1, 2), (0, np.inf), (0, "much"), 3])
def test_bounds_that_are_none_are_refused(wrong):
    model = LinearRegression(epsilon=1, bounds=(0, 1), target_bounds=wrong)
    with pytest.raises(ParameterError, match="target_bounds"):
        model.fit([[0], [1]], [0, 1])


def test_targets_that_are_no_numbers_are_refused():
    model = LinearRegression(epsilon=1, bounds=(0, 1), target_bounds=(0, 1))
    with pytest.raises(ParameterError, match="y to be passed"):
        model.fit([[0], [1]])
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            model.fit([[0], [1]], [0, wrong])


def test_the_target_of_a_fit_is_a_number():
    model = LinearRegression(epsilon=1)
    assert model._number_of(data(PAY)) == PAY
    for wrong in (None, TrainingColumn(name="y", values=("no", "yes"))):
        with pytest.raises(ParameterError, match="column of numbers"):
            model._number_of(data(wrong))
