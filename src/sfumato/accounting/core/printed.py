"""Figures for people, with few digits, rounded to the side on which the sentence they stand in stays true."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from fractions import Fraction
from typing import Final

_DIGITS: Final = 6
_FIXED: Final = range(-4, 16)  # orders of magnitude that are written out


def text_up(value: Fraction | float, digits: int = _DIGITS) -> str:
    """A number at or above the value, in so many significant digits.

    Example:
        >>> text_up(Fraction(1, 3)), text_up(Fraction(1, 10)), text_up(1e-30)
        ('0.333334', '0.1', '1.00001e-30')
    """
    return _text(value, Context(prec=digits, rounding=ROUND_CEILING))


def text_down(value: Fraction | float, digits: int = _DIGITS) -> str:
    """A number at or below the value, in so many significant digits.

    Example:
        >>> text_down(Fraction(2, 3)), text_down(Fraction(0))
        ('0.666666', '0')
    """
    return _text(value, Context(prec=digits, rounding=ROUND_FLOOR))


def text_exactly(value: Fraction) -> str:
    """All digits of a number whose decimals end, as those of short dyadic numbers do; else a fraction.

    Example:
        >>> text_exactly(Fraction(25, 16)), text_exactly(Fraction(1, 10**6)), text_exactly(Fraction(1, 3))
        ('1.5625', '1e-6', '1/3')
    """
    numerator, denominator = value.as_integer_ratio()
    context = Context(prec=numerator.bit_length() + denominator.bit_length())  # no decimals that end have more digits
    rounded = _quotient(value, context)
    return str(value) if context.flags[Inexact] else _written(rounded)


def percent_up(value: Fraction) -> str:
    """A probability in percent with two decimals, rounded up.

    Example:
        >>> percent_up(Fraction(1, 3)), percent_up(Fraction(1, 2))
        ('33.34%', '50.00%')
    """
    return f"{math.ceil(value * 10_000) / 100:.2f}%"


def percent_down(value: Fraction) -> str:
    """A probability in percent with two decimals, rounded down."""
    return f"{math.floor(value * 10_000) / 100:.2f}%"


def _text(value: Fraction | float, context: Context) -> str:
    if value == math.inf:
        return "∞"
    return _written(_quotient(Fraction(value), context))


def _quotient(value: Fraction, context: Context) -> Decimal:
    numerator, denominator = value.as_integer_ratio()
    return context.normalize(context.divide(Decimal(numerator), Decimal(denominator)))


def _written(rounded: Decimal) -> str:
    if not rounded:
        return "0"
    return f"{rounded:f}" if rounded.adjusted() in _FIXED else f"{rounded:e}"
