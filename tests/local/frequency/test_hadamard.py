"""One-bit Hadamard response: the published variances, the transform, and short reports."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard

from sfumato.local import HadamardResponse
from sfumato.local.frequency.hadamard import odd_ones, walsh_hadamard


@pytest.mark.parametrize(("epsilon", "expected"), [("0.5", 16.67), (1, 4.683), (2, 1.724), (4, 1.076)])
def test_the_published_variances(epsilon, expected):
    assert HadamardResponse(1024, epsilon=epsilon).variance(reports=1) == pytest.approx(expected, rel=3e-4)


@pytest.mark.parametrize("order", [1, 2, 4, 64])
def test_the_transform_is_the_product_with_the_matrix(order):
    values = np.random.default_rng(1).integers(-100, 100, order)
    assert walsh_hadamard(values).tolist() == (hadamard(order) @ values).tolist()
    rows, columns = np.indices((order, order))
    signs = np.where(odd_ones(rows & columns), -1, 1)
    assert (signs == hadamard(order)).all()


def test_the_transform_leaves_its_argument():
    values = np.arange(4)
    walsh_hadamard(values)
    assert values.tolist() == [0, 1, 2, 3]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_ones_are_counted(numbers):
    assert odd_ones(np.array(numbers, dtype=np.int64)).tolist() == [number.bit_count() % 2 == 1 for number in numbers]


@pytest.mark.parametrize(
    ("size", "rows", "width"),
    [(2, 4, 1), (3, 4, 1), (4, 8, 1), (127, 128, 1), (128, 256, 2), (1024, 2048, 2), (2**20, 2**21, 3)],
)
def test_a_report_is_a_row_and_a_bit(size, rows, width):
    oracle = HadamardResponse(size, epsilon=1)
    assert (oracle.rows, oracle.payload_bytes) == (rows, width)
    assert rows > size
