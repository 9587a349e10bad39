"""The choice of one of several models: exact probabilities over all neighbors, the cost, and who sees which row."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import NUMBER, neighbors, secret_rows, tables

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import GaussianNB, KMeans, LinearSVC, PrivateChoice
from sfumato.learn.choosing.choice import ChoiceFit
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sfumato.privacy.events import ApproxEvent, ComposedEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

GENERATOR = np.random.default_rng(0)
ROWS = GENERATOR.random((4000, 2))
LABELS = np.where(ROWS[:, 0] + GENERATOR.normal(scale=0.2, size=4000) > 0.5, "high", "low")
GOOD = GaussianNB(epsilon=1, bounds=(0, 1), classes=["high", "low"])

IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
    "check_fit_score_takes_y": "rows are drawn into parts anew in each fit",
    "check_fit_idempotent": "rows are drawn into parts anew in each fit",
    "check_supervised_y_2d": "rows are drawn into parts anew in each fit",
}
"""Checks of scikit-learn that may not pass, with the reason."""


class ListsForChoices(GaussianNB):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return GaussianNB._array_target(declared, y)


class Backward(GaussianNB):
    """Scores the other class higher: for tests alone."""

    def row_scores(self, codes):
        return -GaussianNB.row_scores(self, codes)


BAD = Backward(epsilon=1, bounds=(0, 1), classes=["high", "low"])


@dataclass(frozen=True)
class Silent:
    """A fit that releases nothing, and keeps the rows that it saw: for tests alone."""

    charge: object = PureDP(1)
    event: object = PureEvent(1)
    name: str = "silent"
    seen: list = field(default_factory=list)

    def document(self):
        return {}

    def release(self, rows):
        self.seen.append(rows.open_for_noise())
        return {}


class Always:
    """Answers with one class, whatever the row."""

    def __init__(self, answer):
        self.answer = answer

    def get_params(self):
        return {"answer": self.answer}

    def adopt(self, *_):
        return self

    def row_scores(self, codes):
        return np.tile(np.arange(2) == self.answer, (len(codes), 1)).astype(float)


def choice(*, fits=None, rows_per_unit=1, relation=ADD_OR_REMOVE_ONE, epsilon=Fraction(1), **changes):
    arguments = {"scoring": Fraction(99, 100), "models": (Always(0), Always(1))} | changes
    return ChoiceFit(
        fits=(Silent(), Silent()) if fits is None else fits, columns=(NUMBER,), epsilon=epsilon,
        rows_per_unit=rows_per_unit, neighboring_relation=relation, **arguments,
    )  # fmt: skip


def weights(fit, rights):
    """The probability of each of two models, from the definition of permute-and-flip."""
    one = fit.selection
    kappa = float(one.epsilon / (one.utility_sensitivity * (1 if one.monotonic else 2)))
    worse = exp(-kappa * abs(rights[0] - rights[1])) / 2
    return np.array([worse, 1 - worse] if rights[0] < rights[1] else [1 - worse, worse])


def law(fit, records, known):
    """The exact distribution of the choice over all draws of parts."""
    key = tuple(sorted(records))
    if key not in known:
        table = np.array(records, dtype=np.int32).reshape(-1, 2)
        total = np.zeros(2)
        for drawn in product((False, True), repeat=len(records)):
            is_later = np.array(drawn, dtype=bool)
            odds = np.prod([float(fit.scoring if later else 1 - fit.scoring) for later in drawn])
            total += odds * weights(fit, fit.exact([{}, {}], table[is_later, :1], table[is_later, 1]))
        known[key] = total
    return known[key]


def test_no_neighbor_makes_a_choice_more_probable_than_its_epsilon_allows():
    """All pairs of tables of up to four rows; and units of three equal rows."""
    records = list(product((0,), range(2)))
    added, replaced = neighbors(records, most=3)
    thrice = [(first, [*first, *[record] * 3]) for first in tables(records, most=3) for record in records]
    for pairs, arguments in (
        (added, {}), (replaced, {"relation": REPLACE_ONE}), (thrice, {"rows_per_unit": 3}),
    ):  # fmt: skip
        fit, known = choice(**arguments), {}
        worst = max(np.abs(np.log(law(fit, first, known) / law(fit, second, known))).max() for first, second in pairs)
        assert 0.5 < worst <= 1 + 1e-9


def test_a_row_is_in_one_part_alone(monkeypatch):
    scored = []

    def kept(_, released, codes, target):
        scored.append(len(codes))
        assert len(released) == 2
        assert len(codes) == len(target)
        return [0, 0]

    monkeypatch.setattr(ChoiceFit, "exact", kept)
    fits = (Silent(), Silent())
    fit = choice(fits=fits, scoring=Fraction(1, 3))
    for size in (0, 1, 5, 2000):
        fit.release(secret_rows(np.zeros((size, 2), dtype=np.int32)))
        assert [len(one.seen[-1].codes) + scored[-1] for one in fits] == [size, size]
    assert 500 < scored[-1] < 840  # a third of 2,000, by 8 standard deviations


def test_only_the_chosen_model_leaves(monkeypatch):
    monkeypatch.setattr(PermuteAndFlip, "release", lambda *_: 1)
    models = [choice().release(secret_rows(records)) for records in ([], [(0, 1)], [(2, 0)] * 40)]
    assert models == [{"chosen": 1, "model": {}}] * 3


def test_one_part_is_charged_where_one_row_moves_else_both():
    fits = (Silent(), Silent(charge=ApproxDP("0.5", "1e-6"), event=ApproxEvent("0.5", "1e-6")))
    once = choice(fits=fits)
    assert (once.charge, once.event) == (ApproxDP("1.5", "1e-6"), ApproxEvent("1.5", "1e-6"))
    assert choice().charge == PureDP(2)
    assert choice(epsilon=Fraction(3)).event == PureEvent(3)
    for arguments in ({"rows_per_unit": 2}, {"relation": REPLACE_ONE}):
        both = choice(fits=fits, **arguments)
        assert both.charge == ApproxDP("2.5", "1e-6")
        assert both.event == ComposedEvent((PureEvent(1), ApproxEvent("0.5", "1e-6"), PureEvent(1)))
        require_price(both.event, both.charge, both.neighboring_relation)
    require_price(once.event, once.charge, ADD_OR_REMOVE_ONE)


def test_its_document_tells_fits_apart():
    documents = [
        choice(**change).document() for change in (
            {}, {"scoring": Fraction(1, 4)}, {"epsilon": Fraction(2)}, {"rows_per_unit": 2},
            {"fits": (Silent(), Silent(event=PureEvent(2)))}, {"models": (Always(1), Always(0))},
        )
    ]  # fmt: skip
    assert all(documents.count(one) == 1 for one in documents)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    def refuted(epsilon):
        fit = choice(epsilon=Fraction(epsilon))

        def chosen(answers):
            return fit.release(secret_rows([(0, one) for one in answers]))["chosen"]

        return audit(chosen, [([], [0])], epsilon="0.5", samples=600).is_refuted

    assert not refuted("0.5")
    assert refuted(60)


def test_models_are_right_for_the_rows_that_they_predict():
    models = [clone(GOOD).fit(ROWS, LABELS), clone(BAD).fit(ROWS, LABELS)]
    codes, target = models[0].encode(ROWS), (LABELS == "low").astype(np.int32)

    class Fitted:
        def __init__(self, model):
            self.model = model

        def adopt(self, *_):
            return self

        def row_scores(self, rows):
            return self.model.row_scores(rows)

    fit = choice(models=tuple(map(Fitted, models)))
    assert fit.exact([{}, {}], codes, target) == [int((one.predict(ROWS) == LABELS).sum()) for one in models]


@pytest.mark.statistical
def test_the_better_model_is_chosen():
    """It is right for 400 of 1,000 rows more, at a κ of 1: another is chosen with a probability below e^−100."""
    model = PrivateChoice([BAD, GOOD, BAD], epsilon=1).fit(ROWS, LABELS)
    assert model.best_index_ == 1
    assert model.guarantee_ == PureDP(3)
    assert model.best_estimator_.guarantee_ == PureDP(1)
    assert model.score(ROWS, LABELS) > 0.75


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is negligible."""
    inner = [ListsForChoices(epsilon=10**6, bounds=(-10, 10)) for _ in range(2)]
    results = check_estimator(PrivateChoice(inner, epsilon=1), on_fail=None, expected_failed_checks=IMPOSSIBLE)
    assert {result["check_name"] for result in results if result["status"] == "failed"} == set()
    assert len(results) > 40


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (PrivateChoice([GOOD, BAD]), "epsilon"),
        (PrivateChoice([GOOD, BAD], epsilon=-1), "epsilon"),
        (PrivateChoice([GOOD, BAD], epsilon=1, scoring=1), "scoring"),
        (PrivateChoice([GOOD], epsilon=1), "estimators"),
        (PrivateChoice(None, epsilon=1), "estimators"),
        (PrivateChoice([GOOD, Plain()], epsilon=1), "estimators"),
        (PrivateChoice([GOOD, KMeans(2, epsilon=1)], epsilon=1), "estimators"),
        (PrivateChoice([GOOD, clone(GOOD).set_params(bounds=(0, 2))], epsilon=1), "same bounds"),
        (PrivateChoice([GOOD, clone(GOOD).set_params(neighboring_relation="replace_one")], epsilon=1), "relation"),
        (PrivateChoice([GOOD, clone(GOOD).set_params(epsilon=None)], epsilon=1), "epsilon"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(model, wrong, monkeypatch):
    monkeypatch.setattr(ChoiceFit, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        model.fit(ROWS, LABELS)


def test_a_session_is_charged_once_for_all_models_and_the_choice():
    data = pa.table({"a": ROWS[:, 0], "label": LABELS, "who": [str(row // 2) for row in range(4000)]})
    columns = {"a": sf.real(0, 1), "label": sf.text(values=["high", "low"]), "who": sf.text()}
    opened = {"name": "t", "columns": columns, "budget": sf.ApproxDP(5, "1e-5")}
    models = [GaussianNB(epsilon=1), LinearSVC(epsilon="0.5", delta="1e-6", steps=5)]
    with sf.open(data, **opened) as one:
        for _ in range(2):
            model = PrivateChoice(models, epsilon=1).fit("SELECT a, label FROM t", "label", session=one)
        assert one.spent == ApproxDP("1.5", "1e-6")
        assert model.predict({"a": [0.1, 0.9]}).shape == (2,)
        with pytest.raises(BudgetExceededError):
            PrivateChoice(models, epsilon=4).fit("SELECT a, label FROM t", "label", session=one)
    with sf.open(data, unit="who", limits=sf.Limits(max_rows_per_unit=2), **opened) as two:
        PrivateChoice(models, epsilon=1).fit("SELECT a, label FROM t", "label", session=two)
        assert two.spent == ApproxDP("2.5", "1e-6")
