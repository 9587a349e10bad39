"""Promises that are no differential privacy: `MetricDP`, which fades with distance, and `RandomDP`, of typical data.

No account of (ε, δ), ρ or divergences holds them: both are refused where a guarantee, a budget or an event is wanted.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import (
    Number,
    decimal_text,
    exact,
    nonnegative,
    open_probability,
    positive_integer,
    probability,
    set_fields,
)

LENGTHS: Final = {"meter": Fraction(1), "kilometer": Fraction(1000)}
"""Units of length, in meters. Other units are names that only their own kind is added to."""


@dataclass(frozen=True, slots=True, init=False)
class MetricDP:
    """Privacy under a metric: Pr[A(x) ∈ S] ≤ e^(ε·d(x, x′) + offset) · Pr[A(x′) ∈ S] for all x, x′ and every S.

    Near inputs are hard to tell apart, and far ones need not be. ε is per unit of distance, so it says nothing without
    its unit. The offset is 0 where the metric is exact; it covers inputs that are rounded to a lattice first.

    Of independent or adaptive releases about one input, both numbers add up. Of a sequence of inputs, d is the largest
    distance between two inputs at the same place.

    Args:
        epsilon: ε per unit of distance, 0 or more.
        unit: The unit: ``meter`` and ``kilometer`` are converted, any other name is compared.
        offset: What is added whatever the distance, 0 or more.

    Raises:
        ParameterError: A number is negative, or the unit is no text or empty.

    Example:
        >>> twice = MetricDP("0.01", "meter") + MetricDP(5, "kilometer")
        >>> str(twice), twice.loss(200)
        ('ε 0.015 per meter', Fraction(3, 1))

    References:
        [CABP13]
    """

    epsilon: Fraction
    unit: str
    offset: Fraction

    def __init__(self, epsilon: Number, unit: str, offset: Number = 0) -> None:
        if not of_kind(unit, "unit", str, "the name of a unit of distance, such as 'meter'").strip():
            raise ParameterError("unit", unit, "must name a unit of distance, such as 'meter'")
        set_fields(self, epsilon=nonnegative(epsilon, "epsilon"), unit=unit, offset=nonnegative(offset, "offset"))

    def per(self, unit: str) -> "MetricDP":
        """The same promise per another unit.

        Raises:
            ParameterError: The units measure different things.

        Example:
            >>> str(MetricDP("0.01", "meter").per("kilometer"))
            'ε 10 per kilometer'
        """
        if unit == self.unit:
            return self
        if unit not in LENGTHS or self.unit not in LENGTHS:
            raise ParameterError("unit", unit, f"cannot be converted to {self.unit!r}: the distances differ in kind")
        return MetricDP(self.epsilon * LENGTHS[unit] / LENGTHS[self.unit], unit, self.offset)

    def loss(self, distance: Number) -> Fraction:
        """The most that outputs tell two inputs apart by: ε·distance + offset.

        Args:
            distance: In the unit of the promise.

        Raises:
            ParameterError: The distance is negative.
        """
        return self.epsilon * nonnegative(distance, "distance") + self.offset

    def repeated(self, count: int) -> "MetricDP":
        """What `count` releases with this promise have together."""
        times = positive_integer(count, "count")
        return MetricDP(self.epsilon * times, self.unit, self.offset * times)

    def __add__(self, other: "MetricDP") -> "MetricDP":
        added = of_kind(other, "other", MetricDP, "a MetricDP: privacy per distance adds to no other").per(self.unit)
        return MetricDP(self.epsilon + added.epsilon, self.unit, self.offset + added.offset)

    def __le__(self, other: "MetricDP") -> bool:
        held = of_kind(other, "other", MetricDP, "a MetricDP").per(self.unit)
        return self.epsilon <= held.epsilon and self.offset <= held.offset

    def __str__(self) -> str:
        more = f", offset {decimal_text(self.offset)}" if self.offset else ""
        return f"ε {decimal_text(self.epsilon)} per {self.unit}{more}"


@dataclass(frozen=True, slots=True, init=False)
class RandomDP:
    """Random differential privacy: (ε, δ)-DP for all neighbors but those that random data give with probability γ.

    The records of both databases are drawn independently from one distribution. It is **no** promise for the worst
    case: a person with an unusual record may have no protection at all, and neighbors of the data at hand need not look
    like draws.

    Args:
        epsilon: ε, 0 or more.
        delta: δ, from 0 to 1.
        gamma: γ, above 0 and below 1.

    Raises:
        ParameterError: A number is out of range.

    Example:
        >>> str(RandomDP(1, 0, "0.05"))
        'ε 1, δ 0 for typical data, not worst-case: fails with probability up to 0.05'

    References:
        [HRW12]
    """

    epsilon: Fraction
    delta: Fraction
    gamma: Fraction

    def __init__(self, epsilon: Number, delta: Number, gamma: Number) -> None:
        set_fields(
            self,
            epsilon=nonnegative(exact(epsilon, "epsilon"), "epsilon"),
            delta=probability(delta, "delta"),
            gamma=open_probability(gamma, "gamma"),
        )

    def __str__(self) -> str:
        shown = f"ε {decimal_text(self.epsilon)}, δ {decimal_text(self.delta)} for typical data, not worst-case"
        return f"{shown}: fails with probability up to {decimal_text(self.gamma)}"


def why_refused(value: object) -> str | None:
    """Why an account of differential privacy cannot hold a promise; None if it is none of this file.

    Example:
        >>> why_refused(MetricDP(1, "meter"))
        'is privacy under a metric, which no ε of differential privacy bounds; use a sf.geo.MetricAccount'
        >>> why_refused(1) is None
        True
    """
    match value:
        case MetricDP():
            return "is privacy under a metric, which no ε of differential privacy bounds; use a sf.geo.MetricAccount"
        case RandomDP():
            return "holds for typical data only, so that no ε bounds it for one person; accounts cannot hold it"
        case _:
            return None
