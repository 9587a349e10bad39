import numpy as np
import pyarrow as pa
import pytest

from sfumato.attacks.classes import class_sizes, classes, codes, column_of
from sfumato.errors import ParameterError

TABLE = {"zip": ["02138", "02138", "02139"], "born": [1950, 1960, 1950]}


@pytest.mark.parametrize("table", [TABLE, pa.table(TABLE), {name: np.array(column) for name, column in TABLE.items()}])
def test_rows_are_of_one_class_exactly_if_they_agree_in_all_columns(table):
    (rows,) = classes(table, columns=["zip", "born"])
    assert len(set(rows.tolist())) == 3
    (by_year,) = classes(table, columns=["born"])
    assert by_year[0] == by_year[2] != by_year[1]


def test_pairs_of_columns_are_not_confused():
    (rows,) = classes({"a": [1, 1, 11], "b": [11, 1, 1]}, columns=["a", "b"])
    assert len(set(rows.tolist())) == 3


def test_classes_are_shared_by_tables():
    first, second = classes(TABLE, {"zip": ["02139", "99999"], "born": [1950, 1950]}, columns=["zip", "born"])
    assert second[0] == first[2]
    assert second[1] not in first


def test_what_is_missing_is_a_value():
    assert codes([None, "a", None]).tolist() == [0, 1, 0]


def test_sizes_add_up_to_the_rows():
    (rows,) = classes(TABLE, columns=["zip"])
    assert sorted(class_sizes(rows).tolist()) == [1, 2]


@pytest.mark.parametrize("columns", [[], ["name"]])
def test_columns_that_are_not_there_are_refused(columns):
    with pytest.raises(ParameterError, match="columns"):
        classes(TABLE, columns=columns)


def test_only_what_is_compared_can_be_coarsened():
    with pytest.raises(ParameterError, match="coarsened"):
        classes(TABLE, columns=["zip"], coarsen={"born": lambda year: year // 10})


def test_columns_of_several_lengths_are_refused():
    with pytest.raises(ParameterError, match="as many values"):
        classes({"a": [1, 2], "b": [1]}, columns=["a", "b"])


def test_a_missing_column_of_arrow_is_refused_as_one_of_a_mapping():
    with pytest.raises(ParameterError, match="name of a column"):
        column_of(pa.table(TABLE), "name")


def test_a_column_has_as_many_values_as_the_others():
    with pytest.raises(ParameterError, match="must have 2"):
        column_of({"zip": [1]}, "zip", rows=2)
