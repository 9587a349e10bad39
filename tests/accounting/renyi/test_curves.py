from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from tests.accounting.renyi.oracles import worst

from sfumato.accounting.renyi import curves
from sfumato.accounting.renyi.curves import divergence_up, from_log_excess, log_excess, log_remainder, log_sum

ORDERS = np.array([1.001, 1.5, 2.0, 5.0, 30.25, 200.0])


def check(found, p, q, *, slack=1e-7):
    for order, bound in zip(ORDERS, found, strict=True):
        exact = worst(p, q, order)
        assert exact * (1 - 1e-9) <= bound <= exact * (1 + slack)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 20.0])
def test_randomized_response_is_exact(epsilon):
    truth = 1 / (1 + np.exp(-epsilon))
    check(curves.randomized_response(ORDERS, epsilon=epsilon), [truth, 1 - truth], [1 - truth, truth])


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 3.0])
@pytest.mark.parametrize(("order", "bound_at"), [(1.5, 0), (2.0, 1), (5.0, 2), (30.25, 3)])
def test_laplace_is_its_integral(epsilon, order, bound_at):
    def integrand(x):
        return np.exp(-order * abs(x) - (1 - order) * abs(x - epsilon)) / 2

    pieces = [(-50.0, 0.0), (0.0, epsilon), (epsilon, epsilon + 50.0)]
    moment = sum(quad(integrand, *piece, epsabs=1e-14, epsrel=1e-13)[0] for piece in pieces)
    found = curves.laplace(np.array([1.5, 2.0, 5.0, 30.25]), epsilon=epsilon)[bound_at]
    assert found == pytest.approx(np.log(moment) / (order - 1), rel=1e-9)


def test_laplace_has_the_value_of_the_literature():
    exact = np.log(2 / 3 * np.exp(0.5) + 1 / 3 * np.exp(-1.0))
    assert curves.laplace(np.array([2.0]), epsilon=0.5)[0] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6])
def test_small_laplace_losses_are_not_lost_in_rounding(epsilon):
    found = curves.laplace(np.array([2.0, 10.0]), epsilon=epsilon)
    assert found == pytest.approx(np.array([2.0, 10.0]) * epsilon**2 / 2, rel=1e-4)


@pytest.mark.parametrize("shift", [1, 2, 7])
@pytest.mark.parametrize("scale", [0.3, 1.0, 12.0])
def test_discrete_laplace_is_exact(scale, shift):
    k = np.arange(-800, 801)
    noise = np.exp(-np.abs(k) / scale) * np.tanh(1 / (2 * scale))
    moved = np.exp(-np.abs(k - shift) / scale) * np.tanh(1 / (2 * scale))
    found = curves.discrete_laplace(ORDERS, decay=1 / scale, shift=shift)
    for order, bound in zip(ORDERS, found, strict=True):
        exact = worst_of_logs(k, scale, shift, order)
        assert exact * (1 - 1e-9) <= bound <= exact * (1 + 1e-6)
    assert noise.sum() == pytest.approx(moved.sum())


def worst_of_logs(k, scale, shift, order):
    exponents = -order * np.abs(k) / scale - (1 - order) * np.abs(k - shift) / scale + np.log(np.tanh(1 / (2 * scale)))
    top = exponents.max()
    return (top + np.log(np.exp(exponents - top).sum())) / (order - 1)


@pytest.mark.parametrize("parts", [(1, 1), (1, 2), (2, 3), (1, 1, 1, 2)])
@pytest.mark.parametrize("scale", [0.4, 1.0, 5.0])
def test_a_vector_of_shifts_diverges_less_than_one_shift_by_their_sum(scale, parts):
    k = np.arange(-600, 601)
    for order in ORDERS:
        together = sum(worst_of_logs(k, scale, part, order) for part in parts)
        assert together <= worst_of_logs(k, scale, sum(parts), order) * (1 + 1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_discrete_laplace_noise_of_any_size_has_a_bound(scale):
    found = curves.discrete_laplace(ORDERS, decay=1 / scale, shift=3)
    assert np.all(found > 0)
    assert np.all(found <= 3 / scale * (1 + 1e-11))
    assert np.all(found <= ORDERS * (3 / scale) ** 2 / 2 * (1 + 1e-8))


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 8.0])
def test_bounded_range_is_the_worst_pair_of_that_range(epsilon):
    found = curves.bounded_range(ORDERS, epsilon=epsilon)
    tops = np.linspace(0, epsilon, 4001)[1:-1]
    q = (np.exp(-tops) - np.exp(-epsilon)) / -np.expm1(-epsilon)
    for order, bound in zip(ORDERS, found, strict=True):
        moments = np.logaddexp(np.log(q) + order * tops, np.log1p(-q) + order * (tops - epsilon))
        exact = moments.max() / (order - 1)
        assert exact * (1 - 1e-9) - 1e-13 / (order - 1) <= bound <= exact * (1 + 1e-4) + 1e-12 / (order - 1)
    assert np.all(found <= ORDERS * epsilon**2 / 8 * (1 + 1e-9))


def test_bounded_range_loses_less_than_pure_privacy():
    assert np.all(curves.bounded_range(ORDERS, epsilon=1.0) < curves.randomized_response(ORDERS, epsilon=1.0))


def test_finite_pairs_are_taken_in_the_worse_order():
    p, q = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 10), Fraction(9, 10))
    check(curves.finite(ORDERS, p=p, q=q), [float(x) for x in p], [float(x) for x in q])
    assert np.array_equal(curves.finite(ORDERS, p=p, q=q), curves.finite(ORDERS, p=q, q=p))


def test_an_outcome_of_one_law_alone_is_infinitely_far():
    p, q = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))
    assert np.all(np.isinf(curves.finite(ORDERS, p=p, q=q)))


def test_concentrated_divergence_is_a_line():
    assert curves.concentrated(np.array([2.0, 9.0]), rho=Fraction(1, 3)) == pytest.approx([2 / 3, 3.0])
    assert curves.concentrated(np.array([2.0]), rho=Fraction(1, 3))[0] >= Fraction(2, 3)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13, 1e-15, 1e-17])
def test_bounded_range_keeps_its_digits_however_small(epsilon):
    orders = np.array([1.00001, 1.5, 2.0, 7.0])
    found = curves.bounded_range(orders, epsilon=epsilon)
    line = orders * epsilon**2 / 8
    assert np.all(found >= line * (1 - orders * epsilon - 1e-12))
    assert np.all(found >= curves.randomized_response(orders, epsilon=epsilon / 2) * (1 - 1e-6))
    assert np.all(found <= line * (1 + 1e-9))


def test_nothing_underflows_to_no_divergence_at_all():
    assert np.all(curves.bounded_range(ORDERS, epsilon=1e-200) > 0)


@pytest.mark.parametrize("curve", [curves.randomized_response, curves.laplace, curves.bounded_range])
def test_a_column_of_epsilons_gives_a_row_for_each(curve):
    epsilons = np.array([1e-12, 1e-3, 0.5, 3.0, 800.0])
    each = np.array([curve(ORDERS, epsilon=epsilon) for epsilon in epsilons])
    assert curve(ORDERS, epsilon=epsilons[:, None]) == pytest.approx(each, rel=1e-12)


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
