"""Gaussian noise on linear queries of a stream, as one event: trees of partial sums, and matrix factorizations."""

from collections.abc import Sequence
from fractions import Fraction
from heapq import nlargest
from typing import Final

from sfumato.accounting.core.normal_form import NeighborGroup
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, sqrt_up
from sfumato.privacy.events import ComposedEvent, Event, GaussianEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation

_NOTHING: Final = ComposedEvent(())


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
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> Event:
    """Gaussian noise on C·x, of which the rest of a matrix mechanism is computed; row t of x is added up in step t.

    A unit that moves k rows of x by 1 each moves C·x by at most the k largest norms of columns of C together; for
    k = 1 that is the exact sensitivity. Squared norms are exact, their roots rounded up. A unit that replaces another
    one may be in other rows, so that 2k of them move.

    **Guarantee**: for a unit in at most `participations` rows, where a row changes by at most the L2 sensitivity that
    the noise is a multiple of if a unit is added to it, removed from it or, under `REPLACE_ONE`, exchanged in it.

    Edge cases: an encoder of zeros releases nothing. If a replacement always takes part in the same steps as the unit
    it replaces, no more than k rows move, and `ADD_OR_REMOVE_ONE` names the right event.

    Args:
        encoder: C, row by row: one row for each noisy number, one column for each step.
        noise_multiplier: Standard deviation over the L2 sensitivity of one row of x, above 0.
        participations: In how many steps one unit may take part.
        neighboring_relation: Of the accountant that will read the event.

    Raises:
        ParameterError: A parameter is out of range, or the rows of the encoder differ in length.

    Example:
        >>> matrix_event([[3, 0], [4, 1]], noise_multiplier=10, participations=1)
        GaussianEvent(noise_multiplier=Fraction(2, 1))

    References:
        [LMHMR15]; [DMRST22].
    """
    rows = [
        [exact(entry, "encoder") for entry in listed(row, "encoder")] for row in listed(encoder, "encoder", of="rows")
    ]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ParameterError("encoder", "a matrix", "must have rows of one length, and at least one number")
    multiplier = positive(noise_multiplier, "noise_multiplier")
    squares = [sum((entry * entry for entry in column), start=Fraction(0)) for column in zip(*rows, strict=True)]
    units = NeighborGroup(as_relation(neighboring_relation)).one_by_one.size
    largest = nlargest(units * positive_integer(participations, "participations"), squares)
    sensitivity = sum((sqrt_up(square) for square in largest), start=Fraction(0))
    return GaussianEvent(multiplier / sensitivity) if sensitivity else _NOTHING
