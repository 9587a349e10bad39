"""Arrays over groups of columns, laid into the cliques of a junction tree, and read from them.

A group that is part of another group is laid into that one, so that large cliques are touched once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from sfumato.errors import ParameterError
from sfumato.synth.models.factors import Floats, aligned, summed
from sfumato.synth.models.shape import Columns
from sfumato.synth.models.tree import JunctionTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where each group of columns is read from, the largest group first.

    Attributes:
        tree: The cliques.
        groups: The groups, each in the order of the table, larger ones first.
        inside: For each group the place of the smallest earlier group that has all its columns, or None.
        homes: For each group the place of a clique that has them.
    """

    tree: JunctionTree
    groups: tuple[Columns, ...]
    inside: tuple[int | None, ...]
    homes: tuple[int, ...]

    def spread(self, values: Sequence[Floats], *, onto: Sequence[Floats] | None = None) -> list[Floats]:
        """For each clique the sum of the arrays of all groups in it, in arrays of its own.

        Args:
            values: One array for each group.
            onto: What is in the cliques already; nothing if not given.
        """
        shape, cliques = self.tree.shape, self.tree.cliques
        filled = [np.zeros(shape.lengths(clique)) for clique in cliques] if onto is None else [a.copy() for a in onto]
        waiting = list(values)
        for place in reversed(range(len(self.groups))):
            upper = self.inside[place]
            if upper is None:
                clique = cliques[self.homes[place]]
                filled[self.homes[place]] += aligned(waiting[place], self.groups[place], clique)
            else:
                waiting[upper] = waiting[upper] + aligned(waiting[place], self.groups[place], self.groups[upper])
        return filled

    def gather(self, joints: Sequence[Floats]) -> list[Floats]:
        """For each group its marginal, from those of the cliques."""
        found: list[Floats] = []
        for group, upper, home in zip(self.groups, self.inside, self.homes, strict=True):
            if upper is None:
                found.append(summed(joints[home], self.tree.cliques[home], group))
            else:
                found.append(summed(found[upper], self.groups[upper], group))
        return found

    def join(self, values: Iterable[Floats]) -> Floats:
        """The arrays of all groups, one after the other in one row."""
        return np.concatenate([np.zeros(0), *(part.ravel() for part in values)])

    def split(self, row: Floats) -> list[Floats]:
        """The arrays of all groups, of which a row was joined."""
        lengths = [self.tree.shape.lengths(group) for group in self.groups]
        ends = list(accumulate(map(prod, lengths)))
        return [row[end - prod(length) : end].reshape(length) for length, end in zip(lengths, ends, strict=True)]


def laid_out(tree: JunctionTree, groups: Iterable[Columns]) -> Layout:
    """Find for each group where it is read from.

    Args:
        tree: A tree with a clique for each group.
        groups: In the order of the table each, and each once.

    Raises:
        ParameterError: No clique has all columns of a group.

    Example:
        >>> from sfumato.synth.models.shape import TableShape
        >>> from sfumato.synth.models.tree import junction_tree
        >>> tree = junction_tree(TableShape({"a": 2, "b": 3}), [("a", "b")])
        >>> layout = laid_out(tree, [("a",), ("a", "b")])
        >>> layout.groups, layout.inside
        ((('a', 'b'), ('a',)), (None, 0))
        >>> [part.tolist() for part in layout.gather([np.ones((2, 3))])]
        [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [3.0, 3.0]]
    """
    ordered = sorted(groups, key=lambda group: (-tree.shape.cells(group), -len(group), group))
    inside: list[int | None] = []
    homes: list[int] = []
    for place, group in enumerate(ordered):
        home = tree.home(group)
        if home is None:
            raise ParameterError("groups", list(group), "must each be in a clique of the tree")
        homes.append(home)
        earlier = (upper for upper in reversed(range(place)) if set(group) <= set(ordered[upper]))
        inside.append(next(earlier, None))
    return Layout(tree=tree, groups=tuple(ordered), inside=tuple(inside), homes=tuple(homes))
