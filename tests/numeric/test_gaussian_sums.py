from fractions import Fraction

import mpmath
import pytest

from sfumato.numeric import gaussian_sums
from sfumato.numeric.gaussian_sums import tail_ratio


def true_ratio(stddev: Fraction, first: int) -> mpmath.mpf:
    """Term by term, in high precision."""
    sigma = mpmath.mpf(stddev.numerator) / stddev.denominator

    def term(steps):
        return mpmath.exp(-steps * (2 * first + steps) / (2 * sigma**2))

    return mpmath.fsum(term(steps) for steps in range(int(40 * stddev) + 2))


@pytest.mark.parametrize("stddev", ["1/100", "1/2", "1", "37/10", "100"])
@pytest.mark.parametrize("first", [0, 1, 5, 400, 10**6])
def test_direct_sums_enclose_the_truth(stddev, first):
    with mpmath.workdps(30):
        ratio, truth = tail_ratio(Fraction(stddev), first), true_ratio(Fraction(stddev), first)
        assert ratio.low <= truth <= ratio.high
        assert ratio.high <= ratio.low * (1 + 1e-11)


@pytest.mark.parametrize("first", [0, 1, 700, 2500, 12_000, 50_000])
def test_the_expansion_agrees_with_the_direct_sum(first):
    expansion = gaussian_sums._expansion(Fraction(5000), first)
    direct = gaussian_sums._direct(5000.0, float(first))
    assert expansion.low <= direct.high
    assert direct.low <= expansion.high
    assert expansion.high - expansion.low <= 1e-9 * direct.high


@pytest.mark.parametrize("first", [0, 100, 3000, 30_000])
def test_the_expansion_is_tight_where_it_starts(first):
    ratio = tail_ratio(Fraction(1025), first)
    assert ratio.high <= ratio.low * (1 + 1e-8)
    with mpmath.workdps(30):
        assert ratio.low <= true_ratio(Fraction(1025), first) <= ratio.high


@pytest.mark.parametrize("stddev", [Fraction(1, 2**500), Fraction(1, 3), Fraction(2**500)])
@pytest.mark.parametrize("first", [0, 2**600, 2**2000])
def test_extreme_parameters_keep_the_general_bounds(stddev, first):
    ratio = tail_ratio(stddev, first)
    assert 0.999 <= ratio.low <= ratio.high <= 1.001 + 1.3 * float(stddev)
