"""A histogram of one person with Laplace noise on each count, of which the report says which counts are high."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar, Final

from sfumato.errors import ParameterError
from sfumato.local.core.odds import odds
from sfumato.local.frequency.oracle import DomainLike, FrequencyOracle
from sfumato.local.frequency.unary import UnaryEncoding
from sfumato.numeric.rationals import Number, positive, set_fields

STEPS: Final = 64
"""Lattice steps in one count: noise is a whole number of 1/64."""
_GRID: Final = 1 << 64


@dataclass(frozen=True, slots=True, init=False)
class ThresholdedHistogram(UnaryEncoding):
    """Adds discrete Laplace noise of scale 2/ε to each of d counts, of which one is 1, and reports which reach θ.

    The noise is a whole number k of 1/64, with probability ∝ e^(−|k|·ε/128). A bit is then 1 with p = P(1 + noise ≥ θ)
    for the true value and q = P(noise ≥ θ) for each other one. These two tails are summed, rounded toward each other to
    multiples of 2^−64, and drawn as coins. Also called THE.

    **Guarantee**: as `UnaryEncoding`. The comparison hides a part of what the noisy counts would reveal, so that
    `realized_epsilon` is below ε: `OptimizedUnaryEncoding` errs less at either. Proof:
    proofs/local/frequency/thresholded.md.

    Args:
        domain: At most 2^20 values, in total.
        epsilon: From 10^−6 to 100.
        threshold: θ, a multiple of 1/64 above 1/2 and at most 1; the one with the least variance, if none is given.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> oracle = ThresholdedHistogram(1024, epsilon=1)
        >>> oracle.threshold, round(oracle.variance(reports=1), 3), round(float(oracle.realized_epsilon), 3)
        (Fraction(5, 8), 4.807, 0.896)

    References:
        [WBLJ17] Section 4.
    """

    kind: ClassVar[str] = "thresholded"

    threshold: Fraction

    def __init__(self, domain: DomainLike, *, epsilon: Number, threshold: Number | None = None) -> None:
        FrequencyOracle.__init__(self, domain, epsilon=epsilon)
        steps = range(STEPS // 2 + 1, STEPS + 1)
        if threshold is None:
            pairs = {step: tails(self.epsilon, step) for step in steps}
            chosen = min(steps, key=lambda step: (q := pairs[step][1]) * (1 - q) / (pairs[step][0] - q) ** 2)
        else:
            chosen = int(positive(threshold, "threshold") * STEPS)
            if chosen not in steps or Fraction(chosen, STEPS) != positive(threshold, "threshold"):
                raise ParameterError("threshold", threshold, f"must be a multiple of 1/{STEPS} from 33/64 to 1")
        set_fields(self, threshold=Fraction(chosen, STEPS))

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often the true count reaches the threshold, and how often another one."""
        return tails(self.epsilon, int(self.threshold * STEPS))


def tails(epsilon: Fraction, threshold: int) -> tuple[Fraction, Fraction]:
    """P(64 + noise ≥ threshold) rounded down, and P(noise ≥ threshold) rounded up, to multiples of 2^−64.

    With r = e^(−ε/128), P(noise ≥ t) = r^t/(1 + r) for t ≥ 1, and P(noise ≥ −t) = 1 − r^(t + 1)/(1 + r) for t ≥ 0. The
    ratio r is the inverse of the odds of ε/128.

    Example:
        >>> p, q = tails(Fraction(1), 64)
        >>> round(float(p), 4), round(float(q), 4)
        (0.502, 0.3044)
    """
    ratio = 1 / odds(epsilon / (2 * STEPS))
    held = 1 - ratio ** (STEPS - threshold + 1) / (1 + ratio)
    other = ratio**threshold / (1 + ratio)
    return Fraction(floor(held * _GRID), _GRID), Fraction(ceil(other * _GRID), _GRID)
