import mpmath
import numpy as np
from tests.accounting.profiles.oracles import gaussian_tail, mp

from sfumato.accounting.profiles.normal import FAR, scaled_tail_down, tail_down, tail_up

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
