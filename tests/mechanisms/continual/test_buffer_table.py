"""The table of buffers, in 50 digits: its error at every horizon, next to the square root and to the lower bound."""

from functools import cache
from math import log, pi

import mpmath
import pytest

from sfumato.mechanisms.continual.buffer_table import LARGEST_POWER, MOST_BUFFERS, SMALLEST_POWER, gaps_of
from sfumato.mechanisms.continual.buffered import _of_table

POWERS = range(SMALLEST_POWER, LARGEST_POWER + 1)
RATIOS = {(10, 3): 1.00155, (12, 3): 1.005, (14, 4): 1.002, (16, 4): 1.005, (20, 5): 1.0043, (24, 6): 1.0041}
"""Of the largest standard deviation to that of the square root, by log₂ of the horizon and buffers."""


def squared_norm(terms, residues, gaps):
    """Σ over k < terms of (Σ_i residue_i·(1 − gap_i)^k)², with the digits of mpmath."""
    total = mpmath.mpf(0)
    for one, first in zip(residues, gaps, strict=True):
        for other, second in zip(residues, gaps, strict=True):
            pole = (1 - first) * (1 - second)
            total += one * other * (terms if pole == 1 else (1 - pole**terms) / (1 - pole))
    return total


@cache
def largest_error(power, buffers):
    """‖c‖·‖b‖, from the poles and zeros alone."""
    numbers = [mpmath.log(mpmath.mpf(gap)) for gap in gaps_of(power, buffers)]
    gaps = [mpmath.exp(mpmath.mpf(round(1000 * number)) / 1000) for number in numbers]
    poles, zeros, horizon = gaps[::2], gaps[1::2], 1 << power
    omegas = [
        mpmath.fprod(zero - pole for zero in zeros) / mpmath.fprod(other - pole for other in poles if other != pole)
        for pole in poles
    ]
    inverse = [mpmath.mpf(0), *zeros]
    residues = [
        mpmath.fprod(pole - at for pole in poles) / mpmath.fprod(other - at for other in inverse if other != at)
        for at in inverse
    ]
    assert all(omega > 0 for omega in omegas)
    assert sum(omegas) < 1
    assert all(residue > 0 for residue in residues)
    assert mpmath.almosteq(sum(residues), 1)
    return mpmath.sqrt((1 + squared_norm(horizon - 1, omegas, poles)) * squared_norm(horizon, residues, inverse))


def square_root(power):
    """Σ of (C(2k, k)/4^k)² below 2^power: (2n)²·c_n² times a series, here by the asymptotic expansion of its rest."""
    terms = mpmath.mpf(1 << power)
    return (mpmath.euler + mpmath.log(16 * terms)) / mpmath.pi - 1 / (4 * mpmath.pi * terms)


@pytest.mark.parametrize("buffers", range(1, MOST_BUFFERS + 1))
def test_doubles_give_the_error_that_fifty_digits_give(buffers):
    with mpmath.workdps(50):
        for power in POWERS:
            exact = largest_error(power, buffers)
            chosen = _of_table(power, buffers, 1)
            squares = 1 + float(squared_norm((1 << power) - 1, *map(list, (chosen.omegas, chosen.gaps))))
            found = (squares * chosen.decoded_squared(1 << power, 1 << power)) ** 0.5
            assert found == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize("power", POWERS)
def test_more_buffers_have_less_error_and_none_passes_the_lower_bound(power):
    with mpmath.workdps(50):
        errors = [float(largest_error(power, buffers)) for buffers in range(1, MOST_BUFFERS + 1)]
    root = float(square_root(power))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] > (log(2 * (1 << power) + 1) + 1) / pi  # below the nuclear norm, that no factorization passes
    assert errors[-1] / root > 0.999
    for buffers, error in enumerate(errors, 1):
        assert error / root <= RATIOS.get((power, buffers), 3)


def test_the_square_root_is_that_of_the_tables_of_the_field():
    goldens = {10: 3.2726, 12: 3.7139, 14: 4.1552, 16: 4.5964, 20: 5.4790}
    assert {power: round(float(square_root(power)), 4) for power in goldens} == goldens
