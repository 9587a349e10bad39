"""Draws of a Dirichlet-multinomial distribution, exactly: Pólya's urn, of whole numbers alone.

Each draw picks a ball of the urn and adds another of its kind. So a draw takes either a ball that was there at the
start, or repeats an earlier draw. All draws point to what they take at once, and pointers are then followed.

Proof: proofs/synth/flows/urn.md.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise.uniform.integers import SAFE, multiply_add
from sfumato.noise.uniform.uniform import uniform_below_each
from sfumato.numeric.arguments import whole

Counts = NDArray[np.int64]


def dirichlet_multinomial(counts: Counts, *, prior: Fraction, draws: int) -> Counts:
    """How often each of K cells is drawn, in `draws` draws of Dirichlet-multinomial(counts + prior).

        P(o) = draws!/Π o_k! · Π a_k·(a_k + 1)⋯(a_k + o_k − 1) / (A·(A + 1)⋯(A + draws − 1)),   a = counts + prior,

    with A = Σ a. No float enters. It does not run in constant time, as all samplers here.

    Args:
        counts: K whole numbers of at least 0, of any size that int64 holds.
        prior: What is added to each, above 0.
        draws: How many draws, 0 or more.

    Returns:
        K whole numbers, of which the sum is `draws`.

    Raises:
        ParameterError: There is no cell, the prior is not above 0, or `draws` is negative.

    Example:
        >>> int(dirichlet_multinomial(np.array([3, 0, 1]), prior=Fraction(1, 2), draws=10).sum())
        10

    References:
        [JK77] for the urn; [MKAGV08] for flows.
    """
    if len(counts) == 0 or prior <= 0:
        raise ParameterError("prior", prior, "must be above 0, and there must be a cell")
    whole(draws, "draws")
    first, step = prior.as_integer_ratio()
    start = int(counts.sum(dtype=object)) * step + first * len(counts)
    kind: Any = np.int64 if start + step * draws <= SAFE else object
    balls = multiply_add(step, counts, np.array([first], dtype=kind)).astype(kind)
    numbers = np.array(range(draws), dtype=kind)
    picked = np.asarray(uniform_below_each(numbers * step + start), dtype=kind)
    is_new = np.asarray(picked < start, dtype=bool)
    cells = np.zeros(draws, dtype=np.int64)
    cells[is_new] = np.searchsorted(np.cumsum(balls), picked[is_new], side="right")
    taken = np.arange(draws)
    taken[~is_new] = ((picked[~is_new] - start) // step).astype(np.int64)
    while not np.array_equal(taken, further := taken[taken]):
        taken = further
    return np.bincount(cells[taken], minlength=len(counts)).astype(np.int64)
