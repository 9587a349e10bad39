"""The privacy of a finite mechanism, read off its two probability vectors: no theorem, only the definition."""

import math
from fractions import Fraction

from sfumato.numeric.divergences import Probabilities, distributions, hockey_stick_divergence
from sfumato.numeric.rationals import Number, probability
from sfumato.numeric.rounding import log_near, log_up


def smallest_delta(p: Probabilities, q: Probabilities, *, epsilon: Number) -> Fraction:
    """The smallest δ for which a mechanism with these outputs on two neighbors is (ε, δ)-differentially private.

    δ(ε) = max of Σ max(p - e^ε q, 0) and Σ max(q - e^ε p, 0).

    **Guarantee**: exact up to the rounding of e^ε, and rounded up; exact at ε = 0.

    Args:
        p: The probability of each output on one database.
        q: The same on its neighbor.
        epsilon: 0 or more.

    Raises:
        ParameterError: ε is negative, or the vectors are not distributions over the same outcomes.

    Example:
        >>> smallest_delta(["1/2", "1/2", 0], ["1/4", "1/2", "1/4"], epsilon=0)
        Fraction(1, 4)

    References:
        [DKMMN06] Definition 1; [BO13].
    """
    return max(hockey_stick_divergence(p, q, epsilon=epsilon), hockey_stick_divergence(q, p, epsilon=epsilon))


def smallest_epsilon(p: Probabilities, q: Probabilities, *, delta: Number = 0) -> Fraction | float:
    """The smallest ε for which a mechanism with these outputs on two neighbors is (ε, δ)-differentially private.

    At δ = 0 it is the max-divergence, taken in both directions: max |ln(p/q)|.

    **Guarantee**: e^ε is found exactly, and its logarithm rounded up. Infinite where no ε will do.

    Args:
        p: The probability of each output on one database.
        q: The same on its neighbor.
        delta: Between 0 and 1.

    Raises:
        ParameterError: δ lies outside, or the vectors are not distributions over the same outcomes.

    Example:
        >>> float(smallest_epsilon(["3/4", "1/4"], ["1/4", "3/4"])) >= math.log(3)
        True

    References:
        [DMNS06] Definition 1; [DKMMN06] Definition 1.
    """
    allowed = probability(delta, "delta")
    pairs = distributions(p, q)
    weights = (_smallest_weight(pairs, allowed), _smallest_weight(tuple((b, a) for a, b in pairs), allowed))
    known = [weight for weight in weights if weight is not None]
    return log_up(max(known)) if len(known) == len(weights) else math.inf


def privacy_losses(p: Probabilities, q: Probabilities) -> tuple[tuple[float, Fraction], ...]:
    """The privacy loss random variable L = ln(p/q), as (loss, probability under p), by growing loss.

    δ(ε) = E[max(1 - e^(ε - L), 0)]. Pr[L > ε] ≤ δ suffices for (ε, δ), but is not necessary.

    Raises:
        ParameterError: The vectors are not distributions over the same outcomes.

    Example:
        >>> privacy_losses(["1/2", "1/2", 0], [0, "1/2", "1/2"])
        ((0.0, Fraction(1, 2)), (inf, Fraction(1, 2)))

    References:
        [DR16] Section 3.
    """
    losses = ((log_near(a / b) if b else math.inf, a) for a, b in distributions(p, q) if a)
    return tuple(sorted(losses))


def _smallest_weight(pairs: tuple[tuple[Fraction, Fraction], ...], delta: Fraction) -> Fraction | None:
    """The smallest weight w ≥ 1, for e^ε, with Σ max(p - w q, 0) ≤ δ: a kink or a root of a falling polygon."""
    beyond = sum((a for a, b in pairs if not b), start=Fraction(0))
    if beyond > delta:
        return None
    mass, base = beyond, Fraction(0)
    for a, b in sorted(((a, b) for a, b in pairs if b), key=lambda pair: pair[0] / pair[1], reverse=True):
        if mass - base * a / b > delta:  # the polygon passes δ before this outcome joins the sum
            break
        mass, base = mass + a, base + b
    return max((mass - delta) / base, Fraction(1)) if base else Fraction(1)
