"""The owner's report: labelled, exact, beside a floor and a baseline, with models tested on rows they never saw."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.synth.reports.exact import owner
from sfumato.synth.reports.exact.owner import EXACT, report
from sfumato.synth.reports.exact.prediction import Prediction
from sfumato.synth.reports.page import ReportPage

COLUMNS = {
    "age": sf.integer(0, 100), "sex": sf.text(values=["Female", "Male"]), "hours_per_week": sf.integer(1, 99),
    "income": sf.text(values=["<=50K", ">50K"]),
}  # fmt: skip
QUERY = f"SELECT {', '.join(COLUMNS)} FROM people"
BINS = {"age": 10, "hours_per_week": 5}
TABLE = sf.datasets.people(2_000)
PAGE = ReportPage(title="Rows", label="A label", words="For nobody.", is_secret=True)
SOURCES = {"synthetic", "bootstrap", "independent"}


@pytest.fixture(scope="module")
def made():
    session = sf.open(TABLE, name="people", columns=COLUMNS, budget=sf.ApproxDP(5, "1e-5"))
    return sf.synth.synthesize(session, QUERY, epsilon=5, delta="1e-5", bins=BINS)


@pytest.fixture
def seen(monkeypatch):
    """What models were asked to learn from and to predict."""
    given = {}

    def noted(rows_by_source, test, attributes, *, target):
        given.update(rows_by_source, test=test, attributes=attributes, target=target)
        return (Prediction(model="gradient boosting", trained_on="synthetic", accuracy=0.5, auc=None),)

    monkeypatch.setattr(owner, "predictions", noted)
    return given


def test_equal_tables_are_0_apart_and_the_floor_and_the_baseline_are_not(made):
    found = report(TABLE, TABLE, attributes=made.attributes)
    assert found.rows == {"real": 2_000, "synthetic": 2_000}
    assert set(found.distances) == SOURCES
    summary = found.summary()
    assert [by_source["synthetic"] for by_source in summary.values()] == [0, 0, 0, 0, 0, 0, 1_000_000, 0, 0]
    assert summary["TVD of 1 column, largest"]["independent"] == 0
    for measure in ("TVD of 1 column, mean", "TVD of 2 columns, mean", "TVD of 3 columns, largest"):
        assert 0 < summary[measure]["bootstrap"] < 0.3
    assert summary["TVD of 2 columns, largest"]["independent"] > summary["TVD of 2 columns, largest"]["bootstrap"]
    for source in SOURCES:
        mean = summary["TVD of 3 columns, mean"][source]
        assert summary["score of NIST's contest"][source] == pytest.approx(1e6 * (1 - mean))


def test_synthetic_rows_lie_between_the_floor_and_another_table(made):
    found = report(TABLE, made)
    assert found.rows["synthetic"] == found.rows["real"]
    summary = found.summary()
    for measure in ("TVD of 1 column, mean", "TVD of 2 columns, mean"):
        assert summary[measure]["synthetic"] < 0.2
    assert found.shares["real"]["sex"][1] == pytest.approx(TABLE["sex"].to_pylist().count("Male") / 2_000)
    assert found.values["age"][0] == "0–10"
    assert found.values["sex"] == ("Female", "Male", "missing")
    again, other = report(TABLE, made, seed=0), report(TABLE, made, seed=1)
    assert again.summary() == summary != other.summary()


def test_it_says_loudly_that_it_is_exact(made, tmp_path, seen, monkeypatch):
    found = report(TABLE, made, target="income")
    assert repr(found).startswith(EXACT)
    assert "never publish" in EXACT.lower()
    assert "trained on synthetic: accuracy 0.5000" in repr(found)
    assert seen["target"] == "income"
    alone = report(TABLE.select(["sex"]), made, attributes=made.attributes[1:2])
    drawn = {}
    monkeypatch.setattr(owner, "owner_page", lambda **given: drawn.update(given) or PAGE)
    assert alone.save(tmp_path / "alone.html").exists()
    assert drawn["label"] == EXACT
    assert drawn["summary"] == alone.summary()
    assert set(alone.summary()) == {"TVD of 1 column, mean", "TVD of 1 column, largest"}


def test_models_are_tested_on_rows_that_none_was_trained_on(seen):
    """Each row has its own combination of values, so that it is recognized."""
    table = pa.table(
        {
            "age": np.arange(400) % 100, "sex": ["Male"] * 400, "income": ["<=50K", ">50K"] * 200,
            "hours_per_week": 1 + np.arange(400) // 100 * 25,
        }
    )  # fmt: skip
    attributes = sf.open(table, name="people", columns=COLUMNS, budget=sf.PureDP(1)).marginals(QUERY).attributes
    found = report(table, table, attributes=attributes, target="income")
    own = {
        source: set(zip(seen[source]["age"].tolist(), seen[source]["hours_per_week"].tolist(), strict=True))
        for source in ("real", "bootstrap", "test")
    }
    assert (len(own["real"]), len(own["test"]), len(own["real"] | own["test"])) == (300, 100, 400)
    assert not own["test"] & own["bootstrap"]
    assert own["bootstrap"] < own["real"]
    assert (found.rows["trained on"], found.rows["tested on"]) == (300, 100)
    report(table, table, attributes=attributes, target="income", test=table.slice(0, 7))
    assert (len(seen["test"]["age"]), len(seen["real"]["age"])) == (7, 400)


@pytest.mark.parametrize(
    "changed",
    [{"real": 7}, {"real": TABLE.slice(0, 0)}, {"synthetic": TABLE}, {"synthetic": None}, {"attributes": 7},
     {"attributes": []}, {"attributes": ["age"]}, {"target": "name"}, {"seed": -1}, {"test": TABLE},
     {"target": "income", "test": TABLE.slice(0, 0)}, {"target": "income", "real": TABLE.slice(0, 3)}],
    ids=range(12),
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(made, changed):
    with pytest.raises(ParameterError):
        report(**{"real": TABLE, "synthetic": made} | changed)
