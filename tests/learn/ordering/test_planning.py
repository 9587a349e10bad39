"""What is planned of an order is what a session would plan; and how much work it is follows from what is public."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.learn.ordering.ordered import CASES, PAY, declared

import sfumato as sf
from sfumato import learn
from sfumato.errors import ParameterError
from sfumato.learn.core.inputs import ReleasedModel
from sfumato.learn.ordering.orders import order_of
from sfumato.learn.ordering.planning import planned_fit
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn, TrainingRows
from sfumato.session.training.ordered import FitOrder, fit_digest
from sfumato.session.wire.fits import declared_rows

COLUMNS = {"age": sf.integer(0, 100), "pay": sf.real(0, 10), "sex": sf.text(values=["f", "m"])}
ROWS = pa.table({"age": [3, 50, 70], "pay": [1.5, 2.5, 9.0], "sex": ["f", "m", "f"]})


@pytest.mark.parametrize("name", CASES)
def test_an_order_is_planned_as_in_a_session_of_ones_own(name):
    estimator, columns, target = CASES[name]
    session = sf.open(ROWS, name="people", columns=COLUMNS, budget=sf.ApproxDP(9, "1e-5"), engine="reference")
    names = [one.name for one in (*columns, *(() if target is None else (target,)))]
    rows = session.training_set(f"SELECT {', '.join(names)} FROM people", target=target and target.name)
    own = estimator.plan(rows)
    found = planned_fit(order_of(estimator), declared_rows(rows.query, rows.neighboring_relation))
    assert (found.name, found.event, found.charge) == (own.name, own.event, own.charge)
    assert json.dumps(found.document(), sort_keys=True) == json.dumps(own.document(), sort_keys=True)
    assert fit_digest(found) == fit_digest(found.planned) == fit_digest(own)
    assert rows.prepare(found).key == rows.prepare(own).key
    assert rows.prepare(found).question == rows.prepare(own).question


@pytest.mark.parametrize("name", CASES)
def test_the_model_of_an_order_becomes_the_estimator(name):
    estimator, columns, target = CASES[name]
    rows = declared(name)
    found = planned_fit(order_of(estimator), rows)
    codes = np.stack([np.arange(40) % (one.steps + 1) for one in columns], axis=1).astype(np.int32)
    labels = None if target is None else (np.arange(40) % (target.steps + 1)).astype(np.int32)
    model = json.loads(json.dumps(found.release(Secret(TrainingRows(codes=codes, target=labels)))))
    again = type(estimator)(**estimator.get_params(deep=False))
    fitted = again.adopt(columns, again.plan(rows), ReleasedModel(model=model))
    assert fitted.guarantee_ == found.charge


def test_more_rows_of_a_unit_and_replaced_units_are_other_plans():
    order = order_of(CASES["GaussianNB"][0])
    rows = declared("GaussianNB")
    others = (rows, replace(rows, rows_per_unit=3), replace(rows, neighboring_relation=REPLACE_ONE))
    assert len({fit_digest(planned_fit(order, one)) for one in others}) == 3


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("GaussianNB", {}),
        ("GaussianNB", {"epsilon": [1]}),
        ("GaussianNB", {"epsilon": True}),
        ("GaussianNB", {"epsilon": -1}),
        ("GaussianNB", {"epsilon": "1e-300"}),
        ("GaussianNB", {"epsilon": 1, "bounds": [0, 1]}),
        ("LogisticRegression", {"epsilon": 1, "steps": "ten"}),
        ("LogisticRegression", {"epsilon": 1, "delta": "1e-6", "steps": 10**9}),
        ("LogisticRegression", {"epsilon": 1, "method": ["descent"]}),
        ("RandomForestClassifier", {"epsilon": 1, "n_estimators": 10**9}),
        ("RandomForestClassifier", {"epsilon": 1, "max_depth": 1.5}),
        ("RandomForestClassifier", {"epsilon": 1, "categorical_features": ["x"]}),
        ("GradientBoostingClassifier", {"epsilon": 1, "delta": "1e-6", "rounds": 10**9}),
        ("ExplainableBoosting", {"epsilon": 1, "delta": "1e-6", "bins": None}),
        ("ConformalClassifier", {"estimator": 1}),
        ("PrivateChoice", {"estimators": [], "epsilon": 1}),
        ("PrivateChoice", {"estimators": 7, "epsilon": 1}),
    ],
)
def test_arguments_that_mean_nothing_are_refused_with_a_clear_error(name, arguments):
    with pytest.raises(ParameterError):
        planned_fit(FitOrder(estimator=name, arguments=json.dumps(arguments)), declared(name))


def test_a_model_that_is_too_large_is_refused():
    columns = tuple(replace(PAY, name=f"c{place}") for place in range(2))
    rows = declared("CategoricalNB", columns=columns, target=TrainingColumn(name="y", values=tuple(range(1_000))))
    with pytest.raises(ParameterError, match="numbers"):
        planned_fit(order_of(learn.CategoricalNB(epsilon=1)), rows)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("RandomForestClassifier", {"n_estimators": 50}), ("GradientBoostingClassifier", {"rounds": 100}),
        ("ExplainableBoosting", {"rounds": 100}), ("LogisticRegression", {"steps": 20}),
        ("KMeans", {"iterations": 30}), ("LinearSVC", {"steps": 20}),
    ],
)  # fmt: skip
def test_a_larger_model_is_more_work(name, more):
    estimator = CASES[name][0]
    larger = type(estimator)(**(estimator.get_params(deep=False) | more))
    first, second = (planned_fit(order_of(one), declared(name)) for one in (estimator, larger))
    assert first.steps_a_row < second.steps_a_row
