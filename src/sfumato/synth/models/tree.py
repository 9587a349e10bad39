"""The junction tree of a graphical model: which columns are kept together, and what that takes.

Columns that a potential depends on are neighbors. Columns are taken out one after the other, first the one whose
neighbors lack the fewest edges; its neighbors are then all joined. Each column and its neighbors of then are a clique.
A spanning tree of the largest separators joins the cliques, so that all cliques with a column are next to each other.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from sfumato.errors import ParameterError
from sfumato.synth.models.shape import Columns, TableShape

NUMBER: Final = 8
"""Bytes of a float."""
ROOT: Final = -1
"""In place of the parent of the first clique."""
_SHOWN: Final = 5
"""So many columns are named in an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTree:
    """Cliques of columns, parents before children.

    Attributes:
        shape: The columns.
        cliques: For each clique its columns: those of its separator, then the others, each in the order of the table.
        parents: For each clique the place of its parent, or −1.
        separators: For each clique the columns that it shares with its parent, none for the first one.
    """

    shape: TableShape
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    separators: tuple[Columns, ...]

    @property
    def cells(self) -> int:
        """How many numbers all cliques hold together."""
        return sum(map(self.shape.cells, self.cliques))

    @property
    def size(self) -> int:
        """Bytes of one number for each cell."""
        return NUMBER * self.cells

    def home(self, columns: Iterable[str]) -> int | None:
        """The smallest clique with all of these columns, by its place; None if there is none.

        Example:
            >>> tree = junction_tree(TableShape({"a": 2, "b": 3, "c": 4}), [("a", "b"), ("b", "c")])
            >>> tree.home(["b"]), tree.home(["a", "c"])
            (1, None)
        """
        wanted = set(columns)
        places = [place for place, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(places, key=lambda place: self.shape.cells(self.cliques[place]), default=None)


def junction_tree(
    shape: TableShape, groups: Iterable[Columns], *, memory_limit: int | None = None, arrays: int = 1, beside: int = 0
) -> JunctionTree:
    """A tree of cliques such that each group of columns is in one; every column is in one.

    Args:
        shape: The columns.
        groups: Which columns belong together.
        memory_limit: Bytes that the caller may take; no limit if not given.
        arrays: How many numbers the caller holds at once for each cell.
        beside: Bytes that the caller holds besides.

    Raises:
        ParameterError: More memory would be needed. None was taken.

    Example:
        >>> shape = TableShape({"a": 2, "b": 3, "c": 4, "d": 5})
        >>> cycle = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
        >>> tree = junction_tree(shape, cycle)
        >>> tree.cliques, tree.separators, tree.cells
        ((('a', 'c', 'd'), ('a', 'c', 'b')), ((), ('a', 'c')), 64)

    References:
        [KF09] for junction trees and min-fill.
    """
    neighbors: dict[str, set[str]] = {column: set() for column in shape.sizes}
    for group in groups:
        for column in group:
            neighbors[column].update(set(group) - {column})
    most = None if memory_limit is None else (memory_limit - beside) // (NUMBER * arrays)
    cliques: list[frozenset[str]] = []
    cells = 0
    for clique in _cliques(shape, neighbors):
        cliques.append(clique)
        cells += shape.cells(clique)
        if most is not None and cells > most:  # at once: what is left may take long if cliques are large
            needed = NUMBER * arrays * cells + beside
            largest = shape.ordered(max(cliques, key=shape.cells))
            named = ", ".join(largest[:_SHOWN]) + " and others" * (len(largest) > _SHOWN)
            raise ParameterError(
                "memory_limit", memory_limit,
                f"is too small: these marginals need at least {needed:,} bytes. Their junction tree has {cells:,} "
                f"cells or more, most of them of {named}. Leave out marginals, merge values, or state a tree_limit",
            )  # fmt: skip
    return _joined(shape, cliques)


def _cliques(shape: TableShape, neighbors: dict[str, set[str]]) -> Iterator[frozenset[str]]:
    """The maximal cliques after all missing edges were filled in; it empties the graph that it is given."""
    found: list[frozenset[str]] = []
    ranks = {column: _rank(shape, neighbors, column) for column in neighbors}
    while ranks:
        column = min(ranks, key=lambda name: ranks[name])
        around = neighbors.pop(column)
        clique = frozenset({column, *around})
        if not any(clique <= other for other in found):
            found.append(clique)
            yield clique
        for other in around:
            neighbors[other] |= around - {other}
            neighbors[other].discard(column)
        del ranks[column]
        changed = around.union(*(neighbors[other] for other in around))
        ranks.update({other: _rank(shape, neighbors, other) for other in changed})


def _rank(shape: TableShape, neighbors: Mapping[str, set[str]], column: str) -> tuple[int, int]:
    """How many edges its neighbors lack, then how many cells its clique has: the least is taken out first."""
    around = neighbors[column]
    lacking = sum(len(around - neighbors[other]) - 1 for other in around) // 2
    return lacking, shape.sizes[column] * prod(shape.sizes[other] for other in around)


def _joined(shape: TableShape, cliques: list[frozenset[str]]) -> JunctionTree:
    """A tree of largest separators, grown from the clique with the most cells; ties go to the first ones."""
    first = max(cliques, key=shape.cells)
    waiting = [clique for clique in cliques if clique is not first]
    nearest = {clique: (len(clique & first), 0) for clique in waiting}
    ordered, parents = [_axes(shape, frozenset(), first)], [ROOT]
    separators: list[Columns] = [()]
    placed = [first]
    while nearest:
        clique = max(nearest, key=lambda name: nearest[name][0])
        _, parent = nearest.pop(clique)
        shared = clique & placed[parent]
        ordered.append(_axes(shape, shared, clique))
        separators.append(tuple(column for column in shape.sizes if column in shared))
        parents.append(parent)
        placed.append(clique)
        for other, (most, _) in nearest.items():
            if len(other & clique) > most:
                nearest[other] = (len(other & clique), len(placed) - 1)
    return JunctionTree(
        shape=shape, cliques=tuple(ordered), parents=tuple(parents), separators=tuple(separators)
    )  # fmt: skip


def _axes(shape: TableShape, separator: frozenset[str], clique: frozenset[str]) -> Columns:
    first = [column for column in shape.sizes if column in separator]
    return (*first, *(column for column in shape.sizes if column in clique - separator))
