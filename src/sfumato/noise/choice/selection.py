"""Exact choice among finitely many candidates, better ones exponentially more often, or by permute-and-flip.

*Exponentially*: each candidate's weight a, which is no integer, has an integer `upper` ≥ a just above it. A uniform
integer below the sum of all `upper` falls on one unit of one candidate. Units surely below a are kept. Of each of the
few others the part is kept that a covers: a uniform number in that unit is compared with a, exactly.

*Permute-and-flip* [MS20]: in random order, each candidate is offered a coin; the first true one wins. The coins do not
depend on the order, so all are tossed at once, and the winner is a uniform one of those that show true: the first of
them in a uniform order. The best candidate's coin has probability 1, so there always is one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import floor, frexp, inf, log
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.bernoulli import HALFWORD, Booleans, Floats, below, exponents_in_floats, rational_coins
from sfumato.noise.uniform.integers import SAFE, Integers, narrow, python_integers
from sfumato.noise.uniform.uniform import accepted, uniform_below, uniform_one_below
from sfumato.numeric.rounding import exp_bounds

Whole: TypeAlias = Sequence[int] | NDArray[Any]
"""Whole numbers, one for each candidate: an array of integers or Python integers of any size."""

_PRECISION: Final = 32  # bits of the largest weight
_INFLATION: Final = 1 + 2.0**-14  # above the error of a float32 of a weight, 2^−17
_MOST_IN_FLOATS: Final = 1 << 29  # candidates whose weights add up to less than 2^62
_ERROR: Final = 0.125  # of a float32 of e^(−x)·2^16, above its 2^−5
_MIDDLE: Final = 0.5
_LARGEST_BATCH: Final = 1 << 20  # coins, which bounds memory
HOPELESS: Final = 24
"""A candidate is hardly ever chosen whose exponent is by so much above the logarithm of its weight: 32·ln 2, and 1."""
_LARGEST_LOGARITHM: Final = 694  # of a weight in floats: above 1000·ln 2, and far below the 1000 of a hopeless exponent


@dataclass(frozen=True, slots=True)
class LargeWeights:
    """Weights beyond 64 bits, so many that only those are computed which a choice depends on.

    Attributes:
        logarithms: Of all weights, right to an absolute 2^−20; −∞ of those that are 0. Those that are below an exponent
            less `HOPELESS` may be too large, if they still are.
        exact: Computes one of them.
    """

    logarithms: Floats
    exact: Callable[[int], int]

    def __len__(self) -> int:
        return len(self.logarithms)

    def __getitem__(self, index: int) -> int:
        return self.exact(index)

    def take(self, indexes: Integers) -> "LargeWeights":
        """Some of them."""
        return LargeWeights(self.logarithms[indexes], lambda index: self.exact(int(indexes[index])))


def exponential_choice_of(
    numerators: Whole, denominator: int, size: int, *, weights: Whole | LargeWeights | None = None
) -> Integers:
    """`size` independent indexes i with P(i) ∝ weights[i]·exp(−numerators[i]/denominator), exactly.

    Args:
        numerators: Of the exponents; adding the same number to all changes nothing.
        denominator: Of all exponents, above 0.
        size: How many, 0 or more.
        weights: 0 or more, at least one above 0; all 1 if not given. Of very many or large ones, logarithms.

    Raises:
        ParameterError: There is no candidate, none has a weight, or a parameter is out of range.

    Example:
        >>> exponential_choice_of([0, 10, 0], 1, 4, weights=[1, 10**9, 0]).max() < 2
        np.True_
    """
    if weights is None:
        return _proposals(gaps_above_smallest(numerators, denominator), denominator, None).draws(size)
    known = weights if isinstance(weights, LargeWeights) else whole_numbers(weights)
    signs = known.logarithms > -inf if isinstance(known, LargeWeights) else known
    positive = np.flatnonzero(signs)
    if len(known) != len(numerators):
        raise ParameterError("weights", f"{len(weights)} weights", f"must be {len(numerators)}, one for each candidate")
    if len(positive) == 0 or (signs < 0).any():
        raise ParameterError("weights", "some", "must be 0 or more, and at least one above 0")
    gaps = gaps_above_smallest(whole_numbers(numerators)[positive], denominator)
    chosen: Integers = positive[_proposals(gaps, denominator, known.take(positive)).draws(size)]
    return chosen


def permute_and_flip_choice(numerators: Whole, denominator: int, size: int) -> Integers:
    """`size` independent indexes drawn by permute-and-flip with coins of exp(−(x_i − min x)), exactly.

    P(i) = q_i·E[1/(1 + K_i)], where q_i = exp(−(x_i − min x)), x_i = numerators[i]/denominator, and K_i is the number
    of true coins among all others, which have probabilities q_j.

    Args:
        numerators: Of the exponents; adding the same number to all changes nothing.
        denominator: Of all exponents, above 0.
        size: How many, 0 or more.

    Raises:
        ParameterError: There is no candidate, or a parameter is out of range.

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


def gaps_above_smallest(numerators: Whole, denominator: int) -> Integers:
    """Numerators less the smallest of them, exactly.

    Raises:
        ParameterError: There is none, or the denominator is below 1.
    """
    if len(numerators) == 0:
        raise ParameterError("exponents", "an empty sequence", "must hold at least one candidate")
    if denominator < 1:
        raise ParameterError("denominator", denominator, "must be at least 1")
    exact = whole_numbers(numerators)
    smallest = int(exact.min())
    if smallest == 0:
        return exact
    if exact.dtype != object and int(exact.max()) - smallest > SAFE:
        exact = exact.astype(object)
    return exact - smallest


def whole_numbers(values: Whole) -> Integers:
    """The values as an array of int64, or of Python integers where those do not suffice."""
    if isinstance(values, np.ndarray) and values.dtype not in (np.uint64, object):
        return values.astype(np.int64, casting="safe", copy=False)
    return narrow(python_integers(values))


def rough_exp(numerators: Integers, denominator: int) -> NDArray[np.float32]:
    """e^(−numerator/denominator), right to a relative 2^−16 or an absolute 2^−120, and to an absolute 2^−21.

    In place, because fresh memory costs more than the arithmetic.
    """
    values = exponents_in_floats(numerators, denominator).astype(np.float32)
    np.negative(values, out=values)
    return np.exp(values, out=values)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Candidates of weight a_i = weights[i]·exp(−numerators[i]/denominator)·2^shift."""

    numerators: Integers
    denominator: int
    weights: Integers | LargeWeights | None
    shift: int = _PRECISION

    def bounds(self, i: int, bits: int) -> tuple[int, int]:
        """Integers around a_i·2^bits, at most 2 apart, and the upper one within 2 of it."""
        weight = 1 if self.weights is None else int(self.weights[i])
        guard = max(0, -self.shift) + weight.bit_length() + 4
        precision = bits + self.shift + guard
        lower, upper = exp_bounds(Fraction(int(self.numerators[i]), self.denominator), precision)
        return weight * lower >> guard, -(-weight * upper >> guard)


@dataclass(frozen=True, slots=True)
class _Proposals:
    """Candidates, and 0 with the cumulative sums of integers: a_i ≤ upper_i ≤ (1 + 2^−13)·a_i + 2."""

    candidates: _Candidates
    edges: Integers

    def draws(self, size: int) -> Integers:
        """Independent draws of candidates, each with probability ∝ a_i."""
        return np.array([self._one()]) if size == 1 else accepted(self._attempts, size)

    def _attempts(self, count: int) -> Integers:
        """The candidates on which uniform numbers fall, but for those that fall above a_i."""
        units = uniform_below(int(self.edges[-1]), count)
        found = self.edges.searchsorted(units, side="right") - 1
        starts = self.edges[found]
        offsets = units - starts
        kept = offsets < _surely_below(self.edges[found + 1] - starts)
        for i in np.flatnonzero(~kept).tolist():
            kept[i] = below(int(offsets[i]), 0, partial(self.candidates.bounds, int(found[i])))
        chosen: Integers = found[kept]
        return chosen

    def _one(self) -> int:
        """`_attempts` until one is kept, without arrays, which cost more than a single draw."""
        while True:
            unit = uniform_one_below(int(self.edges[-1]))
            found = int(self.edges.searchsorted(unit, side="right")) - 1
            start, end = int(self.edges[found]), int(self.edges[found + 1])
            if unit - start < _surely_below(end - start):
                return found
            if below(unit - start, 0, partial(self.candidates.bounds, found)):
                return found


def _surely_below(upper: Any) -> Any:
    """Integers below a_i, given upper_i."""
    return upper - (upper >> 12) - 4


def _proposals(gaps: Integers, denominator: int, weights: Integers | LargeWeights | None) -> _Proposals:
    """Upper bounds in floats where those are sure to be right, else in integers."""
    is_large = isinstance(weights, LargeWeights) and weights.logarithms.max() > _LARGEST_LOGARITHM
    is_object = isinstance(weights, np.ndarray) and weights.dtype == object
    if len(gaps) > _MOST_IN_FLOATS or is_large or is_object:
        candidates = _Candidates(gaps, denominator, weights)
        upper = (candidates.bounds(i, 0)[1] for i in range(len(gaps)))
        return _Proposals(candidates, python_integers(accumulate(upper, initial=0)))
    approximate: NDArray[Any]
    if isinstance(weights, LargeWeights):
        exponents = weights.logarithms - exponents_in_floats(gaps, denominator)
        shift = _PRECISION - 1 - floor(exponents.max() / log(2))
        approximate = np.exp(exponents + shift * log(2)) * _INFLATION
    else:
        approximate = rough_exp(gaps, denominator)
        if weights is not None:
            approximate = approximate * weights
        shift = _PRECISION - frexp(approximate.max())[1]
        approximate *= _INFLATION * 2.0**shift
    edges = np.zeros(len(gaps) + 1, dtype=np.int64)
    edges[1:] = approximate
    edges[1:] += 2
    return _Proposals(_Candidates(gaps, denominator, weights, shift), np.cumsum(edges, out=edges))


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
