"""What an account may spend, each kind in its own measure: guarantees, and concentrated and Rényi budgets beside them.

(ε, δ) adds up by basic composition; ρ and Rényi divergences add up too, and in them many Gaussian answers cost far
less.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, decimal_text, exact, nonnegative, set_fields
from sfumato.privacy.guarantees import ApproxDP, Guarantee, NoGuarantee, PureDP
from sfumato.privacy.promises import why_refused


@dataclass(frozen=True, slots=True, init=False)
class ZCDP:
    """δ-approximate ρ-zero-concentrated differential privacy; without the δ, ρ-zCDP.

    D_α(A(D₁) ‖ A(D₂)) ≤ ρα for neighbors D₁, D₂ and every α > 1, except for events of probability δ.

    Args:
        rho: ρ, 0 or more.
        delta: At least 0 and below 1; used by answers with their own δ, such as those with private keys.

    Raises:
        ParameterError: rho or delta is out of range.

    Example:
        >>> str(ZCDP("0.5")), str(ZCDP("0.5", "1e-6"))
        ('ρ 0.5', 'ρ 0.5, δ 1e-06')

    References:
        [BS16] Definitions 1.1 and 8.1.
    """

    rho: Fraction
    delta: Fraction

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        set_fields(self, rho=nonnegative(rho, "rho"), delta=_delta(delta))

    def __str__(self) -> str:
        return f"ρ {decimal_text(self.rho)}{_and_delta(self.delta)}"


@dataclass(frozen=True, slots=True, init=False)
class RenyiDP:
    """Bounds on Rényi divergences at several orders α: D_α(A(D₁) ‖ A(D₂)) ≤ the bound at α.

    All bounds hold at once. Each order restricts what may be spent, so few orders allow more queries than many.

    Args:
        orders: The orders α, each above 1 and listed once.
        bounds: One bound for each order, 0 or more.
        delta: At least 0 and below 1; used by answers with their own δ.

    Raises:
        ParameterError: A parameter is out of range, or the numbers of bounds and orders differ.

    Example:
        >>> str(RenyiDP((2, 8), (1, "3.1")))
        'D_2 1, D_8 3.1'

    References:
        [Mir17] Definition 4.
    """

    orders: tuple[Fraction, ...]
    bounds: tuple[Fraction, ...]
    delta: Fraction

    def __init__(self, orders: tuple[Number, ...], bounds: tuple[Number, ...], delta: Number = 0) -> None:
        found = tuple(exact(order, "orders") for order in listed(orders, "orders"))
        if not found or len(set(found)) < len(found) or min(found) <= 1:
            raise ParameterError("orders", orders, "must be at least one order, each above 1 and listed once")
        limits = listed(bounds, "bounds")
        if len(limits) != len(found):
            raise ParameterError("bounds", bounds, f"must be one for each of the {len(found)} orders")
        set_fields(
            self, orders=found, bounds=tuple(nonnegative(bound, "bounds") for bound in limits), delta=_delta(delta)
        )

    def __str__(self) -> str:
        pairs = zip(self.orders, self.bounds, strict=True)
        shown = ", ".join(f"D_{decimal_text(order)} {decimal_text(bound)}" for order, bound in pairs)
        return shown + _and_delta(self.delta)


Budget: TypeAlias = Guarantee | ZCDP | RenyiDP


def as_budget(value: object, name: str = "budget") -> Budget:
    """A budget that was handed over.

    Raises:
        ParameterError: It is none, such as a bare number.
    """
    if isinstance(value, PureDP | ApproxDP | NoGuarantee | ZCDP | RenyiDP):
        return value
    wanted = "must be a budget, such as sf.PureDP(1), sf.ApproxDP(1, 1e-6) or sf.ZCDP(1)"
    raise ParameterError(name, value, why_refused(value) or wanted)


def _delta(delta: Number) -> Fraction:
    number = nonnegative(delta, "delta")
    if number >= 1:
        raise ParameterError("delta", delta, "must be below 1, and far below one over the number of people")
    return number


def _and_delta(delta: Fraction) -> str:
    return f", δ {decimal_text(delta)}" if delta else ""
