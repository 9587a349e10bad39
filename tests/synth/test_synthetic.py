"""Made-up rows: of declared values alone, reproducible, in the forms that people use."""

import datetime as dt

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import sfumato as sf
from sfumato.errors import ParameterError

COLUMNS = {
    "age": sf.integer(0, 99), "pay": sf.real(0, 10), "sex": sf.text(values=["f", "m"]), "ill": sf.boolean(),
    "born": sf.date("2024-01-10", "2024-03-20"), "seen": sf.timestamp("2024-01-01 00:00:00", "2024-02-20 00:00:00"),
}  # fmt: skip


@pytest.fixture(scope="module")
def made():
    days = [dt.date(2024, 1 + place % 3, 15) for place in range(400)]
    table = pa.table(
        {
            "age": [place % 100 for place in range(400)], "pay": [place % 10 + 0.5 for place in range(400)],
            "sex": ["f" if place % 4 else None for place in range(400)],
            "ill": [place % 2 == 0 for place in range(400)], "born": days,
            "seen": [dt.datetime(2024, 2, 3, 4)] * 400,  # noqa: DTZ001 # as in a table
        }
    )  # fmt: skip
    session = sf.open(table, name="people", columns=COLUMNS, budget=sf.ApproxDP(100, "1e-6"))
    bins = {"age": 5, "pay": 4}
    return sf.synth.synthesize(session, "SELECT * FROM people", epsilon=100, delta="1e-6", bins=bins)


def test_values_are_those_declared(made):
    rows = made.rows(500, seed=1)
    assert rows.schema.types == [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us")]
    found = {name: set(rows[name].to_pylist()) - {None} for name in rows.column_names}
    assert found["age"] <= set(range(100))
    assert len(found["age"]) > 60
    assert all(0 <= pay <= 10 for pay in found["pay"])
    assert found["sex"] <= {"f", "m"}
    assert rows["sex"].to_pylist().count("m") < 25
    assert found["born"] == {dt.date(2024, month, 1) for month in (1, 2, 3)}
    assert 80 < rows["sex"].null_count < 170


def test_the_same_seed_gives_the_same_rows(made):
    assert made.rows(100, seed=5).equals(made.rows(100, seed=5))
    assert not made.rows(100, seed=5).equals(made.rows(100, seed=6))
    assert not made.rows(100).equals(made.rows(100))
    assert abs(made.rows().num_rows - 400) < 30
    assert made.rows().num_rows == round(made.total)


def test_rows_are_frames_and_files(made, tmp_path):
    rows = made.rows(20, seed=2)
    assert made.to_pandas(20, seed=2).shape == (20, 6)
    assert made.to_polars(20, seed=2).shape == (20, 6)
    made.save(tmp_path / "rows.parquet", 20, seed=2)
    made.save(str(tmp_path / "rows.csv"), 20, seed=2)
    assert parquet.read_table(tmp_path / "rows.parquet").equals(rows)
    assert csv.read_csv(tmp_path / "rows.csv").num_rows == 20
    with pytest.raises(ParameterError, match=r"\.csv or \.parquet"):
        made.save(tmp_path / "rows.xlsx")


def test_rows_with_certain_values(made):
    ill = made.given({"ill": True, "age": 30})
    rows = ill.rows(50, seed=3)
    assert set(rows["ill"].to_pylist()) == {True}
    assert set(rows["age"].to_pylist()) <= set(range(20, 40))
    assert 20 < ill.total < 60
    assert made.given({"sex": None}).rows(5, seed=1)["sex"].null_count == 5
    for wrong in ({"name": 1}, {"sex": "x"}, {"age": 100.5}, {"age": "old"}, 7):
        with pytest.raises(ParameterError):
            made.given(wrong)
