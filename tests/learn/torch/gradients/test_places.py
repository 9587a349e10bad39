"""Orders of rows: uniform, and such that one row more changes two blocks."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from sfumato.learn.torch.gradients import places
from sfumato.learn.torch.gradients.ghost import CHANGED_BLOCKS
from sfumato.learn.torch.gradients.places import blocks_of, shuffled

ALPHA = 1e-6


def test_all_orders_are_equally_likely():
    draws = 12_000
    seen = Counter(tuple(shuffled(np.arange(4)).tolist()) for _ in range(draws))
    counts = [seen[order] for order in permutations(range(4))]
    assert sum(counts) == draws
    p_value = stats.chisquare(counts).pvalue
    assert p_value > ALPHA, f"orders are not uniform: p = {p_value}, type-I error {ALPHA}"


def test_keys_that_are_equal_are_drawn_again(monkeypatch):
    drawn = iter([np.array([5, 5, 1], dtype=np.uint64), np.array([3, 2, 1], dtype=np.uint64)])
    monkeypatch.setattr(places, "random_words", lambda _count: next(drawn))
    assert shuffled(np.array([7, 8, 9])).tolist() == [9, 8, 7]


@pytest.mark.parametrize("rows", range(6))
def test_orders_of_neighbors_can_be_drawn_together(rows):
    """All orders of a batch, and all places of one row more: each order of the larger batch comes once."""
    seen = Counter()
    for order in permutations(range(rows)):
        for place in range(rows + 1):
            larger = [*order, rows]
            larger[place], larger[-1] = larger[-1], larger[place]
            seen[tuple(larger)] += 1
            for block in (1, 2, 3):
                cut = [blocks_of(np.array(some, dtype=np.int64), block) for some in (order, larger)]
                ours, theirs = ([(*p, *u) for p, u in zip(*pair, strict=True)] for pair in cut)
                ours += [None] * (len(theirs) - len(ours))
                assert sum(a != b for a, b in zip(ours, theirs, strict=True)) <= CHANGED_BLOCKS
    assert seen == Counter(permutations(range(rows + 1)))


def test_blocks_hold_all_rows_in_their_order():
    for count in range(9):
        found, used = blocks_of(np.arange(10, 10 + count), 4)
        assert found[used].tolist() == list(range(10, 10 + count))
        assert found.shape == used.shape == (max(1, -(-count // 4)), 4)
        assert not found[~used].any()
