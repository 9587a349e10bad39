"""Both law tests: right laws pass, scales 10% off are refused on both sides, and the spread test has the more power."""

import numpy as np
import pytest
from scipy.stats import binom, multinomial
from tests.audit.zoo import gaussian_steps, laplace_cdf, laplace_steps
from tests.laws import cdf_of

from sfumato.audit.core.findings import Verdict
from sfumato.audit.distributions import ALPHA, DeclaredLaw, check_law, p_value, spread_p_value
from sfumato.errors import ParameterError

RNG = np.random.default_rng(7)
SAMPLES = 20_000


def drawn(scale):
    return DeclaredLaw(f"scale {scale}", lambda n: laplace_steps(scale, n), laplace_cdf(100))


def test_the_declared_law_is_accepted():
    assert check_law(drawn(100), samples=SAMPLES).verdict is Verdict.NOTHING_FOUND


@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_a_scale_off_by_ten_percent_is_refused_on_both_sides(factor):
    finding = check_law(drawn(100 * factor), samples=SAMPLES)
    assert finding.verdict is Verdict.CALIBRATION_BUG
    assert finding.p_value < ALPHA


def test_a_gaussian_with_nine_tenths_of_its_stddev_is_refused_with_five_thousand_samples():
    mass = np.exp(-(np.arange(-800, 801) ** 2) / (2 * 100**2))
    cdf = cdf_of(mass / mass.sum())
    law = DeclaredLaw("σ × 0.9", lambda n: gaussian_steps(90, n), lambda k: cdf(k + 800))
    assert check_law(law, samples=5_000).verdict is Verdict.CALIBRATION_BUG


@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_the_spread_test_needs_fewer_samples_than_chi_square(factor):
    samples = laplace_steps(100 * factor, SAMPLES // 2)
    assert spread_p_value(samples, laplace_cdf(100)) < 1e-3 * p_value(samples, laplace_cdf(100))


def test_what_only_the_spread_shows_is_refused():
    """The quantiles of a scale of 92, without luck: chi-square alone would let them pass for a scale of 100."""
    levels = (np.arange(5_000) + 0.5) / 5_000
    distances = -92 * np.log(2 * np.minimum(levels, 1 - levels))
    steps = np.rint(np.copysign(distances, levels - 0.5)).astype(np.int64)
    finding = check_law(DeclaredLaw("scale 92", lambda _: steps, laplace_cdf(100)), samples=5_000)
    assert p_value(steps, laplace_cdf(100)) > 0.1
    assert finding.p_value == 2 * spread_p_value(steps, laplace_cdf(100))
    assert finding.verdict is Verdict.CALIBRATION_BUG


def test_chi_square_sees_what_keeps_the_spread():
    shifted = laplace_steps(100, SAMPLES) + 10
    assert p_value(shifted, laplace_cdf(100)) < ALPHA
    assert check_law(DeclaredLaw("shifted", lambda n: shifted[:n], laplace_cdf(100)), samples=SAMPLES).p_value < ALPHA


def test_p_values_of_the_spread_of_a_right_sampler_are_nearly_uniform():
    p_values = [spread_p_value(laplace_steps(100, 2000), laplace_cdf(100)) for _ in range(200)]
    assert abs(np.mean(np.array(p_values) < 0.1) - 0.1) < 0.107  # 5 standard deviations
    assert min(p_values) > ALPHA


def test_a_fair_coin_has_no_spread_to_test():
    assert spread_p_value(RNG.integers(0, 2, SAMPLES), cdf_of(np.array([0.5, 0.5]))) == 1


def bernoulli_cdf(p):
    return lambda k: 0.0 if k < 0 else 1 - p if k < 1 else 1.0


def chance_of_failing(p, count, significance):
    """Of right coins, summed over all numbers of heads."""
    failed = 0.0
    for heads in range(count + 1):
        weight = float(binom.pmf(heads, count, p))
        coins = np.repeat([1, 0], [heads, count - heads])
        law = DeclaredLaw("a coin", lambda _, coins=coins: coins, bernoulli_cdf(p))
        if weight > 0 and check_law(law, samples=count, significance=significance).p_value < significance:
            failed += weight
    return failed


@pytest.mark.parametrize("p", [0.005, 0.06, 0.5, 0.995])
@pytest.mark.parametrize("significance", [1e-2, 1e-6, 1e-9])
def test_a_law_of_two_cells_is_tested_exactly(p, significance):
    assert chance_of_failing(p, 1000, significance) <= significance


def test_a_rare_event_that_is_too_common_is_seen():
    coins = np.repeat([1, 0], [80, 19_920])
    assert p_value(coins, bernoulli_cdf(0.002)) < ALPHA
    assert p_value(coins, bernoulli_cdf(0.004)) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("significance", [1e-6, 1e-9])
def test_three_cells_fail_with_a_chance_below_the_significance(significance):
    """Summed over all outcomes of a law whose two outer cells hold as few as a cell may."""
    count, least = 10_000, 200 * (np.log(significance) / np.log(1e-6)) ** 3
    mass = np.array([least, count - 2 * least, least]) / count * (1 + 1e-9)
    mass[1] = 1 - mass[0] - mass[2]
    low, high = int(least - 9 * least**0.5), int(least + 9 * least**0.5)
    failed = 0.0
    first, last = (grid.ravel() for grid in np.meshgrid(np.arange(low, high), np.arange(low, high)))
    chances = multinomial.pmf(np.column_stack([first, count - first - last, last]), count, mass)
    far = np.flatnonzero(np.abs(first - least) + np.abs(last - least) > 3 * least**0.5)
    step = 97  # every outcome takes too long, and neighboring ones have nearly the same chance
    for a, c, chance in zip(first[far][::step], last[far][::step], chances[far][::step], strict=True):
        sample = np.repeat([0, 1, 2], [a, count - a - c, c])
        p = min(f(sample, cdf_of(mass), significance=significance) for f in (p_value, spread_p_value))
        failed += step * chance * (2 * p < significance)
    assert 0 < failed < significance


def test_too_few_numbers_are_refused():
    with pytest.raises(ParameterError, match="as many integers"):
        check_law(DeclaredLaw("too few", lambda n: np.zeros(n - 1, dtype=int), bernoulli_cdf(0.5)), samples=100)


def test_a_law_on_one_value_is_no_test():
    with pytest.raises(ParameterError, match="single cell"):
        spread_p_value(np.zeros(10, dtype=np.int64), lambda k: float(k >= 0))


@pytest.mark.parametrize("said", [None, "0.5", 2, -0.5, [0.5], 10**400], ids=str)
def test_what_is_no_distribution_function_is_refused_by_name(said):
    with pytest.raises(ParameterError, match=r"^cdf = .*: must be a function of an integer k"):
        p_value(np.zeros(10, dtype=np.int64), lambda _: said)


@pytest.mark.parametrize("said", [1.0, 0.0, float("nan")])
def test_the_search_for_the_quantiles_of_no_law_ends(said):
    """It is as probable everywhere, so that there is no first integer at which it is reached."""
    with pytest.raises(ParameterError, match="single cell"):
        p_value(np.zeros(10, dtype=np.int64), lambda _: said)


def test_a_law_may_be_nan_where_it_cannot_be_computed():
    coins = np.repeat([1, 0], [500, 500])
    assert p_value(coins, lambda k: bernoulli_cdf(0.5)(k) if k < 4 else float("nan")) > 0.5


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint64, np.float64, object])
def test_integers_of_every_type_fall_into_the_same_cells(dtype):
    coins = np.repeat([1, 0], [80, 920])
    assert p_value(coins.astype(dtype), bernoulli_cdf(0.05)) == p_value(coins, bernoulli_cdf(0.05))


def test_cells_may_end_beyond_64_bits():
    low = 2**70
    sample = np.array([low, low + 1] * 5, dtype=object)
    assert p_value(sample, lambda k: bernoulli_cdf(0.5)(k - low)) == 1


@pytest.mark.parametrize("samples", [[], [[1, 2]], ["a"], [0.5, float("nan")], [None], 3], ids=str)
def test_samples_that_are_no_integers_are_refused(samples):
    with pytest.raises(ParameterError, match=r"^samples = "):
        p_value(samples, bernoulli_cdf(0.5))
