"""Discrete Gaussian noise of a given width."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms import Gaussian, GaussianNoise
from sfumato.privacy.events import DiscreteGaussianEvent


def test_its_event_is_the_law_it_draws():
    assert GaussianNoise(l2_sensitivity=3, stddev="2.5", l0_sensitivity=4).event == DiscreteGaussianEvent("2.5", 3, 4)


def test_of_the_width_of_a_calibrated_answer_it_is_that_answer():
    calibrated = Gaussian(l2_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1)
    same = GaussianNoise(l2_sensitivity=2, stddev=calibrated.stddev, l0_sensitivity=1)
    assert (same.event, same.accuracy(0.9)) == (calibrated.event, calibrated.accuracy(0.9))


@pytest.mark.statistical
def test_the_noise_has_the_stated_width():
    n = 100_000
    noise = np.asarray(GaussianNoise(l2_sensitivity=1, stddev=7).release([0] * n), dtype=float)
    assert noise.std() == pytest.approx(7, rel=5 / np.sqrt(2 * n))  # five standard errors: 6e-7
    assert abs(noise.mean()) < 5 * 7 / np.sqrt(n)


def test_how_many_numbers_move_is_unknown_unless_it_is_stated():
    unknown = GaussianNoise(l2_sensitivity=2, stddev=5)
    assert unknown.l0_sensitivity is None
    assert unknown.event == DiscreteGaussianEvent(5, 2, 4)
    assert len(unknown.release([0] * 9)) == 9


def test_nothing_gets_no_noise():
    assert len(GaussianNoise(l2_sensitivity=1, stddev=7).release([])) == 0


@pytest.mark.parametrize("wrong", [{"stddev": 0}, {"stddev": -1}, {"l2_sensitivity": 0}, {"l0_sensitivity": 0}])
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(ParameterError):
        GaussianNoise(**({"l2_sensitivity": 1, "stddev": 1, "l0_sensitivity": 1} | wrong))
