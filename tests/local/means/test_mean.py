"""Means: published variances, exact moments, and intervals that cover as often as they say."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.stats import binom, chi2
from tests.laws import ALPHA
from tests.local.branches import law_of
from tests.local.protocols import NUMBERS, ROUNDED
from tests.sizes import FULL_SIZE

from sfumato.local import DuchiMean, HybridMean, PiecewiseMean
from sfumato.local.means.mean import estimate_of

RUNS = 4000 if FULL_SIZE else 300  # one number a run: 15% are 6.7 standard deviations of the ratio
WORST = {
    DuchiMean: (16.67, 4.683, 1.724, 1.076),
    PiecewiseMean: (21.22, 5.224, 1.228, 0.2414),
    HybridMean: (16.67, 4.289, 1.042, 0.2190),
}
OF_MEANS = {name: protocol for name, protocol in (NUMBERS | ROUNDED).items() if not name.startswith("SquareWave")}


@pytest.mark.parametrize("kind", WORST)
@pytest.mark.parametrize(("place", "epsilon"), list(enumerate(("0.5", 1, 2, 4))))
def test_the_published_worst_variances(kind, place, epsilon):
    protocol = kind(0, 10, epsilon=epsilon)
    worst = max(protocol.variance(scaled=0), protocol.variance(scaled=1))
    assert worst == pytest.approx(WORST[kind][place], rel=1e-3)


@pytest.mark.parametrize("epsilon", ["0.5", 1, 2, 4])
def test_the_formulas_of_the_field_hold_in_the_limit_of_many_steps(epsilon):
    a, b = exp(float(epsilon) / 2), exp(float(epsilon))
    for x in (0.0, 0.5, 1.0):
        windowed = x**2 / (a - 1) + (a + 3) / (3 * (a - 1) ** 2)
        assert PiecewiseMean(0, 1, epsilon=epsilon).variance(scaled=x) == pytest.approx(windowed, rel=2e-3)
        assert DuchiMean(0, 1, epsilon=epsilon).variance(scaled=x) == pytest.approx(((b + 1) / (b - 1)) ** 2 - x**2)
        if float(epsilon) > 0.61:
            mixed = (a + 3) / (3 * a * (a - 1)) + (b + 1) ** 2 / (a * (b - 1) ** 2)
            assert HybridMean(0, 1, epsilon=epsilon).variance(scaled=x) == pytest.approx(mixed, rel=2e-3)


@pytest.mark.parametrize("protocol", OF_MEANS.values(), ids=OF_MEANS)
def test_outputs_have_the_stated_probabilities_the_true_mean_and_the_stated_squares(protocol):
    numbers, (slope, intercept) = protocol.numbers(), protocol.squares()
    for place in range(protocol.steps + 1):
        law = law_of(lambda place=place: int(protocol.draw(np.array([place]))[0]))
        masses = protocol.probabilities(place)
        assert [law.get(output, 0) for output in range(protocol.outputs)] == masses
        true = 2 * place / protocol.steps - 1
        floats = np.array([float(mass) for mass in masses])
        assert floats @ numbers == pytest.approx(true, abs=1e-9)
        assert floats @ numbers**2 == pytest.approx(float(slope) * true**2 + float(intercept), rel=1e-9)
        assert protocol.variance(scaled=Fraction(2 * place, protocol.steps) - 1) == pytest.approx(
            floats @ numbers**2 - true**2, rel=1e-9
        )


def test_the_mixture_begins_above_its_bound():
    assert HybridMean(0, 1, epsilon="0.61").outputs == 2
    assert HybridMean(0, 1, epsilon="0.62").outputs > 2


@pytest.mark.statistical
@pytest.mark.parametrize("kind", WORST)
@pytest.mark.parametrize("epsilon", ["0.5", 2])
def test_errors_are_as_large_as_stated_and_intervals_cover_the_mean(kind, epsilon):
    protocol, people = kind(0, 100, epsilon=epsilon), 2000
    held = np.random.default_rng(2).beta(2, 6, people) * 100
    places = protocol.inputs(held)
    true = places.mean() / protocol.steps * 100
    scaled = 2 * places / protocol.steps - 1
    slope, intercept = map(float, protocol.squares())
    variance = 50**2 * (slope * scaled**2 + intercept - scaled**2).mean() / people
    client, squares, covered = protocol.client(), 0.0, 0
    for _ in range(RUNS):
        collected = protocol.aggregator()
        collected.add(client.report_many(held))
        found = collected.estimate()
        squares += (found.mean - true) ** 2 / variance
        covered += found.low <= true <= found.high
    if FULL_SIZE:
        assert 0.85 <= squares / RUNS <= 1.15
    least, most = chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], RUNS)
    assert least <= squares <= most
    wide = 0.96 if kind is not DuchiMean else 0.98  # the squares of two outputs say nothing of those of the people
    least, most = binom.ppf([ALPHA / 2, 1 - ALPHA / 2], RUNS, [0.94, wide])
    assert least <= covered <= most


def test_a_sample_of_the_people_has_a_wider_interval():
    protocol = PiecewiseMean(0, 1, epsilon=8)
    counts = np.zeros(protocol.outputs, dtype=np.int64)
    counts[[0, -1]] = 500
    everyone, sampled = (estimate_of(protocol, counts, 1000, "0.95", are_sampled=are) for are in (False, True))
    assert everyone.mean == sampled.mean == pytest.approx(0.5)
    assert everyone.standard_error < sampled.standard_error


@pytest.mark.parametrize("kind", [DuchiMean, HybridMean, PiecewiseMean])
@pytest.mark.parametrize("reports", [1, 2])
def test_an_interval_of_few_of_the_people_has_the_noise_of_their_reports(kind, reports):
    """One report, or two that are alike, have no spread among themselves."""
    protocol = kind(0, 1, epsilon=1)
    counts = np.zeros(protocol.outputs, dtype=np.int64)
    counts[-1] = reports
    found = estimate_of(protocol, counts, reports, "0.95", are_sampled=True)
    assert found.standard_error == estimate_of(protocol, counts, reports, "0.95").standard_error > 0
