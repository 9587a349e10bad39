"""A fit in two parts: who is in which, exact probabilities over all neighbors, the price, and the coverage."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from tests.learn.made import NUMBER, neighbors, secret_rows, tables

from sfumato.audit import audit
from sfumato.learn import CategoricalNB, GaussianNB, LinearRegression, LinearSVC, LogisticRegression
from sfumato.learn.conformal.split import FINENESS, SPAN, SplitFit, distances, largest_distance, places
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.quantiles.quantile import QuantileEnd
from sfumato.privacy.events import ApproxEvent, ComposedEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn, TrainingRows

TARGET = TrainingColumn(name="t", lower=Fraction(0), upper=Fraction(3), steps=3)
CLASSES = TrainingColumn(name="t", values=("a", "b", "c"))


@dataclass(frozen=True)
class Nothing:
    """A model of nothing, which keeps the rows that it saw: for tests alone."""

    charge: object = PureDP(1)
    event: object = PureEvent(1)
    name: str = "nothing"
    seen: list = field(default_factory=list)

    def document(self):
        return {}

    def release(self, rows):
        self.seen.append(rows.open_for_noise())
        return {}


class Zero:
    """Predicts 0."""

    def get_params(self):
        return {}

    def adopt(self, *_):
        return self

    def row_scores(self, codes):
        return np.zeros((len(codes), 1))


def split(*, inner=None, target=TARGET, rows_per_unit=1, relation=ADD_OR_REMOVE_ONE, epsilon=Fraction(1), **changes):
    arguments = {"alpha": Fraction(1, 5), "calibration": Fraction(1, 3)} | changes
    return SplitFit(
        inner=Nothing() if inner is None else inner, model=Zero(), columns=(NUMBER,), target=target, epsilon=epsilon,
        rows_per_unit=rows_per_unit, neighboring_relation=relation, **arguments,
    )  # fmt: skip


def threshold_weights(fit, values):
    """The probability of each threshold, from the definition of `QuantileEnd` for an upper end."""
    values = [*values, largest_distance(fit.target)]
    end = fit.threshold
    wide = 2 if end.neighboring_relation is REPLACE_ONE else 2 * max(end.quantile, 1 - end.quantile)
    top, added = largest_distance(fit.target), end.margin
    weights = []
    for point in range(top + 1):
        beyond = sum(value > point for value in values) + (added if point < top else 0)
        at_least = sum(value >= point for value in values) + added
        wanted = (1 - end.quantile) * len(values)
        weights.append(exp(-float(end.epsilon * max(0, beyond - wanted, wanted - at_least) / wide)))
    return np.array(weights) / sum(weights)


def law(fit, records, known):
    """The exact distribution of the threshold over all draws of parts, with distances as the fit computes them."""
    key = tuple(sorted(records))
    if key in known:
        return known[key]
    codes = np.array(records, dtype=np.int32).reshape(-1, 2)
    values = fit.exact({}, codes[:, :1], codes[:, 1])
    total = np.zeros(largest_distance(fit.target) + 1)
    for is_later in product((False, True), repeat=len(records)):
        odds = np.prod([float(fit.calibration if later else 1 - fit.calibration) for later in is_later])
        total += odds * threshold_weights(fit, values[np.array(is_later, dtype=bool)])
    known[key] = total
    return total


def test_no_neighbor_makes_a_threshold_more_probable_than_its_epsilon_allows():
    """All pairs of tables of up to three rows; and units of three equal rows, each of which has a third of ε."""
    records = list(product((0,), range(4)))
    added, replaced = neighbors(records, most=2)
    thrice = [(first, [*first, *[record] * 3]) for first in tables(records, most=2) for record in records]
    for pairs, arguments in (
        (added, {}), (replaced, {"relation": REPLACE_ONE}), (thrice, {"rows_per_unit": 3}),
    ):  # fmt: skip
        fit, known = split(calibration=Fraction(99, 100), **arguments), {}
        worst = max(np.abs(np.log(law(fit, first, known) / law(fit, second, known))).max() for first, second in pairs)
        assert 0.1 < worst <= 1 + 1e-9


def test_a_row_is_in_one_part_alone(monkeypatch):
    calibrated = []

    def kept(_, values):
        calibrated.append(len(values) - 1)
        return Fraction(0)

    monkeypatch.setattr(QuantileEnd, "release", kept)
    inner = Nothing()
    fit = split(inner=inner)
    for size in (0, 1, 5, 2000):
        fit.release(secret_rows(np.zeros((size, 2), dtype=np.int32)))
        assert len(inner.seen[-1].codes) + calibrated[-1] == size
    assert 500 < calibrated[-1] < 840  # a third of 2,000, by 8 standard deviations


def test_only_the_model_and_the_noisy_threshold_leave(monkeypatch):
    monkeypatch.setattr(QuantileEnd, "release", lambda *_: Fraction(2))
    models = [split().release(secret_rows(records)) for records in ([], [(0, 1)], [(2, 3)] * 40)]
    assert models == [{"model": {}, "threshold": 2}] * 3


def test_one_part_is_charged_where_one_row_moves_else_both():
    inner = Nothing(charge=ApproxDP("0.5", "1e-6"), event=ApproxEvent("0.5", "1e-6"))
    once = split(inner=inner)
    assert (once.charge, once.event) == (ApproxDP(1, "1e-6"), ApproxEvent(1, "1e-6"))
    assert split().event == PureEvent(1)
    for arguments in ({"rows_per_unit": 2}, {"relation": REPLACE_ONE}):
        both = split(inner=inner, **arguments)
        assert both.charge == ApproxDP("1.5", "1e-6")
        assert both.event == ComposedEvent((ApproxEvent("0.5", "1e-6"), PureEvent(1)))
        require_price(both.event, both.charge, both.neighboring_relation)
    require_price(once.event, once.charge, ADD_OR_REMOVE_ONE)


@pytest.mark.statistical
@pytest.mark.parametrize(("rows", "epsilon"), [(12, "0.5"), (120, "0.5"), (1200, 4)])
def test_noise_makes_intervals_wider_and_never_wrong(rows, epsilon):
    """Distances are uniform, so the coverage of a threshold is known; at five standard errors, which is below 1e-6."""
    target = TrainingColumn(name="t", lower=Fraction(0), upper=Fraction(1), steps=999)
    fit = split(target=target, epsilon=Fraction(epsilon), alpha=Fraction(1, 20), calibration=Fraction(1, 2))
    generator = np.random.default_rng(rows)
    covered = []
    for _ in range(300):
        codes = np.zeros((rows, 1), dtype=np.int32)
        drawn = TrainingRows(codes=codes, target=generator.integers(0, 1000, rows).astype(np.int32))
        covered.append((fit.release(Secret(drawn))["threshold"] + 1) / 1000)
    assert np.mean(covered) >= 0.95 - 5 * np.std(covered) / 300**0.5
    if rows == 1200:
        assert np.mean(covered) < 0.99


def test_distances_of_classes_are_how_much_the_best_other_one_is_ahead():
    scores = np.array([[3.0, 1.0, 0.0], [1.0, 1.0, -99.0], [np.nan, 0.0, 0.0]])
    found = distances(scores, CLASSES)
    zero, top = SPAN * FINENESS, largest_distance(CLASSES)
    assert found[0].tolist() == [zero - 2 * FINENESS, zero + 2 * FINENESS, zero + 3 * FINENESS]
    assert found[1].tolist() == [zero, zero, top]
    assert found.min() >= 0
    assert found.max() <= top
    inside = places(np.array([[-5.0, 1.5, 9.0, np.nan]]), TARGET)
    assert inside.tolist() == [[0.0, 1.5, 3.0, 0.0]]


@pytest.mark.parametrize("kind", [GaussianNB, CategoricalNB, LogisticRegression, LinearSVC, LinearRegression])
def test_a_score_depends_on_no_other_row_to_the_last_digit(kind):
    generator = np.random.default_rng(0)
    rows = generator.integers(0, 30, size=(701, 13))
    labels = rows[:, 0] % 3
    declared = {"target_bounds": (0, 2)} if kind is LinearRegression else {"classes": range(3)}
    delta = {"steps": 2} if kind is LinearSVC else {}
    model = kind(epsilon=1, delta="1e-6", bounds=(0, 30), **declared, **delta).fit(rows, labels)
    codes = model.encode(rows)
    whole = model.row_scores(codes)
    assert whole.shape == (701, 1 if kind is LinearRegression else 3)
    for some in (slice(0, 1), slice(3, 5), slice(100, 117), slice(None, None, -1)):
        assert (model.row_scores(codes[some]) == whole[some]).all()


def test_its_document_tells_fits_apart():
    documents = [
        split(**change).document() for change in (
            {}, {"alpha": Fraction(1, 4)}, {"calibration": Fraction(1, 4)}, {"epsilon": Fraction(2)},
            {"rows_per_unit": 2}, {"inner": Nothing(event=PureEvent(2))},
        )
    ]  # fmt: skip
    assert all(documents.count(one) == 1 for one in documents)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """One row more at distance 0, so that the threshold need no longer be the largest distance."""

    def refuted(epsilon):
        fit = split(epsilon=Fraction(epsilon), alpha=Fraction(1, 2), calibration=Fraction(99, 100))

        def threshold(distances):
            return fit.release(secret_rows([(0, one) for one in distances]))["threshold"]

        return audit(threshold, [([0, 0, 0], [0, 0, 0, 0])], epsilon="0.5", samples=150).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
