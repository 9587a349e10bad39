from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.accounting.pld.laws import symmetric

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.accounting.pld.composing import laws_of
from sfumato.accounting.pld.convolve import compose
from sfumato.accounting.pld.cumulants import Cumulants
from sfumato.accounting.pld.flatten import flattened_law
from sfumato.accounting.profiles.additive import Gaussian


def flat(*, is_upper, tilts):
    laws, counts = laws_of(((symmetric(Gaussian(Fraction(10))), 100),), step=0.005, delta=1e-30, is_upper=is_upper)
    cumulants = Cumulants(laws, counts)
    windows = [compose(laws, counts, cumulants=cumulants, tilt=tilt, is_upper=is_upper) for tilt in tilts]
    return flattened_law(windows, is_upper=is_upper)


def delta(law, epsilon):
    return float((law.masses * -np.expm1(np.minimum(epsilon - law.losses, 0.0))).sum()) + law.infinite_mass


@pytest.mark.parametrize("tilts", [(0.0,), (0.0, 4.0, 8.0)])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_flattened_windows_enclose_the_closed_form(tilts, epsilon):
    exact = gaussian_delta_up(noise_multiplier=1, epsilon=epsilon)
    assert delta(flat(is_upper=False, tilts=tilts), epsilon) <= exact * (1 + 1e-9)
    assert delta(flat(is_upper=True, tilts=tilts), epsilon) >= exact * (1 - 1e-9)


def test_more_windows_see_farther():
    near, far = (delta(flat(is_upper=True, tilts=tilts), 9.0) for tilts in ((0.0,), (0.0, 4.0, 8.0)))
    exact = gaussian_delta_up(noise_multiplier=1, epsilon=9)
    assert far <= 1.1 * exact < near


def test_a_window_that_does_not_touch_the_others_is_left_out():
    law = flat(is_upper=True, tilts=(0.0, 40.0))
    assert law.infinite_mass <= 1e-12
    assert delta(law, 1.0) >= gaussian_delta_up(noise_multiplier=1, epsilon=1) * (1 - 1e-9)


def test_what_lies_below_the_first_window_is_kept():
    laws, counts = laws_of(((symmetric(Gaussian(Fraction(10))), 100),), step=0.005, delta=1e-9, is_upper=True)
    cumulants = Cumulants(laws, counts)
    window = compose(laws, counts, cumulants=cumulants, tilt=0.0, is_upper=True)
    coarse = replace(window, stray=1e-3, is_complete_below=False)
    assert flattened_law([coarse], is_upper=True).masses[0] >= 1e-3
    assert flattened_law([coarse], is_upper=True).infinite_mass >= 1e-3
    assert flattened_law([coarse], is_upper=False).masses.sum() <= 1 - 1e-3
