from fractions import Fraction

import mpmath
import numpy as np
from tests.accounting.profiles.oracles import gaussian_tail, mp

from sfumato.accounting.profiles.profile import (
    FAR,
    below_roots,
    exp_down,
    exp_up,
    float_down,
    scaled_tail_down,
    share,
    tail_down,
    tail_up,
)

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


Z = np.concatenate([np.linspace(-45, 37.3, 401), [-1e-300, 0.0, 1e-300, FAR]])


def test_tails_enclose_the_truth_within_1e_12():
    with mpmath.workdps(60):
        for z, low, high in zip(Z, tail_down(Z), tail_up(Z), strict=True):
            truth = gaussian_tail(mp(float(z)))
            assert mp(float(low)) <= truth <= mp(float(high))
            assert mp(float(high)) - mp(float(low)) <= truth * mpmath.mpf("3e-12") + mpmath.mpf("2e-304")


def test_an_error_of_the_argument_is_covered():
    z, error = np.array([-1.0, 0.5, 20.0]), 1e-6
    assert np.all(tail_up(z, error=error) >= tail_up(z - error * 0.99))
    assert np.all(tail_down(z, error=error) <= tail_down(z + error * 0.99))


def test_nothing_is_claimed_beyond_what_floats_hold():
    far = np.array([FAR + 1, 1e9])
    assert np.all(tail_down(far) == 0)
    assert np.all(tail_up(far) >= 1e-306)


def test_the_scaled_tail_is_below_the_truth():
    z = np.linspace(0.01, 300, 50)
    with mpmath.workdps(60):
        for place, value in zip(z, scaled_tail_down(z, np.full_like(z, -3.0), error=0.0), strict=True):
            truth = mpmath.exp(-3 + mp(float(place)) ** 2 / 2) * gaussian_tail(mp(float(place)))
            assert truth * (1 - mpmath.mpf("1e-13")) <= mp(float(value)) <= truth


GRID = np.linspace(-10, 10, 41)


def cubic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x**3 + x, 3 * x**2 + 1


def steep_then_flat(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.tanh(50 * x), 50 / np.cosh(np.minimum(np.abs(50 * x), 300)) ** 2


def test_roots_are_near_and_never_above():
    targets = np.linspace(-900, 900, 997)
    roots = below_roots(cubic, targets, grid=GRID)
    assert np.all(cubic(roots)[0] <= targets)
    assert np.all(cubic(roots + 1e-13 * (1 + np.abs(roots)))[0] >= targets)


def test_where_newton_leaves_the_bracket_it_is_halved():
    targets = np.array([-0.999, -0.5, 0.0, 0.7, 0.9999])
    roots = below_roots(steep_then_flat, targets, grid=GRID)
    assert np.allclose(roots, np.arctanh(targets) / 50, atol=1e-11)
    assert np.all(steep_then_flat(roots)[0] <= targets)


def test_targets_out_of_reach_end_at_the_ends_of_the_grid():
    roots = below_roots(cubic, np.array([-1e9, 1e9]), grid=GRID)
    assert roots.tolist() == [-10, 10]


def test_targets_beyond_any_slope_do_not_overflow():
    assert below_roots(steep_then_flat, np.array([1e300, -1e300]), grid=GRID).tolist() == [10.0, -10.0]


def test_roots_already_found_are_not_asked_for_again():
    sizes = []

    def counted(x):
        sizes.append(x.size)
        return steep_then_flat(x)

    below_roots(counted, np.array([*[0.0] * 100, 1 - 1e-9]), grid=GRID)
    assert sizes[-1] < 10
