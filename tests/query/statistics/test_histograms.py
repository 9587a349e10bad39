"""Histograms: their cells, and what they are made of."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, ref
from tests.query.recipes import PAY, lowered

from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.recipes import NoisyCells
from sfumato.query.values.evaluation import evaluate


def bin_of(edges, value, table=PEOPLE, name="pay"):
    """What the cell of a histogram says of a value."""
    (component,) = lowered(Histogram(ref(name), edges), table).components
    index = evaluate(component.statement.cell.value, {name: value})
    assert index is None or index in component.statement.cell.values
    return index


def expected_bin(edges, value):
    """[e₀, e₁), …, [eₖ₋₁, eₖ]; nothing outside."""
    for place, (low, high) in enumerate(pairwise(edges)):
        if low <= value < high or (high == edges[-1] == value):
            return place
    return None


@pytest.mark.parametrize(
    ("value", "place"),
    [(0.0, 0), (0.99, 0), (1.0, 1), (2.5, 2), (2.4999, 1), (5.0, 2), (5.01, None), (-0.01, None), (None, None)],
)
def test_a_histogram_has_its_last_edge_in_its_last_bin(value, place):
    assert bin_of(tuple(map(Fraction, (0, 1, "2.5", 5))), value) == place


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True), st.integers(-25, 25))
def test_bins_are_those_of_plain_python(edges, value):
    ordered = tuple(map(Fraction, sorted(edges)))
    assert bin_of(ordered, value, name="free") == expected_bin(ordered, value)


def test_a_histogram_is_one_vector_with_a_column_a_bin():
    made = lowered(Histogram(PAY, (Fraction(0), Fraction(1), Fraction(5))))
    assert [type(component) for component in made.components] == [NoisyCells]
    assert [(o.name, o.measurement, o.coordinate) for o in made.outputs(4)] == [("x_1", 4, 0), ("x_2", 4, 1)]
