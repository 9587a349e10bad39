import math
from fractions import Fraction

import pytest
from dp_accounting.pld import privacy_loss_mechanism
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.exact_sums import hockey_stick
from tests.accounting.lattice_sums import moved_delta, moves

from sfumato.accounting.gaussian.discrete_gaussian import (
    discrete_gaussian_delta_up,
    discrete_gaussian_epsilon_up,
    discrete_stddev,
)
from sfumato.accounting.gaussian.gaussian import gaussian_delta_up, gaussian_epsilon_up
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
