from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.accounting.pld.brute_force import exact_delta
from tests.accounting.pld.laws import PAIRS, finite, symmetric

from sfumato.accounting.gaussian.gaussian import gaussian_delta_up
from sfumato.accounting.pld.bounds import laws_of
from sfumato.accounting.pld.composite import composed, flattened_law
from sfumato.accounting.pld.convolve import Cumulants, compose
from sfumato.accounting.profiles.finite import WorstPair
from sfumato.accounting.profiles.profile import GaussianProfile

EPSILONS = np.linspace(0, 6, 25)


def test_composed_gaussians_are_one_gaussian():
    pair = composed(((symmetric(GaussianProfile(Fraction(4))), 9),))
    assert pair.is_symmetric
    found = pair.forward.delta_up(EPSILONS)
    first, second = pair.forward.test_down(EPSILONS)
    for at, epsilon in enumerate(EPSILONS):
        exact = gaussian_delta_up(noise_multiplier=Fraction(4, 3), epsilon=epsilon)
        assert exact * (1 - 1e-11) <= found[at] <= exact * 1.02
        assert exact * 0.98 - 1e-15 <= first[at] - np.exp(epsilon) * second[at] <= exact * (1 + 1e-9)


def test_each_test_is_a_lower_bound_at_every_epsilon():
    pair = composed(((PAIRS["certain"], 2), (PAIRS["response"], 1)))
    for order in (pair.forward, pair.backward):
        first, second = order.test_down(EPSILONS)
        truth = order.delta_up(EPSILONS)
        lines = first[:, None] - np.exp(EPSILONS)[None, :] * second[:, None]
        assert np.all(lines <= truth[None, :] + 1e-12)


def test_infinite_losses_survive():
    pair = composed(((finite(("1/2", "1/2"), (1, 0)), 2),))
    assert pair.forward.delta_up(np.array([50.0]))[0] == pytest.approx(3 / 4, rel=1e-9)
    assert pair.backward.delta_up(np.array([1.0]))[0] >= 1 / 4


def test_tiny_deltas_stay_tiny():
    pair = composed(((symmetric(GaussianProfile(Fraction(4))), 4),))
    assert pair.forward.delta_up(np.array([5.0]))[0] <= 1e-19


def test_nothing_is_claimed_of_what_is_too_much_to_compose():
    pair = composed(((PAIRS["gaussian"], 10**16),))
    assert pair.forward.delta_up(np.array([1.0]))[0] == 1


def test_losses_that_span_more_than_floats_keep_their_bounds():
    """e^loss of such laws overflows, and e^−loss underflows."""
    half, rare = Fraction(1, 2), Fraction(1, 10**300)
    pair = finite((half, half), (rare, 1 - rare))
    composition = composed(((pair, 3),))
    at = np.array([0.0, 1.0, 600.0, 700.0, 1400.0, 1500.0, 2000.0])
    triple = [((half, half), (rare, 1 - rare))] * 3
    exact = [exact_delta(triple, Fraction(str(mpmath.exp(mpmath.mpf(epsilon))))) for epsilon in at]
    found = composition.forward.delta_up(at)
    assert all(up >= truth * (1 - Fraction(1, 10**12)) for up, truth in zip(found, exact, strict=True))


def test_a_test_never_claims_more_than_the_truth_far_out():
    pair = symmetric(WorstPair(Fraction(400)))
    first, second = composed(((pair, 2),)).forward.test_down(np.array([300.0, 790.0]))
    assert np.all((second > 0) | (first == 0))


def flat(*, is_upper, tilts):
    laws, counts = laws_of(
        ((symmetric(GaussianProfile(Fraction(10))), 100),), step=0.005, delta=1e-30, is_upper=is_upper
    )
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
    laws, counts = laws_of(((symmetric(GaussianProfile(Fraction(10))), 100),), step=0.005, delta=1e-9, is_upper=True)
    cumulants = Cumulants(laws, counts)
    window = compose(laws, counts, cumulants=cumulants, tilt=0.0, is_upper=True)
    coarse = replace(window, stray=1e-3, is_complete_below=False)
    assert flattened_law([coarse], is_upper=True).masses[0] >= 1e-3
    assert flattened_law([coarse], is_upper=True).infinite_mass >= 1e-3
    assert flattened_law([coarse], is_upper=False).masses.sum() <= 1 - 1e-3
