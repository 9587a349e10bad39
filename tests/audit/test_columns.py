"""Every kind of output has its columns, and each column is a function of one output alone."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from sfumato.audit.columns import ANSWER, WHOLE, column, columns, numbers

VECTORS = np.array([[1.0, 3.0], [5.0, 2.0]])


def test_an_array_of_numbers_is_the_answer():
    assert column(np.array([3, 4]), ANSWER).tolist() == [3.0, 4.0]


def test_numbers_of_any_type_are_the_answer_and_what_is_none_is_missing():
    outputs = (1, 0.5, Fraction(1, 4), Decimal("0.2"), True, None, "text", 10**400, -(10**400))
    np.testing.assert_array_equal(column(outputs, ANSWER), [1, 0.5, 0.25, 0.2, 1, nan, nan, inf, -inf])


@pytest.mark.parametrize("outputs", [VECTORS, [(1, 3), (5, 2)], [[1, 3], [5, 2]], [np.array([1, 3]), np.array([5, 2])]])
def test_vectors_are_coordinates_and_what_follows_from_them(outputs):
    names = ["coordinate 1", "the sum of coordinates", "the largest coordinate", "the smallest coordinate"]
    names += ["the spread of coordinates", "the index of the largest coordinate", "the number of coordinates"]
    table = np.column_stack([column(outputs, name) for name in names])
    assert table.tolist() == [[3, 4, 3, 1, 2, 1, 2], [2, 7, 5, 2, 3, 0, 2]]


def test_vectors_of_different_lengths_miss_coordinates():
    outputs = [(1, 2), (), (7,)]
    np.testing.assert_array_equal(column(outputs, "coordinate 1"), [2, nan, nan])
    np.testing.assert_array_equal(column(outputs, "the largest coordinate"), [2, nan, 7])
    np.testing.assert_array_equal(column(outputs, "the number of coordinates"), [2, nan, 1])


def test_what_one_side_never_shows_is_missing():
    assert np.isnan(column(VECTORS, "coordinate 7")).all()


def test_mappings_have_values_presence_and_an_order_of_keys():
    outputs = [{"a": 1, "b": 2}, {"b": 3}, {"b": 2, "a": 1}]
    np.testing.assert_array_equal(column(outputs, "the value of 'a'"), [1, nan, 1])
    np.testing.assert_array_equal(column(outputs, "whether there is 'a'"), [1, nan, 1])
    order = column(outputs, "the keys in order")
    assert len(set(order)) == 3


def test_the_whole_answer_is_a_label():
    assert column(["yes", None, "yes"], WHOLE).tolist() == ["'yes'", "None", "'yes'"]
    assert column(VECTORS, WHOLE).tolist() == ["(1.0, 3.0)", "(5.0, 2.0)"]


def test_negative_zero_and_nan_have_labels_of_their_own():
    labels = column(np.array([[0.0], [-0.0], [nan], [nan]]), WHOLE)
    assert len(set(labels)) == 3
    assert labels[2] == labels[3]


def test_types_are_told_apart():
    assert column([1, 1.0, True], "the type").tolist() == ["int", "float", "bool"]


@pytest.mark.parametrize(
    "outputs", [VECTORS, np.array([1.5, 2.5]), [(1,), (2, 3)], [(1,), 3, ()], [{"a": 1}, {}, 5], ["x", 1]]
)
def test_a_column_of_one_output_does_not_depend_on_the_others(outputs):
    for name in columns(outputs):
        alone = np.concatenate([column(outputs[i : i + 1], name) for i in range(len(outputs))])
        np.testing.assert_array_equal(alone.astype(str), column(outputs, name).astype(str))


def test_numbers_are_the_columns_that_follow_from_nothing_else():
    assert set(numbers(VECTORS)) == {"coordinate 0", "coordinate 1"}
    assert set(numbers(["text"])) == set()


def test_vectors_without_coordinates_have_labels_only():
    assert set(columns(np.empty((3, 0)))) == {WHOLE}
    assert len(set(column(np.empty((3, 0)), WHOLE))) == 1
