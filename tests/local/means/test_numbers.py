"""Numbers become lattice places: nearest ones, bounds for what lies beyond, and random ones for what is no number."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.local import HybridMean, MeanEstimate
from sfumato.local.means import numbers as module
from sfumato.local.means.numbers import places_of


class Odd:
    """What is no number, and says so in its own way."""

    def __init__(self, error):
        self.error = error

    def __float__(self):
        raise self.error("who asks?")

    def __repr__(self):
        return f"Odd({self.error.__name__})"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ([0.49, 0.5, 3.5, 3.49], [0, 1, 4, 3]),
        ([-5, 99, inf, -inf, 10**400, -(10**400)], [0, 4, 4, 0, 4, 0]),
        (np.array([1, 250], dtype=np.uint8), [1, 4]),
        (np.array([-7, 2], dtype=np.int8), [0, 2]),
        ([True, False, Decimal("2.2"), Fraction(7, 2)], [1, 0, 2, 4]),
        (pa.array([1.0, 3.0]), [1, 3]),
        ([None, nan, "1", b"1", pd.NA, pd.NaT, np.ma.masked, [1], {}, Odd(TypeError), Decimal("sNaN")], [9] * 11),
        (np.array([nan, 1.0]), [9, 1]),
        ([np.ma.masked_array([1], mask=[True]), np.complex128(1), Odd(RuntimeError), Odd(OverflowError)], [9] * 4),
        (np.ma.masked_array([1, 2], mask=[True, False]), [9, 2]),
    ],
    ids=str,
)
def test_every_value_has_its_place(values, expected, monkeypatch):
    monkeypatch.setattr(module, "uniform_below", lambda n, size: np.full(size, 9 * n // 5))
    assert places_of(values, Fraction(0), Fraction(4), 4).tolist() == expected


def test_bounds_may_be_any_rationals():
    assert places_of([-1, 0, "x", 3], Fraction(-1), Fraction(3), 2)[[0, 1, 3]].tolist() == [0, 1, 2]
    assert places_of([1e300, -1e300], Fraction(-(10**300)), Fraction(10**300), 10).tolist() == [10, 0]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, Fraction(1, 10**390)), (-(10**400), 10**400), (0, 10**400), ("-1.7e308", "1.7e308"),
        (1, "1.00000000000000000001"), (10**18, 10**18 + 100),
    ],
    ids=str,
)  # fmt: skip
def test_bounds_between_which_floats_have_no_room_are_refused(low, high):
    """Where they have none, every number was at one place, or at none."""
    with pytest.raises(ParameterError, match="high"):
        HybridMean(low, high, epsilon=1, steps=100)


def test_bounds_far_from_0_have_all_of_their_places():
    start, day = 1_700_000_000_000_000_000, 86_400_000_000_000
    protocol = HybridMean(start, start + day, epsilon=1, steps=4)
    assert protocol.inputs([start + day * place // 4 for place in range(5)]).tolist() == [0, 1, 2, 3, 4]
    assert HybridMean("-8e307", "8e307", epsilon=1, steps=2).inputs([-1e308, 0, 1e308]).tolist() == [0, 1, 2]
    beyond = np.array([1e300], dtype=np.longdouble) * 1e100  # NumPy warns, which is an error here
    assert HybridMean(0, 1, epsilon=1, steps=2).inputs(beyond).tolist() == [2]


def test_a_table_is_refused():
    with pytest.raises(ParameterError, match="one dimension"):
        HybridMean(0, 1, epsilon=1).client().report_many(np.zeros((2, 2)))


@pytest.mark.parametrize(
    "wrong", [{"low": 5}, {"high": 0}, {"epsilon": 0}, {"steps": 0}, {"steps": 65_537}, {"low": nan}, {"high": "x"}]
)
def test_wrong_parameters_are_refused(wrong):
    name = "high" if set(wrong) == {"low"} and wrong["low"] == 5 else next(iter(wrong))
    with pytest.raises(ParameterError, match=name):
        HybridMean(**({"low": 0, "high": 5, "epsilon": 1} | wrong))


def test_texts_of_files_are_numbers():
    protocol = HybridMean(0, 5, epsilon=1)
    assert [protocol.parse(text) for text in ("1.5", " 2 ", "x", "")] == [1.5, 2.0, None, None]


def test_an_interval_is_that_of_the_normal_distribution():
    found = MeanEstimate.of(3.0, 2.0, "0.95", reports=7)
    assert (found.low, found.high) == (pytest.approx(3 - 2 * 1.959964), pytest.approx(3 + 2 * 1.959964))
    assert found.rows() == [{"mean": 3.0, "standard_error": 2.0, "low": found.low, "high": found.high}]


def test_candidates_and_empty_collections_are_refused():
    collected = HybridMean(0, 5, epsilon=1).aggregator()
    with pytest.raises(ParameterError, match="reports"):
        collected.estimate()
    collected.add(collected.protocol.client().report(2))
    with pytest.raises(ParameterError, match="candidates"):
        collected.estimate([1])
    with pytest.raises(ParameterError, match="confidence"):
        collected.estimate(None, 1)
