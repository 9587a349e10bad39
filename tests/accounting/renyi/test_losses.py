from decimal import Decimal, localcontext

import numpy as np
import pytest

from sfumato.accounting.renyi.losses import divergence_up, from_log_excess, log_excess, log_remainder, log_sum


def exact_excess(loss: float, order: float) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        x, alpha = Decimal(loss), Decimal(order)
        return (alpha * x).exp() - 1 - alpha * (x.exp() - 1)


@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 30.0])
@pytest.mark.parametrize("loss", [-40.0, -0.6, -0.04, -0.03, -1e-9, 1e-12, 0.02, 0.04, 0.7, 20.0])
def test_the_excess_of_a_loss_keeps_its_digits_however_small(loss, order):
    found = float(log_excess(np.array(loss), np.array(order)))
    assert found == pytest.approx(float(exact_excess(loss, order).ln()), rel=0, abs=1e-12 / (order - 1) + 1e-12)


def test_no_loss_has_no_excess_and_a_missing_outcome_has_all():
    assert log_excess(np.array([0.0, -np.inf]), np.array([3.0, 3.0])).tolist() == [-np.inf, np.log(2)]


@pytest.mark.parametrize("x", [-800.0, -1.0, -0.032, -0.031, -1e-200, 1e-200, 0.031, 0.032, 1.0, 30.0])
def test_the_remainder_of_the_exponential_series_keeps_its_digits(x):
    with localcontext() as context:
        context.prec = 450
        exact = (Decimal(x).exp() - 1 - Decimal(x)).ln()
    assert float(log_remainder(np.array(x))) == pytest.approx(float(exact), abs=1e-12)


def test_the_remainder_does_not_overflow():
    assert log_remainder(np.array([1e300, np.inf, -np.inf])).tolist() == [1e300, np.inf, np.inf]


def test_sums_of_exponentials_neither_overflow_nor_underflow():
    assert log_sum(
        np.array([[1000.0, 1000.0], [-1000.0, -np.inf], [-np.inf, -np.inf], [np.inf, 0.0]])
    ) == pytest.approx([1000 + np.log(2), -1000, -np.inf, np.inf])


def test_divergences_are_above_the_definition_and_near_it():
    q, p = np.array([0.2, 0.3, 0.5]), np.array([0.3, 0.3, 0.4])
    orders = np.array([1.01, 2.0, 17.5, 1e4])
    found = divergence_up(np.log(q), np.log(p / q), orders)
    for order, bound in zip(orders[:3], found[:3], strict=True):
        exact = np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
        assert exact * (1 - 1e-12) <= bound <= exact * (1 + 1e-9)
    assert found[3] == pytest.approx(np.log(1.5), abs=1e-3)


def test_rounding_of_the_losses_is_added():
    q, p, orders = np.array([0.5, 0.5]), np.array([0.4, 0.6]), np.array([2.0, 3.0])
    careful = divergence_up(np.log(q), np.log(p / q), orders, loss_error=1e-3)
    assert np.all(careful > divergence_up(np.log(q), np.log(p / q), orders) * 1.001)


def test_no_divergence_is_rounded_to_zero():
    assert np.all(from_log_excess(np.array([-1e6, -np.inf]), np.array([2.0, 2.0])) > 0)
