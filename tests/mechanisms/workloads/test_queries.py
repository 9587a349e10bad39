"""Queries of one column agree with their matrices, which are written out here."""

import numpy as np
import pytest
from tests.mechanisms.workloads.brute_force import query_matrix

from sfumato.errors import ParameterError
from sfumato.mechanisms.workloads.queries import (
    KINDS,
    LinearQueries,
    Subsets,
    marginals,
    most_shared,
    quadratic_forms,
    queried,
    query_gram,
    query_row,
    row_lengths,
)

SIZES = [1, 2, 3, 7]


@pytest.mark.parametrize("cells", SIZES)
@pytest.mark.parametrize("kind", [*KINDS, Subsets([(0,)]), "some"])
def test_queries_are_those_of_the_matrix(kind, cells):
    kind = Subsets([range(0, cells, 2), [cells - 1, *range(cells // 2)]]) if kind == "some" else kind
    matrix = query_matrix(kind, cells)
    values = np.random.default_rng(cells).integers(-9, 9, (2, cells, 3))
    assert (queried(kind, values, 1) == np.einsum("qc,acb->aqb", matrix, values)).all()
    assert row_lengths(kind, cells).tolist() == matrix.sum(axis=1).tolist()
    assert [query_row(kind, cells, row).tolist() for row in range(len(matrix))] == matrix.tolist()
    assert most_shared(kind, cells) == matrix.sum(axis=0).max()


@pytest.mark.parametrize("cells", SIZES)
@pytest.mark.parametrize("kind", [*KINDS, Subsets([(0,)]), "some"])
def test_gram_matrices_and_quadratic_forms_are_those_of_the_matrix(kind, cells):
    kind = Subsets([range(0, cells, 2), [cells - 1, *range(cells // 2)]]) if kind == "some" else kind
    matrix = query_matrix(kind, cells)
    form = np.random.default_rng(cells).normal(size=(cells, cells))
    form = form + form.T
    assert (query_gram(kind, cells) == matrix.T @ matrix).all()
    assert quadratic_forms(kind, form) == pytest.approx(np.diagonal(matrix @ form @ matrix.T))


def test_integers_beyond_machine_numbers_stay_exact():
    large = np.array([2**70, -(2**71), 1], dtype=object)
    assert queried("prefix", large, 0).tolist() == [2**70, -(2**70), 1 - 2**70]
    assert queried("ranges", large, 0).tolist()[-1] == 1
    assert queried("total", large, 0).tolist() == [1 - 2**70]


def test_marginals_are_all_choices_of_columns():
    columns = {"a": 2, "b": 3, "c": 4}
    assert [queries.kinds for queries in marginals(columns, ways=2)] == [
        (("a", "cells"), ("b", "cells")),
        (("a", "cells"), ("c", "cells")),
        (("b", "cells"), ("c", "cells")),
    ]
    assert marginals(columns, ways=0) == (LinearQueries({}),)
    assert LinearQueries({"a": "cells"}, weight="0.5").weight == LinearQueries({"b": "prefix"}, weight=0.5).weight


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: LinearQueries({"a": "sums"}), "kinds"),
        (lambda: LinearQueries([("a", "cells")]), "kinds"),
        (lambda: Subsets([]), "places"),
        (lambda: Subsets([[1], []]), "places"),
        (lambda: Subsets([[1, 0, 1]]), "places"),
        (lambda: Subsets([[-1]]), "places"),
        (lambda: Subsets([["1"]]), "places"),
        (lambda: LinearQueries({1: "cells"}), "kinds"),
        (lambda: LinearQueries({"a": "cells"}, weight=0), "weight"),
        (lambda: marginals(["a"], ways=2), "ways"),
        (lambda: marginals("ab", ways=1), "columns"),
    ],
    ids=[
        "kind",
        "mapping",
        "nothing",
        "an empty query",
        "twice",
        "negative",
        "a text",
        "name",
        "weight",
        "ways",
        "columns",
    ],
)
def test_what_is_no_workload_is_refused(make, named):
    with pytest.raises(ParameterError, match=named):
        make()
