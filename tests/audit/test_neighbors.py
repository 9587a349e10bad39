"""The neighbors that careless mechanisms forget are always among those tried, and all of them are neighbors."""

from collections import Counter
from math import isnan

import numpy as np
import pandas as pd
import pytest

from sfumato.audit.neighbors import NEW_KEY, Neighbors, small_databases, small_pairs
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

PEOPLE = (
    {"id": 1, "ward": "A", "ill": 0},
    {"id": 2, "ward": "B", "ill": 1},
    {"id": 1, "ward": "B", "ill": 0},
    {"id": 3, "ward": "A", "ill": 1},
)


def described(neighbors, words):
    return [pair.neighbor for pair in neighbors if words in pair.description]


def units_moved(database, neighbor, unit):
    """Ids whose rows differ between two databases."""
    rows = [Counter((row[unit], repr(row)) for row in side) for side in (database, neighbor)]
    return {who for who, _ in (rows[0] - rows[1]) | (rows[1] - rows[0])}


def test_the_first_unit_goes_with_all_its_rows():
    assert described(Neighbors(database=PEOPLE, unit="id"), "first unit is removed") == [(PEOPLE[1], PEOPLE[3])]


def test_the_last_unit_and_every_other_goes():
    pairs = Neighbors(database=(1, 2, 3, 4))
    assert described(pairs, "removed") == [(2, 3, 4), (1, 3, 4), (1, 2, 4), (1, 2, 3)]
    assert described(pairs, "last unit is removed") == [(1, 2, 3)]


def test_equal_rows_are_units_of_their_own():
    assert described(Neighbors(database=(7, 7)), "removed") == [(7,), (7,)]


def test_a_partition_that_only_one_unit_has_is_tried():
    wards = [neighbor[-1]["ward"] for neighbor in described(Neighbors(database=PEOPLE, unit="id"), "new key in ward")]
    assert wards == [NEW_KEY]


@pytest.mark.parametrize(
    "what", ["an extreme value", "a negative extreme", "beyond 64 bits", "infinity", "NaN", "None"]
)
def test_values_that_are_no_ordinary_numbers_are_tried(what):
    assert described(Neighbors(database=(1, 2)), what)
    assert described(Neighbors(database=PEOPLE, unit="id"), f"{what}")


def test_nan_is_nan():
    (neighbor,) = described(Neighbors(database=(1.0,)), "NaN")
    assert isnan(neighbor[-1])


def test_heavy_users_have_many_rows_in_one_group_and_in_many():
    heavy = described(Neighbors(database=PEOPLE, unit="id", heavy_rows=50), "heavy user")
    assert [len(neighbor) for neighbor in heavy] == [54, 54, 54]
    assert len({row["ward"] for row in heavy[1][4:]}) == 50


def test_a_unit_can_be_replaced_by_a_heavy_one():
    heavy = described(Neighbors(database=PEOPLE, unit="id", relation=REPLACE_ONE, heavy_rows=50), "heavy user")
    assert {len(neighbor) for neighbor in heavy} == {50 + 2, 50 + 3}


def test_no_database_is_its_own_neighbour():
    for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        assert all(pair.neighbor != PEOPLE for pair in Neighbors(database=PEOPLE, unit="id", relation=relation))


def test_a_row_that_is_a_unit_cannot_be_heavy():
    assert described(Neighbors(database=(1, 2)), "heavy user") == []


def test_labels_flip_where_units_are_replaced():
    flipped = described(
        Neighbors(database=PEOPLE, unit="id", relation=REPLACE_ONE), "first unit is replaced, with ill as 1"
    )
    assert [row["ill"] for row in flipped[0] if row["id"] == 1] == [1]


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_every_neighbour_differs_in_one_unit(relation):
    for pair in Neighbors(database=PEOPLE, unit="id", relation=relation, heavy_rows=5):
        assert len(units_moved(PEOPLE, pair.neighbor, "id")) <= 1, pair.description


@pytest.mark.parametrize("rows", [(1, 2, 3), PEOPLE])
def test_replacing_keeps_the_number_of_rows_where_each_row_is_a_unit(rows):
    pairs = list(Neighbors(database=rows, relation=REPLACE_ONE))
    assert pairs
    assert {len(pair.neighbor) for pair in pairs} == {len(rows)}


def test_the_empty_database_has_neighbours_if_a_newcomer_is_known():
    assert list(Neighbors(database=())) == []
    assert described(Neighbors(database=(), newcomer=4), "ordinary row") == [(4,)]
    assert list(Neighbors(database=(), newcomer=4, relation=REPLACE_ONE)) == []


def test_rows_without_the_unit_column_are_refused():
    with pytest.raises(ParameterError, match="unit column"):
        Neighbors(database=({"ward": "A"},), unit="id")


def test_small_databases_come_in_every_order():
    assert list(small_databases((0, 1), largest=2)) == [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(("relation", "sizes"), [(ADD_OR_REMOVE_ONE, {1}), (REPLACE_ONE, {0})])
def test_small_pairs_are_all_neighbours(relation, sizes):
    pairs = list(small_pairs((0, 1), largest=3, relation=relation))
    assert {len(pair.database) - len(pair.neighbor) for pair in pairs} == sizes
    every = {frozenset((pair.database, pair.neighbor)) for pair in pairs}
    assert frozenset(((1, 0), (0,) if relation is ADD_OR_REMOVE_ONE else (0, 0))) in every


def test_rows_without_a_hash_are_tried():
    lists = [pair.neighbor for pair in Neighbors(database=([1, 2], [3])) if "of another" in pair.description]
    assert lists == [([1, 2], [3], [1, 2])]
    replaced = [pair.neighbor for pair in Neighbors(database=([1, 2], [3]), relation=REPLACE_ONE)]
    assert ([3], [3]) in replaced
    assert ([1, 2], [3]) not in replaced


def test_arrays_can_be_rows():
    rows = (np.array([1, 2]), np.array([3, 4]))
    for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        assert list(Neighbors(database=rows, relation=relation))


def test_columns_without_a_hash_are_tried():
    people = ({"id": 1, "wards": ["A"]}, {"id": 2, "wards": ["B", "C"]})
    (neighbor,) = described(Neighbors(database=people, unit="id"), "wards as ['A']")
    assert neighbor[-1]["wards"] == ["A"]


def test_one_and_true_are_two_values():
    assert described(Neighbors(database=(1, True, 2)), "the value True of another")
    assert described(Neighbors(database=(1, True, 2)), "the value 1 of another")


def test_a_unit_without_a_hash_is_refused():
    with pytest.raises(ParameterError, match="units without a hash"):
        Neighbors(database=({"id": [1]},), unit="id")


def test_places_are_called_as_people_call_them():
    found = [pair.description for pair in Neighbors(database=tuple(range(25))) if "removed" in pair.description]
    assert found[0] == "the first unit is removed"
    assert found[1:4] == [f"the {place} unit is removed" for place in ("2nd", "3rd", "4th")]
    assert found[10:13] == [f"the {place}th unit is removed" for place in (11, 12, 13)]
    assert found[20:23] == [f"the {place} unit is removed" for place in ("21st", "22nd", "23rd")]
    assert found[-1] == "the last unit is removed"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("database", {"database": "abc"}),
        ("database", {"database": None}),
        ("relation", {"relation": "replace one"}),
        ("unit", {"unit": 3}),
        ("newcomer", {"unit": "id", "newcomer": 3}),
        ("heavy_rows", {"heavy_rows": 10**400}),
    ],
)
def test_what_makes_no_neighbours_is_refused_at_once(name, arguments):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        Neighbors(**{"database": ()} | arguments)


def test_a_missing_unit_of_pandas_is_refused_as_it_is_equal_to_nothing():
    with pytest.raises(ParameterError, match="units without a hash"):
        Neighbors(database=({"id": pd.NA}, {"id": 1}), unit="id")


@pytest.mark.parametrize(("name", "rows", "largest"), [("rows", 3, 1), ("largest", (3,), -1), ("largest", (3,), 10**9)])
def test_small_databases_are_refused_before_the_first_is_made(name, rows, largest):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        small_databases(rows, largest=largest)
    with pytest.raises(ParameterError, match=f"^{name} = "):
        small_pairs(rows, largest=largest, relation=ADD_OR_REMOVE_ONE)


def test_rows_need_not_be_comparable():
    rows = (np.array([1, 2]), np.array([3, 4]))
    assert len(list(small_pairs(rows, largest=1, relation=REPLACE_ONE))) == 1


def test_no_row_is_shown_where_the_database_is_refused():
    with pytest.raises(ParameterError, match=r"^database = 'dict': must be a list or tuple of rows$"):
        Neighbors(database={"name": "Ann"})
    with pytest.raises(ParameterError, match=r"^newcomer = 'str': must be a mapping"):
        Neighbors(database=(), unit="id", newcomer="Ann")
