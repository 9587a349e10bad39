"""Declarations of arrays: bounds, norms and classes, never read from data."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import declared_classes, declared_columns
from sfumato.session.training.columns import STEPS


def test_bounds_are_of_all_columns_or_of_each():
    one, two = declared_columns(["a", "b"], bounds=(np.array([0, -1.5]), "4"), norm=None)
    assert (one.name, one.lower, one.upper, one.steps) == ("a", 0, 4, STEPS)
    assert (two.lower, two.upper) == (Fraction(-3, 2), 4)


def test_a_norm_bounds_every_column_and_zero_is_on_the_lattice():
    (column,) = declared_columns(["a"], bounds=None, norm="2.5")
    assert (column.lower, column.upper) == (Fraction(-5, 2), Fraction(5, 2))
    assert column.decode(column.encode([0])).tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"bounds": None, "norm": None}, "must state what no value exceeds"),
        ({"bounds": (0, 1, 2), "norm": None}, "must state"),
        ({"bounds": ([0, 0, 0], 1), "norm": None}, "one for each of 2"),
        ({"bounds": (1, 0), "norm": None}, "below the upper"),
        ({"bounds": (0, float("inf")), "norm": None}, "finite"),
        ({"bounds": (0, None), "norm": None}, "bounds"),
        ({"bounds": 3, "norm": None}, "bounds"),
        ({"bounds": None, "norm": 0}, "above 0"),
    ],
)
def test_what_bounds_nothing_is_refused(arguments, wrong):
    with pytest.raises(ParameterError, match=wrong):
        declared_columns(["a", "b"], **arguments)


def test_classes_are_listed_by_the_owner_and_sorted():
    assert declared_classes(np.array(["b", "a"])) == ("a", "b")
    assert declared_classes([True, False]) == (False, True)
    for classes in (None, [], [1], [1, 1], "ab", 3):
        with pytest.raises(ParameterError, match="classes"):
            declared_classes(classes)
