"""Generalized tables of a session: one charge for all, and a classifier learns from them."""

from datetime import date

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError, UnboundedSensitivityError

COLUMNS = {
    "age": sf.integer(17, 90), "education": sf.text(values=["HS-grad", "Bachelors", "Masters"]),
    "income": sf.text(values=["<=50K", ">50K"]), "marital_status": sf.text(),
    "born": sf.date("1900-01-01", "2010-01-01"),
}  # fmt: skip
QUERY = "SELECT age, education, income FROM people"
LEVELS = {"education": {"school": ["HS-grad", None], "college": ["Bachelors", "Masters"]}}
ASK = {"target": "income", "epsilon": 1, "hierarchies": LEVELS, "bins": {"age": 10}, "steps": 4}


def people(n=3_000, **changed):
    table = sf.datasets.people(n)
    table = table.append_column("born", pa.array([date(1970, 1, 1)] * n, pa.date32()))
    given = {"name": "people", "columns": COLUMNS, "budget": sf.PureDP(2)}
    return sf.open(table, **(given | changed))


def test_a_table_is_charged_once_and_stored():
    session = people()
    found = sf.synth.generalized_table(session, QUERY, **ASK)
    assert str(session.spent) == "ε 1"
    assert (list(found.groups), found.classes, found.scale) == (["age", "education"], ("<=50K", ">50K"), 2.0)
    assert found.noisy.shape == (found.grid.cells, 2)
    assert abs(found.total - 3_000) < 40 * found.noisy.size**0.5  # 14 standard deviations of the sum
    assert found.receipt.question == f"generalized table of: {QUERY}"
    again = sf.synth.generalized_table(session, QUERY, **ASK)
    assert (found.reused, again.reused, str(session.spent)) == (False, True, "ε 1")
    assert again.to_arrow().equals(found.to_arrow())
    other = sf.synth.generalized_table(session, QUERY, **ASK | {"hierarchies": None})
    assert (other.reused, str(session.spent)) == (False, "ε 2")
    with pytest.raises(BudgetExceededError):
        sf.synth.generalized_table(session, QUERY, **ASK | {"steps": 5})


def test_the_class_that_a_cell_has_most_is_learned():
    """Without a class, rows do not count; with next to no noise, all cells are right."""
    ages, levels = [20, 20, 60, 60, 60] * 40, ["HS-grad", "Masters", "HS-grad", "Masters", "Masters"] * 40
    income = [">50K" if age == 60 and level == "Masters" else "<=50K" for age, level in zip(ages, levels, strict=True)]
    table = pa.table({"age": [*ages, 30], "education": [*levels, "Masters"], "income": [*income, None]})
    session = sf.open(
        table, name="people", budget=sf.PureDP(1_000),
        columns={name: COLUMNS[name] for name in ("age", "education", "income")},
    )  # fmt: skip
    found = sf.synth.generalized_table(session, QUERY, **ASK | {"steps": 2, "epsilon": 1_000})
    assert found.total == 200
    best = found.to_pandas().sort_values("count").groupby(["age", "education"]).last()
    rows = found.generalize({"age": ages, "education": levels})
    told = [best.loc[(row["age"], row["education"]), "income"] for row in rows.to_pylist()]
    assert told == income


def test_an_empty_table_is_answered():
    empty = sf.open(
        sf.datasets.people(5).slice(0, 0), name="people", budget=sf.PureDP(1),
        columns={name: COLUMNS[name] for name in ("age", "education", "income")},
    )  # fmt: skip
    found = sf.synth.generalized_table(empty, QUERY, **ASK)
    assert found.noisy.shape[0] == found.grid.cells > 1
    assert found.rows(10).num_rows == 10


def test_units_of_several_rows_have_more_noise():
    limits = sf.Limits(max_rows_per_unit=3)
    columns = COLUMNS | {"occupation": sf.text()}
    session = people(unit="occupation", limits=limits, columns=columns)
    assert sf.synth.generalized_table(session, QUERY, **ASK).scale == 6.0


@pytest.mark.parametrize(
    "changed",
    [{"target": "age"}, {"target": "born"}, {"target": "moon"}, {"target": None}, {"epsilon": 0}, {"epsilon": -1},
     {"steps": 0}, {"steps": 1_001}, {"steps": 1.5}, {"most_cells": 0}, {"most_cells": 1 << 21},
     {"most_cells": 1 << 20}, {"hierarchies": {"moon": []}}, {"hierarchies": {"income": ["<=50K", ">50K"]}},
     {"hierarchies": {"education": ["HS-grad"]}}, {"hierarchies": {"age": {"old": [90]}}}, {"hierarchies": 5},
     {"bins": {"moon": 3}}, {"bins": {"age": 0}}, {"session": "people"}],
)  # fmt: skip
def test_what_is_wrong_is_refused_before_anything_is_charged(changed):
    session = people(50)
    query = "SELECT age, education, income, born FROM people"
    with pytest.raises(ParameterError):
        sf.synth.generalized_table(**{"session": session, "query": query} | ASK | changed)
    assert str(session.spent) == "ε 0"


@pytest.mark.parametrize(
    ("query", "error"),
    [("SELECT income FROM people", ParameterError),
     ("SELECT marital_status, income FROM people", UnboundedSensitivityError)],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_before_anything_is_charged(query, error):
    session = people(50)
    with pytest.raises(error):
        sf.synth.generalized_table(session, query, **ASK | {"hierarchies": None, "bins": None})
    assert str(session.spent) == "ε 0"
