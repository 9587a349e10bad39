"""Intervals of variances, covariances and correlations: how often they hold, and how wide they are."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.sizes import FULL_SIZE

from sfumato.numeric.moments import (
    NoisyMoments,
    correlation_ends,
    correlations,
    covariance_ends,
    covariances,
    variance_ends,
    variances,
)
from sfumato.numeric.noise_sums import IntegerNoise

RUNS = 20_000 if FULL_SIZE else 2_000
CONFIDENCE = Fraction(95, 100)
HALF = 50
"""Values lie between −50 and 50."""
SLACK = 1 if FULL_SIZE else 1.06
"""Measured errors are themselves measured, within a hundredth, or a few of them."""


@dataclass(frozen=True)
class Group:
    """Values whose means and standard deviations are parts of 50."""

    means: tuple[float, float] = (0, 0)
    deviations: tuple[float, float] = (0.577, 0.577)
    correlation: float = 0

    def sums(self, count):
        """Of x, y, xy, xx and yy, as whole numbers."""
        (a, b), (s, t) = self.means, self.deviations
        parts = a / HALF, b / HALF, a * b + self.correlation * s * t, a * a + s * s, b * b + t * t
        return [float(round(count * part * HALF**2)) for part in parts]


EVEN, TILTED, ASIDE, NARROW = (
    Group(), Group(correlation=0.8), Group((0.3, -0.3), (0.4, 0.4), -0.95), Group((0.8, 0.8), (0.15, 0.15), 0.7),
)  # fmt: skip
KINDS = ("variance", "covariance", "correlation")


def noise_of(law, *scales):
    return tuple(IntegerNoise(law, Fraction(scale)) for scale in scales)


def drawn(generator, noise):
    """Noise as it is: two geometric numbers apart, or a rounded normal one, which is near enough."""
    scale = float(noise.scale)
    if noise.law == "gaussian":
        return np.rint(generator.normal(scale=scale, size=RUNS))
    chance = 1 - np.exp(-1 / scale)
    return (generator.geometric(chance, RUNS) - generator.geometric(chance, RUNS)).astype(float)


def simulated(kind, group, *, error, law="laplace", seed=5):
    """Estimates, their intervals and the true value, of counts whose noise at 95% is `error` of them."""
    places = {"variance": (0, 3), "covariance": (0, 1, 2), "correlation": (0, 1, 2, 3, 4)}[kind]
    scales = (2, *((2 * HALF, 2 * HALF, *(2 * HALF**2,) * 3)[place] for place in places))
    noises, generator = noise_of(law, *scales), np.random.default_rng(seed)
    count = max(2, round(noises[0].half_width(1 - CONFIDENCE) / error))
    x, y, xy, xx, yy = group.sums(count)
    exact = [(count, x, y, xy, xx, yy)[0], *((x, y, xy, xx, yy)[place] for place in places)]
    counts, *sums = (part + drawn(generator, noise) for part, noise in zip(exact, noises, strict=True))
    totals, products = (sums[:1], sums[1:]) if kind == "variance" else (sums[:2], sums[2:])
    measured = NoisyMoments(
        counts=counts, totals=tuple(totals), products=tuple(products), noises=noises,
        ends=((-HALF, HALF),) * len(totals),
    )  # fmt: skip
    if kind == "variance":
        ends = variance_ends(measured, is_sample=False, confidence=CONFIDENCE)
        return variances(measured, is_sample=False), *ends, (xx - x * x / count) / count
    if kind == "covariance":
        ends = covariance_ends(measured, is_sample=True, confidence=CONFIDENCE)
        return covariances(measured, is_sample=True), *ends, (xy - x * y / count) / (count - 1)
    true = (xy - x * y / count) / np.sqrt((xx - x * x / count) * (yy - y * y / count))
    return correlations(measured), *correlation_ends(measured, confidence=CONFIDENCE), true


def held_and_width(kind, group, **options):
    """How many intervals hold the true value, and their mean half-width over the error that 95% do not pass."""
    values, low, high, true = simulated(kind, group, **options)
    error = np.quantile(np.abs(values - true), 0.95)
    return int(((low <= true) & (true <= high)).sum()), float((high - low).mean() / 2 / error)


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("error", [0.02, 0.1])
@pytest.mark.parametrize("group", [EVEN, TILTED, ASIDE], ids=["even", "tilted", "aside"])
@pytest.mark.parametrize("kind", KINDS)
def test_with_little_noise_94_to_97_in_a_hundred_intervals_hold_and_are_a_tenth_too_wide_at_most(
    kind, group, error, law
):
    held, width = held_and_width(kind, group, error=error, law=law)
    assert binom.cdf(held, RUNS, 0.945) > ALPHA, held / RUNS
    assert binom.sf(held, RUNS, 0.97) > ALPHA, held / RUNS
    assert width <= 1.1 * SLACK


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("error", [0.02, 0.1, 0.3, 1, 4])
@pytest.mark.parametrize("group", [EVEN, TILTED, ASIDE, NARROW], ids=["even", "tilted", "aside", "narrow"])
@pytest.mark.parametrize("kind", KINDS)
def test_with_any_noise_no_fewer_hold_than_are_said_to(kind, group, error, law):
    held, _ = held_and_width(kind, group, error=error, law=law, seed=6)
    assert binom.cdf(held, RUNS, 0.945) > ALPHA, held / RUNS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [0.1, 1])
def test_estimates_lie_in_their_intervals(kind, error):
    for group in (EVEN, NARROW):
        values, low, high, _ = simulated(kind, group, error=error)
        slack = 1e-6 * (1 + np.abs(values))
        inside = (low <= values + slack) & (values <= high + slack)
        assert inside.mean() > 0.9  # the others are moved into what values can be, and the answer widens the interval
        assert (low <= high).all()


def test_estimates_are_those_of_numpy_without_noise():
    generator = np.random.default_rng(3)
    x = generator.integers(-50, 51, 300).astype(float)
    y = np.clip(np.rint(x / 2 + generator.integers(-20, 21, 300)), -50, 50)
    none, ends = noise_of("laplace", *[0] * 6), ((-50.0, 50.0),) * 2
    count, sums = np.array([300.0]), (np.array([x.sum()]), np.array([y.sum()]))
    products = tuple(np.array([(a * b).sum()]) for a, b in ((x, y), (x, x), (y, y)))
    one = NoisyMoments(counts=count, totals=sums[:1], products=products[1:2], noises=none[:3], ends=ends[:1])
    two = NoisyMoments(counts=count, totals=sums, products=products[:1], noises=none[:4], ends=ends)
    both = NoisyMoments(counts=count, totals=sums, products=products, noises=none, ends=ends)
    assert variances(one, is_sample=True) == pytest.approx([x.var(ddof=1)])
    assert covariances(two, is_sample=True) == pytest.approx([np.cov(x, y)[0, 1]])
    assert correlations(both) == pytest.approx([np.corrcoef(x, y)[0, 1]])
    low, high = variance_ends(one, is_sample=True, confidence=CONFIDENCE)
    assert high - low == pytest.approx([0], abs=1e-6)
    low, high = correlation_ends(both, confidence=CONFIDENCE)
    assert high - low == pytest.approx([0], abs=1e-6)


def test_of_counts_too_small_anything_is_possible():
    noises = noise_of("laplace", 2, 100, 5_000)
    few = np.array([1.0, 0.0, -3.0])
    measured = NoisyMoments(
        counts=few, totals=(np.zeros(3),), products=(np.full(3, 10.0),), noises=noises, ends=((-50, 50),)
    )  # fmt: skip
    low, high = variance_ends(measured, is_sample=True, confidence=CONFIDENCE)
    assert (low.tolist(), high.tolist()) == ([0] * 3, [5_000] * 3)


def test_of_what_may_not_vary_any_correlation_is_possible():
    noises = noise_of("laplace", 2, 100, 100, 5_000, 5_000, 5_000)
    measured = NoisyMoments(
        counts=np.array([1_000.0]), totals=(np.zeros(1),) * 2,
        products=(np.zeros(1), np.array([-10.0]), np.array([800_000.0])), noises=noises, ends=((-50, 50),) * 2,
    )  # fmt: skip
    low, high = correlation_ends(measured, confidence=CONFIDENCE)
    assert (correlations(measured).tolist(), low.tolist(), high.tolist()) == ([0], [-1], [1])


def test_a_thousand_groups_are_one_array():
    """Each as if it were alone."""
    values, low, high, _ = simulated("variance", EVEN, error=0.1)
    assert len(values) == len(low) == len(high) == RUNS
    assert len(set(low.tolist())) > RUNS / 2
