import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.attacks.core.classes import class_sizes, classes, codes, column_of, equal, values_of
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


@pytest.mark.parametrize("table", [None, 1, "people.csv", [1, 2], {1}, np.ones((2, 2)), np.float32(1), object(), dict])
def test_what_is_no_table_is_named(table):
    with pytest.raises(ParameterError, match=r"^known = .*: must be a table: a mapping of columns"):
        column_of(table, "zip", of="known")


@pytest.mark.parametrize("table", [TABLE, pa.table(TABLE), pd.DataFrame(TABLE)])
@pytest.mark.parametrize("name", [None, "name", ["zip"], {}, np.ones(2), float("nan")], ids=repr)
def test_a_wrong_column_is_named(table, name):
    with pytest.raises(ParameterError, match=r"^sensitive = .*: must be the name of a column of the people$"):
        column_of(table, name, parameter="sensitive", of="people")


@pytest.mark.parametrize("column", [None, 1, "text", np.array(1), {"a": 1}], ids=repr)
def test_a_column_holds_a_list_of_values(column):
    with pytest.raises(ParameterError, match=r"^table = .* as zip'?: must have a list of values in each column$"):
        column_of({"zip": column}, "zip")


def test_values_that_cannot_be_told_apart_are_refused_without_being_shown():
    with pytest.raises(ParameterError, match="must hold single values") as refused:
        codes([["Ann"], ["Bob"]], name="log")
    assert "Ann" not in str(refused.value)


def test_no_rows_are_shown_of_what_is_no_table():
    with pytest.raises(ParameterError, match="must be a table") as refused:
        column_of(["Ann", "Bob"], "zip")
    assert "Ann" not in str(refused.value)


@pytest.mark.parametrize("coarsen", [1, "zip", ["zip"], {"zip": 3}], ids=repr)
def test_columns_are_coarsened_by_functions(coarsen):
    with pytest.raises(ParameterError, match=r"^coarsen = .*: must be functions of some columns, by name"):
        classes(TABLE, columns=["zip"], coarsen=coarsen)


@pytest.mark.parametrize("columns", [None, 1, "zip", {"zip": 1}], ids=repr)
def test_columns_are_a_list_of_names(columns):
    with pytest.raises(ParameterError, match=r"^columns = .*: must be a list of names of columns"):
        classes(TABLE, columns=columns)


@pytest.mark.parametrize("columns", [("zip", "born"), np.array(["zip", "born"]), pd.Index(["zip", "born"])])
def test_columns_are_named_in_any_list(columns):
    (rows,) = classes(pd.DataFrame(TABLE), columns=columns)
    assert len(set(rows.tolist())) == 3


def test_each_of_many_tables_has_its_classes():
    assert [rows.tolist() for rows in classes(TABLE, TABLE, TABLE, columns=["zip"])] == [[0, 0, 1]] * 3
    with pytest.raises(ParameterError, match=r"^known = None"):
        classes(TABLE, None, columns=["zip"], names=("released", "known"))


def test_values_of_arrow_equal_those_of_python():
    assert values_of(pa.array(["Ann", None]), "truth") == values_of(["Ann", None], "truth") == ["Ann", None]
    with pytest.raises(ParameterError, match=r"^truth = 'Ann'"):
        values_of("Ann", "truth")


@pytest.mark.parametrize("other", [pd.NA, None, np.ones(2), float("nan")], ids=repr)
def test_what_is_missing_or_no_single_value_equals_nothing_else(other):
    assert not equal("Ann", other)
    assert equal("Ann", np.str_("Ann"))
