"""What accountants charge for discrete Gaussian noise where nobody said how many coordinates move."""

from fractions import Fraction

import pytest
from tests.accounting.lattice_sums import composed_delta

from sfumato.accounting.comparison import BestAccountant
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.accounting.renyi.accountant import RDPAccountant
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.events import DiscreteGaussianEvent, GroupEvent, PoissonSampledEvent

ACCOUNTANTS = (BasicAccountant, ZCDPAccountant, RDPAccountant, GDPAccountant, PLDAccountant, BestAccountant)
ONE_OF_TWO, FOUR_ONES = (2,), (1, 1, 1, 1)


def accounts_of(event):
    """Every accountant that has a price for the event."""
    return [kind().compose(event) for kind in ACCOUNTANTS if kind().supports(event)]


def test_the_charge_for_an_unknown_shape_keeps_its_delta():
    """√2 may be one step in each of two numbers: at the price of one number alone δ was 2.5e-3, not 1e-6."""
    event = DiscreteGaussianEvent(Fraction(1), sqrt_up(Fraction(2)))
    assert composed_delta(1, (1, 1), 4.4996) == pytest.approx(2.49e-3, rel=0.01)
    accounts = accounts_of(event)
    assert len(accounts) == 5  # all but Gaussian privacy, which has no price for so little noise
    for account in accounts:
        assert composed_delta(1, (1, 1), float(account.epsilon("1e-6"))) <= 1e-6


@pytest.mark.parametrize(
    ("epsilon", "worse", "better", "ratio"), [(1, ONE_OF_TWO, FOUR_ONES, 1.09), (8, FOUR_ONES, ONE_OF_TWO, 2.9)]
)
def test_no_shape_is_the_worst_at_every_epsilon(epsilon, worse, better, ratio):
    """So a price through the longest move of one number, or of as many as can move, would be too low somewhere."""
    truth = composed_delta(1, worse, epsilon)
    assert truth / composed_delta(1, better, epsilon) == pytest.approx(ratio, abs=0.02)
    event = DiscreteGaussianEvent(Fraction(1), Fraction(2))
    assert all(truth <= account.delta(epsilon) for account in accounts_of(event))
    assert PLDAccountant().compose(event).epsilon(truth) <= epsilon * 1.01


@pytest.mark.parametrize("kind", [GDPAccountant, PLDAccountant])
@pytest.mark.parametrize(("stddev", "square"), [(2, 5), (3, 30)])
def test_compositions_of_unknown_shapes_cost_at_least_what_every_shape_does(kind, stddev, square):
    longest = int(square**0.5)
    shapes = [(longest, *(1,) * (square - longest**2)), (1,) * square]
    account = kind().compose(DiscreteGaussianEvent(Fraction(stddev), sqrt_up(Fraction(square))), count=3)
    truth = max(composed_delta(stddev, shape * 3, 1) for shape in shapes)
    assert truth <= account.delta(1)


def test_little_noise_on_a_long_move_has_a_price_also_in_groups_and_samples():
    event = DiscreteGaussianEvent(Fraction(1), Fraction(9))
    for whole in (event, GroupEvent(event, 2), PoissonSampledEvent(Fraction(1, 10), event)):
        assert PLDAccountant().supports(whole)
    assert composed_delta(1, (9,), 60) <= PLDAccountant().compose(event).delta(60) < 1
    assert PLDAccountant().compose(event).epsilon("1e-6") <= ZCDPAccountant().compose(event).epsilon("1e-6") * 1.01
