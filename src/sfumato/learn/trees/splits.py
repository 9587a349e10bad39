"""Trees that split at random: drawn for the public lattice of columns, before a row is read.

A tree is complete: each node above its leaves has a split, and the children of node i are 2i + 1 and 2i + 2. Which
columns and thresholds are drawn depends on declarations alone. Proof: proofs/learn/trees/leaves.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.noise.uniform.uniform import uniform_below, uniform_below_each
from sfumato.privacy.codec import Json
from sfumato.session.training.columns import Codes, TrainingColumn

DEEPEST: Final = 15
"""How many splits lie above a leaf, at most: a tree of this depth has 32,768 leaves."""

Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A column as trees split it: so many levels, in their own order or in a random one of each tree.

    Attributes:
        steps: How many lattice steps the column has.
        levels: How many levels there are: of a number as many as it has codes, of a category as it has values.
        is_ordered: Whether they have an order of their own.

    Example:
        >>> Feature(steps=4096, levels=3, is_ordered=False).level_of(np.array([0, 2048, 4096, -1])).tolist()
        [0, 1, 2, -1]
    """

    steps: int
    levels: int
    is_ordered: bool

    def level_of(self, codes: npt.NDArray[Any]) -> Whole:
        """The levels of codes: the nearest one; -1 for a value that is not listed."""
        last = self.levels - 1
        found: Whole = np.clip(codes, -1, self.steps).astype(np.int64)
        if last == self.steps:
            return found
        nearest: Whole = np.where(found < 0, -1, (2 * found * last + self.steps) // (2 * self.steps))
        return nearest


def feature_of(column: TrainingColumn, *, is_category: bool = False) -> Feature:
    """A declared column as trees split it.

    Args:
        column: The column.
        is_category: Whether a number is a category, whose values are the whole numbers between its whole bounds.
    """
    if column.lower is None or column.upper is None:
        return Feature(steps=column.steps, levels=column.steps + 1, is_ordered=False)
    levels = int(column.upper - column.lower) + 1 if is_category else column.steps + 1
    return Feature(steps=column.steps, levels=levels, is_ordered=not is_category)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomTree:
    """One complete tree; a row whose rank is above the threshold goes to the right.

    The rank of a level is the level itself, or its place in the random order that the tree has for a category.

    Attributes:
        columns: Which column each node splits, from the root on, level by level.
        thresholds: The largest rank that goes to the left at each node.
        orders: The rank of each level of a category, by the place of its column.
    """

    columns: Whole = field(repr=False)
    thresholds: Whole = field(repr=False)
    orders: Mapping[int, Whole] = field(repr=False)

    @property
    def depth(self) -> int:
        """How many splits lie above each leaf."""
        return (len(self.columns) + 1).bit_length() - 1

    def leaves_of(self, levels: Whole) -> Whole:
        """The leaf of each row, counted from the left.

        Args:
            levels: One row a row, one column a feature; a level of -1 goes to the left at each split.
        """
        ranks = levels
        if self.orders:
            ranks = levels.copy()
            for place, order in self.orders.items():
                ranks[:, place] = np.append(order, -1)[levels[:, place]]
        rows, width = levels.shape
        flat, starts = np.ascontiguousarray(ranks).reshape(-1), np.arange(rows) * width
        nodes = np.zeros(rows, dtype=np.int64)
        for _ in range(self.depth):
            goes_right = flat.take(starts + self.columns.take(nodes)) > self.thresholds.take(nodes)
            nodes = 2 * nodes + 1 + goes_right
        found: Whole = nodes - len(self.columns)
        return found

    def document(self) -> dict[str, Json]:
        """The tree as JSON values, which `tree_of` reads."""
        return {
            "columns": self.columns.tolist(), "thresholds": self.thresholds.tolist(),
            "orders": {str(place): order.tolist() for place, order in self.orders.items()},
        }  # fmt: skip


def tree_of(document: Mapping[str, Any]) -> RandomTree:
    """The tree that a document has."""
    orders = {int(place): np.array(order, dtype=np.int64) for place, order in document["orders"].items()}
    columns, thresholds = (np.array(document[name], dtype=np.int64) for name in ("columns", "thresholds"))
    return RandomTree(columns=columns, thresholds=thresholds, orders=orders)


def levels_of(features: tuple[Feature, ...], codes: Codes, *, is_listed: bool) -> Whole:
    """The levels of rows, one row a row.

    Args:
        features: The columns.
        codes: The codes of the rows.
        is_listed: Whether a value that is not listed counts as the first one, so that all levels are those of features.
    """
    found = np.empty(codes.shape, dtype=np.int64)
    for place, feature in enumerate(features):
        found[:, place] = feature.level_of(codes[:, place])
    return np.maximum(found, 0, out=found) if is_listed else found


def random_tree(features: tuple[Feature, ...], *, depth: int) -> RandomTree:
    """A tree whose splits are uniform among those that separate levels.

    A node takes a uniform one of the columns of which it still has two levels, and a uniform threshold between these.
    So no column is split again of which a single level is left. Where that holds of all, every row goes to the left.

    Args:
        features: The columns.
        depth: How many splits lie above each leaf.

    Example:
        >>> number = Feature(steps=1, levels=2, is_ordered=True)
        >>> tree = random_tree((number,), depth=2)
        >>> tree.leaves_of(np.array([[0], [1]])).tolist()
        [0, 2]
    """
    most = np.array([feature.levels - 1 for feature in features], dtype=np.int64)
    lowest, highest = np.zeros((1, len(most)), dtype=np.int64), most[None, :]
    columns, thresholds = [], []
    for _ in range(depth):
        chosen = _random_open(lowest < highest)
        nodes = np.arange(len(chosen))
        low, high = lowest[nodes, chosen], highest[nodes, chosen]
        drawn = low + uniform_below_each(np.maximum(high - low, 1))
        split = np.where(low < high, drawn, most[chosen])
        columns.append(chosen)
        thresholds.append(split)
        lowest, highest = np.repeat(lowest, 2, axis=0), np.repeat(highest, 2, axis=0)
        highest[2 * nodes, chosen] = np.minimum(split, high)
        lowest[2 * nodes + 1, chosen] = np.minimum(split + 1, high)
    orders = {  # by random words, of which two hardly ever agree
        place: np.argsort(np.argsort(uniform_below(1 << 62, feature.levels)))
        for place, feature in enumerate(features)
        if not feature.is_ordered
    }
    return RandomTree(columns=np.concatenate(columns), thresholds=np.concatenate(thresholds), orders=orders)


def _random_open(is_open: npt.NDArray[np.bool_]) -> Whole:
    """For each node a uniform one of its open columns; the first column where none is open."""
    counts = np.cumsum(is_open, axis=1)
    wanted = uniform_below_each(np.maximum(counts[:, -1], 1))
    chosen: Whole = np.argmax(counts > wanted[:, None], axis=1)
    return chosen
