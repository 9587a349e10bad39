"""Probabilities of a graphical model, by two passes over its junction tree.

Upward, each clique sums its potentials over what its parent does not have, in logarithms, and keeps the conditional
probabilities. Downward, it multiplies them by the probabilities of its separator. That is one exponential a cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.synth.models.factors import Floats, aligned, log_sums, summed
from sfumato.synth.models.shape import Columns
from sfumato.synth.models.tree import NUMBER, ROOT, JunctionTree

_TWO: Final = 2
"""So many arrays are multiplied and summed at once, without their product in between."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beliefs:
    """What follows from potentials.

    Attributes:
        tree: The cliques.
        joints: For each clique the probability of each combination of its columns.
        conditionals: The same, given the columns of its separator; 0 where those are impossible.
        log_total: The logarithm of the sum of exp(potentials) over all rows; −∞ if no row is possible.
    """

    tree: JunctionTree
    joints: tuple[Floats, ...]
    conditionals: tuple[Floats, ...]
    log_total: float

    def marginal(self, columns: Columns, *, memory_limit: int) -> Floats:
        """The probability of each combination of some columns, in whichever cliques they are.

        Cliques that have nothing to do with it are left out; then columns are summed out one after the other, first
        the one that leaves the smallest array.

        Args:
            columns: Which, in the order of the axes.
            memory_limit: Bytes that no array on the way may exceed.

        Raises:
            ParameterError: An array would exceed the limit; nothing was computed.

        References:
            [KF09] for variable elimination.
        """
        home = self.tree.home(columns)
        if home is not None:
            return summed(self.joints[home], self.tree.cliques[home], columns)
        parts = self._parts(frozenset(columns))
        plan = _eliminations(self.tree, [names for names, _ in parts], columns, memory_limit)
        for column, kept in plan:
            touched = [part for part in parts if column in part[0]]
            parts = [part for part in parts if column not in part[0]]
            parts.append((kept, _product_sum(touched, kept)))
        return _product_sum(parts, columns)

    def _parts(self, wanted: frozenset[str]) -> list[tuple[Columns, Floats]]:
        """Probabilities of the topmost clique that matters, and conditional ones of those below it.

        A clique without children that adds no wanted column sums to 1. So does the first one, but for its separator
        with the only child that it has: there the child's own probabilities take the place of both.
        """
        tree = self.tree
        alive = set(range(len(tree.cliques)))
        for place in reversed(range(1, len(tree.cliques))):
            added = wanted - set(tree.separators[place])
            has_child = any(tree.parents[other] == place for other in alive)
            if not has_child and not added & set(tree.cliques[place]):
                alive.remove(place)
        top = 0
        while True:
            below = [place for place in alive if tree.parents[place] == top]
            if len(below) != 1 or wanted & set(tree.cliques[top]) - set(tree.separators[below[0]]):
                break
            alive.remove(top)
            top = below[0]
        others = ((tree.cliques[place], self.conditionals[place]) for place in sorted(alive - {top}))
        return [(tree.cliques[top], self.joints[top]), *others]


def believed(tree: JunctionTree, potentials: Sequence[Floats]) -> Beliefs:
    """Calibrate a tree.

    Args:
        tree: The cliques.
        potentials: One contiguous array for each clique, of its own. They are overwritten by conditional probabilities.

    References:
        [KF09] for belief propagation.
    """
    log_total = 0.0
    for place in reversed(range(len(tree.cliques))):
        separator, values = tree.separators[place], potentials[place]
        lengths = values.shape[: len(separator)]
        message = log_sums(values.reshape(int(np.prod(lengths)), -1))
        if tree.parents[place] == ROOT:
            log_total = float(message[0])
        else:
            upper = potentials[tree.parents[place]]
            upper += aligned(message.reshape(lengths), separator, tree.cliques[tree.parents[place]])
    joints: list[Floats] = []
    for place, conditional in enumerate(potentials):
        parent, separator = tree.parents[place], tree.separators[place]
        if parent == ROOT or not separator:
            joints.append(conditional)
        else:
            shared = summed(joints[parent], tree.cliques[parent], separator)
            joints.append(conditional * aligned(shared, separator, tree.cliques[place]))
    return Beliefs(tree=tree, joints=tuple(joints), conditionals=tuple(potentials), log_total=log_total)


def _product_sum(parts: Sequence[tuple[Columns, Floats]], kept: Columns) -> Floats:
    """The product of arrays, summed over all columns but those that are kept."""
    names = list(dict.fromkeys(chain.from_iterable(columns for columns, _ in parts)))
    numbers = {name: number for number, name in enumerate(names)}
    operands: list[Any] = []
    for columns, values in parts:
        operands += [values, [numbers[name] for name in columns]]
    result: Floats = np.einsum(*operands, [numbers[name] for name in kept], optimize="greedy")
    return result


def _eliminations(
    tree: JunctionTree, groups: Sequence[Columns], wanted: Columns, limit: int
) -> list[tuple[str, Columns]]:
    """Which column is summed out when, and what is left of the arrays that have it."""
    left = [frozenset(group) for group in groups]
    plan: list[tuple[str, Columns]] = []
    largest = tree.shape.cells(wanted)
    while rest := frozenset().union(*left) - set(wanted):
        around = {name: frozenset().union(*(group for group in left if name in group)) for name in sorted(rest)}
        column = min(around, key=lambda name: tree.shape.cells(around[name]) // tree.shape.sizes[name])
        kept = around[column] - {column}
        is_matrix_product = sum(column in group for group in left) <= _TWO
        largest = max(largest, tree.shape.cells(kept if is_matrix_product else around[column]))
        left = [group for group in left if column not in group] + [kept]
        plan.append((column, tuple(name for name in tree.shape.sizes if name in kept)))
    if NUMBER * largest > limit:
        raise ParameterError(
            "memory_limit",
            limit,
            f"must be at least {NUMBER * largest:,} bytes for the marginal of {', '.join(wanted)}",
        )
    return plan
