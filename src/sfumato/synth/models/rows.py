"""Rows of a model, by rounding conditional counts, of a graphical one clique by clique.

Where the rows are known for a separator, a value s of it has N(s) of them. The combinations r of the other columns of
the clique get ⌊C(r) + u⌋ − ⌊C(r − 1) + u⌋ rows, with C the running sums of N(s)·P(r | s) and one uniform u for each s.
So each gets N(s)·P(r | s) rounded up or down, on average exactly that, and all of them together N(s). In a mixture the
components are such a separator of all columns.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.draws import uniforms
from sfumato.noise.entropy import random_words
from sfumato.numeric.arguments import whole
from sfumato.synth.models.beliefs import Beliefs
from sfumato.synth.models.factors import Floats
from sfumato.synth.models.shape import Columns

Numbers: TypeAlias = NDArray[np.unsignedinteger]
Rows: TypeAlias = Mapping[str, Numbers]
"""For each column the number of the value of each row."""

MOST_ROWS: Final = 1 << 31
_WORD: Final = 64
_RANDOM_BITS: Final = 16
"""Of a word that orders rows, at least so many are random."""


def drawn_rows(beliefs: Beliefs, n: int, *, seed: int | None) -> Rows:
    """Draw rows.

    Args:
        beliefs: The probabilities of the model.
        n: How many rows, from 0 to 2^31.
        seed: The same seed gives the same rows.

    Raises:
        ParameterError: There are fewer or more rows, or the seed is no whole number of at least 0.
    """
    count, source = checked_draw(n, seed)
    tree = beliefs.tree
    columns: dict[str, Numbers] = {}
    for place, clique in enumerate(tree.cliques):
        separator = tree.separators[place]
        groups = _numbered([columns[name] for name in separator], tree.shape.lengths(separator), count)
        shares = beliefs.conditionals[place].reshape(tree.shape.cells(separator), -1)
        values = drawn_values(groups, shares, str(place), seed=source)
        added = clique[len(separator) :]
        columns |= split_values(values, added, tree.shape.lengths(added))
    return {name: columns[name] for name in tree.shape.sizes}


def checked_draw(n: int, seed: int | None) -> tuple[int, int | None]:
    """How many rows are drawn, and by which seed.

    Raises:
        ParameterError: There are fewer or more rows, or the seed is no whole number of at least 0.
    """
    return whole(n, "n", most=MOST_ROWS), None if seed is None else whole(seed, "seed")


def drawn_values(groups: NDArray[np.int64], shares: Floats, what: str, *, seed: int | None) -> NDArray[np.int64]:
    """For each row a number: within each group each comes as often as its share says, rounded up or down.

    Args:
        groups: For each row the number of its group.
        shares: One row for each group.
        what: What is drawn; the same seed gives other numbers for something else.
        seed: The same seed gives the same numbers.

    Example:
        >>> drawn_values(np.array([0, 1, 0, 1]), np.array([[0.5, 0.5], [0.0, 1.0]]), "sex", seed=1)[1::2].tolist()
        [1, 1]
    """
    above = len(shares)
    order = _shuffled(groups, above, uniform(seed, f"order {what}", len(groups)))
    sizes = np.bincount(groups, minlength=above)
    counts = rounded(shares, sizes, uniform(seed, f"offset {what}", above))
    values = np.empty(len(groups), dtype=np.int64)
    values[order] = np.repeat(np.tile(np.arange(shares.shape[1]), above), counts.ravel())
    return values


def split_values(values: NDArray[np.int64], columns: Columns, lengths: tuple[int, ...]) -> dict[str, Numbers]:
    """For numbers of combinations those of each column's values.

    Example:
        >>> {name: own.tolist() for name, own in split_values(np.array([5, 1]), ("a", "b"), (2, 3)).items()}
        {'b': [2, 1], 'a': [1, 0]}
    """
    found: dict[str, Numbers] = {}
    for name, length in zip(reversed(columns), reversed(lengths), strict=True):
        found[name] = (values % length).astype(np.min_scalar_type(length - 1))
        values = values // length
    return found


def rounded(shares: Floats, sizes: NDArray[np.int64], offsets: Floats) -> NDArray[np.int64]:
    """For each row of shares whole counts that add up to its size, each rounded up or down.

    Args:
        shares: One row for each value of a separator, each of sum 1, or of 0 where the size is 0.
        sizes: How many there are of each.
        offsets: Uniform in [0, 1), one for each.

    Example:
        >>> rounded(np.array([[0.25, 0.25, 0.5]]), np.array([10]), np.array([0.6])).tolist()
        [[3, 2, 5]]
    """
    ends = np.cumsum(shares, axis=1)
    last = ends[:, -1:].copy()
    ends /= np.where(last > 0, last, 1)  # so that the last one is 1 whatever was rounded
    ends *= sizes[:, np.newaxis]
    ends += offsets[:, np.newaxis]
    steps = np.floor(ends).astype(np.int64)
    steps[:, -1] = sizes
    np.minimum(steps, sizes[:, np.newaxis], out=steps)
    steps[:, 1:] -= steps[:, :-1].copy()
    return steps


def uniform(seed: int | None, what: str, n: int) -> Floats:
    """Numbers in [0, 1): of the seed and of what they are for, or of the system's generator."""
    if seed is not None:
        return uniforms(seed, what, n)
    return (random_words(n) >> np.uint64(11)).astype(np.float64) * np.float64(2.0**-53)


def _numbered(columns: list[Numbers], lengths: tuple[int, ...], n: int) -> NDArray[np.int64]:
    """The number of each row's combination of values; 0 if there are no columns."""
    numbers = np.zeros(n, dtype=np.int64)
    for column, length in zip(columns, lengths, strict=True):
        numbers *= length
        numbers += column
    return numbers


def _shuffled(groups: NDArray[np.int64], most: int, uniform: Floats) -> NDArray[np.int64]:
    """The places of rows, one group after the other, within each in a random order."""
    of_group, of_row = (most - 1).bit_length(), max(len(groups) - 1, 1).bit_length()
    random = _WORD - of_group - of_row
    if random < _RANDOM_BITS:
        return np.lexsort((uniform, groups))
    keys = (uniform * 2.0**random).astype(np.uint64) << np.uint64(of_row)
    keys |= np.arange(len(groups), dtype=np.uint64)
    if of_group:
        keys |= groups.astype(np.uint64) << np.uint64(random + of_row)
    keys.sort()
    return (keys & np.uint64((1 << of_row) - 1)).astype(np.int64)
