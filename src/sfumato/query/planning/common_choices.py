"""Which quantiles of a way to group are chosen at once: those of the same bins that all err less then.

Apart, quantile j with the weight w_j has a share ε·w_j/Σw of the budget and a certified error in proportion to
(ln N + ln 20)/w_j, N for the number of bins. One choice of m quantiles has all of their shares, and the certified error
of each is in proportion to (m·ln N + ln 20)/Σw: smaller for equal weights, and for others unless they differ much.
Only weights and the number of bins decide, which are public. Proof: proofs/query/planning/sharing.md.
"""

from collections.abc import Sequence
from dataclasses import astuple, replace
from fractions import Fraction
from typing import Final

from sfumato.query.model.statement import Statement
from sfumato.query.planning.allocation import Weight
from sfumato.query.planning.sharing import Sharing
from sfumato.query.statistics.measurements import Output
from sfumato.query.statistics.quantiles import BinOutput
from sfumato.query.statistics.recipes import BinQuantile, BinQuantiles, Outputs

_MOST_WORK: Final = 1 << 24
"""Of one choice of several quantiles: bins times the square of their number."""

_LARGEST_NUMBER: Final = 1000
"""Bits of the number of ways in which such a choice can fall."""

_OF_CONFIDENCE: Final = 4
"""Bits of 1/(1 − 95%), rounded down."""


def with_common_choices(sharing: Sharing) -> Sharing:
    """Several quantiles of the same bins by one choice, where each of them errs less then, by what is certified."""
    groups = _common_choices(sharing)
    if not groups:
        return sharing
    first = {place: min(group) for group in groups for place in group}
    coordinates = {place: coordinate for group in groups for coordinate, place in enumerate(group)}
    kept = [place for place in range(len(sharing.components)) if first.get(place, place) == place]
    place_of = {place: kept.index(first.get(place, place)) for place in range(len(sharing.components))}
    components, weights = list(sharing.components), list(sharing.weights)
    for group in groups:
        chosen = [own for own in map(sharing.components.__getitem__, group) if isinstance(own, BinQuantile)]
        components[min(group)] = BinQuantiles(chosen[0].statement, tuple(own.quantile for own in chosen))
        parts = zip(*(astuple(weights[place]) for place in group), strict=True)
        weights[min(group)] = Weight(*(sum(own, start=Fraction(0)) for own in parts))
    return Sharing(
        components=tuple(components[place] for place in kept),
        needs=tuple(sharing.needs[place] for place in kept),
        weights=tuple(weights[place] for place in kept),
        places=tuple(tuple(map(place_of.__getitem__, places)) for places in sharing.places),
        outputs=tuple(
            _at(coordinates[places[0]], outputs) if places[0] in coordinates else outputs
            for places, outputs in zip(sharing.places, sharing.outputs, strict=True)
        ),
    )


def _common_choices(sharing: Sharing) -> list[list[int]]:
    """The places of quantiles that are chosen at once, in the order of the quantiles; of similar weights, if any."""
    by_statement = list[tuple[Statement, dict[int, Fraction]]]()
    for place, (own, need) in enumerate(zip(sharing.components, sharing.needs, strict=True)):
        if isinstance(own, BinQuantile) and own.side is None and 0 < own.quantile < 1 and not need.is_free:
            known = next((quantiles for one, quantiles in by_statement if one == own.statement), None)
            if known is None:
                by_statement.append((own.statement, {place: own.quantile}))
            else:
                known[place] = own.quantile
    found = list[list[int]]()
    for statement, quantiles in by_statement:
        weight_of = {place: sharing.weights[place].epsilon for place in quantiles}
        left = sorted(quantiles, key=lambda place: (weight_of[place], quantiles[place]))
        while left:
            together = len(left)
            while together > 1 and not _errs_less([weight_of[one] for one in left[:together]], statement.bins.count):
                together -= 1
            if together > 1:
                found.append(sorted(left[:together], key=quantiles.__getitem__))
            left = left[together:]
    return found


def _errs_less(weights: Sequence[Fraction], bins: int) -> bool:
    """Whether one choice of several quantiles has smaller certified errors than choices apart, and is no work to fear.

    Args:
        weights: Of the quantiles, the largest one last.
        bins: From how many each is chosen.
    """
    number, bits = len(weights), bins.bit_length()
    if number * bits > _LARGEST_NUMBER or number**2 * bins > _MOST_WORK:
        return False
    return weights[-1] * (number * bits + _OF_CONFIDENCE) < sum(weights) * (bits + _OF_CONFIDENCE)


def _at(coordinate: int, outputs: Outputs) -> Outputs:
    """The outputs of a quantile that has a coordinate among several."""

    def placed(places: Sequence[int]) -> tuple[Output, ...]:
        return tuple(
            replace(one, coordinate=coordinate) if isinstance(one, BinOutput) else one for one in outputs(places)
        )

    return placed
