"""How one stated total is split over the measures of a question, and which law each gets.

Every column of the answer gets the same ε; AVG gives half to its count and half to its sum. A measure that no neighbour
can move costs nothing and leaves its share to the others. With δ, each measure takes the law of the
smaller variance, from public facts alone, and those that take the Gaussian share δ equally.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.mechanisms.gaussian import Gaussian
from sfumato.mechanisms.laplace import Laplace
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.query.plan import AdditiveNoise
from sfumato.query.stability import Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """One mechanism a measure, and what all of them cost together."""

    mechanisms: tuple[AdditiveNoise, ...]
    charge: PureDP | ApproxDP


def allocate(columns: Sequence[Sequence[Sensitivity]], total: PureDP | ApproxDP) -> Allocation:
    """Mechanisms for the measures of each column, in order.

    Args:
        columns: For each column of the answer, the sensitivities of its measures.
        total: What all of them may cost together.
    """
    moved = sum(1 for column in columns if any(sensitivity.l1 > 0 for sensitivity in column))
    shares = tuple(
        share for column in columns for share in _split(column, total.epsilon / max(1, moved))
    )  # fmt: skip
    gaussian = _gaussian_measures(shares, total.delta)
    delta = total.delta / max(1, sum(gaussian))
    mechanisms = tuple(
        _gaussian(sensitivity, epsilon, delta)
        if is_gaussian
        else Laplace(l1_sensitivity=sensitivity.l1, epsilon=epsilon)
        for (sensitivity, epsilon), is_gaussian in zip(shares, gaussian, strict=True)
    )
    spent = sum((epsilon for _, epsilon in shares), start=Fraction(0))
    return Allocation(mechanisms=mechanisms, charge=guarantee(spent, total.delta if any(gaussian) else 0))


def _split(column: Sequence[Sensitivity], epsilon: Fraction) -> tuple[tuple[Sensitivity, Fraction], ...]:
    """Equal shares for the measures that a neighbour can move."""
    moved = sum(1 for sensitivity in column if sensitivity.l1 > 0)
    return tuple((s, epsilon / moved if s.l1 > 0 else Fraction(0)) for s in column)


def _gaussian_measures(shares: Sequence[tuple[Sensitivity, Fraction]], delta: Fraction) -> tuple[bool, ...]:
    """Which measures have the smaller variance under Gaussian noise, were all of them to share δ."""
    if delta == 0:
        return (False,) * len(shares)
    return tuple(
        s.l1 > 0 and epsilon > 0 and _gaussian(s, epsilon, delta / len(shares)).stddev ** 2 < 2 * (s.l1 / epsilon) ** 2
        for s, epsilon in shares
    )


def _gaussian(sensitivity: Sensitivity, epsilon: Fraction, delta: Fraction) -> Gaussian:
    return Gaussian(
        l2_sensitivity=sensitivity.l2, l0_sensitivity=sensitivity.l0, epsilon=epsilon, delta=delta
    )  # fmt: skip
