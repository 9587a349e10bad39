"""The error of weighted sums: variances and half-widths against the exact law of small sums, by convolution."""

from functools import reduce
from math import exp

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.matrix.weighted_noise import half_widths, variance

NOISES = {
    "laplace": Laplace(l1_sensitivity=3, epsilon=1),
    "narrow laplace": Laplace(l1_sensitivity=1, epsilon=2),
    "gaussian": Gaussian(l2_sensitivity=2, epsilon=1, delta="1e-3"),
    "narrow gaussian": Gaussian(l2_sensitivity=1, epsilon=9, delta="0.1"),
}
WEIGHTS = [[1, 0, 0], [0, -3, 0], [1, 1, 0], [1, -2, 5], [4, 4, 4], [0, 0, 0]]
REACH = 200


def mass(noise):
    ks = np.arange(-REACH, REACH + 1)
    if isinstance(noise, Laplace):
        weights = np.exp(-np.abs(ks) / float(noise.scale))
    else:
        weights = np.exp(-(ks**2) / (2 * float(noise.stddev) ** 2))
    return weights / weights.sum()


def law(noise, weights):
    """The exact law of Σ w·noise for whole weights, centred in its array."""

    def stretched(weight):
        spread = np.zeros(2 * REACH * abs(weight) + 1)
        spread[:: abs(weight)] = mass(noise)
        return spread

    return reduce(np.convolve, [stretched(weight) for weight in weights if weight], np.ones(1))


def smallest_half_width(noise, weights, confidence):
    masses = law(noise, weights)
    distances = np.abs(np.arange(len(masses)) - len(masses) // 2)
    covered = np.cumsum(np.bincount(distances, weights=masses))
    return int(np.argmax(covered >= confidence))


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_variance_is_that_of_the_law_or_just_above(noise):
    ks = np.arange(-REACH, REACH + 1)
    exact = float((mass(noise) * ks**2).sum())
    assert exact * (1 - 1e-9) <= variance(noise)
    assert variance(noise) == pytest.approx(exact, rel=1e-6) or variance(noise) < 1 / 4  # a Gaussian within one step


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_half_width_is_never_too_small_and_at_high_confidence_at_most_twice_as_large_and_two_steps(
    noise, weights, confidence
):
    needed = smallest_half_width(noise, weights, confidence)
    found = half_widths(np.array([weights], dtype=float), noise, confidence=confidence)[0]
    assert needed <= found
    assert confidence < 0.95 or found <= 2 * needed + 2 * max(map(abs, weights))


def test_one_weight_is_exact():
    widths = half_widths(np.array([[0.0, 2.0], [1.0, 0.0]]), NOISES["laplace"], confidence="0.95")
    assert widths == pytest.approx([2 * NOISES["laplace"].accuracy(), NOISES["laplace"].accuracy()], rel=1e-9)


def test_without_noise_there_is_no_error():
    silent = Laplace(l1_sensitivity=0, epsilon=1)
    assert variance(silent) == 0
    assert half_widths(np.ones((2, 3)), silent, confidence="0.95").tolist() == [0, 0]


def test_the_moments_that_the_bounds_rest_on_dominate_those_of_the_discrete_laws():
    for name, tilt in [("laplace", 0.2), ("narrow laplace", 1.5), ("gaussian", 0.4), ("narrow gaussian", 1.5)]:
        noise = NOISES[name]
        moment = float((mass(noise) * np.exp(tilt * np.arange(-REACH, REACH + 1))).sum())
        if isinstance(noise, Laplace):
            assert moment <= 1 / (1 - tilt**2 * float(noise.scale) ** 2)
        else:
            assert moment <= exp(tilt**2 * float(noise.stddev) ** 2 / 2) * (1 + 1e-12)


@pytest.mark.parametrize("confidence", [0, 1, -1])
def test_a_confidence_outside_is_refused(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        half_widths(np.ones((1, 1)), NOISES["laplace"], confidence=confidence)
