from fractions import Fraction

import pytest
from tests.accounting.pld.laws import PAIRS

from sfumato.accounting.pld.composing import (
    curve_at_delta,
    first_step,
    highest_loss,
    infinite_loss_up,
    laws_of,
    orders,
)


def test_symmetric_pairs_have_one_order_and_others_two():
    assert len(orders(((PAIRS["gaussian"], 2), (PAIRS["laplace"], 1)))) == 1
    both = orders(((PAIRS["gaussian"], 2), (PAIRS["certain"], 1)))
    assert len(both) == 2
    assert both[0][1][0].forward == both[1][1][0].backward


def test_the_first_step_shrinks_with_the_precision_and_the_count():
    pairs = ((PAIRS["gaussian"], 10),)
    assert first_step(pairs, 1e-6, precision=1e-4) < first_step(pairs, 1e-6, precision=1e-3)
    assert first_step(((PAIRS["gaussian"], 1000),), 1e-6, precision=1e-4) < first_step(pairs, 1e-6, precision=1e-4)


def test_grids_that_need_too_many_losses_are_refused():
    assert laws_of(((PAIRS["gaussian"], 1),), step=1e-7, delta=1e-6, is_upper=True) is None


def test_the_highest_losses_add_up_where_all_are_finite():
    assert highest_loss(((PAIRS["gaussian"], 1), (PAIRS["laplace"], 3))) is None
    assert float(highest_loss(((PAIRS["laplace"], 3),))) == pytest.approx(2)


def test_infinite_losses_are_counted():
    assert infinite_loss_up(((PAIRS["laplace"], 3),)) == 0
    lost = 1 - (7 / 8) ** 2
    assert lost <= infinite_loss_up(((PAIRS["certain"], 2),)) <= lost * (1 + 1e-9)


@pytest.mark.parametrize("is_upper", [True, False])
def test_distinct_pairs_share_a_grid(is_upper):
    pairs = ((PAIRS["gaussian"], 2), (PAIRS["laplace"], 3))
    curve = curve_at_delta(pairs, 1e-6, step=0.01, is_upper=is_upper)
    assert 0 < curve.delta(Fraction(1)) < 1


def test_a_grid_with_too_many_losses_is_not_made(monkeypatch):
    monkeypatch.setattr("sfumato.accounting.pld.composing.upper_law", None)
    assert laws_of(((PAIRS["gaussian"], 3),), step=1e-6, delta=1e-6, is_upper=True) is None


def test_a_delta_below_all_floats_is_asked_for_at_the_smallest():
    pairs = ((PAIRS["gaussian"], 3),)
    assert curve_at_delta(pairs, 0.0, step=0.01, is_upper=True) is not None
