"""Laplace noise on a number that changes no faster than a metric: its sensitivity is a slope."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Answer, Exact, LatticeNoise, half_width
from sfumato.mechanisms.lattice import as_resolution
from sfumato.noise.laws.discrete_laplace import discrete_laplace_one
from sfumato.noise.uniform.integers import Integers, drawable, short_scale
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.distributions import discrete_laplace_half_width
from sfumato.numeric.rationals import Number, positive, set_fields
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True, init=False)
class LipschitzLaplace(LatticeNoise):
    """Adds Laplace noise of scale L/ε to f(x), for an f with |f(x) − f(x′)| ≤ L·d(x, x′).

    L is the Lipschitz constant: the most that the number changes with one unit of distance. Nothing bounds the number
    itself, and none is needed. The noise is discrete, on integers or on the lattice of a resolution.

    **Guarantee**: privacy ε·d(x, x′) + offset. The offset is 0 for integers. With a resolution, rounding moves two
    numbers apart by up to a step, so it is ε·resolution/L. Proof: proofs/geo/metrics/lipschitz.md.

    Edge cases: NaN and missing count as 0, and ±∞ as the largest numbers, for which the caller's L must hold too; a
    vector is refused.

    Args:
        lipschitz: L, above 0, in units of the number per unit of distance.
        epsilon: Per unit of distance, above 0.
        unit: The name of the unit of distance.
        resolution: The width of a lattice step; None for integers.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> height = LipschitzLaplace(lipschitz="0.5", epsilon="0.01", unit="meter", resolution="0.1")
        >>> str(height.guarantee), float(height.accuracy())
        ('ε 0.01 per meter, offset 0.002', 149.85)
        >>> height.release(421.7) > -10_000
        True

    References:
        [CABP13] Section 4.
    """

    lipschitz: Fraction
    epsilon: Fraction
    unit: str
    resolution: Fraction | None

    def __init__(self, *, lipschitz: Number, epsilon: Number, unit: str, resolution: Number | None = None) -> None:
        set_fields(
            self,
            lipschitz=positive(lipschitz, "lipschitz"),
            epsilon=positive(epsilon, "epsilon"),
            unit=of_kind(unit, "unit", str, "the name of a unit of distance"),
            resolution=None if resolution is None else as_resolution(resolution),
        )
        MetricDP(self.epsilon, self.unit)
        drawable(self.scale, "scale")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in lattice steps."""
        return short_scale(self.lipschitz / self.epsilon / (self.resolution or 1))

    @property
    def guarantee(self) -> MetricDP:
        """What one release promises."""
        return MetricDP(self.epsilon, self.unit, self.epsilon * (self.resolution or 0) / self.lipschitz)

    def release(self, exact: Exact | Secret[Exact]) -> Answer:
        """The number with noise: an int, or with a resolution a Fraction.

        Raises:
            ParameterError: It is a vector, or no number.
        """
        return LatticeNoise.release(self, exact)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction:
        """How far an answer may lie from the number, with this confidence."""
        return half_width(discrete_laplace_half_width(self.scale, confidence), self.resolution)

    def _perturb(self, steps: Integers) -> Integers:
        raise ParameterError("exact", f"{len(steps)} numbers", "must be one number: a Lipschitz constant is of one")

    def _perturb_one(self, step: int) -> int:
        return step + discrete_laplace_one(self.scale)
