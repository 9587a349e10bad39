"""Laplace noise of bounded support: an answer is never further off than a public bound, at the cost of a δ."""

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import sqrt
from typing import Final

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import LatticeNoise, half_width, stated_for_vectors, stated_numbers
from sfumato.mechanisms.lattice import as_resolution, lattice_linf_sensitivity
from sfumato.noise.laws.discrete_laplace import truncated_laplace
from sfumato.noise.uniform.integers import Integers, add_noise, drawable, short_scale
from sfumato.numeric.distributions import discrete_laplace_half_width
from sfumato.numeric.rationals import Number, nonnegative, positive, probability, set_fields
from sfumato.numeric.rounding import exp_bounds
from sfumato.numeric.search import smallest_integer
from sfumato.privacy.events import ApproxEvent, PureEvent

_LARGEST_BOUND: Final = 1 << 60
_GUARD: Final = 192  # bits beyond those of δ and ε
_CONTEXT: Final = Context(prec=120)


@dataclass(frozen=True, slots=True, init=False)
class TruncatedLaplace(LatticeNoise):
    """Adds k with probability ∝ exp(−|k|/scale) lattice steps if |k| ≤ bound, and never a larger one.

    With Δ for the steps that one unit changes a number, and ε₀, δ₀ for the share of ε and δ of each number it moves,
    scale = Δ/ε₀, and the bound A is the smallest number from Δ on for which the last Δ magnitudes hold little enough:

        P(A − Δ < k ≤ A) ≤ δ₀.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation of the sensitivities, for the noise that is
    really drawn: an answer that only one of two neighbors can give has probability δ at most. Proof:
    proofs/mechanisms/additive/truncated_laplace.md.

    ===================================  =================================  =============  ===========
    Edge case                            Answer                             Accuracy       Event
    ===================================  =================================  =============  ===========
    linf_sensitivity = 0                 the exact one (on the lattice)     0 (½ step)     PureEvent(0)
    epsilon = 0 or delta = 0             ParameterError when constructed
    a vector without l0_sensitivity      ParameterError
    scale below 1/1000 or above 2^50     ParameterError when constructed
    NaN, None, with a resolution         as 0
    ±∞, beyond 2^62 steps                as ±2^62 steps
    not whole, without a resolution      ParameterError: the one that a value can cause
    ===================================  =================================  =============  ===========

    Args:
        linf_sensitivity: The most by which one unit changes each number that it changes, 0 or more, in the unit of the
            values.
        epsilon: The privacy parameter of one release, above 0.
        delta: Above 0 and below 1; far below one over the number of people.
        l0_sensitivity: The most numbers of a vector that one unit changes; must be stated for vectors.
        resolution: The width of a lattice step, above 0; None where the exact values are integers.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> count = TruncatedLaplace(linf_sensitivity=1, epsilon=1, delta="1e-6")
        >>> count.bound, abs(count.release(1000) - 1000) <= 14
        (14, True)

    References:
        [GDGK20].
    """

    linf_sensitivity: Fraction
    epsilon: Fraction
    delta: Fraction
    l0_sensitivity: int | None
    resolution: Fraction | None
    scale: Fraction
    """The scale of the noise in lattice steps; 0 where none is drawn."""
    bound: int
    """How many lattice steps the noise moves a number at most."""

    def __init__(
        self,
        *,
        linf_sensitivity: Number,
        epsilon: Number,
        delta: Number,
        l0_sensitivity: int | None = None,
        resolution: Number | None = None,
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            linf_sensitivity=nonnegative(linf_sensitivity, "linf_sensitivity"),
            epsilon=positive(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            l0_sensitivity=stated_numbers(l0_sensitivity),
            resolution=step,
        )
        if self.delta in (0, 1):
            raise ParameterError("delta", delta, "must lie between 0 and 1, both excluded")
        steps, each = self._steps_moved, self.l0_sensitivity or 1
        scale = short_scale(drawable(steps * each / self.epsilon, "scale")) if steps else Fraction(0)
        set_fields(self, scale=scale, bound=_bound(scale, steps, self.delta / each) if steps else 0)

    @property
    def event(self) -> ApproxEvent | PureEvent:
        """The event of one release, for accountants."""
        return ApproxEvent(self.epsilon, self.delta) if self.scale else PureEvent(Fraction(0))

    @property
    def variance(self) -> float:
        """The variance of the noise on each number, in squared lattice steps."""
        return _variance(self.scale, self.bound) if self.scale else 0.0

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on each number, in lattice steps as `scale`."""
        return sqrt(self.variance)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction:
        """A half-width t with P(|answer − exact| ≤ t) ≥ confidence, for each answer: at most the bound.

        The smallest but for what the truncation cuts off, which is about 2·δ.
        """
        wide = discrete_laplace_half_width(self.scale, confidence) if self.scale else 0
        return half_width(min(wide, self.bound), self.resolution)

    @property
    def _steps_moved(self) -> int:
        """Integers that move by at most Δ move by at most ⌊Δ⌋."""
        return int(lattice_linf_sensitivity(self.linf_sensitivity, self.resolution))

    def _perturb(self, steps: Integers) -> Integers:
        stated_for_vectors(self.l0_sensitivity, len(steps))
        return add_noise(steps, truncated_laplace(self.scale, self.bound, len(steps))) if self.scale else steps

    def _perturb_one(self, step: int) -> int:
        return step + int(truncated_laplace(self.scale, self.bound, 1)[0]) if self.scale else step


def _bound(scale: Fraction, steps: int, delta: Fraction) -> int:
    """The smallest bound from `steps` on that is certain to leave at most δ to the last `steps` magnitudes."""
    bits = _GUARD + 2 * (delta.denominator // delta.numerator).bit_length() + 2 * int(scale).bit_length()

    def holds(bound: int) -> bool:
        return _last_masses_up(scale, steps, bound, bits) <= delta

    enough = steps
    while not holds(enough):
        enough *= 2
        if enough > _LARGEST_BOUND:
            raise ParameterError(
                "delta", delta, "makes the support of the noise larger than 2^60 lattice points; raise ε or δ"
            )
    return enough if enough == steps else smallest_integer(holds, fails_at=enough // 2, holds_at=enough)


def _last_masses_up(scale: Fraction, steps: int, bound: int, bits: int) -> Fraction:
    """P(bound − steps < k ≤ bound), or more: q^(A − Δ + 1)·(1 − q^Δ)/(1 + q − 2·q^(A + 1)) for q = e^(−1/scale)."""
    whole = 1 << bits
    first = exp_bounds((bound - steps + 1) / scale, bits)[1]
    of_steps = whole - exp_bounds(steps / scale, bits)[0]
    total = whole + exp_bounds(1 / scale, bits)[0] - 2 * exp_bounds((bound + 1) / scale, bits)[1]
    return Fraction(first * of_steps, whole * total) if total > 0 else Fraction(1)


def _variance(scale: Fraction, bound: int) -> float:
    """2·Σ k²·q^k over k ≤ A, over Σ q^|k|, by its closed form in 120 digits, of which 1 − q loses 48 at most."""
    with localcontext(_CONTEXT):
        ratio = (-Decimal(scale.denominator) / Decimal(scale.numerator)).exp()
        if ratio == 0:
            return 0.0
        last, rest = ratio**bound, 1 - ratio
        squares = ratio * (
            1
            + ratio
            - (bound + 1) ** 2 * last
            + (2 * bound**2 + 2 * bound - 1) * last * ratio
            - bound**2 * last * ratio**2
        )
        return float(2 * squares / rest**2 / (1 + ratio - 2 * last * ratio))
