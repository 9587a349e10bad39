"""Rows as numbers of declared values: as sessions count them, in every form that people have tables in."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.synth.reports.rows import cells_of, coded, counted

COLUMNS = {
    "age": sf.integer(0, 9), "pay": sf.real(0, 10), "sex": sf.text(values=["f", "m"]), "ill": sf.boolean(),
    "born": sf.date("2024-01-10", "2024-03-20"), "seen": sf.timestamp("2024-01-01 00:00:00", "2024-02-20 00:00:00"),
}  # fmt: skip
BINS = {"age": 3, "pay": 4, "born": "week"}
MOMENT = dt.datetime(2024, 2, 3, 4)  # noqa: DTZ001 # as in a table
TABLE = pa.table(
    {
        "age": [0, 3, 4, 9, 12, -5, None], "pay": [0.0, 2.5, 9.99, 10.0, 11.0, float("nan"), None],
        "sex": ["f", "m", "x", None, "f", "f", "m"], "ill": [True, False, None, True, True, False, False],
        "born": [dt.date(2024, 1, day) for day in (1, 10, 14, 15)] + [dt.date(2024, 3, 20), dt.date(2025, 1, 1), None],
        "seen": [MOMENT, dt.datetime(2023, 1, 1), None, *[MOMENT] * 4],  # noqa: DTZ001 # as in a table
    }
)  # fmt: skip


def session(**changed):
    given = {"name": "people", "columns": COLUMNS, "budget": sf.ApproxDP(9, "1e-6"), "engine": "reference"}
    return sf.open(TABLE, **given | changed)


def counts_of(people, query, names, bins):
    """What a session counts of a marginal."""
    found = people.marginals(query, bins=bins)
    marginals = found.query.read(lambda statement: people.desk.engine.run(statement, salt="00" * 16))
    return marginals.counts(names).open_for_noise(), found.attributes


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_rows_are_counted_as_a_session_counts_them(engine):
    people = session(engine=engine)
    for names in (["sex", "age"], ["born", "ill"], ["seen"]):
        wanted, attributes = counts_of(people, "SELECT * FROM people", names, BINS)
        sizes = {one.name: one.size for one in attributes}
        assert counted(coded(TABLE, attributes, "rows"), sizes, names).tolist() == wanted.tolist(), names
    wanted, attributes = counts_of(people, "SELECT pay FROM people WHERE age < 9", ["pay"], {"pay": 4})
    rows = coded(TABLE.take([0, 1, 2, 5]), attributes, "rows")
    assert counted(rows, {"pay": 5}, ["pay"]).tolist() == wanted.tolist()


def test_frames_of_others_are_read_too():
    attributes = session().marginals("SELECT age, sex FROM people").attributes
    wanted = coded(TABLE, attributes, "rows")
    polars = pytest.importorskip("polars")
    for frame in (TABLE.to_pandas(), polars.from_arrow(TABLE)):
        found = coded(frame, attributes, "rows")
        assert {name: column.tolist() for name, column in found.items()} == {
            name: column.tolist() for name, column in wanted.items()
        }


def test_dates_between_listed_ones_are_missing_and_between_periods_they_are_in_one():
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 8), dt.date(2024, 2, 1)]
    table = pa.table({"day": [*days, dt.date(2024, 1, 9), None]})
    listed = sf.open(table, name="days", columns={"day": sf.date(values=days)}, budget=sf.PureDP(1))
    (one,) = listed.marginals("SELECT day FROM days").attributes
    assert coded(table, [one], "rows")["day"].tolist() == [0, 1, 2, 3, 3]
    bounded = sf.open(table, name="days", columns={"day": sf.date("2024-01-01", "2024-02-01")}, budget=sf.PureDP(1))
    (one,) = bounded.marginals("SELECT day FROM days", bins={"day": "month"}).attributes
    assert coded(table, [one], "rows")["day"].tolist() == [0, 0, 1, 0, 2]


def test_synthetic_rows_have_the_numbers_that_they_were_made_of():
    people = session(budget=sf.ApproxDP(100, "1e-6"))
    query = "SELECT age, sex, ill, born, seen FROM people"
    made = sf.synth.synthesize(people, query, epsilon=100, delta="1e-6", bins={"age": 3, "born": "week"})
    rows = coded(made.rows(300, seed=1), made.attributes, "rows")
    drawn = made.made.model.rows(300, seed=1)
    for one in made.attributes:
        merging = made.made.merging[one.name]
        assert (merging[rows[one.name]] == drawn[one.name]).all(), one.name


def test_cells_are_numbered_with_the_last_column_fastest():
    rows = {"one": np.array([0, 1, 2]), "two": np.array([3, 0, 1])}
    assert cells_of(rows, {"one": 3, "two": 4}, ["one", "two"]).tolist() == [3, 4, 9]


@pytest.mark.parametrize(
    "rows",
    [7, None, [1], {"age": [1]}, pa.table({"sex": ["f"]}), pa.table({"age": ["old"], "sex": ["f"]}), pa.Table,
     pa.table([[1], [1], ["f"]], names=["age", "age", "sex"])],
    ids=range(8),
)  # fmt: skip
def test_what_is_no_such_table_is_refused(rows):
    attributes = session().marginals("SELECT age, sex FROM people").attributes
    with pytest.raises(ParameterError, match="synthetic"):
        coded(rows, attributes, "synthetic")


def test_a_missing_value_where_none_can_be_is_refused():
    attributes = session().marginals("SELECT COALESCE(age, 0) AS age FROM people").attributes
    assert attributes[0].missing is None
    with pytest.raises(ParameterError, match="declared values"):
        coded(TABLE, attributes, "real")
