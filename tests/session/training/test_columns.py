"""Columns of training sets: codes within what is declared, the same in an engine and in an array."""

from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.facts import of_column
from sfumato.session.training.columns import STEPS, TrainingColumn, found_codes, training_column

AGE = TrainingColumn(name="age", lower=Fraction(0), upper=Fraction(10), steps=20)
SEX = TrainingColumn(name="sex", values=("f", "m"))


def test_numbers_are_clamped_and_rounded_half_up_to_the_lattice():
    codes = AGE.encode([-5, 0, 0.24, 0.25, 9.9, 10, 99, float("inf"), float("-inf")])
    assert codes.tolist() == [0, 0, 0, 1, 20, 20, 20, 20, 0]
    assert AGE.decode(codes).tolist() == [0, 0, 0, 0.5, 10, 10, 10, 10, 0]


def test_what_is_missing_or_not_listed_has_no_code():
    assert AGE.encode([float("nan"), 1]).tolist() == [-1, 2]
    assert SEX.encode(["m", "x", None, "f"]).tolist() == [1, -1, -1, 0]


def test_codes_of_one_value_do_not_depend_on_other_values():
    values = np.linspace(-1, 11, 1009)
    assert [int(AGE.encode([value])[0]) for value in values] == AGE.encode(values).tolist()


def test_whatever_an_engine_finds_stays_within_the_declared_range():
    assert found_codes(AGE, [-1, 0, 20, 21]).tolist() == [0, 0, 20, 20]
    assert found_codes(SEX, ["m", "q"]).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "either"),
        ({"lower": Fraction(0)}, "either"),
        ({"lower": Fraction(0), "upper": Fraction(1), "values": (1,)}, "either"),
        ({"lower": Fraction(1), "upper": Fraction(1)}, "below"),
        ({"values": ()}, "different"),
        ({"values": ("a", "a")}, "different"),
    ],
)
def test_a_column_has_bounds_or_different_values(fields, wrong):
    with pytest.raises(ParameterError, match=wrong):
        TrainingColumn(name="x", **fields)


def test_declarations_become_columns():
    age = training_column("age", of_column(sf.integer(17, 90)))
    assert (age.lower, age.upper, age.steps) == (17, 90, 73)
    assert training_column("pay", of_column(sf.real(0, 10))).steps == STEPS
    assert training_column("ill", of_column(sf.boolean())).values == (False, True)
    assert training_column("sex", of_column(sf.text(values=["f", "m"]))).values == ("f", "m")
    assert training_column("sex", of_column(sf.text()), values=("m",)).values == ("m",)
    with pytest.raises(UnboundedSensitivityError, match="name"):
        training_column("name", of_column(sf.text()))
    with pytest.raises(UnboundedSensitivityError, match="n"):
        training_column("n", of_column(sf.integer()))


def test_a_category_has_no_numbers():
    with pytest.raises(TypeError):
        SEX.decode(np.array([0]))
