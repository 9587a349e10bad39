"""Exact numbers: what people write as a number, taken at its word, and how a frozen value keeps it.

Budgets, scales and resolutions are rationals, never binary floats, so that ten times 0.1 is exactly 1.
"""

import numbers
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isqrt, log10
from typing import TypeAlias

from sfumato.errors import ParameterError

Number: TypeAlias = int | float | str | Decimal | Fraction

_MAX_LITERAL_LENGTH = 200  # a decimal of 10^9 digits, or 1e999999999, is refused before it is expanded
_MAX_EXPONENT = 400
_MAX_BITS = 10_000
_SQUARE = 2
_REQUIREMENT = 'must be a number, or text that is one, such as "0.1"'
_TEXT = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?[0-9]+/[0-9]+", re.ASCII)


def exact(value: Number, name: str) -> Fraction:
    """The rational a caller means: text and decimals as written, a float as its shortest decimal.

    Args:
        value: An integer, fraction, decimal, float, NumPy's numbers, or text such as ``"0.1"``, ``"1/3"``, ``"1e-6"``.
        name: The parameter's name, for the error.

    Raises:
        ParameterError: Not a finite number.

    Example:
        >>> exact(0.1, "epsilon") + exact("0.2", "epsilon")
        Fraction(3, 10)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal | Fraction):
        value = _of_another_library(value, name)
    if isinstance(value, int | Fraction):
        if max(abs(value.numerator), value.denominator).bit_length() > _MAX_BITS:
            raise ParameterError(
                name, "a number", f"must have a numerator and a denominator of at most {_MAX_BITS} bits"
            )
        return value if type(value) is Fraction else Fraction(value)
    text = float.__repr__(value) if isinstance(value, float) else str(value).strip()
    return _parse(text, value, name)


def _of_another_library(value: object, name: str) -> Number:
    """NumPy's numbers as Python's; those of single precision by their own shortest decimal."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(name, value, _REQUIREMENT)
    return int(value) if isinstance(value, numbers.Integral) else str(value)


def _parse(text: str, value: Number, name: str) -> Fraction:
    requirement = 'must be a finite number, such as "0.1", "1/3" or "1e-6"'
    if len(text) > _MAX_LITERAL_LENGTH:
        raise ParameterError(name, f"{text[:20]}…", f"must have at most {_MAX_LITERAL_LENGTH} characters")
    if not _TEXT.fullmatch(text):
        raise ParameterError(name, value, requirement)
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise ParameterError(name, value, requirement) from None
    if not decimal.is_finite() or abs(decimal.adjusted()) > _MAX_EXPONENT:
        raise ParameterError(name, value, requirement)
    return Fraction(decimal)


def positive(value: Number, name: str) -> Fraction:
    """`exact`, above 0."""
    number = exact(value, name)
    if number <= 0:
        raise ParameterError(name, value, "must be above 0")
    return number


def nonnegative(value: Number, name: str) -> Fraction:
    """`exact`, 0 or more."""
    number = exact(value, name)
    if number < 0:
        raise ParameterError(name, value, "must be 0 or more")
    return number


def probability(value: Number, name: str) -> Fraction:
    """`exact`, between 0 and 1, both included."""
    number = exact(value, name)
    if not 0 <= number <= 1:
        raise ParameterError(name, value, "must lie between 0 and 1")
    return number


def open_probability(value: Number, name: str) -> Fraction:
    """A probability between 0 and 1, both excluded: a δ that Gaussian noise and advanced composition can work with."""
    number = probability(value, name)
    if number in {0, 1}:
        raise ParameterError(name, value, "must be above 0 and below 1")
    return number


def positive_integer(value: object, name: str, *, most: int | None = None) -> int:
    """A whole number of at least 1, and at most `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        requirement = "of at least 1" if most is None else f"from 1 to {most:,}"
        if hasattr(value, "__index__") and not isinstance(value, int):  # of 64 bits, and may overflow
            requirement += "; a NumPy number becomes one by int(...)"
        raise ParameterError(name, value, f"must be a whole number {requirement}")
    return value


def flag(value: object, name: str) -> bool:
    """True or False themselves: of anything else, such as the text "false", the truth is a guess."""
    if not isinstance(value, bool):
        raise ParameterError(name, value, "must be True or False")
    return value


def set_fields(made: object, **fields: object) -> None:
    """Set fields of a frozen value while it is made, such as arguments that were checked."""
    for name, value in fields.items():
        object.__setattr__(made, name, value)


def sqrt_up(square: Fraction, bits: int = 64) -> Fraction:
    """A rational at or above √square, exact where the root is rational, else within a relative 2^-bits.

    Example:
        >>> sqrt_up(Fraction(9, 4))
        Fraction(3, 2)
    """
    if square < 0:
        raise ParameterError("square", square, "must be 0 or more")
    return root_up(square, 2, bits)


def root_up(power: Fraction, degree: int, bits: int = 64) -> Fraction:
    """A rational at or above a root of a number of at least 0: as near to it as `sqrt_up` is, or exact.

    Example:
        >>> root_up(Fraction(27, 8), 3), root_up(Fraction(2), 3, bits=4)
        (Fraction(3, 2), Fraction(21, 16))
    """
    numerator, denominator = power.as_integer_ratio()
    root = Fraction(_whole_root(numerator, degree), _whole_root(denominator, degree))
    if root**degree == power:
        return root
    grid = 1 << bits + max(0, (denominator.bit_length() - numerator.bit_length()) // degree + 1)
    return Fraction(_whole_root(numerator * grid**degree // denominator, degree) + 1, grid)


def _whole_root(number: int, degree: int) -> int:
    """The largest whole number whose power is at most a number, by Newton's method from above."""
    if degree == _SQUARE or number == 0:
        return isqrt(number)
    root = 1 << -(-number.bit_length() // degree)
    while (nearer := ((degree - 1) * root + number // root ** (degree - 1)) // degree) < root:
        root = nearer
    return root


def decimal_text(value: Fraction, digits: int = 6) -> str:
    """A rational for people: exact if it is a short decimal, else to some significant digits, marked ≈.

    Example:
        >>> decimal_text(Fraction(3, 10)), decimal_text(Fraction(1, 3))
        ('0.3', '≈0.333333')
    """
    try:
        text = f"{float(value):.{digits}g}"
    except OverflowError:
        octaves = abs(value.numerator).bit_length() - value.denominator.bit_length()
        return f"≈{'-' * (value < 0)}1e{int(octaves * log10(2))}"
    return text if Fraction(text) == value else f"≈{text}"
