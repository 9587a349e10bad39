"""Pólya integers: their law, and that shares add up to geometric noise."""

from fractions import Fraction
from math import comb, expm1

import numpy as np
import pytest
from scipy.stats import nbinom
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise.laws import polya as module
from sfumato.noise.laws.polya import polya


def law(shape, scale):
    return lambda k: nbinom.cdf(k, float(shape), -expm1(-1 / float(scale)))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("shape", "scale"),
    [("1/2", 1), ("1/3", "7/2"), ("1/10", 100), ("9/10", 10**6), ("2/3", 2**50), ("1/1000", 10**5), ("1", 10)],
)
def test_it_follows_its_law(shape, scale):
    assert_law(polya(Fraction(shape), Fraction(scale), DRAWS), law(Fraction(shape), Fraction(scale)))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_laws_ten_percent_off_are_refused(factor):
    samples = polya(Fraction(1, 2), Fraction(50), SAMPLES)
    assert_not_law(samples, law(0.5, 50 * factor))
    assert_not_law(samples, law(0.5 * factor, 50))


@pytest.mark.statistical
@pytest.mark.parametrize("parties", [2, 5])
def test_shares_add_up_to_a_geometric_integer(parties):
    total = sum(polya(Fraction(1, parties), Fraction(20), SAMPLES) for _ in range(parties))
    assert_law(total, law(1, 20))


def given_stick(stick, shape):
    """The exact law of what is kept of a stick, by enumerating every way to break it and every coin."""
    if stick == 0:
        return {0: Fraction(1)}
    found = {}
    for piece in range(1, stick + 1):
        for kept, rest in given_stick(stick - piece, shape).items():
            for gain, chance in ((piece, shape), (0, 1 - shape)):
                found[kept + gain] = found.get(kept + gain, 0) + rest * chance / stick
    return found


def rising(shape, k):
    product = Fraction(1)
    for i in range(k):
        product *= shape + i
    return product


@pytest.mark.parametrize("shape", [Fraction(1, 2), Fraction(1, 7), Fraction(1)])
@pytest.mark.parametrize("stick", range(7))
def test_broken_sticks_have_exactly_the_law_of_an_urn(stick, shape):
    for kept, chance in given_stick(stick, shape).items():
        urn = comb(stick, kept) * rising(shape, kept) * rising(1 - shape, stick - kept) / rising(Fraction(1), stick)
        assert chance == urn


def test_numbers_beyond_int64_are_broken_exactly(monkeypatch):
    monkeypatch.setattr(module, "geometric", lambda _, size: np.array([2**70] * size, dtype=object))
    assert polya(Fraction(1), Fraction(10), 3).tolist() == [2**70] * 3


def test_none_are_drawn_if_none_are_asked():
    assert polya(Fraction(1, 2), Fraction(3), 0).tolist() == []


@pytest.mark.parametrize("shape", [Fraction(0), Fraction(-1), Fraction(3, 2)])
def test_a_shape_outside_is_refused(shape):
    with pytest.raises(ParameterError, match="shape"):
        polya(shape, Fraction(1), 1)


def test_a_scale_outside_is_refused():
    with pytest.raises(ParameterError, match="scale"):
        polya(Fraction(1, 2), Fraction(2**50 + 1), 1)
