"""Draws of naive Bayes: exact ranges of log-ratios over all neighbors, what each parameter sees, and the price."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from tests.learn.made import KIND, neighbors, secret_rows, tables, training_rows

from sfumato.learn.bayes.draws import PosteriorDraws, probabilities_of
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.posterior.models import BetaBernoulli
from sfumato.mechanisms.posterior.sampling import PosteriorSampling
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

COIN = BetaBernoulli(low="0.1", high="0.9", alpha=2, beta=2, points=5)
BIT = TrainingColumn(name="bit", lower=Fraction(0), upper=Fraction(1), steps=1)
LONELY = TrainingColumn(name="one", values=("a",))
COLUMNS = (BIT, KIND)
RECORDS = list(product((0, 1), (0, 1, 2), (0, 1, 2)))


def drawn(*, epsilon=1, columns=COLUMNS, classes=3, moved_rows=1, coin=COIN):
    return PosteriorDraws(
        columns=columns, classes=classes, moved_rows=moved_rows, charge=PureDP(epsilon), coin=coin
    )  # fmt: skip


def log_probabilities(sampler, seen):
    """ln of the tempered posterior on the grid, by floats."""
    grid, power = np.array([float(one) for one in sampler.model.grid]), float(sampler.power)
    ones = float(sampler.model.alpha) - 1 + power * sum(seen)
    zeros = float(sampler.model.beta) - 1 + power * (len(seen) - sum(seen))
    found = ones * np.log(grid) + zeros * np.log(1 - grid)
    return found - np.log(np.exp(found).sum())


def ranges(fit, first, second):
    """For the classes and for each column, in how long an interval log-ratios lie, and the largest log-ratio."""
    sizes = [fit.classes - 1, *(fit.classes * (size - 1) for size in (2, 3))]
    pairs = zip(*(list(fit.observed(training_rows(records))) for records in (first, second)), strict=True)
    ratios = [log_probabilities(*one) - log_probabilities(*other) for one, other in pairs]
    assert len(ratios) == sum(sizes)
    parts = np.split(np.arange(len(ratios)), np.cumsum(sizes)[:-1])
    spans = [sum(np.ptp(ratios[place]) for place in part) for part in parts]
    return spans, sum(np.abs(one).max() for one in ratios)


@pytest.mark.parametrize("epsilon", [1, 1000])
def test_no_neighbor_costs_more_than_the_event_of_each_column(epsilon):
    """Of rows added, of rows replaced, and of two rows of a unit; some row that is added reaches each event exactly."""
    added, replaced = neighbors(RECORDS, most=2)
    twice = [(table, [*table, record, record]) for table in tables(RECORDS, most=1) for record in RECORDS]
    known = [([(0, 0, 0)] * 3, [(0, 0, 0)] * 2)]
    for pairs, moved, close in ((added[::23], 1, 1), (replaced[::29], 2, 0.7), (twice[::5], 2, 1), (known, 1, 0)):
        fit = drawn(epsilon=epsilon, moved_rows=moved)
        limits = np.array([float(one.epsilon) for one in fit.event.events])
        found = [ranges(fit, [*first, (1, 2, 0)], [*second, (1, 2, 0)]) for first, second in pairs]
        spans = np.array([one for one, _ in found])
        assert (spans <= limits + 1e-9).all()
        assert max(total for _, total in found) <= float(fit.charge.epsilon) + 1e-9
        assert (spans.max(axis=0) >= close * limits - 1e-9).all()  # no replaced row is in all draws with 0 and with 1


def test_a_row_is_one_observation_of_each_parameter_up_to_its_value():
    records = [(0, 0, 0), (1, 2, 0), (1, 1, 2), (0, 1, 2), (1, 0, 1)]
    fit = drawn()
    found = [sorted(seen.tolist()) for _, seen in fit.observed(training_rows(records))]
    assert found == [
        [0, 0, 0, 1, 1], [0, 0, 1],  # class 0 of all, class 1 of the others
        [0, 1], [0], [0, 1],  # the bit 0 in each class
        [0, 1], [0], [1], [], [0, 0], [1, 1],  # kind 0, and kind 1 of the others
    ]  # fmt: skip
    assert [sampler for sampler, _ in fit.observed(training_rows(records))] == (
        [fit.prior] * 2 + [fit.draws[0]] * 3 + [fit.draws[1]] * 6
    )


def test_a_row_counts_once_whatever_stands_in_it():
    usual, strange = training_rows([(1, 2, 2)] * 3), training_rows([(1, 99, 99)] * 3)
    pairs = zip(drawn().observed(usual), drawn().observed(strange), strict=True)
    assert all((one == other).all() for (_, one), (_, other) in pairs)
    assert len(list(drawn().observed(training_rows([(-1, -1, -1)])))) == 11


@pytest.mark.parametrize(("epsilon", "moved_rows"), [(1, 1), (1, 6), (10**6, 2)])
def test_the_charge_covers_all_draws_and_is_no_more_than_they_cost(epsilon, moved_rows):
    fit = drawn(epsilon=epsilon, moved_rows=moved_rows)
    require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
    assert fit.charge.epsilon == epsilon
    numbers = (2, 1, 2)
    costs = [moved_rows * number * one.epsilon for number, one in zip(numbers, (fit.prior, *fit.draws), strict=True)]
    assert [event.epsilon for event in fit.event.events] == costs
    if epsilon == 1:
        assert costs == [Fraction(1, 10), Fraction(9, 20), Fraction(9, 20)]
    else:
        assert {one.power for one in (fit.prior, *fit.draws)} == {1}


def test_a_column_of_one_value_costs_nothing():
    fit = drawn(columns=(BIT, LONELY))
    assert [event.epsilon for event in fit.event.events] == [Fraction(1, 10), Fraction(9, 20), 0]
    model = fit.release(secret_rows([(1, 0, 2)]))
    assert model["columns"][1] == [[], [], []]


@pytest.mark.statistical
def test_draws_have_the_distribution_of_the_posterior():
    """Each of five results of a bit, within six standard errors."""
    fit, runs = drawn(epsilon=4, columns=(BIT,), classes=2), 200
    records = [(1, 0), (1, 0), (0, 0), (1, 1), (1, 1), (1, 1)]
    models = [fit.release(secret_rows(records)) for _ in range(runs)]
    seen = [[model["prior"][0], *(one[0] for one in model["columns"][0])] for model in models]
    for values, (sampler, observations) in zip(
        zip(*seen, strict=True), fit.observed(training_rows(records)), strict=True
    ):
        counts = Counter(values)
        shares = np.exp(log_probabilities(sampler, observations.tolist()))
        for theta, share in zip(sampler.model.grid, shares, strict=True):
            assert abs(counts[float(theta)] - runs * share) <= 6 * sqrt(runs * share * (1 - share)) + 1


def test_only_draws_reach_a_model(monkeypatch):
    """Where all draws are the same, so are all models; and as many are made whatever the rows."""
    made = []

    def same(sampler, _):
        made.append(sampler)
        return Fraction(1, 3)

    monkeypatch.setattr(PosteriorSampling, "release", same)
    models = [drawn().release(secret_rows(records)) for records in ([(0, 0, 0)], RECORDS, [(1, 2, 1)] * 9)]
    assert models[0] == models[1] == models[2]
    assert len(made) == 3 * 11


def test_probabilities_add_up():
    found = probabilities_of(np.array([[0.5, 0.25, 0.5], [0.1, 0.9, 0.2]]))
    assert found.shape == (2, 4)
    assert np.allclose(found.sum(axis=1), 1)
    assert np.allclose(found[1], [0.1, 0.81, 0.018, 0.072])
    assert probabilities_of(np.zeros((3, 0))).tolist() == [[1.0]] * 3


def test_its_document_tells_fits_apart():
    coins = [
        BetaBernoulli(**{"low": "0.1", "high": "0.9", "points": 5} | one) for one in ({}, {"low": "0.2"}, {"points": 6})
    ]
    documents = [
        drawn(**change).document()
        for change in ({}, {"classes": 2}, {"moved_rows": 2}, *({"coin": coin} for coin in coins))
    ]
    assert all(documents.count(one) == 1 for one in documents)
