"""Estimators are fitted on a server by their names and arguments, and are here what they would be in a session."""

import numpy as np
import pytest
from fastapi.responses import JSONResponse
from tests.client.curator import opened

import sfumato as sf
from sfumato import learn
from sfumato.client import training
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn.bayes.gaussian import GaussianNB
from sfumato.session.training.ordered import fit_digest

ROWS = "SELECT age, sex FROM people"
HERE = {"age": [3, 70]}


def test_a_fit_is_what_it_is_in_a_session(remote):
    before = remote.spent
    found = learn.GaussianNB(epsilon="0.5").fit(ROWS, "sex", session=remote)
    own = learn.GaussianNB(epsilon="0.5").fit(ROWS, "sex", session=opened()[1])
    assert (found.event_, found.guarantee_, found.columns_) == (own.event_, own.guarantee_, own.columns_)
    assert found.noise_ == own.noise_
    assert found.receipt_.question == f"naive Bayes by noisy moments of: {ROWS}"
    assert remote.spent == before + sf.PureDP("0.5")
    assert set(found.predict(HERE)) <= {"f", "m"}
    again = learn.GaussianNB(epsilon="0.5").fit(ROWS, "sex", session=remote)
    assert (again.predict_proba(HERE) == found.predict_proba(HERE)).all()
    assert remote.spent == before + sf.PureDP("0.5")


@pytest.mark.parametrize(
    "estimator",
    [
        learn.ConformalClassifier(learn.GaussianNB(epsilon="0.5")),
        learn.PrivateChoice([learn.GaussianNB(epsilon="0.25"), learn.GaussianNB(epsilon="0.5")], epsilon="0.25"),
        learn.RandomForestClassifier(epsilon="0.5", n_estimators=3, classes=["f", "m"]),
    ],
    ids=lambda one: type(one).__name__,
)
def test_others_are_fitted_there_too(remote, estimator):
    found = estimator.fit(ROWS, "sex", session=remote)
    assert found is estimator
    assert set(found.predict(HERE)) <= {"f", "m"}
    assert found.receipt_.guarantee == found.guarantee_


def test_a_frame_is_a_training_set(remote):
    frame = remote.table().filter(remote.table().age > 10).select("age")
    rows = remote.training_set(frame)
    assert repr(rows) == "<RemoteTrainingSet: rows of age>"
    assert [one.name for one in rows.columns] == ["age"]
    assert (rows.target, rows.rows_per_unit, rows.neighboring_relation) == (None, 1, sf.ADD_OR_REMOVE_ONE)
    assert rows.encode({"age": [3, 200]}).tolist() == [[0], [89]]
    assert remote.spent == sf.PureDP(0)
    found = learn.StandardScaler(epsilon=1).fit(rows)
    assert found.mean_.shape == (1,)


def test_classes_are_those_that_are_stated(remote):
    rows = remote.training_set(ROWS, target="sex", classes=["m", "f"])
    assert rows.target.values == ("m", "f")
    assert remote.training_set("SELECT age, sex FROM people", target="sex", classes=np.array(["f"])).target.values == (
        "f",
    )


class Other(learn.GaussianNB):
    """An estimator of somebody's own."""


@pytest.mark.parametrize(
    "wrong",
    [
        lambda remote: learn.GaussianNB().fit(ROWS, "sex", session=remote),
        lambda remote: Other(epsilon="0.5").fit(ROWS, "sex", session=remote),
        lambda remote: learn.GaussianNB(epsilon="0.5", bounds=(0, 1)).fit(ROWS, "sex", session=remote),
        lambda remote: learn.GaussianNB(epsilon="0.5").fit(ROWS, "wage", session=remote),
        lambda remote: learn.GaussianNB(epsilon="0.5").fit(ROWS, 7, session=remote),
        lambda remote: learn.GaussianNB(epsilon="0.5").fit([[1]], "sex", session=remote),
        lambda remote: learn.GaussianNB(epsilon="0.5").fit(remote.training_set(ROWS, target="sex"), "sex"),
        lambda remote: learn.GaussianNB(epsilon="0.5").fit(ROWS, "sex", session=remote.table()),
        lambda remote: remote.training_set(ROWS, target="sex", classes=[0.5]),
        lambda remote: remote.training_set("SELECT COUNT(*) FROM people"),
        lambda remote: remote.training_set(7),
        lambda remote: remote.training_set(ROWS, target="sex").fit(learn.GaussianNB(epsilon=1).plan(
            opened()[1].training_set(ROWS, target="sex")
        )),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_before_a_charge(remote, wrong):
    with pytest.raises(sf.errors.SfumatoError):
        wrong(remote)
    assert remote.spent == sf.PureDP(0)


def test_a_model_that_is_not_sent_is_refused_before_a_charge(remote):
    with pytest.raises(ParameterError, match="cannot be sent to a server: its teachers"):
        learn.PATEClassifier(epsilon="0.5", delta="1e-6", public=[[1]]).fit(ROWS, "sex", session=remote)
    assert remote.spent == sf.PureDP(0)


def test_a_plan_that_differs_is_refused_before_a_charge(remote, monkeypatch):
    monkeypatch.setattr(training, "fit_digest", lambda fit: fit_digest(fit)[::-1])
    with pytest.raises(ParameterError, match="same version"):
        learn.GaussianNB(epsilon="0.5").fit(ROWS, "sex", session=remote)
    assert remote.spent == sf.PureDP(0)


def test_too_little_budget_is_told(remote):
    with pytest.raises(BudgetExceededError):
        learn.GaussianNB(epsilon=100).fit(ROWS, "sex", session=remote)


def test_a_model_that_takes_long_is_asked_for_again_under_the_same_key(served, remote):
    rows, estimator = remote.training_set(ROWS, target="sex"), GaussianNB(epsilon="0.5")
    served[0].state.waiting.extend(JSONResponse({"id": "x", "stage": "waiting"}, 202) for _ in range(3))
    served[0].state.asked.clear()
    found = rows.order(estimator, estimator.plan(rows), idempotency_key="mine")
    assert found.model
    assert [headers["idempotency-key"] for _, _, headers in served[0].state.asked] == ["mine"] * 4
    assert rows.order(estimator, estimator.plan(rows)).reused
