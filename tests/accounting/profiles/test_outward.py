from fractions import Fraction

import mpmath
import numpy as np
from tests.accounting.profiles.oracles import mp

from sfumato.accounting.profiles.outward import exp_down, exp_up, float_down, share

EXPONENTS = np.array([-1e5, -720.0, -699.0, -1.0, -1e-20, 0.0, 0.3, 650.0])


def test_exponentials_lie_on_their_sides_of_every_exponent_within_the_error():
    error = 1e-3
    low, high = exp_down(EXPONENTS, error=error), exp_up(EXPONENTS, error=error)
    with mpmath.workdps(60):
        for exponent, a, b in zip(EXPONENTS, low, high, strict=True):
            assert mp(float(a)) <= mpmath.exp(mp(float(exponent)) - mp(error))
            assert mp(float(b)) >= mpmath.exp(mp(float(exponent)) + mp(error))


def test_without_an_error_they_are_near():
    inner = EXPONENTS[2:]
    assert np.allclose(exp_down(inner), exp_up(inner), rtol=1e-13)


def test_a_share_lies_between_0_and_its_most():
    assert share(np.array([-1.0, 0.2, 0.9, 2.0]), most=0.7).tolist() == [0, 0.2, 0.7, 0.7]


def test_a_float_down_is_not_above():
    for value in (Fraction(1, 10), Fraction(1, 3), Fraction(7), Fraction(1, 10**320)):
        assert Fraction(float_down(value)) <= value
        assert float_down(value) >= float(value) * (1 - 1e-15)
