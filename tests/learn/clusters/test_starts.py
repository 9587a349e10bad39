"""Where centers start: within the bounds, apart from one another, and always the same."""

from fractions import Fraction

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER

from sfumato.learn.clusters.starts import packed_starts
from sfumato.learn.linear.design import UNIT, centered_design
from sfumato.session.training.columns import TrainingColumn


def design_of_numbers(width, *, norm=None):
    columns = [TrainingColumn(name=f"x{place}", lower=Fraction(0), upper=Fraction(1)) for place in range(width)]
    return centered_design(columns, norm=norm, l1_norm=None, is_of_columns=False)


@pytest.mark.parametrize(("width", "clusters"), [(1, 1), (1, 4), (2, 5), (5, 8), (40, 20)])
def test_starts_are_apart_and_within_the_bounds(width, clusters):
    design = design_of_numbers(width)
    starts = np.array(packed_starts(design, clusters))
    assert starts.shape == (clusters, width)
    assert np.abs(starts).max() < UNIT
    gaps = np.sqrt(((starts[:, None] - starts[None]) ** 2).sum(axis=2)) + 10 * UNIT * np.eye(clusters)
    assert gaps.min() > 0.3 * UNIT * width**0.5 / clusters ** (1 / width)
    assert packed_starts(design, clusters) == packed_starts(design, clusters)


def test_starts_on_a_line_are_packed():
    """Four intervals of radius 1/4 fill [−1, 1]; greedy ones have at least half of that."""
    starts = np.sort([start[0] for start in packed_starts(design_of_numbers(1), 4)]) / UNIT
    assert np.diff(starts).min() >= 0.25
    assert abs(packed_starts(design_of_numbers(1), 1)[0][0]) < UNIT / 100


def test_starts_keep_norms_and_are_rows_of_categories():
    short = np.array(packed_starts(design_of_numbers(4, norm=1), 6))
    assert np.sqrt((short**2).sum(axis=1)).max() <= UNIT
    design = centered_design([NUMBER, CENTERED, KIND], norm=None, l1_norm=None, is_of_columns=False)
    starts = np.array(packed_starts(design, 6))
    assert (starts[:, 2:].sum(axis=1) == UNIT).all()
    only = centered_design([KIND], norm=None, l1_norm=None, is_of_columns=False)
    assert sorted(packed_starts(only, 3)) == [(0, 0, UNIT), (0, UNIT, 0), (UNIT, 0, 0)]
