"""Objective perturbation: ratios of densities over all neighbors of small data, noise of its law, sensitivity."""

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest
from scipy.stats import laplace
from tests.laws import ALPHA, assert_law
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.errors import ParameterError
from sfumato.learn.linear import objective as module
from sfumato.learn.linear.certified import Objective, minimum, probabilities
from sfumato.learn.linear.design import UNIT, design_of
from sfumato.learn.linear.objective import NOISE_STEP, OUTPUT_SHARE, WITHIN, perturbed
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

DESIGN = design_of([NUMBER, CENTERED, KIND], norm=None, l1_norm=None, intercept=True)
SMALL = design_of([NUMBER, CENTERED], norm=None, l1_norm=None, intercept=True)


def fitted(*, epsilon=1, classes=2, moved_rows=1, rows_per_unit=1, strength=None, design=SMALL):
    return perturbed(
        design, classes=classes, moved_rows=moved_rows, rows_per_unit=rows_per_unit, charge=PureDP(epsilon),
        strength=strength,
    )  # fmt: skip


def log_density(fit, table, weights):
    """ln of the density of the minimum at a point: that of the linear term it comes from, times the Jacobian."""
    rows = training_rows(table)
    without = Objective(
        rows=fit.design.rows(rows.codes[:, : len(fit.design.columns)]), target=rows.target, linear=0 * weights,
        strength=float(fit.strength), l1=9.0, square=9.0,
    )  # fmt: skip
    term = without.gradient(weights)[0]
    return -np.abs(term).sum() / float(fit.scale) + np.linalg.slogdet(without.hessian(weights))[1]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("epsilon", ["0.1", 2])
@pytest.mark.parametrize("relation", ["add", "replace"])
def test_no_neighbor_changes_the_density_of_the_minimum_by_more_than_its_share(classes, epsilon, relation):
    """All pairs of tables of up to two rows, at points where the losses are flat, steep and mixed."""
    records = list(product((0, 2), (0, 2), range(classes)))
    fit = fitted(epsilon=epsilon, classes=classes, moved_rows=1 if relation == "add" else 2)
    limit = float(fit.charge.epsilon * (1 - OUTPUT_SHARE))
    added, replaced = neighbors(records, most=1)
    generator = np.random.default_rng(0)
    worst = 0.0
    for scale in (0.0, 0.5, 3.0):
        weights = generator.normal(size=(SMALL.width, fit.outputs)) * scale
        seen = {}
        for pair in added if relation == "add" else replaced:
            for table in pair:
                if tuple(table) not in seen:
                    seen[tuple(table)] = log_density(fit, table, weights) if table else log_density(fit, [], weights)
            worst = max(worst, abs(seen[tuple(pair[0])] - seen[tuple(pair[1])]))
    assert worst <= limit
    assert worst >= limit / 8  # the bound is no more than a few times too large


def test_several_rows_of_a_unit_are_priced_together():
    records = list(product((0, 2), (0, 2), range(2)))
    fit = fitted(moved_rows=3, rows_per_unit=3)
    weights = np.full((3, 1), 0.3)
    limit = float(fit.charge.epsilon * (1 - OUTPUT_SHARE))
    empty = log_density(fit, [], weights)
    assert max(abs(log_density(fit, [record] * 3, weights) - empty) for record in records) <= limit
    assert fit.scale >= 3 * fitted().scale
    assert fit.strength > 2.9 * fitted().strength


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_hessian_of_a_row_has_the_stated_rank_and_trace(classes):
    row = np.array([0.3, -1.0, 1.0])
    for scores in np.random.default_rng(1).normal(size=(50, 1 if classes == 2 else classes)) * 3:
        shares = probabilities(scores[None])[0]
        inner = shares * (1 - shares) if classes == 2 else np.diag(shares) - np.outer(shares, shares)
        one = np.kron(np.atleast_2d(inner), np.outer(row, row))
        assert np.linalg.matrix_rank(one, tol=1e-12) <= max(1, classes - 1)
        assert np.trace(one) <= (1 / 4 if classes == 2 else 1 - 1 / classes) * row @ row + 1e-12
        strength = Fraction(1, 3)
        added = np.linalg.slogdet(np.eye(len(one)) + one / float(strength))[1]
        stated = module.hessian_epsilon(_norms(row), classes, strength)
        assert added <= float(stated)


class _norms:  # noqa: N801 # stands for a design
    def __init__(self, row):
        self.l2_square = Fraction(float(row @ row))


def test_the_linear_term_is_the_middle_of_the_step_in_which_a_laplace_variable_lies():
    fit = fitted(epsilon=3)
    drawn = np.concatenate([fit._linear((1000, 1))[:, 0] for _ in range(20)])
    steps = drawn / float(NOISE_STEP) - 0.5
    assert (steps == np.round(steps)).all()
    assert_law(drawn, lambda x: laplace.cdf(x, scale=float(fit.scale)))
    assert abs((drawn > 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(len(drawn))
    assert ALPHA == 1e-6


@pytest.mark.parametrize("classes", [2, 3])
def test_near_minima_lie_in_the_same_lattice_step_or_the_next(classes):
    """For one linear term, found points of any certified distance round to numbers that differ by one at most."""
    fit = fitted(classes=classes)
    off = (float(WITHIN) + float(NOISE_STEP) * np.sqrt(SMALL.width * fit.outputs) / 2) / float(fit.strength)
    assert 4 * off <= float(fit.resolution) <= 8 * off * (1 + 1e-9)
    center = np.random.default_rng(2).normal(size=(500, 2)) * 50
    moved = center + off * np.where(np.random.default_rng(3).random(center.shape) < 0.5, -1, 1)
    steps = [np.floor(place / float(fit.resolution) + 0.5) for place in (center - off, moved, center + off)]
    assert max(np.abs(first - second).max() for first in steps for second in steps) <= 1
    assert fit.output.l1_sensitivity == SMALL.width * fit.outputs


def test_the_charge_covers_the_event():
    for epsilon in ("0.001", "0.1", 1, 10, 10**6):
        fit = fitted(epsilon=epsilon, design=DESIGN)
        require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)


def test_the_shares_of_epsilon_add_up():
    fit = fitted(epsilon="0.7", moved_rows=2)
    by_noise = float(2 * SMALL.l1_norm / fit.scale)
    by_hessian = log(1 + float(SMALL.l2_square / 4 / fit.strength))
    assert by_noise + by_hessian <= 0.7 * float(1 - OUTPUT_SHARE) * (1 + 1e-9)
    assert by_noise + by_hessian == pytest.approx(0.7 * float(1 - OUTPUT_SHARE), rel=1e-5)
    assert by_hessian == pytest.approx(0.7 * 0.15, rel=1e-4)
    assert exp(by_hessian) > 1


def test_only_the_minimum_with_noise_reaches_a_model(monkeypatch):
    """With the same noisy numbers all data give the same model."""
    monkeypatch.setattr(Laplace, "release", lambda _noise, value: np.arange(np.size(value)))
    fit = fitted(design=DESIGN)
    models = [fit.release(secret_rows(table)) for table in ([], [(0, 0, 0, 0)], [(2, 2, 2, 1)] * 7)]
    assert all(model == models[0] for model in models)


def test_it_releases_the_minimum_where_noise_is_small():
    fit = fitted(epsilon=10**6, design=DESIGN, strength=Fraction(2))
    records = [(2, 1, 0, 1)] * 30 + [(0, 1, 0, 0)] * 20 + [(1, 2, 2, 0)] * 5
    rows = training_rows(records)
    plain = Objective(
        rows=DESIGN.rows(rows.codes), target=rows.target, linear=np.zeros((DESIGN.width, 1)), strength=2.0,
        l1=float(DESIGN.l1_norm), square=float(DESIGN.l2_square),
    )  # fmt: skip
    found = np.array(fit.release(secret_rows(records))["weights"])
    assert np.abs(found - minimum(plain, within=2.0**-20)).max() < 0.01
    assert UNIT == 4096


def test_what_no_noise_can_be_drawn_for_is_refused_before_anything_is_read():
    with pytest.raises(ParameterError, match="epsilon"):
        fitted(epsilon="1e-9")
    with pytest.raises(ParameterError, match="regularization"):
        fitted(epsilon="0.1", strength=Fraction(1))


def test_its_document_tells_fits_apart():
    changes = ({}, {"classes": 3}, {"moved_rows": 2}, {"rows_per_unit": 2, "moved_rows": 2}, {"strength": Fraction(50)})
    documents = [fitted(**change).document() for change in changes]
    assert all(documents.count(one) == 1 for one in documents)
