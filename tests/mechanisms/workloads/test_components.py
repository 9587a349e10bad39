"""Components agree with their matrices: what they measure, what is recovered, and exact limits."""

import numpy as np
import pytest
from tests.mechanisms.workloads.brute_force import component_matrix, query_matrix

from sfumato.mechanisms.workloads.blocks import Blocks
from sfumato.mechanisms.workloads.components import Cells, Dense, Direct, Residual, Total
from sfumato.mechanisms.workloads.queries import KINDS, Subsets

CENTERED = np.array([[2, -1, -1, 0], [0, 3, -2, -1], [1, 1, -1, -1], [5, 0, 0, -5]])
FULL = np.array([[2, 1, 0], [0, 3, 1], [1, 0, -4], [1, 1, 1]])
SHARP = np.array([[3, -3], [1, -1]])


def blocks(cells):
    return Blocks(
        cells,
        upper=Dense(FULL, is_centered=False),
        lower=Dense(CENTERED, is_centered=True),
        multipliers=(3, 2),
    )


COMPONENTS = {
    "total": Total(5),
    "total of one": Total(1),
    "cells": Cells(5),
    "one cell": Cells(1),
    "residual": Residual(5),
    "residual of two": Residual(2),
    "dense": Dense(FULL, is_centered=False),
    "centered": Dense(CENTERED, is_centered=True),
    "centered pair": Dense(SHARP, is_centered=True),
    "one number": Dense(np.array([[7]]), is_centered=False),
    "full blocks": blocks(12),
}


OWN = [*KINDS[2:], Subsets([(0, 3), (1,), (0, 1, 3)])]


def kinds(component):
    some = Subsets([range(0, component.cells, 2), (component.cells - 1,)])
    names = ["total", "cells", "prefix"] if isinstance(component, Blocks) else [*KINDS, some]
    return [kind for kind in names if component.sees(kind)]


@pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)
def test_answers_are_those_of_the_pseudo_inverse(component):
    matrix = component_matrix(component)
    measured = np.random.default_rng(3).normal(size=(2, len(matrix), 3))
    assert component.measured == len(matrix)
    for kind in kinds(component):
        recovery = query_matrix(kind, component.cells) @ np.linalg.pinv(matrix.astype(float))
        assert component.recover(kind, measured, 1) == pytest.approx(np.einsum("qm,amb->aqb", recovery, measured))
        assert component.variances(kind) == pytest.approx((recovery**2).sum(axis=1))
        assert (np.abs(recovery) > 1e-12).sum(axis=1).max() <= component.used(kind)


@pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)
def test_covariances_are_those_of_the_pseudo_inverse(component):
    inverse = np.linalg.pinv(component_matrix(component).astype(float))
    for first in kinds(component):
        for second in kinds(component):
            matrices = [query_matrix(kind, component.cells) @ inverse for kind in (first, second)]
            expected = matrices[0] @ matrices[1].T
            found = [
                [component.covariance((first, one), (second, other)) for other in range(expected.shape[1])]
                for one in range(expected.shape[0])
            ]
            assert np.array(found) == pytest.approx(expected)


@pytest.mark.parametrize("component", [*COMPONENTS.values(), *(Direct(k, n) for k in OWN for n in (4, 5))])
def test_limits_are_those_of_the_matrix(component):
    matrix = component_matrix(component)
    gram, sizes, limits = matrix.T @ matrix, np.abs(matrix), component.bounds
    between = gram[~np.eye(len(gram), dtype=bool)]
    exact = not isinstance(component, Blocks | Direct)
    assert limits.diagonal[1] == np.diagonal(gram).max()
    assert limits.diagonal[0] <= np.diagonal(gram).min()
    assert limits.l1 == sizes.sum(axis=0).max() or (
        isinstance(component, Blocks) and limits.l1 >= sizes.sum(axis=0).max()
    )
    assert limits.l0 >= (matrix != 0).sum(axis=0).max()
    assert limits.row == sizes.sum(axis=1).max()
    assert limits.eigenvalue >= np.linalg.eigvalsh(gram.astype(float))[-1] - 1e-6
    if len(between):
        assert limits.off_diagonal[0] <= between.min()
        assert limits.off_diagonal[1] >= between.max()
        assert not exact or limits.off_diagonal == (between.min(), between.max())


@pytest.mark.parametrize("component", COMPONENTS.values(), ids=COMPONENTS)
def test_what_is_centered_says_nothing_of_the_total(component):
    sums = component_matrix(component).sum(axis=1)
    assert component.sees("total") or not sums.any()


def test_blocks_that_are_not_full_answer_as_if_further_cells_were_empty():
    full, part = blocks(12), blocks(10)
    measured = np.random.default_rng(5).normal(size=(full.measured, 2))
    assert (component_matrix(part) == component_matrix(full)[:, :10]).all()
    for kind in ("cells", "prefix"):
        assert part.recover(kind, measured, 0) == pytest.approx(full.recover(kind, measured, 0)[:10])
        assert part.variances(kind) == pytest.approx(full.variances(kind)[:10])
    assert part.variances("total") == pytest.approx(full.variances("prefix")[9:10])


def test_numbers_that_overflow_are_exact_as_python_integers():
    large = np.array([[2**80, 1, -(2**90), 5]], dtype=object)
    assert Dense(CENTERED, is_centered=True).measure(large, 1)[0, 3] == 5 * (2**80 - 5)
    assert Residual(4).measure(large, 1)[0, 1] == 4 - (2**80 - 2**90 + 6)
    steep = np.array([[2**40, 0], [2**39, 2**40]])
    assert Dense(steep, is_centered=False).bounds.diagonal[1] == 2**80 + 2**78


def test_a_direct_answer_has_noise_of_its_own():
    prefix = Direct("prefix", 3)
    assert prefix.recover("prefix", np.array([5.0, 7.0, 9.0]), 0).tolist() == [5, 7, 9]
    assert (prefix.covariance(("prefix", 1), ("prefix", 1)), prefix.covariance(("prefix", 1), ("prefix", 2))) == (1, 0)
    assert not prefix.sees("cells")
