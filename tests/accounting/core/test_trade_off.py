from fractions import Fraction
from itertools import chain, combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.core.finite import smallest_delta
from sfumato.accounting.core.trade_off import (
    approx_trade_off,
    finite_trade_off,
    gaussian_trade_off,
    profile_trade_off,
    trade_off_corners,
)
from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.errors import ParameterError

ERRORS = np.concatenate([[0.0, 1e-300, 1e-12, 1e-5, 1 - 1e-9, 1.0], np.linspace(0.001, 0.999, 101)])
THIRDS = (("1/2", "1/3", "1/6"), ("1/6", "1/3", "1/2"))


@pytest.mark.parametrize("mu", ["0", "0.1", "1", "3", "12"])
def test_the_gaussian_curve_is_just_below_its_formula(mu):
    found = gaussian_trade_off(ERRORS, mu=mu)
    with mpmath.workdps(40):
        for error, lower in zip(ERRORS, found, strict=True):
            if 1e-12 <= error < 1:
                place = -mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(float(error)) - 1) - mpmath.mpf(mu)
                truth = mpmath.ncdf(place)
                assert truth * (1 - mpmath.mpf("1e-9")) <= lower <= truth
    assert (found[0], found[5]) == (1, 0)


@pytest.mark.parametrize("curve", [
    lambda a: gaussian_trade_off(a, mu=1),
    lambda a: approx_trade_off(a, epsilon=1, delta="0.01"),
    lambda a: finite_trade_off(a, *THIRDS),
])  # fmt: skip
def test_curves_fall_are_convex_and_below_the_diagonal(curve):
    places = np.linspace(0, 1, 201)
    values = curve(places)
    assert (np.diff(values) <= 1e-12).all()
    assert (np.diff(values, 2) >= -1e-11).all()
    assert (values <= 1 - places + 1e-12).all()


def test_an_approximate_guarantee_has_three_pieces():
    found = approx_trade_off([0, 0.1, 0.5, 0.99, 1], epsilon="0.5", delta="0.05")
    grown = np.exp(0.5)
    assert found == pytest.approx([0.95, 0.95 - grown * 0.1, (0.95 - 0.5) / grown, 0, 0], abs=1e-12)
    assert approx_trade_off(0.3, epsilon=0).item() == pytest.approx(0.7)
    assert approx_trade_off(ERRORS, epsilon=2, delta=1).max() == 0
    assert approx_trade_off([0, 0.5], epsilon="1e6").tolist() == pytest.approx([1, 0])


def test_the_profile_of_gaussian_noise_draws_its_trade_off_function():
    epsilons = np.linspace(0, 12, 1201)
    deltas = [gaussian_delta_up(noise_multiplier=1, epsilon=float(epsilon)) for epsilon in epsilons]
    found, truth = profile_trade_off(ERRORS, epsilons=epsilons, deltas=deltas), gaussian_trade_off(ERRORS, mu=1)
    assert (found <= truth + 1e-9).all()
    assert found == pytest.approx(truth, abs=1e-4)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=5))
def test_no_test_beats_the_curve_of_a_finite_pair(weights):
    first, second = (sum(side) for side in zip(*weights, strict=True))
    if not first or not second:
        return
    p, q = [Fraction(a, first) for a, _ in weights], [Fraction(b, second) for _, b in weights]
    corners = trade_off_corners(p, q)
    assert (corners[0], corners[-1]) == ((0, 1), (1, 0)) or corners[-1][0] == 1
    outcomes = range(len(p))
    tests = list(chain.from_iterable(combinations(outcomes, size) for size in range(len(p) + 1)))
    errors = [(sum(p[i] for i in rejected), 1 - sum(q[i] for i in rejected)) for rejected in tests]
    assert set(corners) <= set(errors)
    for kept, missed in errors:
        assert finite_trade_off(float(kept), p, q) <= float(missed) + 1e-12


def test_the_exact_profile_of_a_finite_pair_is_its_trade_off_function():
    epsilons = np.linspace(0, 2, 401)
    deltas = [float(smallest_delta(*THIRDS, epsilon=float(epsilon))) for epsilon in epsilons]
    found, truth = profile_trade_off(ERRORS, epsilons=epsilons, deltas=deltas), finite_trade_off(ERRORS, *THIRDS)
    assert (found <= truth + 1e-12).all()
    assert found == pytest.approx(truth, abs=2e-3)


def test_the_corners_are_exact():
    assert trade_off_corners(*THIRDS) == (
        (0, 1), (Fraction(1, 6), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 6)), (1, 0),
    )  # fmt: skip
    assert trade_off_corners(["1/2", "1/2", 0], [0, "1/2", "1/2"])[:2] == ((0, 1), (0, Fraction(1, 2)))


def test_shapes_are_kept():
    square = np.full((3, 2), 0.25)
    for curve in (
        gaussian_trade_off(square, mu=1),
        approx_trade_off(square, epsilon=1),
        finite_trade_off(square, *THIRDS),
    ):
        assert curve.shape == (3, 2)


@pytest.mark.parametrize(("name", "call"), [
    ("type_one_errors", lambda: gaussian_trade_off([1.5], mu=1)),
    ("type_one_errors", lambda: approx_trade_off([np.nan], epsilon=1)),
    ("mu", lambda: gaussian_trade_off([0.5], mu=-1)),
    ("epsilon", lambda: approx_trade_off([0.5], epsilon=-1)),
    ("delta", lambda: approx_trade_off([0.5], epsilon=1, delta=2)),
    ("deltas", lambda: profile_trade_off([0.5], epsilons=[1, 2], deltas=[0.1])),
    ("deltas", lambda: profile_trade_off([0.5], epsilons=[], deltas=[])),
    ("deltas", lambda: profile_trade_off([0.5], epsilons=[1], deltas=[2])),
    ("epsilons", lambda: profile_trade_off([0.5], epsilons=[np.inf], deltas=[0])),
])  # fmt: skip
def test_parameters_are_checked_by_name(name, call):
    with pytest.raises(ParameterError, match=name):
        call()
