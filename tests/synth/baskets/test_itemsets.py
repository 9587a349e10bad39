"""How many baskets have each set of items, against counting them one by one."""

from itertools import combinations

import numpy as np
import pytest
from tests.synth.baskets.small import counts_of

from sfumato.errors import ParameterError
from sfumato.synth.baskets import itemsets
from sfumato.synth.baskets.itemsets import candidates, itemset_counts

BASKETS = [{0, 1, 2}] * 3 + [{0, 44}] * 2 + [{1, 2, 44, 45}, set(), {3}]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("chunk", [2, 1 << 16])
def test_each_set_is_counted_in_the_baskets_that_have_it(size, chunk, monkeypatch):
    monkeypatch.setattr(itemsets, "_CHUNK", chunk)
    items = 46 if size < 3 else 7
    baskets = [{item % items for item in basket} for basket in BASKETS]
    found = itemset_counts(counts_of(baskets, items), items, size)
    sets = candidates(items, size)
    assert found.tolist() == [sum(set(one) <= basket for basket in baskets) for one in sets]
    assert sets == tuple(one for members in range(1, size + 1) for one in combinations(range(items), members))


def test_no_baskets_have_no_sets():
    assert itemset_counts(counts_of([]), 4, 2).tolist() == [0] * 10
    assert np.array_equal(itemset_counts(counts_of([{0}], 1), 1, 3), [1])


def test_too_many_sets_are_refused():
    with pytest.raises(ParameterError, match="smaller size"):
        candidates(1_000, 3)
    assert len(candidates(120, 3)) == 120 + 7_140 + 280_840
