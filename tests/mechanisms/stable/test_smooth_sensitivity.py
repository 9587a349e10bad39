"""Noise whose scale is secret: the exact loss over values and scales of neighbors, for the laws on integers."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import atan, cosh, exp, fsum, log, pi, sinh, tanh

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law

from sfumato.errors import ParameterError
from sfumato.mechanisms.stable import smooth_sensitivity as module
from sfumato.mechanisms.stable.smooth_sensitivity import SmoothedValue, SmoothSensitivity
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.privacy.events import ApproxEvent, PureEvent
from sfumato.privacy.secret import Secret

PURE = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(12)]
APPROXIMATE = [("1", "1e-6"), ("0.2", "1e-2"), ("4", "1e-4"), ("1", "0.8"), ("12", "0.1")]
LARGEST = 40
SENSITIVITIES = [Fraction(1), Fraction(3, 2), Fraction(7), Fraction(20), Fraction(LARGEST)]
ROUNDING = 1e-11


def asked_scale(mechanism, sensitivity):
    """The scale that the real `release` asks its sampler for."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        for sampler in ("discrete_cauchy", "universal_laplace"):
            patch.setattr(module, sampler, lambda scale, _: asked.append(scale) or np.array([5]))
        assert mechanism.release(SmoothedValue(37, sensitivity)) == 42
    return asked[0]


def cauchy_log_mass(scale, k):
    s = float(scale)
    return log(s * tanh(pi * s) / pi) - np.log(s * s + k.astype(np.float64) ** 2)


def laplace_mass(scale, k):
    return tanh(0.5 / float(scale)) * np.exp(-np.abs(k) / float(scale))


def rivals(mechanism):
    """Values and bounds of neighbors, as far apart as may be: (shift, scale, other scale)."""
    growth = Fraction(exp(mechanism.smoothness)) * (1 - Fraction(1, 10**12))
    for sensitivity, ratio in product(SENSITIVITIES, [1, (1 + growth) / 2, growth]):
        other = min(sensitivity * ratio, Fraction(LARGEST))
        scales = asked_scale(mechanism, sensitivity), asked_scale(mechanism, other)
        for shift in {0, int(sensitivity) // 2, int(sensitivity)}:
            yield shift, *scales
            yield shift, *reversed(scales)


def pure_loss(shift, scale, other):
    """The supremum of ln(P/Q) over all integers: within 60 scales and in the limit."""
    k = np.unique(np.concatenate([np.arange(-2000, 2001), np.geomspace(1, 1e9, 4000).astype(np.int64)]))
    k = np.concatenate([-k, k])
    limit = log(scale / other) + log(tanh(pi * float(scale)) / tanh(pi * float(other)))
    return max(limit, float((cauchy_log_mass(scale, k) - cauchy_log_mass(other, k - shift)).max()))


def hockey_stick(shift, scale, other, epsilon):
    reach = int(60 * max(scale, other)) + shift
    k = np.arange(-reach, reach + 1)
    excess = laplace_mass(scale, k) - exp(epsilon) * laplace_mass(other, k - shift)
    return fsum(excess[excess > 0])


@pytest.mark.parametrize("epsilon", PURE, ids=float)
def test_cauchy_noise_tells_no_neighbours_apart_by_more_than_epsilon(epsilon):
    mechanism = SmoothSensitivity(epsilon=epsilon, largest_sensitivity=LARGEST)
    worst = max(pure_loss(*rival) for rival in rivals(mechanism))
    assert worst <= float(epsilon) + ROUNDING
    if epsilon <= 1:  # above, a step is more than a scale of 1 hides only in part
        assert worst > 0.95 * float(epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), APPROXIMATE)
def test_laplace_noise_tells_neighbours_apart_with_probability_delta_at_most(epsilon, delta):
    mechanism = SmoothSensitivity(epsilon=epsilon, delta=delta, largest_sensitivity=LARGEST)
    worst = max(hockey_stick(*rival, float(mechanism.epsilon)) for rival in rivals(mechanism))
    assert worst <= float(mechanism.delta)
    assert worst > 0.03 * float(mechanism.delta)  # the proof adds two losses that are largest at different answers


def test_half_the_cauchy_noise_would_be_caught():
    mechanism = SmoothSensitivity(epsilon="0.1", largest_sensitivity=LARGEST)
    object.__setattr__(mechanism, "scale_factor", mechanism.scale_factor / 2)
    assert max(pure_loss(*rival) for rival in rivals(mechanism)) > 0.15


def test_half_the_laplace_noise_would_be_caught():
    mechanism = SmoothSensitivity(epsilon=1, delta="1e-6", largest_sensitivity=LARGEST)
    object.__setattr__(mechanism, "scale_factor", mechanism.scale_factor / 2)
    assert max(hockey_stick(*rival, 1.0) for rival in rivals(mechanism)) > 1e-3


def rough_rivals(mechanism, factor):
    """Neighbors whose bounds differ by more than the mechanism was told."""
    grown = asked_scale(mechanism, 10 * Fraction(exp(factor * mechanism.smoothness)))
    yield 10, asked_scale(mechanism, 10), grown
    yield 10, grown, asked_scale(mechanism, 10)


def test_a_bound_that_is_not_as_smooth_would_be_caught():
    mechanism = SmoothSensitivity(epsilon=1, largest_sensitivity=LARGEST)
    assert max(pure_loss(*rival) for rival in rough_rivals(mechanism, 2)) > 1.3
    mechanism = SmoothSensitivity(epsilon=1, delta="1e-6", largest_sensitivity=LARGEST)
    assert max(hockey_stick(*rival, 1.0) for rival in rough_rivals(mechanism, 2)) > 1e-5


@pytest.mark.parametrize("epsilon", PURE, ids=float)
def test_the_constants_satisfy_the_inequalities_of_the_proof(epsilon):
    mechanism = SmoothSensitivity(epsilon=epsilon, largest_sensitivity=1)
    beta = float(mechanism.smoothness)
    left, variance = float(epsilon) - beta / 40, float(mechanism.scale_factor) ** -2
    assert 2 + variance <= 2 * cosh(left) * (1 + 1e-12)
    assert exp(beta) + (1 + variance) * exp(-beta) <= 2 * cosh(left) * (1 + 1e-12)
    assert 2 * pi / sinh(2 * pi) < 1 / 40


@pytest.mark.parametrize(("epsilon", "delta"), APPROXIMATE)
def test_the_tail_satisfies_the_inequalities_of_the_proof(epsilon, delta):
    tail = float(module._tail_up(Fraction(epsilon), Fraction(delta)))
    assert tail >= 1
    assert tail * exp(tail) >= float(epsilon) / float(delta) * (1 - 1e-9) or exp(tail) >= 2 / float(delta) * (1 - 1e-9)


def test_the_log_ratio_of_two_cauchy_densities_is_bounded_by_their_hyperbolic_distance():
    shift, scale, other = 3, Fraction(5), Fraction(8)
    bound = float(1 + (shift**2 + (other - scale) ** 2) / (2 * scale * other))
    z = np.linspace(-1000, 1000, 2_000_001)
    ratio = np.log(float(scale) / (25 + z**2)) - np.log(float(other) / (64 + (z - shift) ** 2))
    assert cosh(ratio.max()) == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_a_bound_outside_counts_as_the_nearest_possible(delta):
    mechanism = SmoothSensitivity(epsilon="0.1", delta=delta, largest_sensitivity=100)
    smallest, largest = asked_scale(mechanism, 1), asked_scale(mechanism, 100)
    assert [asked_scale(mechanism, bound) for bound in (-5, 0, Fraction(1, 2**80))] == [smallest] * 3
    assert [asked_scale(mechanism, bound) for bound in (101, 10**400)] == [largest] * 2
    assert largest == 100 * smallest


def test_the_cauchy_scale_is_never_below_a_step():
    mechanism = SmoothSensitivity(epsilon=100, largest_sensitivity=10)
    assert mechanism.scale_factor < Fraction(1, 10**10)
    assert asked_scale(mechanism, 10) == 1


@pytest.mark.statistical
def test_cauchy_releases_follow_their_law():
    mechanism = SmoothSensitivity(epsilon="0.1", largest_sensitivity=100)
    scale, size = float(asked_scale(mechanism, 7)), 4000
    noise = np.array([mechanism.release(SmoothedValue(1000, 7)) - 1000 for _ in range(size)], dtype=object)
    assert_law(noise, lambda k: 0.5 + atan((k + 0.5) / scale) / pi)  # right to 1e-6 at this scale of 70


@pytest.mark.statistical
def test_laplace_releases_follow_their_law():
    mechanism = SmoothSensitivity(epsilon=1, delta="1e-6", largest_sensitivity=100)
    noise = np.array([mechanism.release(SmoothedValue(-5, 7)) + 5 for _ in range(SAMPLES // 20)])
    assert_law(noise, partial(discrete_laplace_cdf, Fraction(14)))


def test_the_event_is_pure_without_delta():
    assert SmoothSensitivity(epsilon=1, largest_sensitivity=5).event == PureEvent(Fraction(1))
    approximate = SmoothSensitivity(epsilon=1, delta="0.01", largest_sensitivity=5)
    assert approximate.event == ApproxEvent(Fraction(1), Fraction(1, 100))


def test_secrets_are_opened_and_huge_values_do_not_wrap():
    mechanism = SmoothSensitivity(epsilon=1, largest_sensitivity=5)
    assert abs(mechanism.release(Secret(SmoothedValue(2**200, 3))) - 2**200) < 2**150
    assert type(mechanism.release(SmoothedValue(np.int64(3), 3))) is int


@pytest.mark.parametrize(
    "wrong", [SmoothedValue(1.5, 3), SmoothedValue(None, 3), SmoothedValue(3, 1.5), ("3", "4"), (1, 2, 3), 4]
)
def test_what_is_no_integer_with_a_rational_is_refused(wrong):
    with pytest.raises(ParameterError, match="exact"):
        SmoothSensitivity(epsilon=1, largest_sensitivity=5).release(wrong)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "1e-7"}, "epsilon"),
        ({"epsilon": "1e-5", "delta": "1e-9"}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"delta": -1}, "delta"),
        ({"largest_sensitivity": Fraction(1, 2)}, "largest_sensitivity"),
        ({"largest_sensitivity": 2**51}, "scale"),
        ({"epsilon": 3000, "delta": "0.1"}, "scale"),
    ],
    ids=str,
)
def test_parameters_outside_are_refused_by_name(wrong, name):
    with pytest.raises(ParameterError, match=name):
        SmoothSensitivity(**({"epsilon": 1, "largest_sensitivity": 5} | wrong))
