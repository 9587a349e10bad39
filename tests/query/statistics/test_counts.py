"""Counts: what they are made of."""

from tests.query.planned import VISITS, grouped, ref
from tests.query.recipes import AGE, KIDS, lowered, measures

from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.relations import Distinct, Select
from sfumato.query.model.schema import Limits
from sfumato.query.model.statement import CellCount, RowCount, UnitCount, ValueCount
from sfumato.query.statistics.counts import CountDistinct, CountRows, CountUnits, CountValues


def test_counts_are_measures():
    assert measures(CountRows()) == [RowCount()]
    assert measures(CountValues(AGE)) == [ValueCount((AGE,))]
    assert measures(CountUnits(), VISITS) == [UnitCount()]


def test_a_count_of_what_is_never_null_is_a_count_of_rows_but_for_its_name():
    assert measures(CountValues(KIDS)) == [ValueCount(())]


def test_different_values_are_counted_after_each_unit_has_each_of_its_own_once():
    (component,) = lowered(CountDistinct(ref("ill"), 3), VISITS, "ward").components
    statement = component.statement
    assert statement.measures == (CellCount(),)
    assert isinstance(statement.rows, Distinct)
    assert statement.rows.child.columns == (("ward", ref("ward")), ("value", ref("ill")))
    assert statement.limits == Limits(max_rows_per_unit=4, max_groups_per_unit=2, max_rows_per_group_per_unit=3)
    assert (statement.cell.value, statement.cell.values) == (ref("value"), None)


def test_the_counted_value_has_a_name_that_no_key_has():
    rows = Select(grouped(VISITS).rows, (("Value", ref("ward")), ("value_2", ref("ill"))))
    (component,) = lowered(CountDistinct(ref("value_2")), rows, "Value", "value_2").components
    assert list(shape_of(component.statement.rows).columns) == ["Value", "value_2", "value_3"]


def test_where_each_row_is_a_unit_no_limit_of_values_is_needed():
    (component,) = lowered(CountDistinct(ref("town"), 3)).components
    assert component.statement.limits == Limits()
