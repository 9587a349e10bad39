from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.budgets import ZCDP, RenyiDP


def test_rho_and_delta_are_exact():
    budget = ZCDP(0.1, "1e-6")
    assert (budget.rho, budget.delta) == (Fraction(1, 10), Fraction(1, 10**6))
    assert ZCDP("1/3").rho * 3 == 1


def test_bounds_are_exact_and_each_belongs_to_its_order():
    budget = RenyiDP(("2.5", 8), (0.1, "1/3"), "1e-6")
    assert dict(zip(budget.orders, budget.bounds, strict=True)) == {
        Fraction(5, 2): Fraction(1, 10),
        Fraction(8): Fraction(1, 3),
    }


def test_a_budget_of_nothing_is_a_budget():
    assert ZCDP(0).rho == 0
    assert RenyiDP((2,), (0,)).bounds == (0,)


@pytest.mark.parametrize("rho", [-1, float("nan"), float("inf"), "many", None, True])
def test_rho_is_a_number_of_at_least_0(rho):
    with pytest.raises(ParameterError, match="rho"):
        ZCDP(rho)


@pytest.mark.parametrize("delta", [-1, 1, 2, "1e0", float("nan")])
@pytest.mark.parametrize("made", [lambda delta: ZCDP(1, delta), lambda delta: RenyiDP((2,), (1,), delta)])
def test_delta_is_at_least_0_and_below_1(made, delta):
    with pytest.raises(ParameterError, match="delta"):
        made(delta)


@pytest.mark.parametrize("orders", [(), (1,), (0.5,), (2, 2), (2, "2"), (-3,)])
def test_orders_are_above_1_each_once_and_not_none(orders):
    with pytest.raises(ParameterError, match="orders"):
        RenyiDP(orders, (1,) * len(orders))


@pytest.mark.parametrize("bounds", [(), (1,), (1, 2, 3)])
def test_there_are_as_many_bounds_as_orders(bounds):
    with pytest.raises(ParameterError, match="one for each of the 2 orders"):
        RenyiDP((2, 8), bounds)


@pytest.mark.parametrize("bound", [-1, float("nan"), float("inf"), "many"])
def test_a_bound_is_a_number_of_at_least_0(bound):
    with pytest.raises(ParameterError, match="bounds"):
        RenyiDP((2, 8), (1, bound))


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (ZCDP("0.5"), "ρ 0.5"),
        (ZCDP("0.5", "1e-6"), "ρ 0.5, δ 1e-06"),
        (RenyiDP((2, "2.5"), (1, "3.1"), "1e-6"), "D_2 1, D_2.5 3.1, δ 1e-06"),
    ],
)
def test_a_budget_says_what_it_allows(budget, text):
    assert str(budget) == text


def test_budgets_are_values():
    assert ZCDP("0.5") == ZCDP(Fraction(1, 2)) != ZCDP("0.5", "1e-6")
    assert len({RenyiDP((2,), (1,)), RenyiDP(("2",), ("1",)), RenyiDP((3,), (1,))}) == 2
    with pytest.raises(AttributeError):
        ZCDP(1).rho = 2
