from datetime import date as day
from datetime import datetime, timedelta
from fractions import Fraction

import pytest

from sfumato.cli.options import declared_columns, separated
from sfumato.errors import ParameterError
from sfumato.query.model.schema import boolean, date, integer, real, text, timestamp

NOON = datetime.fromisoformat("2026-01-31T12:00")


@pytest.mark.parametrize(
    ("declaration", "column"),
    [
        ("int", integer()),
        ("int:17:90", integer(17, 90)),
        ("int:-5:5", integer(-5, 5)),
        ("float", real()),
        ("float:0:100", real(0, 100, resolution="0.01")),
        ("float:0:0.3:1/10", real(0, "0.3", resolution="0.1")),
        ("text", text()),
        ("bool", boolean()),
        ("date", date()),
        ("date:2020-01-01:2026-12-31", date("2020-01-01", "2026-12-31")),
        ("timestamp", timestamp()),
    ],
)
def test_a_column_has_the_type_and_the_bounds_that_were_written(declaration, column):
    assert declared_columns([f"x={declaration}"], []) == {"x": column}


def test_bounds_are_taken_exactly():
    assert declared_columns(["x=float:0.1:0.3"], [])["x"].upper == Fraction(3, 10)


@pytest.mark.parametrize(
    ("columns", "keys", "values"),
    [
        ([], "x=Bachelors,Masters", ("Bachelors", "Masters")),
        ([], "x=1,2", ("1", "2")),
        ([], 'x=a, "b,c"', ("a", "b,c")),
        (["x=int"], "x=1,-2", (1, -2)),
        (["x=text"], "x=a=b", ("a=b",)),
        (["x=bool"], "x=True", (True,)),
        (["x=date"], "x=2026-01-31,2026-02-01", (day(2026, 1, 31), day(2026, 2, 1))),
        (["x=timestamp"], "x=2026-01-31T12:00,2026-01-31 13:00:01.5", (NOON, NOON + timedelta(seconds=3601.5))),
    ],
)
def test_keys_have_the_type_of_their_column(columns, keys, values):
    assert declared_columns(columns, [keys])["x"].values == values


def test_keys_keep_the_bounds_of_their_column():
    assert declared_columns(["x=int:0:9"], ["x=1,2"])["x"].bounded_steps == (0, 9)


@pytest.mark.parametrize(
    "declaration",
    [
        "x", "=int", "x=", "x=number", "x=int:1", "x=int:1:2:3", "x=text:1:2", "x=int:a:b", "x=int:2:1", "x=int:1:1",
        "x=float:0:1:0", "x=float:0:1:-1", "x=float:nan:1", "x=float:0:inf", "x=int::",
        "x=date:2026-01-31", "x=timestamp:0:1",
    ],
)  # fmt: skip
def test_a_column_of_another_form_is_refused_and_shown(declaration):
    with pytest.raises(ParameterError) as refused:
        declared_columns([declaration], [])
    assert f"column = {declaration!r}" in str(refused.value)


@pytest.mark.parametrize(
    ("columns", "keys"),
    [
        ([], "x"), ([], "x="), ([], "=a"), ([], "x=a,a"), (["x=int"], "x=1,two"), (["x=bool"], "x=maybe"),
        (["x=float"], "x=1"), (["x=int"], "x=1.5"),
        (["x=date"], "x=2026-02-30"), (["x=date"], "x=2026-01-31T12:00"), (["x=timestamp"], "x=noon"),
        (["x=timestamp"], "x=2026-01-31T12:00Z"),
    ],
)  # fmt: skip
def test_keys_of_another_form_are_refused_and_shown(columns, keys):
    with pytest.raises(ParameterError) as refused:
        declared_columns(columns, [keys])
    assert f"keys = {keys!r}" in str(refused.value)


def test_what_is_stated_twice_is_refused():
    with pytest.raises(ParameterError, match="x was declared before"):
        declared_columns(["x=int", "x=text"], [])
    with pytest.raises(ParameterError, match="x was declared before"):
        declared_columns([], ["x=a", "x=b"])


def test_a_list_is_separated_at_commas_outside_quotes():
    assert separated('a,b , "c,d"') == ("a", "b", "c,d")
