"""Gaussian noise on linear queries of a stream, as one event: trees of partial sums, and matrix factorizations."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, sqrt_up
from sfumato.privacy.events import ComposedEvent, Event, GaussianEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation

_NOTHING: Final = ComposedEvent(())
_LARGEST_GRAM: Final = 2048  # steps; for more, the norms of columns alone are added up
_ULP: Final = 2.0**-52
_ROUNDING: Final = 1e-11  # above that of sums of 2048 floats


def tree_aggregation_event(
    noise_multiplier: Number,
    steps: int | Sequence[int],
    *,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> GaussianEvent:
    """All partial sums of a stream by binary trees with Gaussian noise at every node.

    A unit in one leaf is in one node of each of L = ⌈log₂(steps + 1)⌉ levels, so that all nodes together move by √L
    times as much as the leaf: a `GaussianEvent` of noise_multiplier/√L, rounded down. A unit that replaces another one
    may be in another leaf, and then both leaves move: √(4L − 2) times as much, as if L were 4L − 2.

    **Guarantee**: for a unit in at most one leaf of at most one tree, where a leaf changes by at most the L2
    sensitivity that the noise is a multiple of if a unit is added to it, removed from it or, under `REPLACE_ONE`,
    exchanged in it.

    Edge cases: if a replacement always is in the leaf of the unit it replaces, a leaf alone moves, and
    `ADD_OR_REMOVE_ONE` names the right event.

    Args:
        noise_multiplier: Standard deviation at a node over the L2 sensitivity of a leaf, above 0.
        steps: How many leaves; or of each tree, where trees follow one another.
        neighboring_relation: Of the accountant that will read the event.

    Raises:
        ParameterError: A parameter is out of range, or there is no tree.

    Example:
        >>> tree_aggregation_event(10, steps=15)
        GaussianEvent(noise_multiplier=Fraction(5, 1))
        >>> tree_aggregation_event(10, steps=[15, 3]) == tree_aggregation_event(10, steps=15)
        True

    References:
        [CSS11], [DNPR10]; [KMSTTX21].
    """
    trees = tuple(steps) if isinstance(steps, Sequence) else (steps,)
    if not trees:
        raise ParameterError("steps", steps, "must be the number of leaves of at least one tree")
    levels = max(positive_integer(leaves, "steps").bit_length() for leaves in trees)
    square = 4 * levels - 2 if as_relation(neighboring_relation) is REPLACE_ONE else levels
    return GaussianEvent(positive(noise_multiplier, "noise_multiplier") / sqrt_up(Fraction(square)))


def matrix_event(
    encoder: Sequence[Sequence[Number]],
    noise_multiplier: Number,
    *,
    participations: int,
    min_separation: int = 1,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> Event:
    """Gaussian noise on C·x, of which the rest of a matrix mechanism is computed; row t of x is added up in step t.

    A unit that moves the rows in S by 1 each moves C·x by at most √(Σ |cᵢ·cⱼ|) over i, j in S, with columns cᵢ of C.
    For k = 1 the longest column is the exact sensitivity; so is √(Σ cᵢ²) where columns that far apart share no row, as
    of a banded C. A unit that replaces another one may be in other rows, so that two such sets move.

    **Guarantee**: for a unit in at most `participations` rows, any two at least `min_separation` steps apart, where a
    row changes by at most the L2 sensitivity that the noise is a multiple of if a unit is added to it, removed from it
    or, under `REPLACE_ONE`, exchanged in it. Proof: proofs/accounting/core/matrix_events.md.

    Edge cases: an encoder of zeros releases nothing. If a replacement always takes part in the same steps as the unit
    it replaces, no more than k rows move, and `ADD_OR_REMOVE_ONE` names the right event.

    Args:
        encoder: C, row by row: one row for each noisy number, one column for each step.
        noise_multiplier: Standard deviation over the L2 sensitivity of one row of x, above 0.
        participations: In how many steps one unit may take part.
        min_separation: How many steps later it may take part again, at the earliest.
        neighboring_relation: Of the accountant that will read the event.

    Raises:
        ParameterError: A parameter is out of range, or the rows of the encoder differ in length.

    Example:
        >>> matrix_event([[3, 0], [4, 1]], noise_multiplier=10, participations=1)
        GaussianEvent(noise_multiplier=Fraction(2, 1))
        >>> steps = [[int(row == column) for column in range(9)] for row in range(9)]
        >>> matrix_event(steps, noise_multiplier=10, participations=9, min_separation=3)  # three of them, in fact
        GaussianEvent(noise_multiplier=Fraction(23058430092136939520, 3993837246255605649))

    References:
        [LMHMR15]; [DMRST22]; [CMRT23].
    """
    rows = [
        [exact(entry, "encoder") for entry in listed(row, "encoder")] for row in listed(encoder, "encoder", of="rows")
    ]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ParameterError("encoder", "a matrix", "must have rows of one length, and at least one number")
    multiplier = positive(noise_multiplier, "noise_multiplier")
    apart = positive_integer(min_separation, "min_separation")
    most = min(positive_integer(participations, "participations"), -(-len(rows[0]) // apart))
    sensitivity = _moved_up(rows, most, apart)
    if as_relation(neighboring_relation) is REPLACE_ONE:
        sensitivity = min(2 * sensitivity, _moved_up(rows, min(2 * most, len(rows[0])), 1))
    return GaussianEvent(multiplier / sensitivity) if sensitivity else _NOTHING


def _moved_up(rows: list[list[Fraction]], most: int, apart: int) -> Fraction:
    """How far C·x moves if up to `most` rows of x do, so many steps apart."""
    squares = [sum((entry * entry for entry in column), start=Fraction(0)) for column in zip(*rows, strict=True)]
    if most == 1:
        return sqrt_up(max(squares))
    by_norms = Fraction(_largest_sum([sqrt_up(square) for square in squares], most, apart))
    if len(squares) > _LARGEST_GRAM:
        return by_norms
    products = _products_up(rows)
    steps, others = np.arange(len(squares)), products.copy()
    others[np.abs(steps[:, None] - steps) < apart] = 0.0
    rest = _largest_sum(list(others.T), most - 1, apart)
    together = _largest_sum(list(np.diag(products) + rest), most, apart)
    return min(by_norms, sqrt_up(Fraction(float(together) * (1 + _ROUNDING))))


def _products_up(rows: list[list[Fraction]]) -> NDArray[np.float64]:
    """|cᵢ·cⱼ| of all columns, rounded up."""
    floats = np.array([[float(entry) for entry in row] for row in rows])
    sizes = np.abs(floats)
    return np.asarray(np.abs(floats.T @ floats) + (len(rows) + 8) * _ULP * (sizes.T @ sizes))


def _largest_sum(values: list[Any], most: int, apart: int) -> Any:
    """The largest sum of up to so many values, none negative, so many places apart; of arrays, entry by entry."""
    best = [values[0] * 0] * (len(values) + 1)
    for _ in range(most):
        before, best = best, [values[0] * 0]
        for place, value in enumerate(values):
            best.append(np.maximum(best[-1], before[max(place + 1 - apart, 0)] + value))
    return best[-1]
