"""Small databases of baskets, and trees of few items."""

from collections import Counter

import numpy as np

from sfumato.session.training.baskets import BITS, BasketCounts
from sfumato.synth.baskets.taxonomy import ItemTree

PAIRS = ItemTree.of({"drinks": [0, 1], "bread": [2, 3]})
RAGGED = ItemTree.of({"drinks": [0, 1], "salt": [2], "bread": {"dark": [3, 4], "light": [5]}})


def counts_of(baskets, items=4):
    """The different baskets, given as sets of places of items, and how many there are of each."""
    tallies = Counter(frozenset(one) for one in baskets)
    words = np.zeros((len(tallies), -(-items // BITS)), dtype=np.int64)
    for row, basket in enumerate(tallies):
        for item in basket:
            words[row, item // BITS] |= 1 << item % BITS
    return BasketCounts(words=words, counts=np.array(list(tallies.values()), dtype=np.int64))
