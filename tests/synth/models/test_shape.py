import pytest

from sfumato.errors import ParameterError
from sfumato.synth.models.shape import MOST_COLUMNS, TableShape

SHAPE = TableShape({"sex": 2, "smokes": 3, "age": 85})


def test_cells_are_products_of_sizes():
    assert SHAPE.cells() == 510
    assert SHAPE.cells(["age", "sex"]) == 170
    assert SHAPE.cells([]) == 1
    assert TableShape({f"c{i}": 1 << 31 for i in range(20)}).cells() == 1 << 620


def test_columns_are_put_in_the_order_of_the_table():
    assert SHAPE.ordered(["age", "sex"]) == ("sex", "age")
    assert SHAPE.checked(["age", "sex"]) == ("age", "sex")
    assert SHAPE.lengths(("age", "sex")) == (85, 2)


@pytest.mark.parametrize(
    ("columns", "said"),
    [(["height"], "columns of the table: sex, smokes, age"), (["sex", "sex"], "once each"), ("sex", "list"),
     ([["sex"]], "columns of the table"), (None, "list")],
)  # fmt: skip
def test_what_are_no_columns_is_refused(columns, said):
    with pytest.raises(ParameterError, match=said):
        SHAPE.ordered(columns)


@pytest.mark.parametrize(
    "sizes", [{}, {"a": 0}, {"a": True}, {"a": 2.0}, {1: 2}, {"a": (1 << 31) + 1}, [("a", 2)], {"\ud800": 2}, None]
)
def test_what_is_no_shape_is_refused(sizes):
    with pytest.raises(ParameterError, match="sizes"):
        TableShape(sizes)


def test_there_are_at_most_so_many_columns():
    assert TableShape({f"c{i}": 2 for i in range(MOST_COLUMNS)}).cells() == 2**MOST_COLUMNS
    with pytest.raises(ParameterError, match="at most"):
        TableShape({f"c{i}": 2 for i in range(MOST_COLUMNS + 1)})


def test_shapes_are_values_that_nobody_changes():
    sizes = {"a": 2}
    shape = TableShape(sizes)
    sizes["a"] = 3
    assert shape == TableShape({"a": 2})
    with pytest.raises(TypeError):
        shape.sizes["a"] = 3
