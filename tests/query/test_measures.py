import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.values import contribution, typed
from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.measures import RowCount, ValueCount, numeric_column, step_sum
from sfumato.query.schema import Table, integer, real, text


def table(**columns):
    return Table(name="t", columns=columns)


def test_counts_add_one_or_nothing():
    assert RowCount().range() == (1, 1)
    assert ValueCount("v", nullable=True).range() == (0, 1)
    assert ValueCount("v", nullable=False).range() == (1, 1)


@pytest.mark.parametrize(
    ("bounds", "nullable", "centred", "reach"),
    [
        ((4, 9), True, False, (0, 9)), ((4, 9), False, False, (4, 9)), ((-9, -4), True, False, (-9, 0)),
        ((-3, 7), True, False, (-3, 7)), ((4, 9), True, True, (-2, 3)), ((4, 9), False, True, (-2, 3)),
        ((-5, -2), True, True, (-1, 2)),
    ],
)  # fmt: skip
def test_a_sum_adds_what_lies_in_its_bounds_around_its_centre(bounds, nullable, centred, reach):
    measure = step_sum(table(v=integer(*bounds, nullable=nullable)), "v", centred=centred)
    assert measure.range() == reach


@given(
    st.none() | st.floats() | st.text(max_size=5) | st.integers(), st.integers(-50, 50), st.integers(1, 50),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_no_stored_value_adds_anything_outside_of_the_range(stored, lower, width, nullable, centred):
    column = real(lower, lower + width, resolution="0.5", nullable=nullable)
    made = table(v=column)
    measure = step_sum(made, "v", centred=centred)
    low, high = measure.range()
    assert low <= contribution(measure, {"v": typed(stored, column)}, made) <= high


def test_only_bounded_numbers_are_summed():
    with pytest.raises(UnboundedSensitivityError, match="bounds"):
        step_sum(table(v=real()), "v", centred=False)
    with pytest.raises(ParameterError, match="declared as text"):
        numeric_column(table(v=text()), "v")


@pytest.mark.parametrize(("bounds", "steps"), [((2, 9), 2), ((-9, -2), -2), ((-9, 9), 0)])
def test_null_counts_as_the_bound_nearest_to_zero_where_a_column_is_not_nullable(bounds, steps):
    table = Table(name="t", columns={"v": integer(*bounds, nullable=False), "w": integer(*bounds)})
    assert step_sum(table, "v", centred=False).null_amount == steps
    centred = step_sum(table, "v", centred=True)
    assert centred.null_amount == steps - centred.offset
    assert step_sum(table, "w", centred=True).null_amount == 0
