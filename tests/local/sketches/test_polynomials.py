"""Public hash functions: arithmetic modulo a prime, exactly, and three values that are hashed independently."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.laws import ALPHA

from sfumato.local.sketches.polynomials import PRIME, coefficients, columns_of, row_totals

VALUES = st.integers(0, 2**61)


@given(st.lists(VALUES, min_size=1, max_size=30), st.integers(2, 1 << 16))
def test_columns_are_those_of_python_s_own_numbers(values, columns):
    rows = np.arange(len(values)) % 16
    found = columns_of(rows, np.array(values), functions=16, columns=columns)
    for row, value, column in zip(rows.tolist(), values, found.tolist(), strict=True):
        a, b, c = coefficients(16)[row].tolist()
        assert column == (a * value**2 + b * value + c) % PRIME % columns


def test_over_a_small_prime_three_values_are_independent():
    """The claim behind the functions, tried for all coefficients: each triple of residues comes once."""
    prime, values = 5, (1, 3, 4)
    triples = {tuple((a * v * v + b * v + c) % prime for v in values) for a, b, c in product(range(prime), repeat=3)}
    assert len(triples) == prime**3


@pytest.mark.statistical
def test_pairs_and_triples_of_columns_are_uniform_over_functions():
    functions = 20_000
    rows = np.arange(functions)
    columns = [columns_of(rows, np.full(functions, v), functions=functions, columns=4) for v in (0, 1, 77, 2**40)]
    for chosen in ((0, 1, 2), (1, 2, 3)):
        codes = sum(4**place * columns[at] for place, at in enumerate(chosen))
        assert chisquare(np.bincount(codes, minlength=64)).pvalue >= ALPHA


def test_coefficients_are_public_and_those_of_earlier_versions():
    assert coefficients(1).tolist() == [[516800692015918051, 1951360557719321009, 1253492263796282957]]
    assert coefficients(3).tolist() == coefficients(5)[:3].tolist()
    assert not coefficients(3).flags.writeable
    assert coefficients(2000).max() < PRIME


@pytest.mark.parametrize("count", [1, 5, 3000])
def test_totals_are_sums_over_rows(count):
    cells = np.random.default_rng(0).integers(0, 100, (200, 16))
    values = np.arange(count)
    expected = [
        sum(cells[row, columns_of(np.array([row]), np.array([v]), functions=200, columns=16)[0]] for row in range(200))
        for v in values[:5].tolist()
    ]
    assert row_totals(cells, values)[:5].tolist() == expected
    assert row_totals(cells, values[:0]).tolist() == []
