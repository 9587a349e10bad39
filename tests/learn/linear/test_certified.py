"""Certified minima: a bound of the error of a gradient, in 40 digits, and points that are as near as certified."""

from fractions import Fraction
from math import sqrt

import mpmath
import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER

from sfumato.learn.linear import certified
from sfumato.learn.linear.certified import Objective, minimum
from sfumato.learn.linear.design import UNIT, design_of

DESIGN = design_of([NUMBER, CENTERED, KIND], norm=None, l1_norm=None, intercept=True)
WITHIN = 2.0**-16


def objective_of(size, *, outputs=1, strength=0.5, seed=0, noise=3.0):
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 3, size=(size, 3), dtype=np.int32)
    target = generator.integers(0, max(outputs, 2), size=size, dtype=np.int32)
    return Objective(
        rows=DESIGN.rows(codes), target=target, linear=generator.normal(size=(DESIGN.width, outputs)) * noise,
        strength=strength, l1=float(DESIGN.l1_norm), square=float(DESIGN.l2_square),
    )  # fmt: skip


def exact_gradient(objective, weights):
    """In 40 digits."""
    rows = [[mpmath.mpf(int(value)) / UNIT for value in row] for row in objective.rows]
    columns = [[mpmath.mpf(float(value)) for value in column] for column in weights.T]
    found = [[objective.strength * value for value in column] for column in columns]
    for row, target in zip(rows, objective.target, strict=True):
        scores = [mpmath.fdot(row, column) for column in columns]
        if len(scores) == 1:
            residuals = [1 / (1 + mpmath.exp(-scores[0])) - int(target)]
        else:
            parts = [mpmath.exp(score) for score in scores]
            residuals = [part / mpmath.fsum(parts) - (place == target) for place, part in enumerate(parts)]
        for column, residual in zip(found, residuals, strict=True):
            for place, value in enumerate(row):
                column[place] += residual * value
    return [
        [value + mpmath.mpf(float(objective.linear[place, output])) for place, value in enumerate(column)]
        for output, column in enumerate(found)
    ]


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 1e5])
def test_a_gradient_is_within_its_bound_of_the_exact_one(outputs, scale):
    objective = objective_of(60, outputs=outputs)
    weights = np.random.default_rng(3).normal(size=(DESIGN.width, outputs)) * scale
    found, error = objective.gradient(weights)
    with mpmath.workdps(40):
        exact = exact_gradient(objective, weights)
        worst = max(
            abs(exact[output][place] - mpmath.mpf(float(found[place, output])))
            for output in range(outputs)
            for place in range(DESIGN.width)
        )
        norm = mpmath.sqrt(mpmath.fsum(value**2 for column in exact for value in column))
    assert worst <= error
    assert norm <= objective.norm_up(weights)
    assert error < 1e-8 * max(1.0, scale)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("size", [0, 1, 50, 5000])
def test_newton_finds_a_certified_minimum(outputs, size):
    objective = objective_of(size, outputs=outputs)
    found = minimum(objective, within=WITHIN)
    assert objective.norm_up(found) <= WITHIN
    finer = minimum(objective, within=WITHIN / 16)
    assert sqrt(((found - finer) ** 2).sum()) <= WITHIN * 17 / 16 / objective.strength


@pytest.mark.parametrize("outputs", [1, 3])
def test_where_newton_does_not_converge_slower_steps_do(monkeypatch, outputs):
    objective = objective_of(80, outputs=outputs)
    expected = minimum(objective, within=WITHIN)
    monkeypatch.setattr(certified, "_NEWTON", 1)
    found = minimum(objective, within=WITHIN)
    assert objective.norm_up(found) <= WITHIN
    assert sqrt(((found - expected) ** 2).sum()) <= 2 * WITHIN / objective.strength
    monkeypatch.setattr(certified, "LARGEST_HESSIAN", 0)
    assert (minimum(objective, within=WITHIN) == found).all()


def test_a_singular_hessian_in_floats_is_no_error(monkeypatch):
    def fails(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", fails)
    objective = objective_of(20)
    assert objective.norm_up(minimum(objective, within=WITHIN)) <= WITHIN


def test_separable_rows_and_strong_noise_have_a_minimum():
    objective = objective_of(2000, strength=0.0625, noise=5e4)
    assert objective.norm_up(minimum(objective, within=WITHIN)) <= WITHIN


def test_nan_is_no_certificate():
    objective = objective_of(3)
    assert objective.norm_up(np.full((DESIGN.width, 1), np.nan)) == float("inf")
    assert Fraction(WITHIN) == Fraction(1, 2**16)
