"""Sums of discrete Gaussian shares against laws that are convolved: distances, Rényi divergences, calibration."""

from fractions import Fraction
from math import exp, fsum, inf, log, pi

import numpy as np
import pytest

from sfumato.accounting.gaussian.shares import share_stddev, shares_rho_up, spread_up
from sfumato.errors import ParameterError

ORDERS = (1.001, 1.1, 1.5, 2, 3, 8)
REACH = 40


def law(stddev):
    places = np.arange(-REACH, REACH + 1)
    weights = np.exp(-(places**2) / (2 * float(stddev) ** 2))
    return weights / weights.sum()


def sum_law(stddev, shares):
    """Of so many shares, on as many places as one share has times their number."""
    total = np.ones(1)
    for _ in range(shares):
        total = np.convolve(total, law(stddev))
    return total


def near(values, away):
    middle = len(values) // 2
    return values[middle - away : middle + away + 1]


@pytest.mark.parametrize("stddev", ["0.45", "0.6", "0.8", 1])
@pytest.mark.parametrize("shares", [2, 3, 5])
def test_no_probability_is_further_from_a_discrete_gaussian_than_the_spread(stddev, shares):
    found, away = near(sum_law(Fraction(stddev), shares), 4), np.arange(-4, 5)
    apart = np.log(found) + away**2 / (2 * shares * float(Fraction(stddev)) ** 2)
    stated = spread_up(stddev=stddev, shares=shares)
    assert apart.max() - apart.min() <= stated
    if shares == 2 and Fraction(stddev) > Fraction(1, 2):
        assert apart.max() - apart.min() > 0.97 * stated  # where 1/(1 − q) is near 1


@pytest.mark.parametrize("stddev", ["0.5", "0.7", 1])
@pytest.mark.parametrize("shares", [1, 2, 4])
@pytest.mark.parametrize("moved", [1, 2, 3])
def test_no_renyi_divergence_is_above_what_rho_allows(stddev, shares, moved):
    held = sum_law(Fraction(stddev), shares)
    first, second = held[moved:], held[:-moved]
    reached = first > 1e-200
    rho = float(shares_rho_up(stddev=stddev, shares=shares, l2_sensitivity=moved))
    for p, q in ((first[reached], second[reached]), (second[reached], first[reached])):
        for order in ORDERS:
            with np.errstate(over="ignore", under="ignore", divide="ignore"):
                terms = np.exp(order * np.log(p) + (1 - order) * np.log(q))
            divergence = log(fsum(terms[np.isfinite(terms)])) / (order - 1)
            assert divergence <= order * rho + 1e-10
    assert moved**2 / (2 * shares * float(Fraction(stddev)) ** 2) <= rho * (1 + 1e-15)


def test_a_discrete_gaussian_of_the_same_variance_would_promise_too_much():
    """Why the spread is charged: at order 8 two small shares diverge by more than α·Δ²/2σ²."""
    held = sum_law(Fraction("0.45"), 2)
    first, second = near(held, 12)[1:], near(held, 12)[:-1]
    worst = max(
        log(fsum(np.exp(order * np.log(p) + (1 - order) * np.log(q)))) / (order - 1) / order
        for order in ORDERS
        for p, q in ((first, second), (second, first))
    )
    assert 1 / (4 * 0.45**2) < worst <= float(shares_rho_up(stddev="0.45", shares=2, l2_sensitivity=1))


@pytest.mark.parametrize("shares", [2, 10, 64, 65, 66, 1000])
def test_the_spread_is_the_sum_of_its_terms_and_below_the_published_bound(shares):
    ratios = [exp(-2 * pi**2 * k / (k + 1)) for k in range(1, shares)]
    terms = fsum(log((1 + 2 * q / (1 - q)) / (1 - 2 * q)) for q in ratios)
    assert terms <= spread_up(stddev=1, shares=shares) <= 1.35 * terms
    assert spread_up(stddev=1, shares=shares) < 10 * fsum(ratios)


def test_one_share_is_a_discrete_gaussian_and_tiny_shares_have_no_bound():
    assert spread_up(stddev="0.01", shares=1) == 0
    assert spread_up(stddev="0.3", shares=2) == inf
    assert shares_rho_up(stddev="0.3", shares=2, l2_sensitivity=1) is None


def test_each_number_that_moves_costs_the_spread():
    one, five = (float(shares_rho_up(stddev=1, shares=3, l2_sensitivity=1, l0_sensitivity=moved)) for moved in (1, 5))
    assert five - one == pytest.approx(4 * spread_up(stddev=1, shares=3))


@pytest.mark.parametrize("rho", ["0.001", "0.5", 10])
@pytest.mark.parametrize("shares", [1, 3, 90])
@pytest.mark.parametrize("moved", [1, 40])
def test_the_calibrated_share_is_the_smallest_that_keeps_rho(rho, shares, moved):
    found = share_stddev(rho=rho, shares=shares, l2_sensitivity=moved, l0_sensitivity=2)
    arguments = {"shares": shares, "l2_sensitivity": moved, "l0_sensitivity": 2}
    assert shares_rho_up(stddev=found, **arguments) <= Fraction(rho)
    less = shares_rho_up(stddev=found * Fraction("0.9999"), **arguments)
    assert less is None or less > Fraction(rho)


@pytest.mark.parametrize(
    "wrong", [{"rho": 0}, {"shares": 0}, {"l2_sensitivity": 0}, {"l0_sensitivity": 0}, {"rho": "1e-400"}], ids=str
)
def test_wrong_arguments_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        share_stddev(**({"rho": 1, "shares": 3, "l2_sensitivity": 1} | wrong))
    if "rho" not in wrong:
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            shares_rho_up(**({"stddev": 1, "shares": 3, "l2_sensitivity": 1} | wrong))
