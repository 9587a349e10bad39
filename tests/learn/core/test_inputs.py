"""What models are fitted to and predict for: codes within the declared bounds."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from tests.learn.made import KIND

from sfumato.errors import ParameterError
from sfumato.learn.core.inputs import ArrayData, array_data, codes_of, moved_rows, of_units
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.session.training.columns import TrainingColumn

AGE = TrainingColumn(name="age", lower=Fraction(0), upper=Fraction(10), steps=10)
CLASS = TrainingColumn(name="y", values=("no", "yes"))


def data_of(features, labels, relation=ADD_OR_REMOVE_ONE):
    return array_data(
        np.array(features, dtype=float), np.array(labels), columns=(AGE,), target=CLASS, neighboring_relation=relation
    )


def test_arrays_become_codes_that_are_clamped_and_shown_by_nothing():
    data = data_of([[-3], [4.4], [99]], ["no", "yes", "no"])
    rows = data.rows.open_for_noise()
    assert rows.codes.tolist() == [[0], [4], [10]]
    assert rows.target.tolist() == [0, 1, 0]
    assert "4" not in repr(data).replace("float64", "")
    assert isinstance(data, ArrayData)


def test_a_label_that_is_no_class_is_refused_without_being_shown():
    with pytest.raises(ParameterError) as caught:
        data_of([[1]], ["secret"])
    assert "secret" not in str(caught.value)


def test_replacing_a_row_moves_two():
    assert [moved_rows(data_of([[1]], ["no"], one)) for one in (ADD_OR_REMOVE_ONE, REPLACE_ONE)] == [1, 2]


def test_rows_to_predict_for_are_clamped_to_the_same_bounds():
    assert codes_of(np.array([[-1.0], [11.0]]), (AGE,)).tolist() == [[0], [10]]
    for rows in ({"age": [3, 20], "kind": ["c", "?"]}, pd.DataFrame({"kind": ["c", "?"], "age": [3, 20], "z": 1})):
        assert codes_of(rows, (AGE, KIND)).tolist() == [[3, 2], [10, -1]]


def test_rows_without_names_or_with_missing_numbers_are_refused():
    with pytest.raises(ParameterError, match="by name"):
        codes_of(np.array([[1.0, 2.0]]), (AGE, KIND))
    with pytest.raises(ParameterError, match="missing number"):
        codes_of({"age": [None], "kind": ["a"]}, (AGE, KIND))
    with pytest.raises(ParameterError, match="kind"):
        codes_of({"age": [1]}, (AGE, KIND))


def test_rows_of_arrays_may_belong_to_stated_units():
    data = data_of([[1], [2], [3]], ["no", "yes", "no"])
    rows = of_units(data, ["b", "a", "b"]).rows.open_for_noise()
    assert rows.units.tolist() == [1, 0, 1]
    assert rows.codes.tolist() == [[1], [2], [3]]
    assert data.rows.open_for_noise().units is None
    for wrong in (["a"], "abc", [object()] * 3, [["a"]] * 3):
        with pytest.raises(ParameterError, match="units"):
            of_units(data, wrong)
