"""What was promised: `PureDP(epsilon)`, `ApproxDP(epsilon, delta)`, and, only by name, `NO_GUARANTEE`.

Exact rationals, partially ordered (smaller is a stronger promise), added by sequential composition [DMNS06], [DKMMN06].
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, decimal_text, nonnegative, set_fields
from sfumato.privacy.promises import why_refused

_ZERO: Final = Fraction(0)


def _implies(strong: "Guarantee", weak: "Guarantee") -> bool:
    """Whether every mechanism with the first guarantee has the second."""
    as_guarantee(weak, "other")
    return strong.epsilon <= weak.epsilon and strong.delta <= weak.delta


def _added(first: "Guarantee", second: "Guarantee") -> "Guarantee":
    as_guarantee(second, "other")
    if isinstance(first, NoGuarantee) or isinstance(second, NoGuarantee):
        return NO_GUARANTEE
    delta = first.delta + second.delta
    if delta >= 1:
        return NO_GUARANTEE
    return guarantee(first.epsilon + second.epsilon, delta)


def _is_stronger(first: "Guarantee", second: "Guarantee") -> bool:
    return _implies(first, second) and not _implies(second, first)


def _equal(first: object, second: object) -> bool:
    """Guarantees are equal if they promise the same: (ε, 0) is ε."""
    if not isinstance(first, PureDP | ApproxDP | NoGuarantee) or not isinstance(
        second, PureDP | ApproxDP | NoGuarantee
    ):
        return False
    return (first.epsilon, first.delta) == (second.epsilon, second.delta)


def _hash(promise: "PureDP | ApproxDP | NoGuarantee") -> int:
    return hash((promise.epsilon, promise.delta))


@dataclass(frozen=True, slots=True, init=False, order=False, eq=False)
class PureDP:
    """ε-differential privacy: Pr[A(D₁) ∈ S] ≤ e^ε · Pr[A(D₂) ∈ S] for neighbors D₁, D₂ and every S.

    Edge cases: with ε = 0 an answer reveals nothing about the data. An infinite ε guarantees nothing, and is only
    allowed as `NO_GUARANTEE`.

    Args:
        epsilon: ε, 0 or more: text, Decimal, Fraction, or a float, which is read as its shortest decimal.

    Raises:
        ParameterError: epsilon is negative, NaN, infinite or not a number.

    Example:
        >>> sum([PureDP("0.1")] * 10, start=PureDP(0)) == PureDP(1)
        True

    References:
        [DMNS06] Definition 1.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        set_fields(self, epsilon=_finite(epsilon))

    @property
    def delta(self) -> Fraction:
        """Always 0."""
        return _ZERO

    __add__, __le__, __lt__ = _added, _implies, _is_stronger
    __eq__, __hash__ = _equal, _hash

    def __str__(self) -> str:
        return f"ε {decimal_text(self.epsilon)}"


@dataclass(frozen=True, slots=True, init=False, order=False, eq=False)
class ApproxDP:
    """(ε, δ)-differential privacy: Pr[A(D₁) ∈ S] ≤ e^ε · Pr[A(D₂) ∈ S] + δ.

    Useful only when δ is far below one over the number of people.

    Args:
        epsilon: ε, 0 or more.
        delta: δ, at least 0 and below 1.

    Raises:
        ParameterError: epsilon or delta is out of range.

    Example:
        >>> ApproxDP(1, "1e-6") + PureDP(2)
        ApproxDP(epsilon=Fraction(3, 1), delta=Fraction(1, 1000000))

    References:
        [DKMMN06] Definition 1.
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        set_fields(self, epsilon=_finite(epsilon), delta=nonnegative(delta, "delta"))
        if self.delta >= 1:
            raise ParameterError("delta", delta, "must be below 1, and far below one over the number of people")

    __add__, __le__, __lt__ = _added, _implies, _is_stronger
    __eq__, __hash__ = _equal, _hash

    def __str__(self) -> str:
        return f"ε {decimal_text(self.epsilon)}, δ {decimal_text(self.delta)}"


@dataclass(frozen=True, slots=True, order=False, eq=False)
class NoGuarantee:
    """No promise at all: what an infinite ε means. It is weaker than every guarantee and absorbs what is added."""

    @property
    def epsilon(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def delta(self) -> Fraction:
        """The largest there is."""
        return Fraction(1)

    __add__, __le__, __lt__ = _added, _implies, _is_stronger
    __eq__, __hash__ = _equal, _hash

    def __str__(self) -> str:
        return "no guarantee"


Guarantee: TypeAlias = PureDP | ApproxDP | NoGuarantee
NO_GUARANTEE: Final = NoGuarantee()


def guarantee(epsilon: Number, delta: Number = 0) -> PureDP | ApproxDP:
    """The guarantee with these parameters: pure where delta is 0."""
    failing = nonnegative(delta, "delta")
    return ApproxDP(epsilon, failing) if failing else PureDP(epsilon)


def exact_guarantee(epsilon: Fraction, delta: Fraction) -> PureDP | ApproxDP:
    """As `guarantee`, of parameters that were checked where they came in: nothing is checked again.

    Args:
        epsilon: ε, 0 or more.
        delta: δ, at least 0 and below 1.
    """
    if delta:
        approx = object.__new__(ApproxDP)
        set_fields(approx, epsilon=epsilon, delta=delta)
        return approx
    pure = object.__new__(PureDP)
    set_fields(pure, epsilon=epsilon)
    return pure


def as_guarantee(value: object, name: str = "guarantee") -> Guarantee:
    """A guarantee that was handed over.

    Raises:
        ParameterError: It is none, such as a bare number.
    """
    if isinstance(value, PureDP | ApproxDP | NoGuarantee):
        return value
    raise ParameterError(name, value, why_refused(value) or "must be a guarantee: PureDP(1) or ApproxDP(1, 1e-6)")


def _finite(epsilon: Number) -> Fraction:
    if isinstance(epsilon, float | str) and str(epsilon).strip().lower() in {"inf", "infinity", "∞"}:
        raise ParameterError("epsilon", epsilon, "an infinite ε guarantees nothing; use NO_GUARANTEE if you mean that")
    return nonnegative(epsilon, "epsilon")
