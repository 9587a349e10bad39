from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.accounting.calibration import smallest_noise
from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.core.trade_off import approx_trade_off, gaussian_trade_off
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.goals import AttackLimit, GaussianDP, excess_over, success_up
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.accounting.renyi.accountant import RDPAccountant
from sfumato.errors import ParameterError
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import ApproxEvent, ComposedEvent, GaussianEvent, NonPrivateEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP

TENTH = Fraction(1, 10)


def noise_for(target, accountant, count=1) -> float:
    return float(smallest_noise(GaussianEvent, target=target, accountant=accountant, count=count))


def test_noise_for_budgets_is_that_of_their_formulas():
    assert noise_for(ZCDP("0.02"), ZCDPAccountant(), 4) == pytest.approx(10, rel=2e-6)
    assert noise_for(GaussianDP("0.5"), GDPAccountant(), 9) == pytest.approx(6, rel=2e-6)
    assert noise_for(RenyiDP((2, 8), (1, "0.1")), RDPAccountant()) == pytest.approx(np.sqrt(40), rel=2e-6)
    assert noise_for(RenyiDP((8, 2), ("1", "0.01")), RDPAccountant()) == pytest.approx(10, rel=2e-6)


def test_noise_is_never_too_small_for_the_budget():
    for target, accountant in (
        (ZCDP("0.3"), ZCDPAccountant()),
        (GaussianDP("0.3"), GDPAccountant()),
        (RenyiDP((3,), ("0.3",)), RDPAccountant()),
        (AttackLimit(blind="0.01", most="0.2"), GDPAccountant()),
    ):
        noise = smallest_noise(GaussianEvent, target=target, accountant=accountant)
        assert excess_over(target, accountant.compose(GaussianEvent(noise))) <= 0
        assert excess_over(target, accountant.compose(GaussianEvent(noise * (1 - Fraction(1, 10**4))))) > 0


@pytest.mark.parametrize(("blind", "most"), [("0.01", "0.05"), ("0.1", "0.5"), ("0.001", "0.9")])
def test_attacks_on_gaussian_noise_are_limited_by_the_quantiles(blind, most):
    """A test of one Gaussian against another finds Φ(Φ⁻¹(a) + μ)."""
    mu = norm.ppf(float(most)) - norm.ppf(float(blind))
    noise = noise_for(AttackLimit(blind=blind, most=most), GDPAccountant())
    assert 1 / mu <= noise * (1 + 1e-9)
    assert noise == pytest.approx(1 / mu, rel=1e-3)


def test_an_advantage_is_a_total_variation():
    noise = noise_for(ApproxDP(0, "0.2"), GDPAccountant())
    assert 2 * norm.cdf(1 / (2 * noise)) - 1 == pytest.approx(0.2, rel=1e-5)


@pytest.mark.parametrize("blind", [Fraction(1, 1000), TENTH, Fraction(3, 4)])
def test_success_is_bounded_by_the_trade_off(blind):
    gaussian, pure = GDPAccountant().compose(GaussianEvent(2)), BasicAccountant().compose(PureEvent(1))
    for accountant, curve in (
        (gaussian, gaussian_trade_off([float(blind)], mu=Fraction(1, 2))),
        (pure, approx_trade_off([float(blind)], epsilon=1)),
    ):
        found = float(success_up(accountant, blind))
        assert found >= 1 - curve[0] - 1e-12
    assert float(success_up(pure, TENTH)) == pytest.approx(np.e / 10, rel=1e-2)
    assert success_up(BasicAccountant().compose(NonPrivateEvent()), blind) == 1
    assert success_up(PLDAccountant().compose(GaussianEvent(2)), TENTH) == success_up(gaussian, TENTH)


def test_leaks_count_against_a_budget_of_their_own():
    for accountant, without, within in (
        (ZCDPAccountant(), ZCDP(1), ZCDP(1, "1e-6")),
        (RDPAccountant(), RenyiDP((2,), (1,)), RenyiDP((2,), (1,), "1e-6")),
    ):
        spent = accountant.compose(ComposedEvent((ApproxEvent("0.1", "1e-7"), GaussianEvent(10))))
        assert excess_over(without, spent) > 0 >= excess_over(within, spent)


def test_what_cannot_be_met_or_measured_is_refused():
    for target in (ZCDP(1), GaussianDP(1), RenyiDP((2,), (1,))):
        with pytest.raises(ParameterError, match="accountant"):
            noise_for(target, PLDAccountant())
    spent = ZCDPAccountant().compose(GaussianEvent(1))
    with pytest.raises(ParameterError, match="not reached by any noise"):
        noise_for(ZCDP("0.1"), spent)
    with pytest.raises(ParameterError, match="above blind"):
        AttackLimit(blind="0.5", most="0.5")
    with pytest.raises(ParameterError, match="mu"):
        GaussianDP(0)
    assert "0.05" in str(AttackLimit(blind="0.01", most="0.05"))
