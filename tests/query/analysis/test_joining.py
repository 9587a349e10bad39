import pytest
from tests.query.frames import BILLS, VISITS, WARDS, frame

from sfumato.errors import ParameterError
from sfumato.query.analysis.joining import joined, pairs, renamed
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.relations import Join, JoinKind, Select

visits, bills, wards = frame(VISITS), frame(BILLS), frame(WARDS)


def sides(left, right):
    return (left.relation, left.shape), (right.relation, right.shape)


def names(relation):
    return list(shape_of(relation).columns)


@pytest.mark.parametrize(
    ("on", "meant"),
    [("a", (("a", "a"),)), (["a", "b"], (("a", "a"), ("b", "b"))), ({"a": "b"}, (("a", "b"),)), ((), ())],
)
def test_columns_are_paired_by_name_or_by_a_mapping(on, meant):
    assert pairs(on) == meant


def test_columns_with_other_names_are_joined_as_they_are():
    join = joined(*sides(visits, wards), on={"ward": "code"}, how="left", suffix=None)
    assert isinstance(join, Join)
    assert join.kind is JoinKind.LEFT
    assert names(join) == ["visitor", "ward", "day", "hours", "code", "beds"]


def test_a_column_that_is_equal_by_name_stands_once():
    join = joined(*sides(visits, bills), on=["visitor", "day"], how="inner", suffix=None)
    assert names(join) == ["visitor", "ward", "day", "hours", "amount"]
    assert isinstance(join, Select)
    assert [first for first, _ in join.child.on] == ["visitor", "day"]


def test_other_columns_of_one_name_get_a_suffix():
    join = joined(*sides(visits, bills), on="visitor", how="inner", suffix="_paid")
    assert names(join) == ["visitor", "ward", "day", "hours", "day_paid", "amount"]


@pytest.mark.parametrize(
    ("on", "how", "suffix", "message"),
    [
        ("visitor", "inner", None, "day.*rename"),
        ((), "inner", "", "visitor.*day"),
        ("visitor", "outer", "_b", "how.*inner, left"),
    ],
)
def test_what_is_not_clear_is_refused(on, how, suffix, message):
    with pytest.raises(ParameterError, match=message):
        joined(*sides(visits, bills), on=on, how=how, suffix=suffix)


def test_names_that_differ_in_case_alone_are_one_name():
    shouting = visits.rename(day="DAY")
    with pytest.raises(ParameterError, match=r"day.*rename"):
        joined(*sides(shouting, bills), on="visitor", how="inner", suffix=None)


def test_nothing_is_done_to_rename_nothing():
    assert renamed(visits.relation, visits.shape, {}) is visits.relation
    assert names(renamed(visits.relation, visits.shape, {"day": "date"})) == ["visitor", "ward", "date", "hours"]
