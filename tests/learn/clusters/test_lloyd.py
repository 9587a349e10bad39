"""Noisy steps of k-means: exact sensitivity over all neighbors of small data; centers of noisy numbers alone."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.errors import ParameterError
from sfumato.learn.clusters.lloyd import NoisyLloyd, lloyd, nearest, tallied
from sfumato.learn.clusters.starts import packed_starts
from sfumato.learn.linear.design import UNIT, centered_design
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

COLUMNS = [NUMBER, CENTERED, KIND]
CHARGES = (PureDP(1), ApproxDP(1, "1e-6"))
DESIGNS = {
    name: centered_design(COLUMNS, norm=norm, l1_norm=l1_norm, is_of_columns=False)
    for name, norm, l1_norm in (("bounds", None, None), ("l2", 1, None), ("l1", None, "0.75"))
}


def fitted(design="bounds", *, charge=CHARGES[0], moved_rows=1, clusters=3, iterations=2, start=None):
    found = DESIGNS[design]
    return NoisyLloyd(
        design=found, start=packed_starts(found, clusters) if start is None else start, iterations=iterations,
        moved_rows=moved_rows, charge=charge,
    )  # fmt: skip


def centers_of(kind, width):
    """Centers that a step may start with: far ones, equal ones, and some that were released."""
    generator = np.random.default_rng(3)
    found = {"equal": np.zeros((3, width)), "any": generator.integers(-UNIT, UNIT + 1, (3, width)).astype(float)}
    return found[kind]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", ["equal", "any"])
def test_no_neighbor_moves_a_step_further_than_noise_is_made_for(design, kind):
    """All pairs of tables of up to two rows, both relations, whatever the centers: all steps cost ε together."""
    records = [(*record, 0) for record in product((0, 1, 2), (0, 2), (0, 2))]
    centers = centers_of(kind, DESIGNS[design].width)
    rows = {record: DESIGNS[design].rows(training_rows([record]).codes) for record in records}
    for moved, pairs in zip((1, 2), neighbors(records, most=1), strict=True):
        fit = fitted(design, moved_rows=moved)
        for first, second in pairs:
            cost = Fraction(0)
            before, after = (
                tallied(np.concatenate([np.empty((0, fit.design.width)), *(rows[one] for one in table)]), centers)
                for table in (first, second)
            )
            for part, noise, one, other in zip(fit.parts(), fit.noises, before, after, strict=True):
                numbers = [int(step) for step in (one - other).reshape(-1)]
                assert sum(map(abs, numbers)) <= part.l1_sensitivity
                assert sum(step**2 for step in numbers) <= part.l2_sensitivity**2
                assert np.count_nonzero(numbers) <= part.l0_sensitivity
                cost += fit.iterations * sum(map(abs, numbers)) / noise.scale
            assert cost <= fit.charge.epsilon


def test_a_row_at_the_bounds_reaches_the_sensitivities():
    """So no smaller noise would do: its features are ±1, and a category's is 1."""
    fit = fitted()
    counts, sums = fit.parts()
    row = fit.design.rows(training_rows([(2, 0, 1, 0)]).codes)
    found = tallied(row, centers_of("any", fit.design.width))
    assert np.abs(found[0]).sum() == counts.l1_sensitivity == 1
    assert np.abs(found[1]).sum() == sums.l1_sensitivity == 3 * UNIT
    assert float(sums.l2_sensitivity) == pytest.approx(float(np.sqrt((found[1] ** 2).sum())))
    assert (counts.share + sums.share, counts.times, sums.times) == (1, 2, 2)


def test_each_row_adds_to_its_nearest_center_by_another_computation():
    generator = np.random.default_rng(1)
    rows = generator.integers(-UNIT, UNIT + 1, (9_000, 3)).astype(float)
    centers = generator.integers(-UNIT, UNIT + 1, (5, 3)).astype(float)
    centers[4] = centers[1]
    counts, sums = tallied(rows, centers)
    labels = []
    for row in rows.astype(int).tolist():
        distances = [sum((x - int(c)) ** 2 for x, c in zip(row, center, strict=True)) for center in centers]
        labels.append(distances.index(min(distances)))
    assert nearest(rows, centers).tolist() == labels
    assert counts.tolist() == [labels.count(place) for place in range(5)]
    for place in range(5):
        assert sums[place].tolist() == rows[np.array(labels) == place].sum(axis=0).tolist()
    shuffled = tallied(rows[::-1], centers)
    assert (shuffled[1] == sums).all()


@pytest.mark.parametrize("charge", CHARGES, ids=("pure", "approximate"))
def test_only_noisy_numbers_reach_centers(charge, monkeypatch):
    """With the same noisy numbers all data give the same centers; and as many are drawn as the event says."""
    drawn = []

    def same(noise, value):
        drawn.append(noise.event)
        return np.arange(np.size(value)) * 2**12 + 10_000

    for noise in (Laplace, GaussianNoise):
        monkeypatch.setattr(noise, "release", same)
    fit = fitted(charge=charge)
    tables = ([], [(0, 0, 0, 0)], [(2, 2, 2, 0)] * 7, [(0, 1, 2, 0), (1, 2, 0, 0)] * 50)
    models = [fit.release(secret_rows(table)) for table in tables]
    assert all(model == models[0] for model in models)
    assert tuple(drawn) == fit.event.events * 4
    assert len(fit.event.events) == 2 * fit.iterations
    require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)


def test_a_center_of_few_rows_moves_next_to_one_of_many_by_noisy_counts_alone():
    fit = fitted(charge=PureDP(10**9))
    centers = np.array(fit.start, dtype=float)
    sums = np.arange(15.0).reshape(3, 5) * 1000
    found = fit.moved(centers, np.array([100.0, 90.0, 0.0]), sums)
    assert found[:2].tolist() == np.floor(sums[:2] / [[100], [90]] + 0.5).tolist()
    assert found[2].tolist() == (found[0] + np.floor((centers[2] - found[0]) / 8 + 0.5)).tolist()
    assert fit.moved(centers, np.array([1.0, 0.0, -5.0]), sums)[1:].tolist() == centers[1:].tolist()
    vague = fitted(charge=PureDP("0.001"))
    assert vague.moved(centers, np.full(3, 100.0), sums).tolist() == centers.tolist()


@pytest.mark.parametrize("records", [[], [(2, 2, 2, 0)] * 3])
@pytest.mark.parametrize("epsilon", ["0.0001", 10**12])
def test_centers_are_whole_steps_within_the_bounds_whatever_the_rows(records, epsilon):
    for charge in (PureDP(epsilon), ApproxDP(min(float(epsilon), 100), "1e-9")):
        centers = np.array(fitted(charge=charge, iterations=3).release(secret_rows(records))["centers"])
        assert centers.shape == (3, 5)
        assert np.abs(centers).max() <= UNIT


def test_the_share_of_counts_has_the_least_error():
    """Against a search: d·Var(s) + ‖c‖²·Var(n), for one step at ε = 1."""
    for width in (1, 20):
        columns = [TrainingColumn(name=f"x{place}", lower=Fraction(0), upper=Fraction(1)) for place in range(width)]
        design = centered_design(columns, norm=None, l1_norm=None, is_of_columns=False)
        pure, smooth = (
            NoisyLloyd(design=design, start=((0,) * width,), iterations=1, moved_rows=1, charge=charge).count_share
            for charge in CHARGES
        )
        shares = np.arange(1, 1000) / 1000
        square = 0.225**2 * width
        errors = width * (width / (1 - shares)) ** 2 + square / shares**2
        assert abs(float(pure) - shares[np.argmin(errors)]) <= 0.0015
        errors = width * width / (1 - shares) + square / shares
        assert abs(float(smooth) - shares[np.argmin(errors)]) <= 0.0015


def test_it_takes_the_noise_that_is_less():
    for width, charge in ((30, ApproxDP(1, "1e-6")), (1, PureDP(1))):
        columns = [TrainingColumn(name=f"x{place}", lower=Fraction(0), upper=Fraction(1)) for place in range(width)]
        design = centered_design(columns, norm=None, l1_norm=None, is_of_columns=False)
        start = packed_starts(design, 2)
        for total, expected in ((ApproxDP(1, "1e-6"), charge), (ApproxDP(1, 0), PureDP(1)), (PureDP(1), PureDP(1))):
            assert lloyd(design, start=start, iterations=2, moved_rows=1, total=total).charge == expected


def test_what_cannot_be_fitted_is_refused():
    for charge in (PureDP("1e-15"), PureDP(0)):
        with pytest.raises(ParameterError, match="epsilon"):
            fitted(charge=charge)


def test_its_document_tells_fits_apart():
    changes = ({}, {"design": "l2"}, {"moved_rows": 2}, {"iterations": 3}, {"clusters": 2})
    documents = [fitted(**change).document() for change in changes]
    assert all(documents.count(one) == 1 for one in documents)
