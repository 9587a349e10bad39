import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.pld.cumulants import Cumulants
from sfumato.accounting.pld.law import Law

LAWS = (
    Law(lowest=Fraction(-1), step=1.0, masses=np.array([0.25, 0.25, 0.5]), infinite_mass=0.0),
    Law(lowest=Fraction(0), step=1.0, masses=np.array([0.5, 0.5]), infinite_mass=0.0),
)
COUNTS = (40, 30)


def test_moments_are_those_of_the_sum():
    moments = Cumulants(LAWS, COUNTS).moments(0.0)
    assert moments.log_sum == pytest.approx(0)
    assert moments.mean == pytest.approx(40 * 0.25 + 30 * 0.5)
    assert moments.variance == pytest.approx(40 * (0.75 - 0.0625) + 30 * 0.25)


def test_the_log_sum_is_the_cumulant_generating_function():
    expected = 40 * math.log(0.25 * math.exp(-0.3) + 0.25 + 0.5 * math.exp(0.3)) + 30 * math.log(
        0.5 + 0.5 * math.exp(0.3)
    )
    assert Cumulants(LAWS, COUNTS).log_sum(0.3) == pytest.approx(expected)


def test_a_tilt_brings_the_mean_to_a_loss():
    cumulants = Cumulants(LAWS, COUNTS)
    assert cumulants.tilt_for_loss(20.0) == 0
    assert cumulants.moments(cumulants.tilt_for_loss(50.0)).mean == pytest.approx(50, rel=0.1)


def test_a_tilt_for_delta_lies_where_its_chernoff_bound_does():
    cumulants = Cumulants(LAWS, COUNTS)
    tilt = cumulants.tilt_for_delta(1e-6)
    moments = cumulants.moments(tilt)
    assert moments.log_sum - tilt * moments.mean == pytest.approx(math.log(1e-6), rel=0.2)


def test_the_tilt_stays_moderate_where_the_highest_loss_is_likelier_than_delta():
    assert Cumulants(LAWS[:1], (2,)).tilt_for_delta(1e-6) < 5


def test_less_than_a_stray_probability_lies_outside_the_window():
    cumulants = Cumulants(LAWS, COUNTS)
    bottom, top = cumulants.window(0.0, 1e-3)
    masses = np.array([1.0])
    for law, count in zip(LAWS, COUNTS, strict=True):
        for _ in range(count):
            masses = np.convolve(masses, law.masses)
    losses = np.arange(len(masses)) - 40.0
    assert masses[losses < bottom].sum() <= 1e-3
    assert masses[losses > top].sum() <= 1e-3
    assert bottom > cumulants.lowest
    assert top < cumulants.highest
