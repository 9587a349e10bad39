"""Numbers that add up: what was spent, or may be, in the measure of a filter or an odometer."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.numeric.rationals import decimal_text

Amount: TypeAlias = Fraction | float
"""0 or more: exact, or infinite."""
_ZERO: Final = Fraction(0)


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
        for known, number in self.numbers:
            if known == name:
                return number
        return _ZERO

    def __str__(self) -> str:
        return ", ".join(f"{name} {_text(number)}" for name, number in self.numbers) or "nothing"

    def plus(self, other: "Amounts") -> "Amounts":
        """The sums, name by name."""
        if not other.numbers:
            return self
        sums = dict(self.numbers)
        for name, number in other.numbers:
            if not number:
                sums.setdefault(name, _ZERO)
            elif name in sums:
                sums[name] = total(sums[name], number)
            else:
                sums[name] = number
        return Amounts(tuple(sums.items()))

    def times(self, count: Fraction | int) -> "Amounts":
        """Each amount multiplied by a count."""
        return Amounts(tuple((name, scaled(number, count)) for name, number in self.numbers))

    def is_within(self, limits: "Amounts") -> bool:
        """Whether each amount is at most its limit."""
        return all(number <= limits[name] for name, number in self.numbers)

    def left_of(self, limits: "Amounts") -> "Amounts":
        """The amounts that may still be added without exceeding the limits; −∞ where nothing infinite was allowed."""
        return Amounts(tuple((name, total(limit, -self[name])) for name, limit in limits.numbers))


NOTHING: Final = Amounts()


def total(first: Amount, second: Amount) -> Amount:
    """The sum; an infinite float cannot be added to a rational that is larger than every float."""
    if type(first) is Fraction and type(second) is Fraction:
        return first + second
    if not second:
        return first
    if not first:
        return second
    if isinstance(first, float) and math.isinf(first):
        return first
    if isinstance(second, float) and math.isinf(second):
        return second
    return first + second


def scaled(number: Amount, factor: Fraction | int) -> Amount:
    """So many times, of a factor above 0."""
    return number if isinstance(number, float) and math.isinf(number) else number * factor


def _text(number: Amount) -> str:
    return decimal_text(number) if isinstance(number, Fraction) else "∞" if number == math.inf else repr(number)
