"""The way through noise: shapes and types in, the same shapes out, and nothing of the data in a type or an error."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.additive import half_width, integers, release_on_lattice
from sfumato.noise.uniform.integers import add
from sfumato.privacy.secret import Secret


def plus_one(steps):
    return add(steps, np.ones(len(steps), dtype=np.int64))


def release(exact, perturb=plus_one, *, resolution=None):
    return release_on_lattice(exact, perturb, lambda step: step + 1, resolution=resolution)


@pytest.mark.parametrize("exact", [42, np.int64(42), np.uint8(42), np.array(42), Secret(42)], ids=repr)
def test_a_number_gives_an_int(exact):
    answer = release(exact)
    assert (answer, type(answer)) == (43, int)


@pytest.mark.parametrize(
    "exact",
    [
        [1, 2],
        (1, 2),
        range(1, 3),
        np.array([1, 2]),
        np.array([1, 2], dtype=np.int8),
        np.array([1, 2], dtype=np.uint64),
        np.array([1, 2], dtype=object),
        Secret([1, 2]),
    ],
    ids=repr,
)
def test_a_vector_gives_an_array(exact):
    answer = release(exact)
    assert (answer.tolist(), answer.dtype) == ([2, 3], np.int64)


def test_bits_count_as_integers():
    assert release(np.array([True, False])).tolist() == [2, 1]


@pytest.mark.parametrize("exact", [[2**63 - 1, 0], np.array([2**63 - 1, 0]), [2**63 - 1, -1 - 2**90]], ids=repr)
def test_sums_beyond_int64_are_python_integers(exact):
    answer = release(exact)
    assert answer.tolist() == [int(value) + 1 for value in exact]


@pytest.mark.parametrize("exact", [[2**63, -1], np.array([2**63, 5], dtype=np.uint64)], ids=repr)
def test_the_type_of_an_answer_follows_from_the_answer(exact):
    answer = release(exact, lambda steps: add(steps, np.array([-1, 0])))
    assert answer.dtype == np.int64


LARGE = [2**62 - 2**10, 2**62, 2**62 + 2**12, 2**63 - 2**12, -(2**62) - 2**12]


@pytest.mark.parametrize(
    "hold",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pa.array,
        pl.Series,
        lambda values: np.array(values, dtype=np.float64),
        lambda values: np.array(values, dtype=np.longdouble),
        lambda values: np.array(values, dtype=object),
        lambda values: pd.Series(values, dtype="Int64"),
        lambda values: pd.Series([*values, None])[:-1],
        lambda values: [float(value) for value in values],
        lambda values: [np.int64(value) for value in values],
        Secret,
    ],
)
def test_whole_numbers_are_the_same_whatever_holds_them(hold):
    assert release(hold(LARGE)).tolist() == [value + 1 for value in LARGE]


@pytest.mark.parametrize("hold", [int, float, np.int64, np.float64, np.longdouble, np.array, Secret])
@pytest.mark.parametrize("value", LARGE)
def test_a_whole_number_is_the_same_whatever_holds_it(value, hold):
    assert release(hold(value)) == value + 1


@pytest.mark.parametrize("huge", [10**308, 10**309, 10**400])
def test_there_is_one_clamp_for_all(huge):
    clamped = 10**308 + 1
    assert release([huge]).tolist() == release(np.array([huge], dtype=object)).tolist() == [clamped]
    assert (
        release([inf]).tolist() == release(np.array([inf])).tolist() == release(pd.Series([inf])).tolist() == [clamped]
    )
    assert release(huge) == release(inf) == release(np.float64(inf)) == clamped


def test_that_one_cell_is_missing_moves_no_other_by_more_than_pandas_rounds():
    """pandas turns a column of whole numbers with a missing cell into floats: beyond 2^53 it rounds them before us."""
    values = [2**62 + 2**61, 2**63 - 2**10, -(2**63), 2**53, -5]
    whole, with_missing = release(pd.Series([*values, 1])), release(pd.Series([*values, None]))
    assert whole[:-1].tolist() == with_missing[:-1].tolist()


def test_real_numbers_become_lattice_points():
    assert release(0.26, resolution=Fraction(1, 10)) == Fraction(4, 10)
    answer = release([0.26, -1], resolution=Fraction(1, 10))
    assert answer.tolist() == [0.4, -0.9]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, object])
def test_on_the_lattice_a_vector_gives_floats_whatever_it_holds(dtype):
    answer = release(np.array([0.25, -1, np.nan, np.inf], dtype=dtype), resolution=Fraction(1, 10))
    assert (answer.dtype, answer.tolist()) == (np.float64, [0.4, -0.9, 0.1, float(2**62 + 1) / 10])


@pytest.mark.parametrize("values", [[1, 2], [1, None], [1.5, 2]], ids=str)
def test_that_a_value_is_missing_does_not_show_in_the_type_of_an_answer(values):
    assert release(values, resolution=Fraction(1, 2)).dtype == np.float64
    assert release(pd.Series(values), resolution=Fraction(1, 2)).dtype == np.float64


@pytest.mark.parametrize(
    ("values", "whole"),
    [([1, 2, 3], [1, 2, 3]), ([1, None, 3], [1, 0, 3]), ([1.0, nan], [1, 0])],
    ids=str,
)
def test_integers_that_pandas_keeps_as_floats_are_integers(values, whole):
    answer = release(pd.Series(values))
    assert (answer.dtype, answer.tolist()) == (np.int64, [value + 1 for value in whole])


@pytest.mark.parametrize(("value", "answer"), [(4.0, 5), (nan, 1), (np.float32(3), 4), (None, 1), (inf, 10**308 + 1)])
def test_a_whole_float_is_an_integer(value, answer):
    assert release(value) == answer


@pytest.mark.parametrize("empty", [[], np.array([], dtype=np.int64)], ids=repr)
def test_an_empty_vector_gives_an_empty_array(empty):
    assert release(empty).tolist() == []


@pytest.mark.parametrize(
    "exact", [4321.5, "4321", [4321, 4321.5], b"4321", np.array([4321.5]), np.array([[4321]])], ids=repr
)
def test_what_is_no_integer_is_an_error_that_does_not_tell_the_value(exact):
    with pytest.raises(ParameterError) as caught:
        release(exact)
    assert "4321" not in str(caught.value)


def test_integers_do_not_pass_through_floats():
    assert integers([2**63, -1]).tolist() == [2**63, -1]


def test_rounding_to_the_lattice_adds_half_a_step_to_the_error():
    assert half_width(7, None) == 7
    assert half_width(7, Fraction(1, 10)) == Fraction(75, 100)
