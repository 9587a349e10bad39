from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.gaussian.zcdp import zcdp_delta_up, zcdp_epsilon_up
from sfumato.accounting.renyi.conversion import ORDERS, delta_up, epsilon_up, least, rdp_delta_up, rdp_epsilon_up
from sfumato.errors import ParameterError

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize("rho", ["1e-9", "0.001", "0.5", "20", "1e6"])
@pytest.mark.parametrize("delta", [Fraction(1, 10), MILLIONTH, Fraction(1, 10**30)])
def test_the_best_order_of_a_line_is_found(rho, delta):
    found = epsilon_up(lambda orders: orders * float(rho), delta)
    exact = float(zcdp_epsilon_up(rho=rho, delta=delta))
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize(("rho", "epsilon"), [("0.001", "0.2"), ("0.5", 5), ("20", 90), ("20", 25)])
def test_the_best_delta_of_a_line_is_found(rho, epsilon):
    found = delta_up(lambda orders: orders * float(rho), Fraction(epsilon))
    exact = zcdp_delta_up(rho=rho, epsilon=epsilon)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-6)


def test_delta_and_epsilon_return_each_other():
    def curve(orders):
        return np.minimum(orders * 0.1, 0.8)

    assert delta_up(curve, Fraction(epsilon_up(curve, MILLIONTH))) == pytest.approx(1e-6, rel=1e-6)


def test_infinite_divergences_promise_nothing():
    def nothing(orders):
        return np.full_like(orders, np.inf)

    assert epsilon_up(nothing, MILLIONTH) == np.inf
    assert delta_up(nothing, Fraction(10**6)) == 1


def test_no_loss_costs_no_epsilon():
    assert epsilon_up(np.zeros_like, MILLIONTH) == 0


def test_a_curve_that_is_finite_at_one_order_only_is_used_there():
    def spike(orders):
        return np.where(orders == 8, 1.0, np.inf)

    expected = 1 + np.log(7 / 8) - (np.log(1e-6) + np.log(8)) / 7
    assert epsilon_up(spike, MILLIONTH) == pytest.approx(expected)


def test_orders_grow_and_hold_all_small_whole_numbers():
    assert np.all(np.diff(ORDERS) > 0)
    assert ORDERS[0] > 1
    assert set(range(2, 17)) <= set(ORDERS)


def test_high_orders_are_not_tried_where_they_cannot_help():
    asked = []

    def steep(orders):
        asked.append(orders[-1])
        return orders * 10.0

    least(lambda _orders, values: values, steep)
    assert max(asked) < 200


@pytest.mark.parametrize("epsilon", [10**290, 10**305, 10**400])
def test_an_epsilon_beyond_all_losses_has_the_smallest_delta(epsilon):
    assert 0 < delta_up(lambda orders: orders / 2, Fraction(epsilon)) <= 1e-300


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-30"])
def test_divergences_at_a_few_orders_are_read_at_the_best_of_them(delta):
    table = {order: order * Fraction(1, 20) for order in (2, Fraction(11, 10), 8, 32, 500)}
    found = rdp_epsilon_up(table, delta=delta)
    expected = [
        float(value) + np.log1p(-1 / order) - (np.log(float(delta)) + np.log(order)) / (order - 1)
        for order, value in ((float(order), value) for order, value in table.items())
    ]
    assert max(min(expected), 0) <= found <= max(min(expected), 0) * (1 + 1e-12)
    assert float(zcdp_epsilon_up(rho="0.05", delta=delta)) <= found * (1 + 1e-12)
    assert rdp_delta_up(table, epsilon=found) <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("table", "name"),
    [({}, "divergences"), ({1: 1}, "order"), ({"1e9": 1}, "order"), ({2: -1}, "divergence"), ({-2: 1}, "order")],
)
def test_a_table_of_divergences_is_checked(table, name):
    with pytest.raises(ParameterError, match=name):
        rdp_epsilon_up(table, delta="1e-6")


@pytest.mark.parametrize("delta", [0, 1, 2])
def test_delta_of_a_table_lies_between_0_and_1(delta):
    with pytest.raises(ParameterError, match="delta"):
        rdp_epsilon_up({2: 1}, delta=delta)
    assert rdp_delta_up({2: 100}, epsilon=0) == 1
