"""Which prices an account admits: decimals on a fixed grid, so that what is spent stays a short number for ever.

Sums of arbitrary fractions have denominators that grow without limit: a few dozen questions at odd fractions of a tiny
ε would make an account too long to read.
"""

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Final

from sfumato.errors import ParameterError
from sfumato.ledger.core.entry import Charge

EPSILON_DIGITS: Final = 15
DELTA_DIGITS: Final = 50
LARGEST_EPSILON: Final = 10**9


def admitted(charge: Charge) -> Charge:
    """The charge itself, if an account can keep it.

    Raises:
        ParameterError: ε has more than 15 decimals or passes 10^9, or δ has more than 50 decimals.

    Example:
        >>> from sfumato.privacy.guarantees import PureDP
        >>> str(admitted(PureDP("0.1")))
        'ε 0.1'
    """
    _on_grid(charge.epsilon, EPSILON_DIGITS, "epsilon")
    _on_grid(charge.delta, DELTA_DIGITS, "delta")
    if charge.epsilon > LARGEST_EPSILON:
        raise ParameterError("epsilon", "a number", f"must be at most {LARGEST_EPSILON:,}, which promises nothing")
    return charge


def _on_grid(value: Fraction, digits: int, name: str) -> None:
    if (value * 10**digits).denominator != 1:
        below = Decimal(f"{floor(value * 10**digits)}e-{digits}")
        requirement = (
            f"must be a decimal with at most {digits} digits after the point; the next one below it is {below}"
        )
        raise ParameterError(name, value, requirement)
