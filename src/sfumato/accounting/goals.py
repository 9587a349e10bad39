"""What noise may be calibrated for besides (ε, δ): budgets in other measures, and limits of attacks."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from sfumato.accounting.core.accountant import Accountant
from sfumato.accounting.core.normal_form import NeighborGroup
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.gaussian.zcdp import ZCDPAccountant
from sfumato.accounting.renyi.accountant import RDPAccountant
from sfumato.accounting.renyi.of_event import bound_of_tally
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, open_probability, positive, set_fields
from sfumato.numeric.rounding import exp_up, float_up, log_near
from sfumato.privacy.budgets import ZCDP, RenyiDP

_ROUNDS: Final = 12
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True, init=False)
class GaussianDP:
    """μ-Gaussian differential privacy: no test tells neighbors apart better than N(0, 1) from N(μ, 1).

    Args:
        mu: μ, above 0.

    Raises:
        ParameterError: μ is not above 0.

    Example:
        >>> str(GaussianDP("0.5"))
        'μ 1/2'

    References:
        [DRS22] Definition 2.6.
    """

    mu: Fraction

    def __init__(self, mu: Number) -> None:
        set_fields(self, mu=positive(mu, "mu"))

    def __str__(self) -> str:
        return f"μ {self.mu}"


@dataclass(frozen=True, slots=True, init=False)
class AttackLimit:
    """A limit of every attack on one unit: how often it succeeds, where it would succeed so often without the unit.

    For a test whether the unit is there, `blind` is its rate of false positives, and `most` one minus the least rate
    of false negatives. For a reconstruction, `blind` is the chance of the best guess made without the unit. An
    advantage of a needs none of this: it is δ = a at ε = 0, `ApproxDP(0, a)`.

    Args:
        blind: Between 0 and 1, both excluded.
        most: Above `blind`, and below 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> limit = AttackLimit(blind="0.01", most="0.05")
        >>> limit.blind, limit.most
        (Fraction(1, 100), Fraction(1, 20))

    References:
        [WZ10]; [KOV15].
    """

    blind: Fraction
    most: Fraction

    def __init__(self, *, blind: Number, most: Number) -> None:
        set_fields(self, blind=open_probability(blind, "blind"), most=open_probability(most, "most"))
        if self.most <= self.blind:
            raise ParameterError(
                "most", most, f"must be above blind, {self.blind}: that much succeeds without the unit"
            )

    def __str__(self) -> str:
        return f"at most {float(self.most):g} of attacks succeed, {float(self.blind):g} without the unit"


Goal: TypeAlias = ZCDP | RenyiDP | GaussianDP | AttackLimit


def success_up(accountant: Accountant, blind: Fraction) -> Fraction:
    """At or above the success of every attack that succeeds with probability `blind` without the unit.

    min over ε of e^ε·blind + δ(ε) and 1 − e^−ε(1 − δ(ε) − blind), with the accountant's δ. Every ε gives a bound; a
    search for the best one, by golden section, stops after a dozen.

    **Guarantee**: rounded up, for the accountant's neighboring relation.

    Example:
        >>> from sfumato.privacy.events import GaussianEvent
        >>> float(success_up(GDPAccountant().compose(GaussianEvent(2)), Fraction(1, 10)))
        0.217...
    """
    low, high, best = 0.0, -math.log(blind), Fraction(1)
    values: dict[float, Fraction] = {}

    def at(epsilon: float) -> Fraction:
        if epsilon not in values:
            exact = Fraction(epsilon)
            odds, delta = Fraction(exp_up(exact)), Fraction(accountant.delta(exact))
            values[epsilon] = min(odds * blind + delta, 1 - (1 - delta - blind) / odds, Fraction(1))
        return values[epsilon]

    for _ in range(_ROUNDS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if at(left) <= at(right):
            high = right
        else:
            low = left
        best = min(best, at(left), at(right))
    return best


def excess_over(goal: Goal, spent: Accountant) -> float:
    """ln(cost/limit) in the goal's own measure, at most 0 exactly where the goal is met.

    Raises:
        ParameterError: The accountant does not keep that measure.
    """
    match goal:
        case AttackLimit():
            return _excess(success_up(spent, goal.blind), goal.most)
        case GaussianDP():
            if not isinstance(spent, GDPAccountant):
                raise _other(spent, "GDPAccountant")
            return _excess(spent.mu, goal.mu)
        case ZCDP():
            if not isinstance(spent, ZCDPAccountant):
                raise _other(spent, "ZCDPAccountant")
            is_rare = spent.approximation <= goal.delta
            return _excess(spent.rho, goal.rho) if is_rare else math.inf
        case RenyiDP():
            if not isinstance(spent, RDPAccountant):
                raise _other(spent, "RDPAccountant")
            bound = bound_of_tally(spent.tally, NeighborGroup(spent.neighboring_relation))
            if bound.failure > goal.delta:
                return math.inf
            ranks = sorted(zip(goal.orders, goal.bounds, strict=True))
            divergences = bound.divergence(np.array([float_up(order) for order, _ in ranks]))
            return max(_excess(float(found), limit) for found, (_, limit) in zip(divergences, ranks, strict=True))


def _excess(cost: Fraction | float, limit: Fraction) -> float:
    if cost == 0 or limit == 0 or math.isinf(cost):
        return -math.inf if cost <= limit else math.inf
    logarithm = log_near(Fraction(cost) / limit)
    return min(logarithm, 0.0) if cost <= limit else max(logarithm, math.ulp(0.0))


def _other(spent: object, name: str) -> ParameterError:
    return ParameterError("accountant", spent, f"must be a {name}, which keeps the measure of the target")
