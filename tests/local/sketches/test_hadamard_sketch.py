"""The Hadamard sketch: its matrix, its signs, and its bytes; what it shares with the other is in `test_count_mean`."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.local import Domain, HadamardSketch
from sfumato.local.sketches.polynomials import columns_of


def test_the_transform_is_the_product_with_the_hadamard_matrix():
    sketch = HadamardSketch(10, epsilon=1, hashes=3, width=16)
    matrix = np.array([[(-1) ** (i & j).bit_count() for j in range(16)] for i in range(16)])
    counts = np.random.default_rng(1).integers(-50, 50, 48)
    assert (sketch._transformed(counts) == counts.reshape(3, 16) @ matrix).all()


@pytest.mark.statistical
def test_a_sign_is_that_of_the_column_as_often_as_the_odds_say():
    sketch, count = HadamardSketch(Domain.texts(), epsilon=1, hashes=4, width=8), 40_000
    numbers = np.array([int.from_bytes(row.tobytes()) for row in sketch.client().report_many(["tea"] * count).payloads])
    rows, places, signs = numbers // 16, numbers // 2 % 8, numbers % 2
    columns = columns_of(rows, np.repeat(sketch.domain.indexes(["tea"]), count), functions=4, columns=8)
    agreeing = np.array(
        [(place & column).bit_count() % 2 for place, column in zip(places.tolist(), columns.tolist(), strict=True)]
    )
    assert binomtest(int((agreeing == signs).sum()), count, float(sketch.column_probabilities[0])).pvalue >= ALPHA
    assert set(zip(rows.tolist(), places.tolist(), strict=True)) == {
        (row, place) for row in range(4) for place in range(8)
    }


def test_a_payload_is_short_whatever_the_domain():
    assert HadamardSketch(Domain.texts(), epsilon=1, hashes=128, width=1024).payload_bytes == 3
    assert HadamardSketch(Domain.texts(), epsilon=1, hashes=1024, width=8192).payload_bytes == 3


@pytest.mark.parametrize("width", [3, 12, 1023])
def test_the_width_is_a_power_of_two(width):
    with pytest.raises(ParameterError, match="power of two"):
        HadamardSketch(10, epsilon=1, width=width)
