import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accounting.skellam_sums import hockey_stick, masses

from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.accounting.gaussian.skellam import skellam_delta_up, skellam_epsilon_up, skellam_mean
from sfumato.errors import ParameterError


@pytest.mark.parametrize("mean", ["1/10", "1", "17/2", "50"])
@pytest.mark.parametrize("shift", [1, 2, 7, 60])
@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "5.3"])
def test_delta_is_above_the_definition_and_within_1e_9(mean, shift, epsilon):
    truth = hockey_stick(Fraction(mean), shift, Fraction(epsilon))
    bound = skellam_delta_up(mean=mean, linf_sensitivity=shift, epsilon=epsilon)
    assert truth <= bound
    assert bound <= max(float(truth) * (1 + 1e-9), 1e-25)


@given(
    st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=100),
    st.integers(1, 9),
    st.fractions(min_value=0, max_value=8, max_denominator=100),
)
def test_delta_is_above_the_definition_for_random_parameters(mean, shift, epsilon):
    truth = hockey_stick(mean, shift, epsilon)
    bound = skellam_delta_up(mean=mean, linf_sensitivity=shift, epsilon=epsilon)
    assert truth <= bound <= max(float(truth) * (1 + 1e-9), 1e-25)


@pytest.mark.parametrize("epsilon", ["0", "0.5", "3"])
def test_the_best_half_line_confirms_the_sum(epsilon):
    """A second derivation: by log-concavity δ is the largest of T(m) − e^ε T(m + Δ), T(m) = P(X ≥ m)."""
    mass = masses(Fraction(9), 90)

    def tail(m):
        return sum(mass[abs(k)] for k in range(m, 91))

    weight = Decimal(epsilon).exp()
    best = max(tail(m) - weight * tail(m + 3) for m in range(-30, 60))
    assert skellam_delta_up(mean=9, linf_sensitivity=3, epsilon=epsilon) == pytest.approx(float(best), rel=1e-9)


@pytest.mark.parametrize("mean", ["1/2", "6"])
@pytest.mark.parametrize("epsilon", ["0", "0.5", "2"])
def test_the_largest_shift_is_the_worst_and_more_noise_is_better(mean, epsilon):
    deltas = [hockey_stick(Fraction(mean), shift, Fraction(epsilon)) for shift in range(8)]
    assert deltas == sorted(deltas)
    assert hockey_stick(2 * Fraction(mean), 3, Fraction(epsilon)) < deltas[3]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_much_noise_is_like_a_gaussian(epsilon):
    mean = skellam_mean(linf_sensitivity=100, epsilon=epsilon, delta="1e-6")
    gaussian = analytic_stddev(l2_sensitivity=100, epsilon=epsilon, delta="1e-6")
    assert math.sqrt(2 * mean) == pytest.approx(float(gaussian), rel=2e-3)


@pytest.mark.parametrize("epsilon", ["0", "0.01", "1", "10", "100"])
@pytest.mark.parametrize("linf_sensitivity", [1, 3])
def test_calibrated_noise_suffices_and_is_a_short_dyadic(linf_sensitivity, epsilon):
    mean = skellam_mean(linf_sensitivity=linf_sensitivity, epsilon=epsilon, delta="1e-3")
    assert skellam_delta_up(mean=mean, linf_sensitivity=linf_sensitivity, epsilon=epsilon) <= Fraction(1, 1000)
    assert mean.denominator & (mean.denominator - 1) == 0
    less = skellam_delta_up(mean=mean * Fraction(999, 1000), linf_sensitivity=linf_sensitivity, epsilon=epsilon)
    assert less > Fraction(1, 1000)


def test_the_definition_confirms_calibrated_noise():
    for epsilon in ("0.5", "1", "6"):
        mean = skellam_mean(linf_sensitivity=2, epsilon=epsilon, delta="1e-6")
        assert hockey_stick(mean, 2, Fraction(epsilon)) <= Fraction(1, 10**6)


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-12"])
def test_epsilon_keeps_delta(delta):
    epsilon = skellam_epsilon_up(mean="3.5", linf_sensitivity=2, delta=delta)
    assert skellam_delta_up(mean="3.5", linf_sensitivity=2, epsilon=epsilon) <= Fraction(delta)
    assert skellam_delta_up(mean="3.5", linf_sensitivity=2, epsilon=epsilon * Fraction(999, 1000)) > Fraction(delta)


def test_the_curve_at_its_ends():
    assert skellam_epsilon_up(mean=1, linf_sensitivity=1, delta=0) == math.inf
    assert skellam_epsilon_up(mean=1, linf_sensitivity=1, delta="0.9") == 0
    assert skellam_delta_up(mean=1, linf_sensitivity=10**6, epsilon=1) == 1
    assert skellam_delta_up(mean="1e-100", linf_sensitivity=1, epsilon=0) == 1
    assert 0 < skellam_delta_up(mean=1, linf_sensitivity=1, epsilon=700) < 1e-200


def test_noise_beyond_what_is_certified_is_refused():
    with pytest.raises(ParameterError, match="coarser unit"):
        skellam_mean(linf_sensitivity=10**6, epsilon=1, delta="1e-6")


@pytest.mark.parametrize(
    ("name", "value"),
    [("linf_sensitivity", 0), ("linf_sensitivity", "1.5"), ("delta", 0), ("delta", 1), ("epsilon", -1)],
)
def test_parameters_are_checked_by_name(name, value):
    fine = {"linf_sensitivity": 1, "epsilon": 1, "delta": "1e-6"}
    with pytest.raises(ParameterError, match=name):
        skellam_mean(**(fine | {name: value}))
