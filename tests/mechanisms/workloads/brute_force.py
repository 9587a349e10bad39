"""Strategies and workloads as the matrices that the package never builds, and all changes by a unit."""

from functools import reduce
from itertools import combinations, product

import numpy as np

from sfumato.mechanisms.workloads.components import Cells, Dense, Direct, Residual, Total
from sfumato.mechanisms.workloads.queries import Subsets
from sfumato.mechanisms.workloads.sensitivity import CellSensitivity, Measurement
from sfumato.privacy.neighbors import REPLACE_ONE

ONE_ROW = CellSensitivity(l0=1, linf=1, is_nonnegative=True)


def query_matrix(kind, cells):
    """The queries of one column, written out."""
    sets = kind.places if isinstance(kind, Subsets) else {
        "total": [range(cells)],
        "cells": [[cell] for cell in range(cells)],
        "prefix": [range(cell + 1) for cell in range(cells)],
        "ranges": [range(start, stop) for start in range(cells) for stop in range(start + 1, cells + 1)],
    }[kind]  # fmt: skip
    return np.array([[int(cell in chosen) for cell in range(cells)] for chosen in sets])


def component_matrix(component):
    """B."""
    return component.measure(np.eye(component.cells, dtype=np.int64), 0)


def strategy_matrix(measurements):
    """Everything that is measured, one row for each number."""
    return np.vstack(
        [each.multiplier * reduce(np.kron, map(component_matrix, each.components)) for each in measurements]
    )


def workload_matrices(plan):
    """The queries of each group."""
    sizes = [size for _, size in plan.columns]
    return [
        reduce(np.kron, [query_matrix(kind, size) for kind, size in zip(kinds, sizes, strict=True)])
        for kinds in plan.kinds
    ]


def vectors(unit, cells):
    """All vectors by which one unit changes a histogram of so many cells when it is added."""
    values = range(1 if unit.is_nonnegative else -unit.linf, unit.linf + 1)
    for count in range(1, min(unit.l0, cells) + 1):
        for chosen in combinations(range(cells), count):
            for amounts in product(values, repeat=count):
                vector = np.zeros(cells, dtype=np.int64)
                vector[list(chosen)] = amounts
                if np.abs(vector).sum() <= unit.l1 and (vector**2).sum() <= unit.l2_squared:
                    yield vector


def changes(unit, cells):
    """All differences of neighboring histograms, but for their sign."""
    added = list(vectors(unit, cells))
    if unit.neighboring_relation is not REPLACE_ONE:
        return added
    return added + [first - second for first, second in product(added, repeat=2)]


def random_measurements(rng, sizes):
    """A few products of components of all kinds, one component for each column, and multipliers."""

    def component(size):
        dense = Dense(
            rng.integers(-3, 4, (size + 1, size)) + 5 * np.eye(size + 1, size, dtype=np.int64), is_centered=False
        )
        kinds = [Total(size), Cells(size), Direct("prefix", size), Direct("ranges", size), dense]
        return [*kinds, Residual(size)][rng.integers(0, 6 if size > 1 else 5)]

    return [
        Measurement(multiplier=int(rng.integers(1, 4)), components=tuple(component(size) for size in sizes))
        for _ in range(rng.integers(1, 4))
    ]
