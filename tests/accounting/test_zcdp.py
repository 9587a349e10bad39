import math
from fractions import Fraction

import mpmath
import pytest

from sfumato.accounting.gaussian import gaussian_delta_up
from sfumato.accounting.zcdp import zcdp_delta_up, zcdp_epsilon_up
from sfumato.errors import ParameterError

# Canonne, Kamath and Steinke (2020), Proposition 12, minimized over continuous orders, at delta 1e-6.
PUBLISHED = [
    ("0.001", 0.182895),
    ("0.01", 0.621693),
    ("0.05", 1.471595),
    ("0.1", 2.141939),
    ("0.5", 5.221534),
    ("1", 7.766217),
    ("2", 11.688596),
    ("5", 20.551949),
]


def best_of_a_grid(rho: float, epsilon: float) -> mpmath.mpf:
    def log_delta(order):
        return (order - 1) * (order * rho - epsilon) + order * mpmath.log1p(-1 / order) - mpmath.log(order - 1)

    return mpmath.exp(min(log_delta(1 + mpmath.mpf(10) ** (mpmath.mpf(k) / 1000)) for k in range(-4000, 4000)))


@pytest.mark.parametrize(("rho", "epsilon"), PUBLISHED)
def test_the_conversion_has_its_published_values(rho, epsilon):
    assert float(zcdp_epsilon_up(rho=rho, delta="1e-6")) == pytest.approx(epsilon, abs=2e-6)


@pytest.mark.parametrize("rho", [0.001, 0.5, 5.0])
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 25.0])
def test_delta_is_the_best_over_orders(rho, epsilon):
    grid, bound = best_of_a_grid(rho, epsilon), zcdp_delta_up(rho=rho, epsilon=epsilon)
    assert bound == pytest.approx(min(float(grid), 1), rel=1e-3, abs=1e-300)
    assert bound <= grid * (1 + 1e-9) or bound < 1e-300


@pytest.mark.parametrize("noise_multiplier", ["0.1", "1", "30"])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "2", "60"])
def test_zcdp_never_claims_less_than_the_exact_curve_of_its_source(noise_multiplier, epsilon):
    rho = 1 / (2 * Fraction(noise_multiplier) ** 2)
    exact = gaussian_delta_up(noise_multiplier=noise_multiplier, epsilon=epsilon)
    assert zcdp_delta_up(rho=rho, epsilon=epsilon) >= exact * (1 - 1e-9)


@pytest.mark.parametrize("rho", ["1e-100", "1e-9", "1", "1e6", "1e100"])
@pytest.mark.parametrize("epsilon", [0, "1e-9", 1, "1e6", "1e100"])
def test_extreme_parameters_give_a_delta_between_0_and_1(rho, epsilon):
    assert 0 < zcdp_delta_up(rho=rho, epsilon=epsilon) <= 1


def test_the_curve_at_its_ends():
    assert zcdp_epsilon_up(rho=0, delta=0) == 0
    assert zcdp_epsilon_up(rho=1, delta=0) == math.inf
    assert zcdp_delta_up(rho=0, epsilon=0) == 0
    assert zcdp_epsilon_up(rho=1, delta=1) == 0


@pytest.mark.parametrize("rho", ["-1", "nan", "1e200"])
def test_rho_is_checked(rho):
    with pytest.raises(ParameterError, match="rho"):
        zcdp_delta_up(rho=rho, epsilon=1)
