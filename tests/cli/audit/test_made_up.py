"""Databases made up from declarations: bounds, keys, limits, and what lies beyond; and rows that somebody wrote."""

import datetime as dt
import json
from itertools import pairwise
from math import inf, isnan

import pyarrow as pa
import pytest

from sfumato.cli.audit.made_up import as_arrow, pairs_of, read_rows
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnitColumn
from sfumato.query.model import schema
from sfumato.query.model.schema import Limits, Table

PEOPLE = Table(
    name="people",
    columns={
        "age": schema.integer(17, 90), "loss": schema.real(-50, 10, resolution="0.5"),
        "ward": schema.text(values=[*"AB"]),
        "town": schema.text(), "member": schema.boolean(), "day": schema.date(), "at": schema.timestamp(),
        "free": schema.integer(),
    },
)  # fmt: skip


def visits(kind=schema.text, **limits):
    columns = {"patient": kind(), "cost": schema.real(0, 100), "ward": schema.text(values=list("ABC"))}
    return Table(name="visits", columns=columns, unit=UnitColumn("patient"), limits=Limits(**limits))


def pairs(table, relation=ADD_OR_REMOVE_ONE, **options):
    return pairs_of(table, relation=relation, without=options.pop("without", None), **options)


def described(table, **options):
    return [pair.description for pair in pairs(table, **options)]


def test_the_first_unit_lies_far_from_0_and_the_others_at_the_other_bound_and_beyond():
    database = pairs(PEOPLE)[0].database
    assert [row["age"] for row in database] == [90, 17, 2**63 - 1]
    assert [row["loss"] for row in database] == [-50.0, 10.0, 10.0]
    assert [row["ward"] for row in database] == ["A", "B", "A"]
    assert [row["free"] for row in database] == [1, 0, 2**63 - 1]


def test_what_tells_most_is_tried_first():
    first, *rest = pairs(PEOPLE)
    assert first.description == "the first unit is removed"
    assert first.neighbor == first.database[1:]
    assert "a unit is added, with None in age" in [pair.description for pair in rest[:6]]


def test_what_a_careless_engine_forgets_is_among_the_pairs():
    found = described(PEOPLE)
    for what in (
        "with an extreme value in loss", "with infinity in loss", "with NaN in loss", "with None in member",
        f"with age as {2**63 - 1}", "with a new key in town", "with a new key in ward", "with ward as 'B'",
    ):  # fmt: skip
        assert f"a unit is added, {what}" in found
    assert "in an empty database a unit is added, with an ordinary row" in found
    assert len(set(found)) == len(found)


def test_every_database_fits_the_declared_types():
    for table in (PEOPLE, visits(max_rows_per_unit=2), visits(schema.integer, max_rows_per_unit=2)):
        for pair in pairs(table):
            for rows in (pair.database, pair.neighbor):
                assert as_arrow(rows, table.columns).num_rows == len(rows)


def test_one_unit_is_at_its_limits_and_a_heavy_user_beyond_them():
    found = pairs(visits(max_rows_per_unit=4))
    assert [row["patient"] for row in found[0].database] == ["unit 1"] * 4 + ["unit 2", "unit 3"]
    assert len(found[0].neighbor) == 2
    heavy = [len(pair.neighbor) - len(pair.database) for pair in found if "heavy" in pair.description]
    assert max(heavy) == 12
    assert [pair for pair in found[1:3] if "heavy" in pair.description] == found[1:3]


def test_a_heavy_user_lies_in_every_group_of_public_keys():
    (pair,) = [
        one
        for one in pairs(visits(max_groups_per_unit=1, max_rows_per_group_per_unit=1))
        if "all keys" in one.description
    ]
    added = pair.neighbor[len(pair.database) :]
    assert {row["ward"] for row in added} == set("ABC")
    assert len({row["patient"] for row in added}) == 1


def test_units_that_are_numbers_stay_numbers_and_new_ones_are_nobody_elses():
    for pair in pairs(visits(schema.integer, max_rows_per_unit=2)):
        assert all(isinstance(row["patient"], int) for row in (*pair.database, *pair.neighbor))
    added = [pair for pair in pairs(visits(schema.integer, max_rows_per_unit=2)) if "added" in pair.description]
    assert all(pair.neighbor[-1]["patient"] not in {row["patient"] for row in pair.database} for pair in added)


def test_limits_of_a_million_make_no_million_rows():
    assert max(len(pair.neighbor) for pair in pairs(visits(max_rows_per_unit=10**6))) < 1000


def test_neighbors_of_the_other_relation_have_as_many_units():
    found = pairs(PEOPLE, REPLACE_ONE)
    assert found
    assert all(len(pair.database) == len(pair.neighbor) for pair in found)


def test_a_unit_that_is_replaced_first_goes_from_its_limits_at_one_bound_to_the_other():
    first, *_ = pairs(visits(max_rows_per_unit=4), REPLACE_ONE)
    assert [row["cost"] for row in first.database[:4]] == [100.0] * 4
    assert [row["cost"] for row in first.neighbor[:4]] == [0.0] * 4
    assert [row["patient"] for row in first.database] == [row["patient"] for row in first.neighbor]


def test_a_column_of_worlds_is_not_in_the_rows():
    assert all("ward" not in row for pair in pairs(PEOPLE, without="ward") for row in (*pair.database, *pair.neighbor))


def test_rows_become_a_table_of_the_declared_types():
    table = as_arrow(pairs(PEOPLE)[0].database, PEOPLE.columns)
    assert table.schema.types == [
        pa.int64(), pa.float64(), pa.string(), pa.string(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.int64()
    ]  # fmt: skip
    nan, null = as_arrow([{"loss": float("nan")}, {"loss": None}], {"loss": schema.real()})["loss"].to_pylist()
    assert (isnan(nan), null) == (True, None)


ROW = {
    "age": 30, "loss": inf, "ward": "A", "town": "Ulm", "member": True, "day": dt.date(2000, 2, 29),
    "at": dt.datetime.fromisoformat("2000-02-29T12:00"), "free": None,
}  # fmt: skip


def test_rows_of_json_and_of_csv_are_read_as_declared(tmp_path):
    written = ROW | {"day": "2000-02-29", "at": "2000-02-29T12:00:00"}
    (tmp_path / "rows.json").write_text(json.dumps([written, written | {"loss": 2}]), "utf-8")
    assert read_rows(str(tmp_path / "rows.json"), PEOPLE, without=None) == (ROW, ROW | {"loss": 2.0})
    values = ["" if value is None else str(value) for value in written.values()]
    (tmp_path / "rows.csv").write_text(f"{','.join(ROW)},more\n{','.join(values)},5\n", "utf-8")
    assert read_rows(str(tmp_path / "rows.csv"), PEOPLE, without=None) == (ROW,)
    assert "ward" not in read_rows(str(tmp_path / "rows.csv"), PEOPLE, without="ward")[0]


def test_rows_that_were_made_up_are_the_database():
    rows = (ROW, ROW | {"age": 40})
    found = pairs(PEOPLE, rows=rows)
    assert (found[0].database, found[0].neighbor) == (rows, rows[1:])
    assert all(one.database in (rows, ()) for one in found)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("rows.json", '{"age": 3}', "a list of rows"),
        ("rows.json", "[5]", "the declared columns"),
        ("rows.json", '[{"age": 3}]', "the declared columns"),
        ("rows.json", "[", "must be JSON"),
        ("rows.csv", "age\n3\n", "the declared columns"),
        ("none.csv", None, "cannot be read"),
        ("none.json", None, "cannot be read"),
    ],
)
def test_other_files_are_refused(tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(ParameterError, match="--rows") as caught:
        read_rows(str(tmp_path / name), PEOPLE, without=None)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("age", "x"), ("age", 1.5), ("age", True), ("age", 2**63), ("loss", "much"), ("loss", True), ("town", 5),
        ("member", "maybe"), ("member", 1), ("day", "2000-02-30"), ("day", 3), ("at", "noon"),
    ],
)  # fmt: skip
def test_values_of_another_kind_are_refused_with_their_column(tmp_path, column, value):
    written = ROW | {"day": "2000-02-29", "at": "2000-02-29T12:00:00"} | {column: value}
    (tmp_path / "rows.json").write_text(json.dumps([written]), "utf-8")
    with pytest.raises(ParameterError, match=f"{column}.*the declared type"):
        read_rows(str(tmp_path / "rows.json"), PEOPLE, without=None)


def test_the_order_is_the_same_each_time():
    assert described(PEOPLE) == described(PEOPLE)
    assert all(first.description != second.description for first, second in pairwise(pairs(PEOPLE)))


@pytest.mark.parametrize("kind", [schema.text, schema.integer])
def test_where_units_are_replaced_none_is_ever_added_or_removed(kind):
    """Else a correct answer to a question about their number, which is public then, would be called a violation."""
    found = pairs(visits(kind, max_groups_per_unit=2, max_rows_per_group_per_unit=3), relation=REPLACE_ONE)
    assert any("in all keys" in pair.description for pair in found)
    for pair in found:
        here, there = ({row["patient"] for row in rows} for rows in (pair.database, pair.neighbor))
        assert here == there, pair.description
