"""How far apart two finite distributions are: Kullback-Leibler, Rényi, max and hockey-stick divergences.

A distribution is a vector of probabilities, one for each outcome: fractions, text such as "1/3", or floats, which
are taken as their shortest decimals. All divergences are of p from q, in nats, and asymmetric.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, nonnegative, positive, probability
from sfumato.numeric.rounding import exp_down, log_near, log_up

Probabilities: TypeAlias = Sequence[Number]

_TOLERANCE: Final = Fraction(1, 10**9)  # floats such as 1/3 + 1/3 + 1/3 need not sum to 1


def kl_divergence(p: Probabilities, q: Probabilities) -> float:
    """The Kullback-Leibler divergence Σ p ln(p/q), to about 1e-15 of its largest term.

    Edge cases: infinite where p has an outcome that q has not.

    Raises:
        ParameterError: The vectors are not distributions over the same outcomes.

    Example:
        >>> round(kl_divergence(["3/4", "1/4"], ["1/4", "3/4"]), 6)
        0.549306

    References:
        [KL51]
    """
    pairs = distributions(p, q)
    if _escapes(pairs):
        return math.inf
    return math.fsum(float(a) * log_near(a / b) for a, b in pairs if a)


def max_divergence(p: Probabilities, q: Probabilities) -> Fraction | float:
    """The max-divergence D∞ = max ln(p/q), rounded up: the smallest ε with p ≤ e^ε q for every outcome.

    Edge cases: infinite where p has an outcome that q has not; 0 for equal vectors.

    Raises:
        ParameterError: The vectors are not distributions over the same outcomes.

    Example:
        >>> float(max_divergence(["3/4", "1/4"], ["1/4", "3/4"])) >= math.log(3)
        True

    References:
        [DR14] Definition 3.6.
    """
    pairs = distributions(p, q)
    return math.inf if _escapes(pairs) else log_up(max(a / b for a, b in pairs if a))


def renyi_divergence(p: Probabilities, q: Probabilities, *, order: float) -> float:
    """The Rényi divergence D_α = ln(Σ p^α q^(1-α)) / (α - 1), to about 1e-13.

    Edge cases: order 1 is the Kullback-Leibler divergence, order infinity the max-divergence; infinite for orders
    of at least 1 where p has an outcome that q has not. It grows with the order.

    Raises:
        ParameterError: The order is not above 0, or the vectors are not distributions over the same outcomes.

    Example:
        >>> round(renyi_divergence(["3/4", "1/4"], ["1/4", "3/4"], order=2), 6)
        0.847298

    References:
        [Ren61], [Mir17] Definition 3.
    """
    if order == 1:
        return kl_divergence(p, q)
    if order == math.inf:
        return float(max_divergence(p, q))
    positive(order, "order")
    pairs = distributions(p, q)
    if order > 1 and _escapes(pairs):
        return math.inf
    return _log_moment([(float(a), log_near(a / b)) for a, b in pairs if a and b], order - 1) / (order - 1)


def hockey_stick_divergence(p: Probabilities, q: Probabilities, *, epsilon: Number) -> Fraction:
    """The hockey-stick divergence Σ max(p - e^ε q, 0), rounded up: the smallest δ at ε in this direction.

    Edge cases: exact at ε = 0, where it is the total variation distance.

    Raises:
        ParameterError: ε is negative, or the vectors are not distributions over the same outcomes.

    Example:
        >>> hockey_stick_divergence(["3/4", "1/4"], ["1/4", "3/4"], epsilon=0)
        Fraction(1, 2)

    References:
        [BO13]
    """
    weight = Fraction(exp_down(nonnegative(epsilon, "epsilon")))
    return sum((max(a - weight * b, Fraction(0)) for a, b in distributions(p, q)), start=Fraction(0))


def distributions(p: Probabilities, q: Probabilities) -> tuple[tuple[Fraction, Fraction], ...]:
    """Two distributions as pairs of exact probabilities, outcome by outcome.

    Raises:
        ParameterError: The lengths differ, a probability lies outside [0, 1], or a sum is not 1.
    """
    first, second = listed(p, "p", of="probabilities"), listed(q, "q", of="probabilities")
    if len(first) != len(second):
        raise ParameterError("q", q, f"must have one probability for each of the {len(first)} outcomes of p")
    return tuple(zip(_distribution(first, "p"), _distribution(second, "q"), strict=True))


def _distribution(values: Probabilities, name: str) -> tuple[Fraction, ...]:
    vector = tuple(probability(value, name) for value in values)
    if abs(sum(vector, start=Fraction(-1))) > _TOLERANCE:
        raise ParameterError(name, values, "must sum to 1")
    return vector


def _escapes(pairs: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Whether p has an outcome that q has not."""
    return any(a and not b for a, b in pairs)


def _log_moment(weighted_losses: Sequence[tuple[float, float]], power: float) -> float:
    """The logarithm of Σ p e^(power · loss); near power 0 by small deviations from 1, so that nothing cancels."""
    exponents = [power * loss for _, loss in weighted_losses]
    if not exponents:
        return -math.inf
    if sum(weight for weight, _ in weighted_losses) > 1 - _TOLERANCE and max(map(abs, exponents)) < 1:
        return math.log1p(math.fsum(w * math.expm1(e) for (w, _), e in zip(weighted_losses, exponents, strict=True)))
    top = max(exponents)
    return top + math.log(
        math.fsum(w * math.exp(e - top) for (w, _), e in zip(weighted_losses, exponents, strict=True))
    )
