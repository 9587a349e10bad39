"""Exact choice by permute-and-flip: in random order, each candidate is offered a coin; the first true one wins [MS20].

The coins do not depend on the order, so all are tossed at once, and the winner is a uniform one of those that show
true: the first of them in a uniform order. The best candidate's coin has probability 1, so there always is one.
"""

from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.choice.selection import Whole, gaps_above_smallest, rough_exp
from sfumato.noise.uniform.acceptance import HALFWORD, Booleans, rational_coins
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.uniform import uniform_below, uniform_one_below

_ERROR: Final = 0.125  # of a float32 of e^(−x)·2^16, above its 2^−5
_MIDDLE: Final = 0.5
_LARGEST_BATCH: Final = 1 << 20  # coins, which bounds memory


def permute_and_flip_choice(numerators: Whole, denominator: int, size: int) -> Integers:
    """`size` independent indexes drawn by permute-and-flip with coins of exp(−(x_i − min x)), exactly.

    P(i) = q_i·E[1/(1 + K_i)], where q_i = exp(−(x_i − min x)), x_i = numerators[i]/denominator, and K_i is the number
    of true coins among all others, which have probabilities q_j.

    Args:
        numerators: Of the exponents; adding the same number to all changes nothing.
        denominator: Of all exponents, above 0.
        size: How many, 0 or more.

    Raises:
        ParameterError: There is no candidate, or a parameter lies outside.

    Example:
        >>> permute_and_flip_choice([10**4, 0], 1, 3).tolist()
        [1, 1, 1]

    References:
        [MS20] Algorithm 1.
    """
    if size < 0:
        raise ParameterError("size", size, "must be 0 or more")
    gaps = gaps_above_smallest(numerators, denominator)
    batch = max(1, _LARGEST_BATCH // len(gaps))
    chosen = np.empty(size, dtype=np.int64)
    for start in range(0, size, batch):
        part = chosen[start : start + batch]
        part[:] = _uniform_true(_coins(gaps, denominator, len(part)))
    return chosen


def _coins(gaps: Integers, denominator: int, rows: int) -> Booleans:
    """Rows of coins of exp(−gap/denominator), settled by their first 16 bits but for one in 2^16."""
    leading = entropy.random_halfwords(rows * len(gaps)).reshape(rows, len(gaps))
    scaled = rough_exp(gaps, denominator)
    scaled *= 1 << HALFWORD
    room = scaled - leading  # U ends within 1 above its first bits
    coins: Booleans = room >= 1 + _ERROR
    room -= _MIDDLE
    undecided = np.flatnonzero(np.abs(room, out=room) < _MIDDLE + _ERROR)
    if len(undecided):
        tied, begun = gaps[undecided % len(gaps)], leading.ravel()[undecided]
        coins.ravel()[undecided] = rational_coins(tied, denominator, leading=begun)
    return coins


def _uniform_true(coins: Booleans) -> Integers:
    """Of each row, the index of one of its true coins, each as likely as any other of them."""
    if len(coins) == 1:
        only = np.flatnonzero(coins)
        return only[[uniform_one_below(len(only))]]
    rows, columns = np.divmod(np.flatnonzero(coins), coins.shape[1])
    counts = np.bincount(rows, minlength=len(coins))
    chosen = np.cumsum(counts) - counts  # where the true coins of each row begin
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        alike = np.flatnonzero(counts == count)
        chosen[alike] += uniform_below(count, len(alike))
    winners: Integers = columns[chosen]
    return winners
