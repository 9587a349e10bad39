import pytest
from tests.query.asking import VISITS, parsed

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, ColumnRef
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Select, Source

YEAR = Call(Function.YEAR, (ColumnRef("day"),))
OWN = tuple((name, ColumnRef(name)) for name in VISITS.columns)


def grouped(select, group_by):
    return parsed(f"SELECT {select} FROM visits GROUP BY {group_by}").child.child


@pytest.mark.parametrize(
    ("select", "group_by"),
    [
        ("ward, COUNT(*)", "ward"),
        ("ward, COUNT(*)", "1"),
        ("ward, COUNT(*)", "WARD, visits.ward, (ward), 1"),
        ("ward AS w, COUNT(*)", "w"),
        ("COUNT(*)", "ward"),
    ],
)
def test_columns_are_named_once_by_name_place_or_alias(select, group_by):
    found = grouped(select, group_by)
    assert (found.child, found.keys, found.sets) == (Source(VISITS), ("ward",), ())


def test_a_column_goes_before_an_alias():
    assert grouped("LOWER(ward) AS day, COUNT(*)", "ward, day").keys == ("ward", "day")


@pytest.mark.parametrize("group_by", ["EXTRACT(YEAR FROM day)", "1", "y", "y, (extract(year from visits.day))"])
def test_an_expression_is_a_column_below_the_groups(group_by):
    found = grouped("EXTRACT(YEAR FROM day) AS y, COUNT(*)", group_by)
    assert found.child == Select(Source(VISITS), (*OWN, ("EXTRACT(YEAR FROM day)", YEAR)))
    assert (found.keys, found.labels) == (("EXTRACT(YEAR FROM day)",), ("y",))


def test_an_answer_that_calls_an_expression_otherwise_asks_the_same():
    first, second = (grouped(f"hours > 3 AS {alias}, COUNT(*)", "1") for alias in ("a", "b"))
    assert (first.child, first.keys) == (second.child, second.keys)


@pytest.mark.parametrize(
    ("group_by", "sets"),
    [
        ("ROLLUP (ward, day)", (("ward", "day"), ("ward",), ())),
        ("CUBE (ward, day)", (("ward", "day"), ("ward",), ("day",), ())),
        ("GROUPING SETS ((ward, day), day, ())", (("ward", "day"), ("day",), ())),
        ("GROUPING SETS (ROLLUP (ward), (day))", (("ward",), (), ("day",))),
        ("ROLLUP ((ward, day))", (("ward", "day"), ())),
        ("ward, ROLLUP (day)", (("ward", "day"), ("ward",))),
        ("ROLLUP (ward), CUBE (day)", (("ward", "day"), ("ward",), ("day",), ())),
        ("ROLLUP (1, d)", (("ward", "day"), ("ward",), ())),
    ],
)
def test_grouping_sets_are_written_out(group_by, sets):
    found = grouped("ward, day AS d, COUNT(*)", group_by)
    assert (found.keys, found.sets) == (("ward", "day"), sets)


def test_grouping_by_nothing_is_one_group():
    assert grouped("COUNT(*)", "()").keys == ()


@pytest.mark.parametrize(
    ("group_by", "error", "message"),
    [
        ("3", ParameterError, "from 1 to 2"),
        ("0", ParameterError, "from 1 to 2"),
        ("1.5", ParameterError, "from 1 to 2"),
        ("9" * 5_000, ParameterError, "from 1 to 2"),
        ("'ward'", ParameterError, "must be a column"),
        ("-1", ParameterError, "must be a column"),
        ("2", NotPrivateError, "COUNT.*aggregate"),
        ("n", NotPrivateError, "COUNT.*aggregate"),
        ("nosuch", ParameterError, "nosuch"),
        ("ALL", NotPrivateError, "List the columns"),
        ("DISTINCT ROLLUP (ward)", NotPrivateError, "List the columns"),
        ("ward, ROLLUP (ward)", ParameterError, "differ|named once"),
        ("CUBE (a, b, c, d, e, f, g)", ParameterError, "at most 64"),
        ("CUBE (a, b), CUBE (c, d), CUBE (e, f, g)", ParameterError, "64"),
        ("(SELECT 1)", NotPrivateError, "sub-query"),
    ],
)
def test_other_keys_are_refused(group_by, error, message):
    with pytest.raises(error, match=message):
        grouped("ward, COUNT(*) AS n", group_by)


def test_numbers_with_fractions_are_no_keys():
    with pytest.raises((NotPrivateError, ParameterError), match=r"GROUP BY.*hours"):
        grouped("COUNT(*)", "hours")
