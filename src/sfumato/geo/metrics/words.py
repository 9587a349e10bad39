"""Words by the distance of their vectors in an embedding that the user brings."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.geo.metrics.finite import Steps, numbered
from sfumato.numeric.arguments import floats, is_one_of, listed
from sfumato.numeric.rationals import Number, positive, set_fields
from sfumato.numeric.rounding import float_up

MOST_WORDS: Final = 200_000
"""The most words of a vocabulary."""

_LARGEST_SQUARE: Final = 1 << 52  # sums of squares are then exact in floats, as are their roots when whole


@dataclass(frozen=True, slots=True, init=False, eq=False)
class WordMetric:
    """The Euclidean distance between vectors of words, rounded up to whole steps.

    Coordinates are rounded to multiples of the step first, and that is the metric: public, and exact ever after. Words
    of equal vectors are one step apart, so that the distance of different words is never 0.

    **Guarantee**: what is rounded up is a metric again: distances rounded up still have no shorter way through a third
    word. Proof: proofs/geo/metrics/words.md.

    ====================================  ==================================================
    Edge case                             Behavior
    ====================================  ==================================================
    a word is not in the vocabulary       it counts as `unknown`
    two words have the same vector        they are one step apart
    ====================================  ==================================================

    Args:
        words: Different texts.
        vectors: A row for each word, public: an embedding that was trained on data of its own.
        step: The size of a step in the units of the embedding.
        unknown: The word that stands for all that are not in the vocabulary.

    Raises:
        ParameterError: There is no word or more than 200,000, two are equal, a vector is not finite or too long in
            steps, or `unknown` is no word of the vocabulary.

    Example:
        >>> drinks = WordMetric(["tea", "coffee", "rain"], [[0, 0], [3, 4], [30, 40]], step=1, unknown="rain")
        >>> drinks.steps_from(drinks.index("tea")).tolist(), drinks.index("milk")
        ([0, 5, 50], 2)

    References:
        [FBDD20] for words replaced by near ones.
    """

    words: tuple[str, ...]
    step: Fraction
    unknown: str
    _vectors: Steps
    _indexes: dict[str, int]

    def __init__(self, words: Iterable[str], vectors: Any, *, step: Number, unknown: str) -> None:
        named = listed(words, "words", of="texts")
        if not all(isinstance(word, str) for word in named) or not 1 <= len(named) <= MOST_WORDS:
            raise ParameterError("words", f"{len(named)} of them", f"must be from 1 to {MOST_WORDS:,} texts")
        indexes, width = numbered(named, "words"), positive(step, "step")
        if not is_one_of(unknown, indexes):
            raise ParameterError("unknown", unknown, "must be a word of the vocabulary")
        found = floats(vectors, "vectors")
        if found.ndim != 2 or len(found) != len(named) or not np.isfinite(found).all():  # noqa: PLR2004 # a matrix
            raise ParameterError(
                "vectors", f"an array of {found.ndim} dimensions", "must be a finite row for each word"
            )
        steps = np.floor(found / float_up(width) + 0.5)
        longest = float((steps**2).sum(axis=1).max(initial=0))
        if 4 * longest > _LARGEST_SQUARE:
            raise ParameterError("step", step, "is too small: vectors must be at most 2^25 steps long")
        set_fields(self, words=named, step=width, unknown=unknown, _vectors=steps.astype(np.int64), _indexes=indexes)

    @property
    def unit(self) -> str:
        """The unit of the embedding."""
        return "embedding distance"

    def __len__(self) -> int:
        return len(self.words)

    def index(self, point: Any) -> int:
        """The number of a word; that of `unknown` for all others."""
        return self._indexes[point if is_one_of(point, self._indexes) else self.unknown]

    def point(self, index: int) -> str:
        """The word with a number."""
        return self.words[index]

    def steps_from(self, index: int) -> Steps:
        """The distances from a word to each one, in steps: the smallest whole numbers whose square is not below.

        Squares up to 2^52 are exact in floats, and a root that is rounded is moved by one step where it is wrong.
        """
        squares = ((self._vectors - self._vectors[index]) ** 2).sum(axis=1)
        roots: Steps = np.ceil(np.sqrt(squares.astype(np.float64))).astype(np.int64)
        roots -= (roots > 0) & ((roots - 1) ** 2 >= squares)
        roots += roots**2 < squares
        roots = np.maximum(roots, 1)
        roots[index] = 0
        return roots
