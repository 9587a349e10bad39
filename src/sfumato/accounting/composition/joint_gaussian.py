"""Several Gaussian answers calibrated at once, with far less noise than if ε and δ were split over them."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Final

from sfumato.accounting.gaussian.gaussian import analytic_stddev, in_range
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, open_probability, positive, positive_integer, sqrt_up
from sfumato.privacy.events import ComposedEvent, DiscreteGaussianEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

_BITS: Final = 32
_MARGINS: Final = (Fraction(0), *(Fraction(1, 2**k) for k in range(20, -2, -2)))
"""How much wider than continuous noise the discrete noise is tried, until the accountant certifies it."""


def joint_stddevs(
    *,
    l2_sensitivities: Sequence[Number],
    l0_sensitivities: Sequence[int],
    weights: Sequence[Number],
    epsilon: Number,
    delta: Number,
) -> tuple[Fraction, ...]:
    """Standard deviations of discrete Gaussian noise on several vectors of integers that together cost (ε, δ).

        σᵢ = Δᵢ·s·√(Σ w / wᵢ)   with s the standard deviation of one answer of sensitivity 1,

    made a little wider where the discrete distributions need it. Gaussian noise composes by the sum of (Δᵢ/σᵢ)², so for
    n equal answers σ grows with √n, where splitting ε and δ would make it grow with n.

    **Guarantee**: the composition of all answers is (ε, δ)-differentially private, certified by `GDPAccountant`, or
    `PLDAccountant` where noise is narrow, which read the discrete distributions.
    Proof: proofs/accounting/composition/joint_gaussian.md.

    Args:
        l2_sensitivities: Δᵢ, above 0.
        l0_sensitivities: The most numbers of each vector that one unit changes.
        weights: wᵢ, above 0: the larger, the less noise.
        epsilon: Above 0, for all answers together.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter is out of range, or no width that is tried is enough.

    Example:
        >>> stddevs = joint_stddevs(
        ...     l2_sensitivities=[1] * 4, l0_sensitivities=[1] * 4, weights=[1] * 4, epsilon=1, delta="1e-6"
        ... )
        >>> [round(float(stddev), 2) for stddev in stddevs]
        [8.48, 8.48, 8.48, 8.48]

    References:
        [DRS22] Corollary 3.3; [BW18] Theorem 8.
    """
    distances, sizes = listed(l2_sensitivities, "l2_sensitivities"), listed(l0_sensitivities, "l0_sensitivities")
    owns = listed(weights, "weights")
    if not len(distances) == len(sizes) == len(owns):
        raise ParameterError("l0_sensitivities", sizes, "must have as many numbers as l2_sensitivities and weights")
    parts = tuple(
        (positive(distance, "l2_sensitivities"), positive_integer(moved, "l0_sensitivities"), positive(own, "weights"))
        for distance, moved, own in zip(distances, sizes, owns, strict=True)
    )
    if not parts:
        raise ParameterError("l2_sensitivities", (), "must have at least one answer")
    return _joint(parts, in_range(epsilon, "epsilon"), open_probability(delta, "delta"))


@lru_cache(maxsize=256)
def _joint(
    parts: tuple[tuple[Fraction, int, Fraction], ...], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, ...]:
    one = analytic_stddev(l2_sensitivity=1, epsilon=epsilon, delta=delta)
    whole = sum((weight for _, _, weight in parts), start=Fraction(0))
    for margin in _MARGINS:
        stddevs = tuple(
            _short(distance * one * (1 + margin) * sqrt_up(whole / weight)) for distance, _, weight in parts
        )
        events = (DiscreteGaussianEvent(s, d, n) for s, (d, n, _) in zip(stddevs, parts, strict=True))
        if _is_within(ComposedEvent(tuple(events)), epsilon, delta):
            return stddevs
    raise ParameterError(
        "epsilon", str(epsilon), "needs a noise scale that is too small to be certified for several answers"
    )


def accountant_of(
    event: ComposedEvent, *, neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE
) -> GDPAccountant | PLDAccountant:
    """Who prices several Gaussian answers: the fast accountant, or another where noise is too narrow for that."""
    fast = GDPAccountant(neighboring_relation=neighboring_relation)
    return fast if fast.supports(event) else PLDAccountant(neighboring_relation=neighboring_relation)


def _is_within(event: ComposedEvent, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether an accountant certifies it."""
    accountant = accountant_of(event)
    if not accountant.supports(event):
        return False
    spent = accountant.compose(event)  # its δ at one ε takes a small part of what the search for the ε takes
    return spent.delta(epsilon) <= delta and spent.epsilon(delta) <= epsilon


def _short(value: Fraction) -> Fraction:
    """Rounded up to 32 significant bits."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - _BITS
    grid = Fraction(2) ** exponent
    return ceil(value / grid) * grid
