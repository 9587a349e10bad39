"""Units that hold keys: tiny databases of them, and the δ between the laws of everything that is shown."""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product
from math import prod

from tests.mechanisms.exhaustive import neighbours

from sfumato.accounting.core.finite import smallest_delta
from sfumato.privacy.neighbors import NeighboringRelation

KeyLaw = dict[object, Fraction]
"""The probability of each thing that is shown of one key; None if it is not shown."""


def units(keys: str, max_groups: int, *, rows: int = 1) -> list[tuple[str, ...]]:
    """All units with rows in at most `max_groups` keys, at most `rows` in each: the key of every row."""
    return [
        tuple(key * times for key, times in zip(held, repeated, strict=True))
        for size in range(max_groups + 1)
        for held in combinations(keys, size)
        for repeated in product(range(1, rows + 1), repeat=size)
    ]


def key_counts(database: Iterable[tuple[str, ...]], keys: str) -> tuple[int, ...]:
    """How many rows each key has; of units with one row a key, how many units."""
    counter = Counter(key for unit in database for held in unit for key in held)
    return tuple(counter[key] for key in keys)


def worst_delta(
    key_law: Callable[[int], KeyLaw],
    *,
    epsilon: Fraction,
    held: list[tuple[str, ...]],
    keys: str,
    relation: NeighboringRelation,
    sizes: range = range(3),
) -> Fraction:
    """The largest δ at ε over all pairs of neighbors, between the laws of all keys together.

    Keys decide independently, and alike for all keys: a pair of count vectors stands for its permutations.
    """
    pairs = {
        tuple(sorted(zip(key_counts(first, keys), key_counts(second, keys), strict=True)))
        for first, second in neighbours(held, relation, sizes=sizes)
    }
    return max(delta_of_changes(key_law, changes, epsilon=epsilon) for changes in pairs)


def delta_of_changes(
    key_law: Callable[[int], KeyLaw], changes: Iterable[tuple[int, int]], *, epsilon: Fraction
) -> Fraction:
    """δ between the laws of keys whose counts change so; a key with the same count in both is left out."""
    laws = [(key_law(first), key_law(second)) for first, second in changes if first != second]
    outcomes = list(product(*([*{**first, **second}] for first, second in laws)))
    vectors = [
        [prod((law[side].get(shown, Fraction(0)) for law, shown in zip(laws, outcome, strict=True)), start=Fraction(1))
         for outcome in outcomes]
        for side in (0, 1)
    ]  # fmt: skip
    return smallest_delta(*vectors, epsilon=epsilon)
