"""Trees with one split a level, drawn at random from public bins: nothing here depends on rows.

All nodes of a level have the same split, so that a leaf is a word of sides, one bit a level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.learn.boosting.bins import FeatureBins, Places, padded
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.privacy.codec import Json

DEEPEST: Final = 10
"""How many splits lie above a leaf, at most: a tree of this depth has 1,024 leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTree:
    """A tree whose splits are the same for all nodes of a level.

    Attributes:
        columns: The place of the column that each level splits.
        sides: For each level which bins of that column go to the right.

    Example:
        >>> tree = LevelTree(columns=(0, 1), sides=(np.array([0, 1]), np.array([0, 1, 1])))
        >>> tree.leaves_of([np.array([0, 1, 0, -1]), np.array([0, 0, 2, 1])]).tolist()
        [0, 1, 2, 2]
    """

    columns: tuple[int, ...]
    sides: tuple[npt.NDArray[np.int64], ...] = field(repr=False)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return 1 << len(self.columns)

    def leaves_of(self, placed: Sequence[Places]) -> npt.NDArray[np.int64]:
        """The leaf of each row.

        Args:
            placed: For each column the bin of each row; a bin of -1 goes to the left.
        """
        found = np.zeros(len(placed[0]), dtype=np.int64)
        for level, (column, side) in enumerate(zip(self.columns, self.sides, strict=True)):
            found += (padded(side) << level)[placed[column]]
        return found

    def document(self) -> dict[str, Json]:
        """The tree as JSON values, which `level_tree_of` reads: of each level the sides of all bins, as text."""
        return {"columns": list(self.columns), "sides": ["".join(map(str, side.tolist())) for side in self.sides]}


def level_tree_of(document: Mapping[str, Any]) -> LevelTree:
    """The tree that a document has."""
    sides = tuple(np.array(list(map(int, text)), dtype=np.int64) for text in document["sides"])
    return LevelTree(columns=tuple(document["columns"]), sides=sides)


def random_level_tree(bins: FeatureBins, *, depth: int) -> LevelTree:
    """A tree of random splits: of each level a uniform one of the columns that have two bins or more.

    The bins of a number are cut at a uniform place between two of them. The values of a category are cut likewise, in
    a random order. Where no column has two bins, every row goes to the left.

    Args:
        bins: The bins of the columns.
        depth: How many splits lie above each leaf.
    """
    wide = [place for place, size in enumerate(bins.sizes) if size > 1] or [0]
    columns = tuple(wide[chosen] for chosen in uniform_below(len(wide), depth).tolist())
    return LevelTree(columns=columns, sides=tuple(_sides(bins, place) for place in columns))


def _sides(bins: FeatureBins, place: int) -> npt.NDArray[np.int64]:
    """Which bins of a column go to the right: at least one, and at least one does not."""
    size = bins.sizes[place]
    ranks = np.arange(size)
    if not bins.columns[place].is_number:  # by random words, of which two hardly ever agree
        ranks = np.argsort(np.argsort(uniform_below(1 << 62, size)))
    cut = uniform_below(max(size - 1, 1), 1)
    found: npt.NDArray[np.int64] = (ranks > cut).astype(np.int64)
    return found
