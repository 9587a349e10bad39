"""Designs: whole numbers on one lattice, no row beyond its norms, and no row that depends on others."""

from fractions import Fraction

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER

from sfumato.errors import ParameterError
from sfumato.learn.linear.design import MAX_FEATURES, UNIT, centered_design, design_of, middles, squares_of
from sfumato.session.training.columns import TrainingColumn

FINE = [TrainingColumn(name=f"x{place}", lower=Fraction(-3), upper=Fraction(3), steps=8192) for place in range(9)]
NORMS = [
    (None, None),
    (Fraction(1), None),
    (None, Fraction(1)),
    (Fraction(3, 2), Fraction(2)),
    (Fraction(1, 100), None),
]


def fine_codes(size, seed):
    """Rows in the middle and at the bounds."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 8193, size=(size, len(FINE)), dtype=np.int32)
    codes[::3] = generator.choice([0, 4096, 8192], size=codes[::3].shape)
    return codes


def test_numbers_are_scaled_by_their_bounds_and_categories_become_one_feature_a_value():
    design = design_of([NUMBER, CENTERED, KIND], norm=None, l1_norm=None, intercept=True)
    codes = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, -1]], dtype=np.int32)
    assert (design.rows(codes) / UNIT).tolist() == [
        [0, -1, 1, 0, 0, 1], [0.5, 0, 0, 1, 0, 1], [1, 1, 0, 0, 1, 1], [1, 1, 0, 0, 0, 1],
    ]  # fmt: skip
    assert design.names() == ("x", "y", "kind=a", "kind=b", "kind=c")
    assert (design.width, design.l1_norm, design.l2_square) == (6, 4, 4)


@pytest.mark.parametrize("norms", NORMS)
@pytest.mark.parametrize("intercept", [False, True])
def test_no_row_exceeds_a_norm_in_whole_numbers(norms, intercept):
    design = design_of(FINE, norm=norms[0], l1_norm=norms[1], intercept=intercept)
    rows = design.rows(fine_codes(9000, 1))
    assert (rows == np.trunc(rows)).all()
    exact = [[int(value) for value in row] for row in rows[:600].tolist()]
    assert max(sum(map(abs, row)) for row in exact) <= design.l1_norm * UNIT
    assert max(sum(value**2 for value in row) for row in exact) <= design.l2_square * UNIT**2
    for stated, power in zip(norms, (2, 1), strict=True):
        if stated is not None:
            features = rows[:, : len(FINE)]
            assert (np.abs(features) ** power).sum(axis=1).max() <= float(stated) ** power * UNIT**power


@pytest.mark.parametrize("norms", NORMS)
def test_a_row_is_the_same_whatever_rows_stand_beside_it(norms):
    design = design_of(FINE, norm=norms[0], l1_norm=norms[1], intercept=True)
    codes = fine_codes(50, 2)
    together = design.rows(codes)
    assert all((design.rows(codes[[place]])[0] == together[place]).all() for place in range(len(codes)))


def test_rows_within_the_norms_stay_as_they_are():
    design = design_of(FINE, norm=Fraction(1), l1_norm=Fraction(2), intercept=False)
    small = np.full((1, 9), 4096 + 4096 // 10, dtype=np.int32)
    assert (design.rows(small) == np.floor((2 * small - 8192) * UNIT / 8192 + 0.5)).all()


def test_norms_that_are_not_stated_follow_from_those_that_are():
    assert design_of(FINE, norm=Fraction(1), l1_norm=None, intercept=False).l1_norm == 3  # √9
    assert design_of(FINE, norm=None, l1_norm=Fraction(4), intercept=True).l2_square == 5
    assert design_of(FINE, norm=Fraction(9), l1_norm=None, intercept=False).l2_square == 9


def test_weights_are_told_in_the_units_of_the_columns():
    age = TrainingColumn(name="age", lower=Fraction(10), upper=Fraction(60), steps=50)
    slopes, starts = design_of([age, CENTERED, KIND], norm=None, l1_norm=None, intercept=True).scales()
    assert slopes.tolist() == [1 / 50, 1, 1, 1, 1]
    assert starts.tolist() == [-10 / 50, 0, 0, 0, 0]


def test_squares_are_exact():
    rows = np.array([[4096.0] * 4096, [1.0] * 4096])
    assert squares_of(rows).tolist() == [4096**3, 4096]


def test_what_is_too_wide_or_too_fine_is_refused():
    wide = [TrainingColumn(name="c", values=tuple(range(1000)))] * (MAX_FEATURES // 1000 + 1)
    with pytest.raises(ParameterError, match="at most 4,096 features"):
        design_of(wide, norm=None, l1_norm=None, intercept=True)
    with pytest.raises(ParameterError, match="1/4096"):
        design_of(FINE, norm=Fraction(1, 10**5), l1_norm=None, intercept=True)


def test_a_centered_design_measures_numbers_from_the_middle_of_their_bounds():
    """With the codes of the declared columns, and norms of rows as they are or of scaled features."""
    wide = TrainingColumn(name="wide", lower=Fraction(10), upper=Fraction(30), steps=4)
    design = centered_design([wide, KIND], norm=None, l1_norm=None, is_of_columns=True)
    rows = design.rows(np.array([[0, 0], [1, 1], [2, 2], [4, 0]], dtype=np.int32)) / UNIT
    assert rows.tolist() == [[-1, 1, 0, 0], [-0.5, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]]
    assert middles([wide, KIND]).tolist() == [20, 0, 0, 0]
    assert (middles([wide, KIND]) + rows / design.scales()[0])[:, 0].tolist() == [10, 15, 20, 30]
    assert centered_design([wide], norm=7, l1_norm=None, is_of_columns=True).square == UNIT**2
    assert centered_design([wide, KIND], norm=1, l1_norm=None, is_of_columns=False).square == UNIT**2
    for wrong in ({"norm": 0}, {"l1_norm": -1}):
        with pytest.raises(ParameterError, match="norm"):
            centered_design([wide], **({"norm": None, "l1_norm": None} | wrong), is_of_columns=False)
