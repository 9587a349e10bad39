"""Public bins: each code has one, edges lie between codes, and parts are random but whole."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER

from sfumato.learn.boosting.bins import FeatureBins, padded
from sfumato.session.training.columns import TrainingColumn

FINE = TrainingColumn(name="fine", lower=Fraction(-2), upper=Fraction(6), steps=4096)


@pytest.mark.parametrize("most", [2, 3, 64, 1024])
def test_bins_are_equally_wide_and_ascend(most):
    bins = FeatureBins(columns=(FINE, NUMBER, KIND), most=most)
    assert bins.sizes == (most, min(most, 3), 3)
    codes = np.arange(4097)
    (own,) = FeatureBins(columns=(FINE,), most=most).places(codes[:, None])
    sizes = np.bincount(own)
    assert (np.diff(own) >= 0).all()
    assert (len(sizes), sizes.max() - sizes.min() <= 1) == (most, True)


@pytest.mark.parametrize("most", [2, 5, 64])
def test_edges_lie_between_the_codes_of_neighboring_bins(most):
    bins = FeatureBins(columns=(FINE,), most=most)
    codes = np.arange(4097)
    edges, (own,) = bins.edges(0), bins.places(codes[:, None])
    assert (edges[0], edges[-1], len(edges)) == (-2.0, 6.0, most + 1)
    assert (np.searchsorted(edges[1:-1], FINE.decode(codes)) == own).all()
    with pytest.raises(TypeError):
        FeatureBins(columns=(KIND,), most=4).edges(0)


def test_whatever_stands_in_a_row_it_has_one_bin_of_each_column():
    bins = FeatureBins(columns=(NUMBER, KIND), most=2)
    codes = np.array([[-5, -1], [99, 99], [1, 2], [0, -7]])
    assert [own.tolist() for own in bins.rows_placed(codes)] == [[0, 1, 0, 0], [0, 2, 2, 0]]
    assert bins.places(codes)[1].tolist() == [-1, 2, 2, -1]  # which nothing is added for
    assert padded(np.array([[1.0], [2.0], [3.0]]))[[-1, 2, 0]].ravel().tolist() == [0, 3, 1]


def test_parts_are_cut_at_random_places_and_categories_are_not_cut():
    bins = FeatureBins(columns=(FINE, CENTERED, KIND), most=5)
    drawn = Counter(tuple(bins.parts(0, most=3)) for _ in range(300))
    assert len(drawn) == 10  # two cuts of four, or one where they fall together
    for parts in drawn:
        assert parts[0] == 0
        assert set(np.diff(parts)) <= {0, 1}
        assert parts[-1] in {1, 2}
    for place in (1, 2):
        assert bins.parts(place, most=3).tolist() == [0, 1, 2]
    assert bins.parts(2, most=2).tolist() == [0, 1, 2]
