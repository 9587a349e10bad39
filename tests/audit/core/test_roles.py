"""The values that pass between the parts of an audit."""

import numpy as np

from sfumato.audit.core.outputs import columns
from sfumato.audit.core.roles import NeighborPair, Runs
from sfumato.audit.neighbors import Neighbors


def test_runs_count_all_outputs():
    search, test = (np.zeros(3), np.zeros(3)), (np.zeros(4), ("a", "b"))
    runs = Runs(search=tuple(map(columns, search)), test=tuple(map(columns, test)), description="a pair")
    assert runs.samples == 12


def test_a_generator_gives_the_same_pairs_each_time():
    neighbors = Neighbors(database=(1, 2, 3))
    first, second = ([(pair.neighbor[:3], pair.description) for pair in neighbors] for _ in range(2))
    assert repr(first) == repr(second)
    assert all(isinstance(pair, NeighborPair) for pair in neighbors)
