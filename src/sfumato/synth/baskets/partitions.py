"""Baskets in ever smaller partitions, each by the noisy counts of those that it is divided into.

A partition has all baskets with the same generalization: a cut, groups of the tree of which each has an item of the
basket, and no other has. One group of a cut is expanded at a time: into any of the sets of its members.

Proof: proofs/synth/baskets/partitions.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, exp, log, log1p
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.noise.entropy import random_words
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.laws.laplace_tail import laplace_above
from sfumato.noise.uniform.uniform import uniform_one_below
from sfumato.numeric.rounding import dyadic_up
from sfumato.session.training.baskets import BITS, BasketCounts
from sfumato.synth.baskets.taxonomy import ItemTree, subset, subsets_up_to

Counts: TypeAlias = NDArray[np.int64]

LAST: Final = 2
"""The last counts of a basket get so many times the share that the ones before get."""

EMPTY_KEPT: Final = Fraction(1, 8)
"""So many empty partitions are kept of one that is divided, on average, at most."""

LEAST_SCALE: Final = Fraction(1, 1000)
"""No noise is smaller."""

MOST_DIVIDED: Final = 20_000
"""So many partitions are divided at most, those with larger noisy counts first."""

_CHUNK: Final = 1 << 14  # baskets that are shortened at a time


@dataclass(frozen=True, slots=True)
class Division:
    """How a partition is divided: it follows from its cut and from what is left of its ε, and so from what is public.

    Attributes:
        node: The group that is expanded.
        most: How many of its members a basket may have.
        epsilon: What the counts cost.
        scale: Of the noise on each.
        parts: How many partitions there are.
        threshold: The least noisy count that is kept.
    """

    node: int
    most: int
    epsilon: Fraction
    scale: Fraction
    parts: int
    threshold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """Baskets that are divided by a tree, for ε in all.

    **Guarantee**: what `leaves` returns is ε-differentially private for `moved` = 1 where a basket is added or removed,
    and for `moved` = 2 where one is replaced. Proof: proofs/synth/baskets/partitions.md.

    Attributes:
        tree: The groups of items.
        epsilon: ε.
        moved: How many baskets differ between neighboring databases.
        most_items: How many items a basket has at most; no other may be given.
    """

    tree: ItemTree
    epsilon: Fraction
    moved: int
    most_items: int

    @property
    def widest(self) -> Fraction:
        """A scale of noise that none exceeds."""
        return self.moved * (self.tree.expansions([0], self.most_items) + LAST) / self.epsilon

    def division(self, cut: Sequence[int], left: Fraction) -> Division:
        """How a partition with this cut is divided, of which `left` is left.

        The share is what is left, over the number of expansions that a basket may still need; the last takes it all.
        The threshold is the least at which `EMPTY_KEPT` empty partitions reach it on average.
        """
        node = next(one for one in cut if self.tree.children[one])
        members = len(self.tree.children[node])
        most = min(members, self.most_items - len(cut) + 1)
        further = self.tree.expansions(cut, self.most_items) - 1
        share = left / (further + LAST) if further else left
        scale = max(dyadic_up(self.moved / share), LEAST_SCALE)
        parts = subsets_up_to(members, most)
        rate = 1 / float(scale)
        needed = (log(parts / EMPTY_KEPT) - log1p(exp(-rate))) / rate
        return Division(node, most, share, scale, parts, max(1, ceil(needed)))

    def leaves(self, baskets: BasketCounts) -> list[tuple[tuple[int, ...], int]]:
        """The partitions that cannot be divided further, each with the places of its items and its noisy count.

        Args:
            baskets: Different baskets, each of at least one item and at most `most_items`.
        """
        everything = _Partition((0,), self.epsilon, np.arange(len(baskets.counts)))
        found: list[tuple[tuple[int, ...], int]] = []
        waiting: list[tuple[int, int, int, _Partition]] = [(0, 0, 0, everything)]
        number = 0
        while waiting and number < MOST_DIVIDED:
            *_, partition = heappop(waiting)
            number += 1
            for place, (part, noisy) in enumerate(self._divided(partition, baskets)):
                if any(self.tree.children[node] for node in part.cut):
                    heappush(waiting, (-noisy, number, place, part))
                elif (count := self._leaf_count(part, noisy, baskets)) > 0:
                    found.append((tuple(sorted(self.tree.members[node][0] for node in part.cut)), count))
        return sorted(found)

    def _divided(self, partition: "_Partition", baskets: BasketCounts) -> Iterator[tuple["_Partition", int]]:
        """The partitions that are kept, in the order of their cuts, with their noisy counts."""
        step = self.division(partition.cut, partition.left)
        children = self.tree.children[step.node]
        rest = tuple(node for node in partition.cut if node != step.node)
        numbers = np.zeros(len(partition.rows), dtype=np.int64)
        for place, child in enumerate(children):
            is_in = np.zeros(len(partition.rows), dtype=np.bool_)
            for item in self.tree.members[child]:
                is_in |= baskets.has(item)[partition.rows]
            numbers |= is_in.astype(np.int64) << place
        masks, place_of = np.unique(numbers, return_inverse=True)
        counts = np.zeros(len(masks), dtype=np.int64)
        np.add.at(counts, place_of, baskets.counts[partition.rows])
        places = {int(mask): place for place, mask in enumerate(masks)}
        for mask, noisy in kept_parts(masks, counts, step, len(children)):
            chosen = tuple(child for place, child in enumerate(children) if mask >> place & 1)
            own = partition.rows[place_of == places.get(mask, -1)]
            yield _Partition(tuple(sorted(rest + chosen)), partition.left - step.epsilon, own), noisy

    def _leaf_count(self, part: "_Partition", noisy: int, baskets: BasketCounts) -> int:
        """What was counted; where some ε is left it is counted again, for all of that."""
        if not part.left:
            return noisy
        scale = max(dyadic_up(self.moved / part.left), LEAST_SCALE)
        return int(baskets.counts[part.rows].sum()) + int(discrete_laplace(scale, 1)[0])


@dataclass(frozen=True, slots=True)
class _Partition:
    """A partition: its cut, what is left of its ε, and which baskets are in it, which nobody may see."""

    cut: tuple[int, ...]
    left: Fraction
    rows: Counts = field(repr=False)


def kept_parts(masks: Counts, counts: Counts, step: Division, members: int) -> list[tuple[int, int]]:
    """Those of all partitions of which the noisy count reaches the threshold, and that count, in order.

    Each partition has noise of its own, those without a basket too. Of these only the ones that are kept are drawn: how
    many they are, which ones, and by how much they exceed the threshold.

    **Guarantee**: the distribution is that of noise on the count of each of the `parts` partitions, from which those
    below the threshold are left out. Proof: proofs/synth/baskets/partitions.md.

    Args:
        masks: The partitions that have baskets, by the members in their sets, as bits; each once.
        counts: How many baskets they have.
        step: How it is divided.
        members: How many members there are.
    """
    noisy = counts + discrete_laplace(step.scale, len(counts))
    found = {int(masks[at]): int(noisy[at]) for at in np.flatnonzero(noisy >= step.threshold)}
    taken = set(masks.tolist())
    for value in laplace_above(step.scale, step.threshold, step.parts - len(masks)).tolist():
        while (mask := subset(uniform_one_below(step.parts), members, step.most)) in taken:
            pass
        taken.add(mask)
        found[mask] = int(value)
    return sorted(found.items())


def limited(baskets: BasketCounts, items: int, most_items: int) -> BasketCounts:
    """Baskets of at most so many items: of a larger one that many of its items, drawn for each unit alone.

    Baskets without an item are left out. What is made of a unit's basket depends on no other unit.

    Args:
        baskets: The different baskets.
        items: How many items are declared.
        most_items: How many are kept.
    """
    sizes = sum((baskets.has(item).astype(np.int64) for item in range(items)), np.zeros(len(baskets.counts), np.int64))
    fits = (sizes > 0) & (sizes <= most_items)
    words, counts = [baskets.words[fits]], [baskets.counts[fits]]
    large = np.repeat(np.flatnonzero(sizes > most_items), baskets.counts[sizes > most_items])
    for start in range(0, len(large), _CHUNK):
        whole = baskets.words[large[start : start + _CHUNK]]
        each = BasketCounts(words=whole, counts=np.ones(len(whole), dtype=np.int64))
        keys = random_words(len(whole) * items).reshape(len(whole), items) >> np.uint64(1)
        for item in range(items):
            keys[~each.has(item), item] = np.iinfo(np.uint64).max
        short = np.zeros_like(whole)
        for kept in np.argpartition(keys, most_items - 1, axis=1)[:, :most_items].T:
            short[np.arange(len(whole)), kept // BITS] |= np.int64(1) << (kept % BITS)
        words.append(short)
        counts.append(each.counts)
    return BasketCounts(words=np.concatenate(words), counts=np.concatenate(counts))
