import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.exact_sums import hockey_stick
from tests.accounting.lattice_sums import composed_delta, moved_delta, moves

from sfumato.accounting.core.integer_moves import longest_move
from sfumato.accounting.gaussian.discrete_gaussian import (
    LEAKS,
    bound_above,
    bound_below,
    discrete_gaussian_delta_up,
    discrete_gaussian_epsilon_up,
    discrete_stddev,
)
from sfumato.accounting.gaussian.gaussian import GaussianBound, gaussian_delta_up, gaussian_epsilon_up, least_delta_up
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import sqrt_up

GRID = [(stddev, shift) for stddev in ("0.5", "1", "3.7", "100") for shift in (1, 2, 7)]


@pytest.mark.parametrize(("stddev", "shift"), GRID)
@pytest.mark.parametrize("epsilon", ["0", "0.01", "0.3", "1", "5.3"])
def test_delta_is_above_the_definition_and_within_1e_6(stddev, shift, epsilon):
    truth = hockey_stick(Fraction(stddev), shift, Fraction(epsilon))
    bound = discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=shift, epsilon=epsilon, l0_sensitivity=1)
    assert truth <= bound
    assert bound <= max(truth * (1 + 1e-6), 1e-17)


@given(
    st.fractions(min_value=Fraction(1, 5), max_value=12, max_denominator=1000),
    st.integers(1, 12),
    st.fractions(min_value=0, max_value=8, max_denominator=1000),
)
def test_delta_is_above_the_definition_for_random_parameters(stddev, shift, epsilon):
    truth = hockey_stick(stddev, shift, epsilon)
    bound = discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=shift, epsilon=epsilon, l0_sensitivity=1)
    assert truth <= bound <= max(truth * (1 + 1e-6), 1e-17)


@pytest.mark.parametrize("stddev", ["0.5", "1", "3.7"])
@pytest.mark.parametrize("epsilon", ["0", "0.5", "2"])
def test_the_largest_shift_is_the_worst(stddev, epsilon):
    deltas = [hockey_stick(Fraction(stddev), shift, Fraction(epsilon)) for shift in range(8)]
    assert deltas == sorted(deltas)


def test_the_discrete_law_differs_from_the_continuous_for_little_noise():
    discrete = discrete_gaussian_epsilon_up(stddev=1, l2_sensitivity=1, delta="1e-6")
    continuous = gaussian_epsilon_up(noise_multiplier=1, delta="1e-6")
    assert float(discrete) == pytest.approx(4.49959098, abs=1e-8)
    assert float(continuous) == pytest.approx(4.88655412, abs=1e-8)
    ratio = discrete_gaussian_delta_up(stddev=1, l2_sensitivity=1, epsilon="5.3") / gaussian_delta_up(
        noise_multiplier=1, epsilon="5.3"
    )
    assert ratio == pytest.approx(2.12, abs=0.01)


@pytest.mark.parametrize(
    ("stddev", "delta", "epsilon"), [("2", "1e-6", 2.27579315), ("2", "1e-9", 2.87013837), ("10", "1e-6", 0.39679009)]
)
def test_an_independent_grid_computation_agrees(stddev, delta, epsilon):
    # dp_accounting 0.6.0, PLD with value_discretization_interval 1e-4.
    assert float(discrete_gaussian_epsilon_up(stddev=stddev, l2_sensitivity=1, delta=delta)) == pytest.approx(
        epsilon, abs=1e-6
    )


@pytest.mark.parametrize("sigma", [1.0, 2.5, 6.0])
@pytest.mark.parametrize("shift", [1, 3])
def test_an_independent_privacy_loss_agrees(sigma, shift):
    loss = privacy_loss_mechanism.DiscreteGaussianPrivacyLoss(sigma, sensitivity=shift)
    for epsilon in (0.2, 1.0, 3.0):
        bound = discrete_gaussian_delta_up(stddev=sigma, l2_sensitivity=shift, epsilon=epsilon, l0_sensitivity=1)
        assert bound == pytest.approx(loss.get_delta_for_epsilon(epsilon), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("stddev", [3000, 2**20, 2**50])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "4"])
def test_much_noise_agrees_with_the_continuous_law(stddev, epsilon):
    discrete = discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=stddev // 2, epsilon=epsilon)
    assert discrete == pytest.approx(gaussian_delta_up(noise_multiplier=2, epsilon=epsilon), rel=1e-3)


@pytest.mark.parametrize("stddev", ["0.01", "0.3", "7/3", "300", "1023.9", "1024.1", "9999"])
@pytest.mark.parametrize("l2_sensitivity", [1, 5])
def test_epsilon_keeps_delta(stddev, l2_sensitivity):
    for delta in ("0.1", "1e-6", "1e-12"):
        epsilon = discrete_gaussian_epsilon_up(stddev=stddev, l2_sensitivity=l2_sensitivity, delta=delta)
        at = {"stddev": stddev, "l2_sensitivity": l2_sensitivity}
        assert discrete_gaussian_delta_up(**at, epsilon=epsilon) <= Fraction(delta)
        if epsilon > Fraction(1, 1000):
            assert discrete_gaussian_delta_up(**at, epsilon=epsilon * Fraction(9999, 10_000)) > Fraction(delta)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "10", "2000"])
@pytest.mark.parametrize("l2_sensitivity", [1, 2, "7.9", 2**20, 2**48])
def test_calibrated_noise_suffices_and_is_a_short_dyadic(epsilon, l2_sensitivity):
    for delta in ("1e-5", "1e-9"):
        sigma = discrete_stddev(l2_sensitivity=l2_sensitivity, epsilon=epsilon, delta=delta)
        spent = discrete_gaussian_delta_up(stddev=sigma, l2_sensitivity=l2_sensitivity, epsilon=epsilon)
        assert spent <= Fraction(delta)
        assert sigma.denominator & (sigma.denominator - 1) == 0
        less = discrete_gaussian_delta_up(
            stddev=sigma * (1 - Fraction(1, 2**30)), l2_sensitivity=l2_sensitivity, epsilon=epsilon
        )
        assert less > Fraction(delta)


def test_the_definition_confirms_calibrated_noise():
    for epsilon in ("0.3", "1", "6"):
        sigma = discrete_stddev(l2_sensitivity=2, epsilon=epsilon, delta="1e-6", l0_sensitivity=1)
        assert hockey_stick(sigma, 2, Fraction(epsilon)) <= Fraction(1, 10**6)


def test_several_coordinates_are_calibrated_by_the_best_bound():
    sigma = discrete_stddev(l2_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=4)
    at = {"stddev": sigma, "l2_sensitivity": 2, "l0_sensitivity": 4}
    assert discrete_gaussian_delta_up(**at, epsilon=1) <= 1e-6
    one = discrete_stddev(l2_sensitivity=2, epsilon=1, delta="1e-6", l0_sensitivity=1)
    assert one < sigma < one * Fraction(101, 100)  # through zCDP it would be 8% larger
    assert float(discrete_gaussian_epsilon_up(**at, delta="1e-6")) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(("l2_sensitivity", "l0_sensitivity"), [("1.5", 2), (3, 2), ("14.2", 7), (100, 10**6)])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "7"])
def test_what_is_calibrated_for_several_coordinates_stays_within_epsilon(l2_sensitivity, l0_sensitivity, epsilon):
    moved = {"l2_sensitivity": l2_sensitivity, "l0_sensitivity": l0_sensitivity}
    sigma = discrete_stddev(**moved, epsilon=epsilon, delta="1e-6")
    assert discrete_gaussian_epsilon_up(**moved, stddev=sigma, delta="1e-6") <= Fraction(epsilon)


def test_little_noise_on_several_coordinates_is_priced_through_zcdp():
    # rho = 2 at sigma = 1: the published conversion [CKS20]
    published = discrete_gaussian_epsilon_up(stddev=1, l2_sensitivity=2, l0_sensitivity=4, delta="1e-6")
    assert float(published) == pytest.approx(11.688596, abs=1e-6)


def test_of_many_coordinates_only_one_moves_if_the_vector_moves_by_one():
    at = {"stddev": "1.5", "epsilon": 1}
    alone = discrete_gaussian_delta_up(**at, l2_sensitivity=1)
    assert discrete_gaussian_delta_up(**at, l2_sensitivity="1.2", l0_sensitivity=9) == alone


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_two_moved_coordinates_stay_below_the_zcdp_bound(epsilon):
    """The definition in two dimensions: both coordinates move by 1."""
    sigma, reach, weight = 1.5, 14, math.exp(float(Fraction(epsilon)))
    mass = {k: math.exp(-(k**2) / (2 * sigma**2)) for k in range(-reach, reach + 2)}
    norm = math.fsum(mass.values()) ** 2
    cells = [(a, b) for a in range(-reach, reach) for b in range(-reach, reach)]
    truth = math.fsum(max(mass[a] * mass[b] - weight * mass[a + 1] * mass[b + 1], 0) for a, b in cells) / norm
    bound = discrete_gaussian_delta_up(
        stddev=sigma, l2_sensitivity=Fraction("1.4143"), epsilon=epsilon, l0_sensitivity=2
    )
    assert truth <= bound <= 6 * truth


def test_of_an_unknown_number_of_coordinates_every_move_of_that_length_is_covered():
    for stddev, square in [(1, 2), (1, 4), (2, 6), (3, 9)]:
        l2 = sqrt_up(Fraction(square))
        for epsilon in (0, 0.3, 1, 4):
            worst = max(moved_delta(stddev, move, epsilon) for move in moves(square, 3))
            assert worst <= discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=l2, epsilon=epsilon)
        sigma = discrete_stddev(l2_sensitivity=l2, epsilon=1, delta="1e-4")
        assert max(moved_delta(float(sigma), move, 1) for move in moves(square, 3)) <= 1e-4


def test_a_long_move_of_unknown_coordinates_costs_next_to_nothing_more_than_one_of_one():
    """A sum of salaries: its million million coordinates would hide behind no leak that suffices for a few."""
    salaries = {"stddev": 10**7, "l2_sensitivity": 10**6, "delta": "1e-6"}
    single = discrete_gaussian_epsilon_up(**salaries, l0_sensitivity=1)
    assert single < discrete_gaussian_epsilon_up(**salaries) < single * Fraction(10001, 10000)


def test_integers_move_by_whole_steps():
    at = {"stddev": 1, "epsilon": 1, "l0_sensitivity": 1}
    assert discrete_gaussian_delta_up(l2_sensitivity="1.9", **at) == discrete_gaussian_delta_up(l2_sensitivity=1, **at)
    assert discrete_gaussian_delta_up(l2_sensitivity="0.5", **at) == 0
    assert discrete_gaussian_epsilon_up(stddev=1, l2_sensitivity="0.5", delta=0) == 0


def test_the_curve_at_its_ends():
    assert discrete_gaussian_epsilon_up(stddev=1, l2_sensitivity=1, delta=0) == math.inf
    assert discrete_gaussian_epsilon_up(stddev=1, l2_sensitivity=1, delta="0.9") == 0
    assert discrete_gaussian_delta_up(stddev="0.01", l2_sensitivity=1, epsilon=0) == 1
    assert 0 < discrete_gaussian_delta_up(stddev=2**500, l2_sensitivity=1, epsilon=1) < 1e-300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("l2_sensitivity", "0.5"),
        ("l2_sensitivity", 0),
        ("delta", 0),
        ("delta", 1),
        ("epsilon", -1),
        ("l0_sensitivity", 0),
    ],
)
def test_parameters_are_checked_by_name(name, value):
    fine = {"l2_sensitivity": 1, "epsilon": 1, "delta": "1e-6", "l0_sensitivity": 1}
    with pytest.raises(ParameterError, match=name):
        discrete_stddev(**(fine | {name: value}))


@pytest.mark.parametrize(("stddev", "l2_sensitivity"), [(10**6, 10**5), (2**490, 2), (3, 2**490)])
def test_several_coordinates_have_answers_at_the_extremes(stddev, l2_sensitivity):
    noise = {"stddev": stddev, "l2_sensitivity": l2_sensitivity, "l0_sensitivity": 9}
    assert discrete_gaussian_epsilon_up(**noise, delta=0) == math.inf
    assert discrete_gaussian_epsilon_up(**noise, delta="0.5") >= 0
    assert 0 < discrete_gaussian_delta_up(**noise, epsilon=2**490) <= 1


SUMS = 1e-11  # the rounding of the sums in floats
EPSILONS = ["0", "0.05", "0.4", "1.5"]


def above(stddev, l2_sensitivity, l0_sensitivity):
    return [bound_above(Fraction(stddev), l2_sensitivity, l0_sensitivity, leak) for leak in LEAKS]


def below(stddev, l2_sensitivity, l0_sensitivity):
    return [bound_below(Fraction(stddev), l2_sensitivity, l0_sensitivity, leak) for leak in LEAKS]


@pytest.mark.parametrize("stddev", [2, "2.75", 4])
@pytest.mark.parametrize("coordinates", [1, 2, 3])
@pytest.mark.parametrize("square", [1, 3, 9])
def test_no_move_of_the_lattice_passes_the_bounds(stddev, coordinates, square):
    reach = Fraction(math.isqrt(square * 10**12) + 1, 10**6)
    for epsilon in EPSILONS:
        truths = [
            moved_delta(float(Fraction(stddev)), move, float(epsilon))
            for move in moves(*longest_move(reach, coordinates))
        ]
        bounds = [bound.delta_up(Fraction(epsilon)) for bound in above(stddev, reach, coordinates)]
        assert max(truths) <= min(bounds) * (1 + SUMS) + SUMS
        lower = [bound.delta_down(Fraction(epsilon)) for bound in below(stddev, reach, coordinates)]
        assert max(lower) <= max(truths) * (1 + SUMS) + SUMS
        if coordinates > 1:
            priced = discrete_gaussian_delta_up(
                stddev=stddev, l2_sensitivity=reach, epsilon=epsilon, l0_sensitivity=coordinates
            )
            assert max(truths) <= priced * (1 + SUMS) + SUMS


@pytest.mark.parametrize("shifts", [(1,) * 30, (1, 2, 3), (4, 1, 1, 2)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_compositions_lie_between_the_sums_of_bounds(shifts, epsilon):
    truth = composed_delta(3.0, shifts, float(epsilon))
    for leak in LEAKS:
        parts = [bound_above(Fraction(3), Fraction(shift), 1, leak / len(shifts)) for shift in shifts]
        total = GaussianBound(sum(part.squared_mu for part in parts), sum(part.log_factor for part in parts))
        assert truth <= total.delta_up(Fraction(epsilon)) * (1 + SUMS) + SUMS
        parts = [bound_below(Fraction(3), Fraction(shift), 1, leak / len(shifts)) for shift in shifts]
        total = GaussianBound(sum(part.squared_mu for part in parts), sum(part.log_factor for part in parts))
        assert total.delta_down(Fraction(epsilon)) <= truth * (1 + SUMS) + SUMS


@given(st.fractions(2, 6, max_denominator=50), st.integers(1, 6), st.fractions(0, 4, max_denominator=100))
def test_a_move_of_one_coordinate_lies_between_the_bounds(stddev, shift, epsilon):
    exact = discrete_gaussian_delta_up(stddev=stddev, l2_sensitivity=shift, epsilon=epsilon, l0_sensitivity=1)
    assert exact <= least_delta_up(above(stddev, Fraction(shift), 1), epsilon) * (1 + 1e-6)
    assert max(bound.delta_down(epsilon) for bound in below(stddev, Fraction(shift), 1)) <= exact


@pytest.mark.parametrize("variance", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("noise", [4.0, 9.0, 100.0])
def test_the_rounded_continuous_law_is_as_near_as_proved(variance, noise):
    """P / K for all centers, K by numerical integration: its swing is at most κ = η e^(-2π²v)/(1 - η)."""
    kept = noise - variance
    x = np.arange(-400, 400) / 128 * math.sqrt(noise)
    step = x[1] - x[0]
    k = np.arange(-60, 61)[:, None]
    normalizer = np.exp(-((np.arange(-120, 121)[:, None] - x) ** 2) / (2 * variance)).sum(axis=0)
    rounding = np.exp(-((k - x) ** 2) / (2 * variance)) / normalizer
    near = np.abs(k[:, 0]) <= math.sqrt(noise)
    smoothed = (rounding * np.exp(-(x**2) / (2 * kept))).sum(axis=1)[near] * step
    ratio = np.exp(-(k[near, 0] ** 2) / (2 * noise)) / smoothed
    ripple = 2 * sum(math.exp(-2 * math.pi**2 * variance * n * n) for n in range(1, 9))
    apart = ripple / (1 - ripple) * math.exp(-2 * math.pi**2 * variance * kept / noise)
    assert ratio.max() / ratio.min() <= (1 + apart) / (1 - apart) * (1 + 1e-7)


@pytest.mark.parametrize("leak", [Fraction(1, 16), Fraction(1, 10**6), Fraction(1, 10**60)])
def test_the_nearer_the_laws_the_more_variance_it_takes(leak):
    near, far = (bound_above(Fraction(50), Fraction(3), 1, each) for each in (leak / 100, leak))
    assert near.squared_mu > far.squared_mu > Fraction(9, 2500)
    assert near.log_factor < far.log_factor
    assert far.log_factor < 5 * leak


def test_a_move_shorter_than_one_step_reveals_nothing():
    assert bound_above(Fraction(4), Fraction(1, 2), 2, LEAKS[0]) == GaussianBound(Fraction(0))


def test_a_large_leak_is_a_small_one():
    assert bound_above(Fraction(2), Fraction(1), 1, Fraction(9, 10)) == bound_above(
        Fraction(2), Fraction(1), 1, LEAKS[0]
    )


@pytest.mark.parametrize("bound", [bound_above, bound_below])
def test_little_noise_is_refused(bound):
    with pytest.raises(ParameterError, match="stddev"):
        bound(Fraction("1.99"), Fraction(1), 1, LEAKS[0])


@pytest.mark.parametrize("stddev", [Fraction(2), Fraction(10) ** 100, Fraction(10) ** 300])
def test_extreme_noise_and_leaks_give_bounds(stddev):
    high, low = (bound(stddev, Fraction(1), 1, Fraction(1, 10**400)) for bound in (bound_above, bound_below))
    assert 0 <= low.squared_mu <= 1 / stddev**2 <= high.squared_mu < 2
    assert low.squared_mu > 0 or stddev > 10**200  # smaller than floats go
    assert 0 < low.log_factor < 1
    assert 0 < high.log_factor < 1


@pytest.mark.parametrize("coordinates", [2, 3])
@pytest.mark.parametrize("square", [3, 7, 15])
def test_the_bound_below_holds_for_a_move_that_exists(square, coordinates):
    longest = max(sum(step**2 for step in move) for move in moves(square, coordinates))
    for bound in below(5, sqrt_up(Fraction(square)), coordinates):
        assert bound.squared_mu <= Fraction(longest, 25)


def test_long_moves_of_two_coordinates_have_bounds_near_each_other():
    reach = Fraction(10**6) + Fraction(1, 3)
    high, low = (bound(reach, reach, 2, LEAKS[3]) for bound in (bound_above, bound_below))
    assert low.squared_mu <= 1
    assert high.squared_mu >= Fraction(math.floor(reach**2)) / reach**2
    assert high.squared_mu - low.squared_mu < Fraction(1, 10**6)
