"""Levels of protection in words: how far around a place two points stay hard to tell apart, and what ε that is."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, of_kind
from sfumato.numeric.rationals import Number, decimal_text, exact, positive, set_fields
from sfumato.numeric.rounding import log_bounds
from sfumato.privacy.promises import MetricDP

_BITS: Final = 50


@dataclass(frozen=True, slots=True, init=False)
class PrivacyLevel:
    """Two places at most `radius` meters apart give each report with probabilities within a factor of each other.

    ε = ln(factor)/radius per meter, rounded down to a multiple of 2^−50, so that the factor is never exceeded.

    Args:
        radius: In meters, above 0.
        factor: Above 1; 4 by default.

    Raises:
        ParameterError: A number is out of range.

    Example:
        >>> level = PrivacyLevel(200)
        >>> print(level)
        within 200 m no report is more than 4 times as likely from one place as from another: ε 0.00693147 per meter
        >>> round(float(level.promise.loss(200)), 6)  # ln 4
        1.386294

    References:
        [ABCP13] Section 3 for levels within a radius.
    """

    radius: Fraction
    factor: Fraction

    def __init__(self, radius: Number, factor: Number = 4) -> None:
        ratio = exact(factor, "factor")
        if ratio <= 1:
            raise ParameterError("factor", factor, "must be above 1")
        set_fields(self, radius=positive(radius, "radius"), factor=ratio)
        if not self.epsilon:
            raise ParameterError("radius", radius, "is too large for this factor: ε would be below 2^−50")

    @property
    def epsilon(self) -> Fraction:
        """ε per meter."""
        lower, _ = log_bounds(self.factor, 2 * _BITS)
        return Fraction(int(Fraction(lower, 1 << 2 * _BITS) / self.radius * (1 << _BITS)), 1 << _BITS)

    @property
    def promise(self) -> MetricDP:
        """ε with its unit."""
        return MetricDP(self.epsilon, "meter")

    def __str__(self) -> str:
        shown = f"within {decimal_text(self.radius)} m no report is more than {decimal_text(self.factor)} times"
        return f"{shown} as likely from one place as from another: ε {float(self.epsilon):.6g} per meter"


LEVELS: Final = {"low": PrivacyLevel(200), "medium": PrivacyLevel(500), "high": PrivacyLevel(2000)}
"""Levels by their names: a factor of 4 within 200, 500 and 2,000 meters."""


def level_of(level: "PrivacyLevel | str") -> PrivacyLevel:
    """A level, or the one with a name.

    Raises:
        ParameterError: There is no such level.

    Example:
        >>> level_of("high").radius
        Fraction(2000, 1)
    """
    if is_one_of(level, LEVELS):
        return LEVELS[str(level)]
    return of_kind(level, "level", PrivacyLevel, "a sf.geo.PrivacyLevel, or low, medium or high")
