"""Synthetic rows of a session: one charge for all, and what is returned looks like the table."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError, UnboundedSensitivityError
from sfumato.synth.synthesis import planned

COLUMNS = {
    "age": sf.integer(0, 100), "sex": sf.text(values=["Female", "Male"]), "hours_per_week": sf.integer(1, 99),
    "income": sf.text(values=["<=50K", ">50K"]), "marital_status": sf.text(),
}  # fmt: skip
QUERY = "SELECT age, sex, hours_per_week, income FROM people"


def people(n=5_000, **changed):
    given = {"name": "people", "columns": COLUMNS, "budget": sf.ApproxDP(5, "1e-5")}
    return sf.open(sf.datasets.people(n), **(given | changed))


@pytest.mark.parametrize("method", ["mst", "mwem", "privbayes", "independent"])
def test_rows_look_like_the_table(method):
    """Shares of a noisy count of 5,000 rows at ε = 5 err by less than 0.05, with a chance above 1 − 1e-9."""
    session = people()
    made = sf.synth.synthesize(session, QUERY, epsilon=5, delta="1e-5", method=method, bins={"age": 10}, total=5_000)
    assert str(session.spent) == "ε 5, δ 1e-05"
    rows, real = made.rows(20_000, seed=1).to_pandas(), sf.datasets.people(5_000).to_pandas()
    assert list(rows) == ["age", "sex", "hours_per_week", "income"]
    for name in ("sex", "income"):
        for value in real[name].unique():
            assert abs((rows[name] == value).mean() - (real[name] == value).mean()) < 0.05
    assert abs(rows["age"].mean() - real["age"].mean()) < 5
    both = [((frame["sex"] == "Male") & (frame["income"] == ">50K")).mean() for frame in (rows, real)]
    assert abs(both[0] - both[1]) < 0.15
    assert made.measured[:4] == (("age",), ("sex",), ("hours_per_week",), ("income",))
    assert len(made.measured) == {"mst": 7, "mwem": 12, "privbayes": 7, "independent": 4}[method]
    assert (made.method, made.reason) == (method, "it was asked for")


@pytest.mark.parametrize("method", ["aim", "mst", "mwem", "privbayes", "independent"])
def test_what_is_impossible_is_in_no_row(method):
    """Half of those below 21 have more than 50,000 if nothing is stated: all values of both columns are alike."""
    rows = [(age, income) for age in range(0, 100, 4) for income in ("<=50K", ">50K")] * 20
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(["age", "income"])})
    session = sf.open(
        table, name="people", columns={name: COLUMNS[name] for name in ("age", "income")},
        budget=sf.ApproxDP(9, "1e-5"),
    )  # fmt: skip
    made = sf.synth.synthesize(
        session, "SELECT age, income FROM people", epsilon=3, delta="1e-6", method=method,
        bins={"age": [0, 21, 60, 100]},
        impossible={("income", "age"): [(">50K", (0, 20)), (None, (0, 20))]},
    )  # fmt: skip
    frame = made.rows(3_000, seed=1).to_pandas()
    assert (frame["age"] <= 20).sum() > 200
    assert set(frame["income"][frame["age"] <= 20]) == {"<=50K"}


@pytest.mark.parametrize("method", ["aim", "privbayes"])
def test_beyond_a_tree_limit_a_mixture_is_fitted(method):
    session = people(2_000)
    never = {("sex", "income"): [("Female", None)]}
    query = "SELECT age, sex, income FROM people"
    given = {"session": session, "query": query, "epsilon": 3, "delta": "1e-6", "method": method, "bins": {"age": 5}}
    made = sf.synth.synthesize(**given, tree_limit=20, impossible=never)
    assert isinstance(made.made.model, sf.synth.MixtureModel)
    assert any(len(own) > 1 for own in made.measured)
    frame = made.rows(20_000, seed=1).to_pandas()
    real = sf.datasets.people(2_000).to_pandas()
    for name in ("sex", "income"):
        for value in real[name].unique():
            assert abs((frame[name] == value).mean() - (real[name] == value).mean()) < 0.1
    assert not ((frame["sex"] == "Female") & frame["income"].isna()).any()
    women = made.given({"sex": "Female"})
    assert women.total < made.total
    assert set(women.rows(50, seed=1)["sex"].to_pylist()) == {"Female"}
    assert sf.synth.synthesize(**given, tree_limit=20, impossible=never).reused
    assert not sf.synth.synthesize(**given | {"epsilon": 1}, tree_limit=21, impossible=never).reused


def test_what_is_stated_is_a_part_of_the_question():
    session = people(500)
    pairs = {("age", "sex"): 1, ("age", "income"): "1/2"}
    first = sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", workload=pairs, bins={"age": 5})
    assert first.reason == "a workload is given"
    assert {own for own in first.measured if len(own) > 1} <= set(pairs)
    equal = {("sex", "age"): 2, ("age", "income"): 1}
    assert sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", workload=equal, bins={"age": 5}).reused
    other = {"workload": pairs, "impossible": {("sex",): [(None,)]}}
    assert not sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", bins={"age": 5}, **other).reused


@pytest.mark.parametrize("method", ["mst", "independent"])
def test_numbers_are_cut_at_private_quantiles_for_the_same_cost(method):
    """Ages of half of all are 30: each other part has about as many rows, and follows what depends on it."""
    ages = [30] * 4_000 + [30 + place // 40 for place in range(40, 2_680)] + [None] * 1_360
    table = pa.table({"age": ages, "old": [age is not None and age > 60 for age in ages]})
    columns = {"age": sf.integer(0, 5_000), "old": sf.boolean()}
    session = sf.open(table, name="people", columns=columns, budget=sf.ApproxDP(99, "1e-5"))
    made = sf.synth.synthesize(
        session, "SELECT age, old FROM people", epsilon=50, delta="1e-6", method=method, quantiles={"age": 5},
        bins={"age": [*range(200), 5_000]},
    )  # fmt: skip
    assert str(session.spent) == "ε 50, δ 1e-06"
    rows = made.rows(8_000, seed=1).to_pandas()
    assert abs(rows["age"].isna().mean() - 0.17) < 0.02
    assert abs((rows["age"] == 30).mean() - 0.5) < 0.05
    if method != "independent":
        sizes = made.made.model.marginal(["age"])
        assert len(sizes) == 6
        assert abs(sizes[:5] - [4_000, *[660] * 4]).max() < 150
        assert rows["old"][rows["age"] > 70].mean() > 0.95
        assert rows["old"][rows["age"] < 55].mean() < 0.05
        assert made.given({"age": 30}).total == pytest.approx(sizes[0])


def test_a_number_that_is_cut_has_256_bins_at_first():
    session = people(500)
    made = sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", quantiles={"age": 4, "hours_per_week": 3})
    again = sf.synth.synthesize(
        session, QUERY, epsilon=1, delta="1e-6", quantiles={"hours_per_week": 3, "age": 4}, bins={"age": 256}
    )
    assert again.reused
    assert [len(made.made.merging[name]) for name in ("age", "hours_per_week")] == [102, 100]
    assert not sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", quantiles={"age": 4}).reused
    wide = sf.open(
        sf.datasets.people(50), name="people", columns=COLUMNS | {"age": sf.integer(0, 10**6)},
        budget=sf.ApproxDP(5, "1e-5"),
    )  # fmt: skip
    _, plan, _ = planned(wide, QUERY, charge=sf.ApproxDP(1, "1e-6"), quantiles={"age": 4})
    assert plan.stated.cuts["age"].bins == 256


def test_an_equal_synthesis_is_stored_and_rows_cost_nothing():
    session = people()
    first = sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6")
    again = sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6")
    assert (first.reused, again.reused, str(session.spent)) == (False, True, "ε 1, δ 1e-06")
    assert first.rows(50, seed=3).equals(again.rows(50, seed=3))
    assert not sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", bins={"age": 5}).reused
    assert first.receipt.question == f"synthetic data by aim of: {QUERY}"
    assert (first.method, first.reason) == ("aim", "4 columns are few enough to look at all groups of three")


def test_an_empty_table_is_answered():
    empty = sf.open(sf.datasets.people(5).slice(0, 0), name="people", columns=COLUMNS, budget=sf.ApproxDP(5, "1e-5"))
    made = sf.synth.synthesize(empty, QUERY, epsilon=1, delta="1e-6")
    assert made.rows(10, seed=1).num_rows == 10


def test_without_budget_nothing_is_charged():
    session = people(50, budget=sf.ApproxDP(1, "1e-6"))
    with pytest.raises(BudgetExceededError):
        sf.synth.synthesize(session, QUERY, epsilon=2, delta="1e-6")
    assert session.spent.epsilon == 0


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"epsilon": 0}, ParameterError), ({"delta": 0}, ParameterError), ({"delta": 1}, ParameterError),
        ({"method": "gan"}, ParameterError), ({"quantiles": {"sex": 2}}, ParameterError),
        ({"quantiles": ["age"]}, ParameterError), ({"bins": {"ages": 3}}, ParameterError),
        ({"total": -1}, ParameterError),
        ({"query": "SELECT marital_status FROM people"}, UnboundedSensitivityError), ({"query": 7}, ParameterError),
        ({"session": "people"}, ParameterError), ({"epsilon": "1e-30"}, ParameterError),
        ({"workload": [("age", "name")]}, ParameterError), ({"method": "mst", "workload": [("age",)]}, ParameterError),
        ({"impossible": {("age",): [(200,)]}}, ParameterError), ({"impossible": 3}, ParameterError),
        ({"tree_limit": 0}, ParameterError),
    ],
    ids=range(17),
)  # fmt: skip
def test_what_cannot_be_made_is_said_before_anything_is_charged(changed, error):
    session = people(50)
    given = {"session": session, "query": QUERY, "epsilon": 1, "delta": "1e-6"} | changed
    with pytest.raises(error):
        sf.synth.synthesize(**given)
    assert session.spent.epsilon == 0


def test_a_method_that_looks_at_all_groups_has_a_limit_of_columns(monkeypatch):
    monkeypatch.setattr("sfumato.synth.methods.choosing.LIMITS", {"aim": 3})
    session = people(50)
    with pytest.raises(ParameterError, match="at most 3 columns"):
        sf.synth.synthesize(session, QUERY, epsilon=1, delta="1e-6", method="aim")
    assert session.spent.epsilon == 0


def test_pairs_that_are_too_large_are_refused():
    columns = {name: sf.integer(0, 999) for name in "ab"}
    table = pa.table({"a": [1, 2], "b": [3, 4]})
    session = sf.open(table, name="people", columns=columns, budget=sf.ApproxDP(1, "1e-6"))
    wide = {"a": 900, "b": 900}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.synth.synthesis.MOST_CELLS", 10_000)
        with pytest.raises(ParameterError, match="combinations"):
            sf.synth.synthesize(session, "SELECT a, b FROM people", epsilon=1, delta="1e-6", bins=wide)
    assert session.spent.epsilon == 0


def test_progress_is_told_and_a_display_that_fails_changes_nothing():
    """Whatever else raises while rows are open suspends the account."""
    told = []

    def broken(stage):
        told.append(stage)
        raise RuntimeError

    session = people(200)
    query = "SELECT sex, income FROM people"
    made = sf.synth.synthesize(session, query, epsilon=1, delta="1e-6", method="mst", progress=broken)
    assert told == ["measure sex", "measure income", "choose", "measure sex, income", "fit"]
    assert len(made.rows(3, seed=1)) == 3
    sf.synth.synthesize(session, query, epsilon=1, delta="1e-6", method="independent")
