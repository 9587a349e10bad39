from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.accounting.profiles.oracles import DIGITS, mp

from sfumato.accounting.profiles.lattice_tails import lattice_tails


def exact_tail(stddev: Fraction, first: int) -> mpmath.mpf:
    def weight(k: int) -> mpmath.mpf:
        return mpmath.exp(-mp(Fraction(k * k) / (2 * stddev**2)))

    reach = int(60 * stddev) + 60
    total = mpmath.fsum(weight(k) for k in range(-reach, reach + 1))
    return mpmath.fsum(weight(k) for k in range(first, max(first, reach) + 60)) / total


@pytest.mark.parametrize("stddev", [Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(37, 2)])
def test_tails_enclose_the_sums(stddev):
    firsts = sorted({int(part * stddev) for part in (-50, -20, -1, 0, 1, 3, 12, 30, 36)} | {-1, 0, 1, 2})
    array = np.array(firsts, dtype=float)
    tails = lattice_tails(stddev)
    logs, errors = tails.log_down(array)
    errors = np.broadcast_to(errors, array.shape)
    with mpmath.workdps(DIGITS):
        for index, first in enumerate(firsts):
            truth = exact_tail(stddev, first)
            low, high = mp(float(tails.down(array)[index])), mp(float(tails.up(array)[index]))
            assert low <= truth <= high
            assert high - low <= truth * mpmath.mpf("1e-11") + mpmath.mpf("1e-303")
            assert mp(float(logs[index])) - mp(float(errors[index])) <= mpmath.log(truth)


def test_both_ways_of_summing_agree_where_they_meet():
    """σ = 1024 is summed, 1025 expanded; at the same z they differ by no more than their step does."""
    z = np.array([-30.0, -2.0, 0.0, 0.5, 3.0, 12.0, 30.0])
    summed, expanded = lattice_tails(Fraction(1024)), lattice_tails(Fraction(1025))
    first, second = np.floor(z * 1024), np.floor(z * 1025)
    for bound in ("up", "down"):
        assert np.allclose(getattr(summed, bound)(first), getattr(expanded, bound)(second), rtol=0.05, atol=1e-300)
    assert np.all(expanded.down(second) <= expanded.up(second))
    assert summed.peak_up == pytest.approx(expanded.peak_up, rel=2e-3)


def test_the_expansion_encloses_the_sum_in_floats():
    sigma = Fraction(1025)
    k = np.arange(-40_000, 60_000, dtype=float)
    masses = np.exp(-((k / 1025) ** 2) / 2)
    tails = np.cumsum(masses[::-1])[::-1] / masses.sum()
    firsts = np.array([-3000.0, -1.0, 0.0, 1.0, 700.0, 5000.0, 30_000.0])
    truth = tails[(firsts + 40_000).astype(int)]
    expanded = lattice_tails(sigma)
    assert np.all(expanded.down(firsts) <= truth * (1 + 1e-11))
    assert np.all(expanded.up(firsts) >= truth * (1 - 1e-11))
    assert np.allclose(expanded.up(firsts), expanded.down(firsts), rtol=1e-8, atol=1e-300)
    logs, error = expanded.log_down(firsts)
    assert np.all(logs - error <= np.log(truth) + 1e-11)


def test_nothing_is_claimed_far_out():
    for stddev in (Fraction(3), Fraction(10**6)):
        tails = lattice_tails(stddev)
        far = np.array([1e6 * float(stddev), 1e15 * float(stddev)])
        assert np.all(tails.down(far) == 0)
        assert np.all((tails.up(far) > 0) & (tails.up(far) < 1e-290))
        logs, _ = tails.log_down(far)
        assert np.all(logs < -1e11)
