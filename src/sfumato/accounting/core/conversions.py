"""Guarantees out of guarantees: in sequence, in parallel, for groups, after stable transformations.

All arithmetic is exact, except e^ε, which is rounded up. A guarantee whose δ would reach 1 promises nothing.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from heapq import nlargest
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import Number, nonnegative, positive_integer
from sfumato.numeric.rounding import exp_down, exp_up
from sfumato.privacy.guarantees import (
    NO_GUARANTEE,
    ApproxDP,
    Guarantee,
    NoGuarantee,
    PureDP,
    as_guarantee,
    exact_guarantee,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation

NOTHING_RELEASED: Final[Guarantee] = PureDP(0)

_MOST_BITS: Final = 9000  # parameters may have 10,000
_LARGEST: Final = 1 << 4096
_LARGEST_EXPONENT: Final = 7000  # e^7000 is above 2^10000, and 2^-10000 the smallest δ above 0
_EXPONENT_OF_FLOATS: Final = 700


def to_approx(pure: PureDP) -> ApproxDP:
    """The same promise, said as (ε, 0)."""
    return ApproxDP(of_kind(pure, "pure", PureDP, "a PureDP").epsilon, 0)


def to_pure(approx: ApproxDP) -> PureDP:
    """The same promise, said as ε.

    Raises:
        ParameterError: δ is above 0, so that no finite ε alone says as much.
    """
    if of_kind(approx, "approx", ApproxDP, "an ApproxDP").delta:
        raise ParameterError("delta", approx.delta, "must be 0: a guarantee with δ above 0 implies no pure guarantee")
    return PureDP(approx.epsilon)


def sequential(guarantees: Iterable[Guarantee]) -> Guarantee:
    """The guarantee of releases one after the other, each chosen in the light of the ones before: Σ ε, Σ δ.

    Edge cases: without any, nothing was released: ε = 0.

    Example:
        >>> sequential([PureDP("0.1")] * 10)
        PureDP(epsilon=Fraction(1, 1))

    References:
        [DKMMN06] Theorem 1; [McS09] Theorem 3.
    """
    return reduce(added, map(as_guarantee, listed(guarantees, "guarantees")), NOTHING_RELEASED)


def added(first: Guarantee, second: Guarantee, *, count: int = 1) -> Guarantee:
    """`sequential` of one and `count` times another."""
    if isinstance(first, NoGuarantee) or isinstance(second, NoGuarantee):
        return NO_GUARANTEE
    return promise(first.epsilon + second.epsilon * count, first.delta + second.delta * count)


def repeated(single: Guarantee, count: int) -> Guarantee:
    """`sequential` of `count` times the same guarantee."""
    return added(NOTHING_RELEASED, as_guarantee(single, "single"), count=positive_integer(count, "count"))


def parallel(
    guarantees: Sequence[Guarantee],
    *,
    max_parts_per_unit: int,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> Guarantee:
    """The guarantee of one release on each part of a partition of people.

    The sum of the k largest ε, and of the k largest δ, where one unit can touch k parts.

    **Guarantee**: a unit that is added or removed touches at most `max_parts_per_unit` parts; one that is replaced
    may leave as many and enter as many others, so k is twice that. A replaced unit is then removed from one part
    and added to another: each part's guarantee must hold for that change too.

    Args:
        guarantees: One for each part.
        max_parts_per_unit: In how many parts one unit may lie.
        neighboring_relation: Of the whole.

    Raises:
        ParameterError: `max_parts_per_unit` is not at least 1.

    Example:
        >>> parallel([PureDP("0.5"), PureDP(1), PureDP("0.25")], max_parts_per_unit=1)
        PureDP(epsilon=Fraction(1, 1))
        >>> parallel([PureDP("0.5"), PureDP(1)], max_parts_per_unit=1, neighboring_relation=REPLACE_ONE)
        PureDP(epsilon=Fraction(3, 2))

    References:
        [McS09] Theorem 4.
    """
    touched = touched_parts(max_parts_per_unit, neighboring_relation)
    each = [as_guarantee(guarantee) for guarantee in listed(guarantees, "guarantees")]
    if any(isinstance(guarantee, NoGuarantee) for guarantee in each):
        return NO_GUARANTEE
    epsilons = nlargest(touched, (guarantee.epsilon for guarantee in each))
    deltas = nlargest(touched, (guarantee.delta for guarantee in each))
    return promise(sum(epsilons, start=Fraction(0)), sum(deltas, start=Fraction(0)))


def touched_parts(max_parts_per_unit: int, neighboring_relation: NeighboringRelation) -> int:
    """How many parts of a partition may differ between two neighbors."""
    parts = positive_integer(max_parts_per_unit, "max_parts_per_unit")
    return 2 * parts if as_relation(neighboring_relation) is REPLACE_ONE else parts


def group(single: Guarantee, size: int) -> Guarantee:
    """What a guarantee for one unit promises to a group of `size` units that act as one.

    (ε·c, δ Σ_{i<c} e^(iε)). Protection is meaningful to groups of about 1/ε.

    **Guarantee**: for databases at a distance of at most `size` steps; e^ε is rounded up.

    Raises:
        ParameterError: The size is not at least 1.

    Example:
        >>> group(PureDP("0.1"), 5)
        PureDP(epsilon=Fraction(1, 2))

    References:
        [DR14] Theorem 2.2; [Vad17] Lemma 2.2.
    """
    units = positive_integer(size, "size")
    single = as_guarantee(single, "single")
    if isinstance(single, NoGuarantee):
        return NO_GUARANTEE
    if single.delta == 0:
        return promise(single.epsilon * units, single.delta)
    growth = _geometric_up(single.epsilon, units)
    return NO_GUARANTEE if growth is None else promise(single.epsilon * units, single.delta * growth)


def group_zcdp(rho: Number, size: int) -> Fraction:
    """The ρ of zero-concentrated differential privacy for a group of c units: c²ρ, exact.

    **Guarantee**: for databases at a distance of at most `size` steps.

    Raises:
        ParameterError: ρ is negative, or the size is not at least 1.

    Example:
        >>> group_zcdp("0.1", 5)
        Fraction(5, 2)

    References:
        [BS16] Proposition 1.9.
    """
    return nonnegative(rho, "rho") * positive_integer(size, "size") ** 2


def group_gdp(mu: Number, size: int) -> Fraction:
    """The μ of Gaussian differential privacy for a group of c units: cμ, exact.

    **Guarantee**: for databases at a distance of at most `size` steps.

    Raises:
        ParameterError: μ is negative, or the size is not at least 1.

    Example:
        >>> group_gdp("0.5", 3)
        Fraction(3, 2)

    References:
        [DRS22] Theorem 2.14.
    """
    return nonnegative(mu, "mu") * positive_integer(size, "size")


def stable(single: Guarantee, stability: int) -> Guarantee:
    """The guarantee of a mechanism after a transformation that is c-stable: `group` of c units.

    T is c-stable if d(T(A), T(B)) ≤ c · d(A, B); M after T is then (cε)-differentially private if M is ε.

    Example:
        >>> stable(PureDP(1), stability=2)
        PureDP(epsilon=Fraction(2, 1))

    References:
        [McS09] Definition 2 and Theorem 2.
    """
    return group(single, positive_integer(stability, "stability"))


def promise(epsilon: Fraction | float, delta: Fraction) -> Guarantee:
    """The guarantee with these parameters; none where ε is infinite or δ reaches 1.

    Edge cases: what is longer than 9000 bits, as sums of many different fractions are, is rounded up by at most
    2^-4096; an ε that long above 2^4096 counts as infinite.
    """
    if epsilon >= _LARGEST and (epsilon == math.inf or _is_long(Fraction(epsilon))):
        return NO_GUARANTEE
    failing = _short_up(delta)
    return NO_GUARANTEE if failing >= 1 else exact_guarantee(_short_up(Fraction(epsilon)), failing)


def _short_up(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * _LARGEST), _LARGEST) if _is_long(value) else value


def _is_long(value: Fraction) -> bool:
    return max(value.numerator, value.denominator).bit_length() > _MOST_BITS


def _geometric_up(epsilon: Fraction, count: int) -> Fraction | None:
    """Σ_{i<count} e^(iε) = e^((count−1)ε)·(1 − e^(−count·ε))/(1 − e^−ε), rounded up, at most count times the last term.

    None where it is beyond every δ.
    """
    exponent = epsilon * (count - 1)
    if exponent > _LARGEST_EXPONENT:
        return None
    pieces = math.ceil(exponent / _EXPONENT_OF_FLOATS) or 1
    last = Fraction(exp_up(exponent / pieces)) ** pieces
    rest = 1 - Fraction(exp_up(-epsilon))
    terms = min((1 - Fraction(exp_down(-epsilon * count))) / rest, Fraction(count)) if rest > 0 else count
    return last * terms
