"""Least squares under constraints: against SciPy's solvers, and where those abort or say nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csc_array

from sfumato.local.rappor.decoding import LARGEST_SUPPORT, descended, fitted


def random_design(rows, columns, share=0.1):
    return (np.random.default_rng(rows + columns).random((rows, columns)) < share).astype(float)


@given(st.integers(0, 2**31), st.floats(0.001, 0.2))
def test_possible_fractions_are_those_of_a_general_solver(state, error):
    rng = np.random.default_rng(state)
    design = (rng.random((30, 4)) < 0.3).astype(float)
    design[:4] = np.eye(4)
    errors = error * (1 + rng.random(30))
    seen = design @ rng.dirichlet(np.ones(4)) * rng.uniform(0.2, 1.2) + errors * rng.standard_normal(30)
    fit = fitted(csc_array(design), seen, errors)

    def misfit(x):
        return float((((design @ x - seen) / errors) ** 2).sum())

    solved = minimize(
        misfit, np.full(4, 0.1), bounds=[(0, 1)] * 4, method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda x: 1 - x.sum()}],
    )  # fmt: skip
    assert fit.possible.min() >= 0
    assert fit.possible.sum() <= 1 + 1e-9
    other = np.clip(solved.x, 0, 1)
    other = other / max(1.0, other.sum())  # it may end just outside
    assert misfit(fit.possible) <= misfit(other) * (1 + 1e-6) + 1e-6


def test_fractions_are_weighted_least_squares_and_errors_their_standard_deviations():
    design, rng = random_design(200, 20), np.random.default_rng(1)
    errors = 0.01 * (1 + rng.random(200))
    seen = design @ np.linspace(0, 0.1, 20) + errors * rng.standard_normal(200)
    fit = fitted(csc_array(design), seen, errors)
    weighted = design / errors[:, None]
    expected = np.linalg.lstsq(weighted, seen / errors, rcond=None)[0]
    assert fit.fractions == pytest.approx(expected, abs=1e-9)
    excess = max(1, ((weighted @ expected - seen / errors) ** 2).sum() / 180)
    assert fit.errors == pytest.approx(np.sqrt(excess * np.diag(np.linalg.inv(weighted.T @ weighted))))
    assert fit.support.tolist() == list(range(20))


def test_an_empty_support_is_no_crash():
    """SciPy's `nnls` aborts the process on a matrix without columns."""
    fit = fitted(csc_array(np.zeros((10, 3))), np.zeros(10), np.ones(10))
    assert len(fit.support) == len(fit.fractions) == len(fit.errors) == len(fit.possible) == 0
    many = random_design(20, 200)
    fit = fitted(csc_array(many), np.zeros(20), np.ones(20))
    assert len(fit.support) == 0


def test_candidates_that_set_the_same_bits_have_infinite_errors_and_share_their_fraction():
    design = np.eye(10)[:, [0, 1, 1, 2]]
    fit = fitted(csc_array(design), np.array([0.1, 0.4, 0.2] + [0.0] * 7), np.full(10, 0.01))
    assert np.isinf(fit.errors).tolist() == [False, True, True, False]
    assert fit.fractions == pytest.approx([0.1, 0.2, 0.2, 0.2])


def test_a_candidate_that_sets_no_bit_is_left_out():
    design = np.eye(5)[:, :3]
    design[:, 1] = 0
    assert fitted(csc_array(design), np.zeros(5), np.ones(5)).support.tolist() == [0, 2]


def test_of_too_many_candidates_a_lasso_leaves_those_that_explain_something():
    design, rng = random_design(400, 3000, share=0.02), np.random.default_rng(5)
    truth = np.zeros(3000)
    truth[[7, 70, 700]] = 0.3, 0.2, 0.1
    fit = fitted(csc_array(design), design @ truth + 0.01 * rng.standard_normal(400), np.full(400, 0.01))
    assert {7, 70, 700} <= set(fit.support.tolist())
    assert len(fit.support) <= min(LARGEST_SUPPORT, 320)
    found = dict(zip(fit.support.tolist(), fit.fractions.tolist(), strict=True))
    assert [found[at] for at in (7, 70, 700)] == pytest.approx([0.3, 0.2, 0.1], abs=0.05)


def test_texts_that_are_no_candidates_widen_the_errors():
    design, rng = random_design(300, 30), np.random.default_rng(2)
    known, errors = design[:, :10], np.full(300, 0.01)
    seen = design @ np.full(30, 1 / 30) + errors * rng.standard_normal(300)
    assert (
        fitted(csc_array(known), seen, errors).errors.min() > 1.5 * fitted(csc_array(design), seen, errors).errors.min()
    )


def test_the_descent_stops_at_the_least_point_within_the_bounds():
    matrix = np.diag([1.0, 100.0])
    found = descended(
        lambda x: matrix @ (x - np.array([3.0, -1.0])), lambda x, _: np.clip(x, 0, 2), np.zeros(2), steepest=100.0
    )
    assert found == pytest.approx([2, 0])
