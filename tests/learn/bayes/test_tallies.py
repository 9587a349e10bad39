"""Tallies of classes: exact sensitivity over all neighbors of small data, and nothing but noisy numbers in a model."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows

from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn.bayes.tallies import ClassTallies, table_of, tallied, tallies, values_of
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.rationals import exact
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

COLUMNS = {"moments": (NUMBER, CENTERED), "values": (NUMBER, CENTERED, KIND)}
FINE = TrainingColumn(name="fine", lower=Fraction(0), upper=Fraction(7), steps=4096)


def fitted(kind="moments", *, classes=2, moved_rows=1, epsilon=1, delta=0, columns=None):
    return ClassTallies(
        columns=COLUMNS[kind] if columns is None else columns, kind=kind, classes=classes, moved_rows=moved_rows,
        charge=guarantee(exact(epsilon, "epsilon"), exact(delta, "delta")),
    )  # fmt: skip


def exact_numbers(kind):
    """What noise is added to, by tables: the count of each class, and the sums of each column."""
    fit = fitted(kind)

    @cache
    def found(table):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Laplace, "release", lambda _noise, value: value)
            model = fit.release(secret_rows(table))
        return [np.array(part).reshape(-1) for part in (model["counts"], *model["sums"])]

    return lambda table: found(tuple(sorted(table)))


def moves_of(kind):
    """How many rows move between neighbors, and which differences there are: a row is added, or one is replaced."""
    records = list(product((0, 1, 2), (0, 2), *([(0, 2)] if kind == "values" else []), (0, 1)))
    numbers = exact_numbers(kind)
    for moved, pairs in zip((1, 2), neighbors(records, most=1), strict=True):
        differences = [
            tuple(tuple((one - other).tolist()) for one, other in zip(numbers(first), numbers(second), strict=True))
            for first, second in pairs
        ]
        yield moved, set(differences)


@pytest.mark.parametrize("kind", ["moments", "values"])
def test_no_neighbor_costs_more_than_epsilon(kind):
    """All pairs of tables of up to two rows, both relations; the worst of them costs ε, so that no noise is wasted."""
    for moved, differences in moves_of(kind):
        fit = fitted(kind, moved_rows=moved, epsilon=Fraction(1, 2))
        scales = [noise.scale for noise in (fit.count, *fit.noises)]
        costs = [
            sum(sum(map(abs, part)) / scale for part, scale in zip(difference, scales, strict=True))
            for difference in differences
        ]
        assert Fraction(49, 100) < max(costs) <= fit.charge.epsilon


@pytest.mark.parametrize("kind", ["moments", "values"])
def test_no_neighbor_moves_sums_further_than_gaussian_noise_is_made_for(kind):
    for moved, differences in moves_of(kind):
        fit = fitted(kind, moved_rows=moved, delta="1e-6")
        for difference in differences:
            for part, noise in zip(difference, (fit.count, *fit.noises), strict=True):
                assert sum(one**2 for one in part) <= noise.l2_sensitivity**2
                assert np.count_nonzero(part) <= noise.l0_sensitivity


def test_moments_are_those_of_numbers():
    codes, target = np.array([0, 1, 4096, 4000, 17]), np.array([0, 1, 1, 0, 0])
    sums = tallied(target, codes, 2, table_of(FINE, "moments"))
    for label, (first, second) in enumerate(sums.tolist()):
        numbers = [Fraction(2 * int(code) - 4096, 4096) for code in codes[target == label]]
        assert Fraction(first + second, 2 * 4096**2) == sum(numbers)
        assert Fraction(first - second, 2 * 4096**2) == sum(2 * one**2 - 1 for one in numbers)


def test_values_are_the_nearest_whole_numbers():
    assert values_of(FINE) == 8
    assert table_of(FINE, "values")[FINE.encode([0, 1, 2.4, 2.6, 7])].argmax(axis=1).tolist() == [0, 1, 2, 3, 7]
    assert (table_of(KIND, "values") == np.eye(3)).all()
    wide = TrainingColumn(name="wide", lower=Fraction(-400), upper=Fraction(599))
    assert (table_of(wide, "values")[wide.encode(range(-400, 600))] == np.eye(1000)).all()


def test_a_row_adds_to_one_class_whatever_stands_in_it():
    for code, label in product((-1, 0, 3, 99), (-1, 0, 1, 99)):
        found = tallied(np.array([label]), np.array([code]), 2, table_of(KIND, "values"))
        assert found.sum() == 1


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("kind", ["moments", "values"])
def test_only_noisy_numbers_reach_a_model(kind, delta, monkeypatch):
    """With the same noisy numbers all data give the same model; and as many are drawn as the event says."""
    drawn = []

    def same(noise, value):
        drawn.append(noise.event)
        return np.arange(np.size(value)) - 2

    for noise in (Laplace, GaussianNoise):
        monkeypatch.setattr(noise, "release", same)
    fit = fitted(kind, delta=delta)
    width = len(fit.columns)
    tables = ([(0,) * (width + 1)], [(2,) * width + (1,)] * 7)
    models = [fit.release(secret_rows(table)) for table in tables]
    assert models[0] == models[1]
    assert tuple(drawn) == fit.event.events * 2


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_charge_covers_the_event(delta):
    for kind, moved in (("moments", 6), ("values", 1)):
        fit = fitted(kind, moved_rows=moved, delta=delta, epsilon="0.3")
        require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
        count, *rest = fit.event.events
        assert (count.l1_sensitivity if delta == 0 else count.l2_sensitivity) == moved
        assert len(rest) == len(fit.columns)


def test_it_takes_the_noise_that_is_less():
    def chosen(columns, delta):
        return tallies((NUMBER,) * columns, kind="values", classes=2, moved_rows=1, total=ApproxDP(1, delta))

    assert chosen(50, "1e-6").charge == ApproxDP(1, "1e-6")
    assert chosen(2, "1e-6").charge == PureDP(1)
    assert chosen(50, 0).charge == PureDP(1)


@pytest.mark.parametrize("epsilon", [0, "1e-14"])
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_an_epsilon_for_which_no_noise_is_drawn_is_refused(epsilon, delta):
    total = guarantee(exact(epsilon, "epsilon"), exact(delta, "delta"))
    with pytest.raises(ParameterError, match="epsilon"):
        tallies((FINE,), kind="moments", classes=2, moved_rows=1, total=total)


def test_its_document_tells_fits_apart():
    fits = (fitted(), fitted(classes=3), fitted(moved_rows=2), fitted("values"))
    documents = [fit.document() for fit in fits]
    assert all(documents.count(one) == 1 for one in documents)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """The worst neighbors: no row, and one row at the bound."""

    def refuted(fit):
        def sum_of_first(records):
            return fit.release(secret_rows(np.reshape(records, (-1, 2))))["sums"][0][1][0]

        return audit(sum_of_first, [([], [2, 1])], epsilon="0.5", delta=0, samples=100).is_refuted

    assert not refuted(fitted(columns=(NUMBER,), epsilon="0.5"))
    assert refuted(fitted(columns=(NUMBER,), epsilon=60))
