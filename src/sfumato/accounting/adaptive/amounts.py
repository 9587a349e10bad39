"""Numbers that add up: what was spent, or may be, in the measure of a filter or an odometer."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.numeric.rationals import decimal_text

Amount: TypeAlias = Fraction | float
"""0 or more: exact, or infinite."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts by name, such as ρ and δ; a name that is missing stands for 0.

    Example:
        >>> tenth = Amounts((("rho", Fraction(1, 10)),))
        >>> str(tenth.plus(tenth.times(2))), tenth["delta"]
        ('rho 0.3', Fraction(0, 1))
    """

    numbers: tuple[tuple[str, Amount], ...] = ()

    def __getitem__(self, name: str) -> Amount:
        return dict(self.numbers).get(name, Fraction(0))

    def __str__(self) -> str:
        return ", ".join(f"{name} {_text(number)}" for name, number in self.numbers) or "nothing"

    def plus(self, other: "Amounts") -> "Amounts":
        """Both together."""
        sums = dict(self.numbers)
        for name, number in other.numbers:
            sums[name] = sums.get(name, Fraction(0)) + number
        return Amounts(tuple(sums.items()))

    def times(self, count: int) -> "Amounts":
        """All of it, so many times."""
        return Amounts(tuple((name, number * count) for name, number in self.numbers))

    def is_within(self, limits: "Amounts") -> bool:
        """Whether each amount is at most its limit."""
        return all(number <= limits[name] for name, number in self.numbers)

    def left_of(self, limits: "Amounts") -> "Amounts":
        """What may still be added to this without passing the limits."""
        return Amounts(tuple((name, limit - self[name]) for name, limit in limits.numbers))


NOTHING: Final = Amounts()


def _text(number: Amount) -> str:
    return decimal_text(number) if isinstance(number, Fraction) else "∞" if number == math.inf else repr(number)
