"""What is published of synthetic data: released counts and a model's, and never what is exact."""

import datetime as dt
import json
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.synth.methods.small import query_of, session_of

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.numeric.distributions import discrete_gaussian_half_width
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute
from sfumato.synth import publishing
from sfumato.synth.methods.merging import QuantileCut
from sfumato.synth.methods.plan import SynthesisModel
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.mixture import MixtureModel
from sfumato.synth.models.model import GraphicalModel
from sfumato.synth.published import read_synthetic
from sfumato.synth.publishing import published_columns, published_marginals

STEPS = [
    [["age"], "1", "4", [40, 2, 30, 1]], [["ill"], "1", "4", [31, 60, 1]], [["ill", "sex"], "1", None, []],
    [["sex"], "1", "4", [61, 31, 0]],
]  # fmt: skip
CLEAR = [
    [["age"], "1", "1/16", [40, 2, 30, 1]], [["ill"], "1", "1/16", [31, 60, 1]], [["sex"], "1", "1/16", [61, 31, 9]],
]  # fmt: skip
"""The same with noise beside which no value is rare."""


@pytest.fixture(scope="module")
def query():
    return query_of(session_of())


def marginals_of(query, steps):
    return published_marginals(query, steps, SynthesisModel.of(query, {"steps": steps}))


def test_counts_are_those_released_and_errors_those_of_their_noise(query):
    found, left_out = marginals_of(query, STEPS)
    told = [(tuple(columns), counts) for columns, _, stddev, counts in STEPS if stddev is not None]
    assert [(one.columns, list(one.measured)) for one in found] == told
    assert {(one.stddev, one.half_width) for one in found} == {(4.0, discrete_gaussian_half_width(Fraction(4), "0.95"))}
    assert left_out == ()


def test_rare_values_count_together_in_groups_and_alone_by_their_own_counts(query):
    """Values of a count below three standard deviations are rare: 2 and 1 of the ages."""
    pair = [["age", "ill"], "1", "4", [0, 40, 0, 30, 0, 0, 2, 1, 0]]
    found, _ = marginals_of(query, [*STEPS, pair])
    model = SynthesisModel.of(query, {"steps": [*STEPS, pair]})
    age, group = found[0], found[-1]
    assert model.merging["age"].tolist() == [0, 2, 1, 2]
    together = model.model.marginal(["age"])
    assert age.synthetic == pytest.approx([together[0], together[2] * 2 / 3, together[1], together[2] / 3], abs=1e-3)
    assert group.places[0] == ((0,), (2,), (1, 3))
    assert np.reshape(group.synthetic, (3, 3)) == pytest.approx(model.model.marginal(["age", "ill"]), abs=1e-3)
    rows = model.model.rows(20_000, seed=1)
    assert np.bincount(rows["age"], minlength=3) / 20_000 * together.sum() == pytest.approx(together, rel=0.01)


@pytest.mark.parametrize("tree_limit", [None, 1])
def test_bins_of_a_part_count_together_in_groups_whatever_the_model(query, tree_limit):
    pair = [["age", "ill"], "1", "4", [40, 0, 0, 10, 20, 2, 0, 1, 0]]
    stated = Stated(cuts={"age": QuantileCut(parts=2, bins=3)}, tree_limit=tree_limit)
    model = SynthesisModel.of(query, {"steps": [*STEPS, pair]}, stated=stated)
    assert isinstance(model.model, GraphicalModel if tree_limit is None else MixtureModel)
    found, _ = published_marginals(query, [*STEPS, pair], model)
    together = model.model.marginal(["age"])
    parts = [together[0], together[1] * 2 / 32, together[1] * 30 / 32, together[2]]
    assert found[0].synthetic == pytest.approx(parts, abs=1e-3)
    assert found[-1].places[0] == ((0,), (1, 2), (3,))
    assert np.reshape(found[-1].synthetic, (3, 3)) == pytest.approx(model.model.marginal(["age", "ill"]), abs=1e-3)


def test_of_several_measurements_the_one_with_the_least_noise_is_shown(query):
    again = [
        [["ill", "sex"], "1", "8", [*range(9)]], [["sex", "ill"], "1", "2", [*range(9, 18)]],
        [["ill", "sex"], "1", "4", [*range(18, 27)]], [["sex"], "1", "1", [5, 6, 7]],
    ]  # fmt: skip
    found, _ = marginals_of(query, [*CLEAR, *again])
    assert [(one.columns, one.measured) for one in found[2:]] == [
        (("sex",), (61, 31, 9)), (("sex", "ill"), tuple(range(9, 18))),
    ]  # fmt: skip


def test_groups_that_are_too_large_are_named(query, monkeypatch):
    pair = [["ill", "sex"], "1", "1/16", [*range(9)]]
    monkeypatch.setattr(publishing, "_MOST_OF_ONE", 8)
    found, left_out = marginals_of(query, [*CLEAR, pair])
    assert [one.columns for one in found] == [("age",), ("ill",), ("sex",)]
    assert left_out == (("ill", "sex"),)


def test_the_hash_of_a_question_is_that_of_a_receipt():
    """Of any query that counts the same rows by the same columns, and of no other."""
    session = session_of(budget=sf.ApproxDP(1_000, "1e-4"))

    def hashes(query):
        found = sf.synth.synthesize(session, query, epsilon=1, delta="1e-9", method="mst").published()
        return {key: own for one in found.marginals for key, own in one.questions.items()}

    def asked(sql):
        return session.sql(sql, epsilon=1).receipt.plan_hash

    all_rows, some = hashes("SELECT sex, ill FROM people"), hashes("SELECT sex, ill FROM people WHERE age > 1")
    assert all_rows[asked("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")] == ("sex",)
    assert all_rows[asked("SELECT sex AS x, ill, COUNT(*) AS n FROM people GROUP BY ill, sex")] == ("ill", "sex")
    assert some[asked("SELECT ill, COUNT(*) AS n FROM people WHERE NOT age <= 1 GROUP BY ill")] == ("ill",)
    assert set(all_rows).isdisjoint(some)
    for other in (
        "SELECT sex, COUNT(*) AS n FROM people WHERE age < 2 GROUP BY sex", "SELECT COUNT(*) AS n FROM people",
        "SELECT sex, COUNT(ill) AS n FROM people GROUP BY sex", "SELECT age, COUNT(*) AS n FROM people GROUP BY age",
    ):  # fmt: skip
        assert asked(other) not in all_rows | some


def test_no_query_counts_bins_or_periods():
    columns = {"pay": sf.real(0, 10), "age": sf.integer(0, 9), "born": sf.date("2024-01-01", "2024-03-20")}
    table = pa.table({"pay": [1.5], "age": [3], "born": [dt.date(2024, 2, 2)]})
    session = sf.open(table, name="people", columns=columns, budget=sf.ApproxDP(9, "1e-4"))
    query, own = "SELECT pay, age, born FROM people", {"delta": "1e-9", "method": "independent"}
    found = sf.synth.synthesize(session, query, epsilon=1, bins={"age": 5}, **own).published()
    assert [bool(one.questions) for one in found.marginals] == [False, False, False]
    found = sf.synth.synthesize(session, query, epsilon=2, bins={"born": "day"}, **own).published()
    assert [bool(one.questions) for one in found.marginals] == [False, True, True]
    assert found.columns[2].values[:2] == ("2024-01-01", "2024-01-02")


def test_values_are_named_as_people_read_them():
    day, moment = dt.date(2024, 12, 30), dt.datetime(2024, 2, 3, 4)  # noqa: DTZ001 # as in a table
    named = {
        ("year", day): "2024", ("quarter", day): "2024-Q4", ("month", day): "2024-12", ("week", day): "2025-W01",
        ("day", day): "2024-12-30", ("hour", moment): "2024-02-03T04:00:00", (None, day): "2024-12-30",
    }  # fmt: skip
    for (calendar, value), text in named.items():
        kind = Kind.TIMESTAMP if isinstance(value, dt.datetime) else Kind.DATE
        (column,) = published_columns([Attribute(name="at", kind=kind, values=(value,), calendar=calendar)])
        assert column.values == (text,)
    half = (Fraction(0), Fraction(1, 2), Fraction(10))
    (column,) = published_columns([Attribute(name="pay", kind=Kind.FLOAT, edges=half, missing=2)])
    assert column.values == ((0.0, 0.5), (0.5, 10.0), None)


def test_nothing_exact_is_in_the_file(tmp_path):
    """Noise of millions hides counts that are found nowhere, but by chance: below 1e-6 for all of them together."""
    exact = {("f", True): 40_009, ("f", False): 1_013, ("m", True): 20_011, ("m", False): 3_019}
    rows = [key for key, count in exact.items() for _ in range(count)]
    table = pa.table({"sex": [sex for sex, _ in rows], "ill": [ill for _, ill in rows]})
    columns = {"sex": sf.text(values=["f", "m"]), "ill": sf.boolean()}
    session = sf.open(table, name="people", columns=columns, budget=sf.ApproxDP(1, "1e-6"))
    made = sf.synth.synthesize(session, "SELECT sex, ill FROM people", epsilon="1e-9", delta="1e-9", method="mst")
    file = tmp_path / "twins.json"
    made.publish(file)
    singles = [sum(exact[key] for key in exact if value in key) for value in ("f", "m", True, False)]
    canaries = {str(number) for number in (*exact.values(), *singles, sum(exact.values()))}
    assert canaries.isdisjoint(re.findall(r"\d+", file.read_text("utf-8")))
    assert {"spent", "left", "request", "plan_hash"}.isdisjoint(json.loads(file.read_text("utf-8"))["facts"])
    assert read_synthetic(file) == made.published()


def test_rows_of_a_kind_are_not_published(tmp_path):
    session = session_of()
    made = sf.synth.synthesize(session, "SELECT sex, ill FROM people", epsilon=5, delta="1e-6", method="mst")
    with pytest.raises(ParameterError, match="publish the whole"):
        made.given({"sex": "f"}).publish(tmp_path / "twins.json")
    assert not list(tmp_path.iterdir())
