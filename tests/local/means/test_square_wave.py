"""The square wave: its window, and a distribution that comes back from its reports."""

from math import exp

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.local import SquareWave
from sfumato.local.means.square_wave import smoothed_maximum


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", 1, 2, 4])
def test_the_window_is_as_wide_as_the_formula_says(epsilon):
    e = float(epsilon)
    reach = (e * exp(e) - exp(e) + 1) / (2 * exp(e) * (exp(e) - 1 - e))
    assert SquareWave(0, 1, epsilon=epsilon, steps=10_000).law.width == pytest.approx(2 * reach * 10_000, abs=1)


@pytest.mark.parametrize("epsilon", ["0.000001", 100])
def test_extreme_epsilons_have_a_window(epsilon):
    law = SquareWave(0, 1, epsilon=epsilon).law
    assert 1 <= law.width <= law.steps + 1


def test_the_rounds_are_those_of_the_definition():
    """Against matrices: expectation, maximization, and a smoothing matrix."""
    law = SquareWave(0, 1, epsilon=2, steps=20).law
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, law.outputs)
    channel = np.array([[float(mass) for mass in law.probabilities(place)] for place in range(21)]).T
    smoothing = (np.eye(21, k=-1) + 2 * np.eye(21) + np.eye(21, k=1)) / 4
    smoothing[0, 0] = smoothing[-1, -1] = 3 / 4
    shares, before = np.full(21, 1 / 21), -np.inf
    while (reached := float(counts @ np.log(channel @ shares))) - before >= 1e-3:
        before = reached
        shares = shares * (channel.T @ (counts / (channel @ shares)))
        shares = smoothing @ (shares / shares.sum())
    assert smoothed_maximum(law, counts) == pytest.approx(shares, abs=1e-12)


@pytest.mark.statistical
def test_a_distribution_comes_back():
    """Two hills, of 100,000 people: Wasserstein distance and quantiles; the mean lies within six standard errors."""
    rng = np.random.default_rng(4)
    held = np.concatenate([rng.normal(30, 5, 60_000), rng.normal(75, 8, 40_000)]).clip(0, 100)
    protocol = SquareWave(0, 100, epsilon=2)
    collected = protocol.aggregator()
    collected.add(protocol.client().report_many(held))
    found = collected.estimate()
    assert found.fractions.min() >= 0
    assert found.fractions.sum() == pytest.approx(1)
    true = np.bincount(protocol.inputs(held), minlength=257) / len(held)
    distance = np.abs(np.cumsum(found.fractions) - np.cumsum(true)).mean() * 100
    assert distance < 1.0
    for level in (0.1, 0.5, 0.9):
        assert found.quantile(level) == pytest.approx(np.quantile(held, level), abs=4)
    assert abs(found.mean.mean - held.mean()) < 6 * found.mean.standard_error
    assert [row["number"] for row in found.rows()][:2] == [0.0, 100 / 256]


def test_a_wrong_level_is_refused():
    collected = SquareWave(0, 1, epsilon=1).aggregator()
    collected.add(collected.protocol.client().report_many([0.5] * 10))
    with pytest.raises(ParameterError, match="level"):
        collected.estimate().quantile(1.5)
