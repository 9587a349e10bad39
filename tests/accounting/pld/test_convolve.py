import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.pld.convolve import Cumulants, compose, infinite_mass
from sfumato.accounting.pld.discretize import LossDistribution

STEP = 0.125


def law(masses, lowest, infinite=0.0):
    return LossDistribution(lowest=Fraction(lowest), step=STEP, masses=np.array(masses), infinite_mass=infinite)


LAWS = (law([0.25, 0.0, 0.5, 0.25], "-1/4"), law([0.125, 0.5, 0.375], "-1/16"))
COUNTS = (5, 3)


def exact_masses():
    """The composed masses in rationals, and the lowest loss."""
    result, lowest = [Fraction(1)], Fraction(0)
    for single, count in zip(LAWS, COUNTS, strict=True):
        for _ in range(count):
            terms = [Fraction(mass) for mass in single.masses]
            result = [
                sum(result[i - j] * terms[j] for j in range(len(terms)) if 0 <= i - j < len(result))
                for i in range(len(result) + len(terms) - 1)
            ]
            lowest += single.lowest
    return result, lowest


@pytest.mark.parametrize("tilt", [0.0, 1.0, 7.5])
def test_composed_masses_are_exact_within_the_stated_error(tilt):
    composed = compose(LAWS, COUNTS, cumulants=Cumulants(LAWS, COUNTS), tilt=tilt, is_upper=True)
    masses, lowest = exact_masses()
    offset = (composed.center - lowest) / Fraction(STEP) + composed.first
    assert offset.denominator == 1
    squares = 0.0
    for i, mass in enumerate(masses):
        place = i - int(offset)
        scaled = float(mass) * np.exp(tilt * STEP * (place + composed.first) - composed.log_scale)
        found = composed.masses[place] if 0 <= place < len(composed.masses) else 0.0
        squares += (scaled - found) ** 2
    assert np.sqrt(squares) <= composed.error + composed.relative_error + composed.stray
    assert composed.error < 1e-13


def test_the_error_grows_with_the_count():
    errors = [
        compose(LAWS[:1], (count,), cumulants=Cumulants(LAWS[:1], (count,)), tilt=0.0, is_upper=True).error
        for count in (10, 1000, 100_000)
    ]
    assert errors == sorted(errors)
    assert errors[-1] > 100 * errors[0]


def test_a_window_too_wide_for_memory_is_refused():
    count = (10**14,)
    assert compose(LAWS[:1], count, cumulants=Cumulants(LAWS[:1], count), tilt=0.0, is_upper=True) is None


def test_counts_that_drown_in_rounding_are_refused():
    narrow = (law([1.0, 1e-14], 0),)
    count = (10**15,)
    assert compose(narrow, count, cumulants=Cumulants(narrow, count), tilt=0.0, is_upper=True) is None


def test_infinite_losses_add_up_outward():
    laws = (law([0.9], 0, 0.1), law([1 - 2.0**-30], 0, 2.0**-30))
    exact = 1 - Fraction(9, 10) ** 3 * (1 - Fraction(1, 2**30)) ** 5
    up, down = (infinite_mass(laws, (3, 5), is_upper=is_upper) for is_upper in (True, False))
    assert down <= exact <= up
    assert up - down < 1e-11
    assert infinite_mass(LAWS, COUNTS, is_upper=True) == 0


def test_a_tiny_mass_that_is_tilted_far_up_stays_a_float():
    rare = law([1.0, *[0.0] * 7999, 5e-324], 0)
    cumulants = Cumulants([rare], [1])
    composed = compose([rare], [1], cumulants=cumulants, tilt=0.8, is_upper=True)
    assert composed.masses.max() == pytest.approx(1.0)


def test_counts_that_drown_in_rounding_are_refused_before_any_transform(monkeypatch):
    monkeypatch.setattr(np.fft, "rfft", None)
    counts = (10**15, 1)
    assert compose(LAWS, counts, cumulants=Cumulants(LAWS, counts), tilt=0.0, is_upper=True) is None


CUMULANTS_LAWS = (
    LossDistribution(lowest=Fraction(-1), step=1.0, masses=np.array([0.25, 0.25, 0.5]), infinite_mass=0.0),
    LossDistribution(lowest=Fraction(0), step=1.0, masses=np.array([0.5, 0.5]), infinite_mass=0.0),
)
CUMULANTS_COUNTS = (40, 30)


def test_moments_are_those_of_the_sum():
    moments = Cumulants(CUMULANTS_LAWS, CUMULANTS_COUNTS).moments(0.0)
    assert moments.log_sum == pytest.approx(0)
    assert moments.mean == pytest.approx(40 * 0.25 + 30 * 0.5)
    assert moments.variance == pytest.approx(40 * (0.75 - 0.0625) + 30 * 0.25)


def test_the_log_sum_is_the_cumulant_generating_function():
    expected = 40 * math.log(0.25 * math.exp(-0.3) + 0.25 + 0.5 * math.exp(0.3)) + 30 * math.log(
        0.5 + 0.5 * math.exp(0.3)
    )
    assert Cumulants(CUMULANTS_LAWS, CUMULANTS_COUNTS).log_sum(0.3) == pytest.approx(expected)


def test_a_tilt_brings_the_mean_to_a_loss():
    cumulants = Cumulants(CUMULANTS_LAWS, CUMULANTS_COUNTS)
    assert cumulants.tilt_for_loss(20.0) == 0
    assert cumulants.moments(cumulants.tilt_for_loss(50.0)).mean == pytest.approx(50, rel=0.1)


def test_a_tilt_for_delta_lies_where_its_chernoff_bound_does():
    cumulants = Cumulants(CUMULANTS_LAWS, CUMULANTS_COUNTS)
    tilt = cumulants.tilt_for_delta(1e-6)
    moments = cumulants.moments(tilt)
    assert moments.log_sum - tilt * moments.mean == pytest.approx(math.log(1e-6), rel=0.2)


def test_the_tilt_stays_moderate_where_the_highest_loss_is_likelier_than_delta():
    assert Cumulants(CUMULANTS_LAWS[:1], (2,)).tilt_for_delta(1e-6) < 5


def test_less_than_a_stray_probability_lies_outside_the_window():
    cumulants = Cumulants(CUMULANTS_LAWS, CUMULANTS_COUNTS)
    bottom, top = cumulants.window(0.0, 1e-3)
    masses = np.array([1.0])
    for law, count in zip(CUMULANTS_LAWS, CUMULANTS_COUNTS, strict=True):
        for _ in range(count):
            masses = np.convolve(masses, law.masses)
    losses = np.arange(len(masses)) - 40.0
    assert masses[losses < bottom].sum() <= 1e-3
    assert masses[losses > top].sum() <= 1e-3
    assert bottom > cumulants.lowest
    assert top < cumulants.highest
