"""What a guarantee allows an attack: the most that anybody can learn of one unit, whatever else is known.

All follow from P(S) ≤ e^ε·P'(S) + δ for the answers of two neighbours, in both directions.
"""

import math

from sfumato.numeric.rationals import Number, nonnegative, probability
from sfumato.numeric.rounding import exp_up, float_up


def largest_advantage(*, epsilon: Number, delta: Number = 0) -> float:
    """The most by which a test of membership can be right more often on one neighbour than wrong on the other.

    Advantage is the rate of true positives minus that of false ones. It is at most (e^ε − 1 + 2δ)/(e^ε + 1).

    Args:
        epsilon: Of all answers that the attack sees.
        delta: Of the same.

    Raises:
        ParameterError: ε is below 0 or δ is no probability.

    Example:
        >>> round(largest_advantage(epsilon=1), 3)
        0.462

    References:
        [KOV15] for the region of error rates that (ε, δ) allows.
    """
    power = exp_up(nonnegative(epsilon, "epsilon"))
    added = 2 * float_up(probability(delta, "delta"))
    return 1.0 if math.isinf(power) else min(1.0, (power - 1 + added) / (power + 1))


def largest_success(*, epsilon: Number, delta: Number = 0, prior: float = 0.5) -> float:
    """The largest chance to tell which of two neighbours was asked, if the first one is so with chance `prior`.

    It is max over the trade-off of prior·TPR + (1 − prior)·(1 − FPR): with δ = 0 and a fair prior e^ε/(1 + e^ε).

    Args:
        epsilon: Of all answers that the attack sees.
        delta: Of the same.
        prior: Between 0 and 1.

    Raises:
        ParameterError: ε is below 0, δ or the prior is no probability.

    Example:
        >>> round(largest_success(epsilon=1), 3)
        0.731
        >>> largest_success(epsilon=0, prior=0.9)
        0.9
    """
    power = exp_up(nonnegative(epsilon, "epsilon"))
    leak, prior = float_up(probability(delta, "delta")), float_up(probability(prior, "prior"))
    if math.isinf(power):
        return 1.0
    # A linear objective is largest in a corner of the region TPR ≤ e^ε·FPR + δ, 1 − FPR ≤ e^ε·(1 − TPR) + δ.
    even = (1 - leak) / (1 + power)
    corners = ((leak, 0.0), (1 - even, even), (1.0, 1 - leak))
    return min(1.0, max(prior * hit + (1 - prior) * (1 - false) for hit, false in corners))
