"""What each statistic is made of: measures, cells, statements of its own, and outputs."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, VISITS, ground, ref

from sfumato.engines.values.evaluation import evaluate
from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import Call, Case, IsNull, Not, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.measures import CellCount, RowCount, StepProduct, StepSum, UnitCount, ValueCount
from sfumato.query.model.relations import (
    AUTO,
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    Covariance,
    Distinct,
    Histogram,
    Mean,
    Quantile,
    Select,
    Sum,
    TopK,
    Variance,
    VectorSum,
)
from sfumato.query.model.schema import Limits, Table, integer, real
from sfumato.query.planning.components import Celled, Counted, Ranked, Topped
from sfumato.query.planning.lowering import MAX_BINS, MAX_FACTOR, recipe
from sfumato.query.statistics.measurements import LinearOutput

AGE, PAY, KIDS = ref("age"), ref("pay"), ref("kids")
WIDE = Table(name="t", columns={"v": integer(0, 10**12), "f": real(-(10**6), 10**6), "w": real(0, 10**7)})


def lowered(statistic, table=PEOPLE, *keys):
    return recipe(ground(table, *keys), "x", statistic)


def measures(statistic, table=PEOPLE):
    return [measure for component in lowered(statistic, table).components for measure in component.measures]


def steps(statistic, table=PEOPLE):
    (measure,) = [measure for measure in measures(statistic, table) if isinstance(measure, StepSum)]
    return measure.steps


def test_counts_are_measures():
    assert measures(CountRows()) == [RowCount()]
    assert measures(CountValues(AGE)) == [ValueCount((AGE,))]
    assert measures(CountUnits(), VISITS) == [UnitCount()]


def test_a_count_of_what_is_never_null_is_a_count_of_rows_but_for_its_name():
    assert measures(CountValues(KIDS)) == [ValueCount(())]


def test_a_sum_is_of_lattice_steps_between_the_declared_bounds():
    found = steps(Sum(PAY))
    assert (found.resolution, found.lower, found.upper, found.offset, found.nullable) == (
        Fraction("0.01"),
        0,
        1000,
        0,
        True,
    )
    assert lowered(Sum(PAY)).outputs(7) == (
        LinearOutput(name="x", measurement=7, resolution=Fraction("0.01"), is_whole=False),
    )  # fmt: skip
    assert lowered(Sum(AGE)).outputs(0)[0].is_whole


def test_stated_bounds_stand_before_declared_ones():
    found = steps(Sum(PAY, (Fraction(1), Fraction(2))))
    assert (found.lower, found.upper) == (100, 200)
    assert (steps(Sum(ref("free"), (Fraction(-5), Fraction(5)))).lower) == -5


def test_a_mean_is_a_count_and_a_sum_around_the_middle():
    found = steps(Mean(PAY))
    assert (found.offset, found.ends) == (500, (-500, 500))
    assert [type(c) for c in lowered(Mean(PAY)).components] == [Counted, Counted]
    (output,) = lowered(Mean(PAY)).outputs(3)
    assert (output.count, output.total, output.steps) == (3, 4, found)


@pytest.mark.parametrize(
    "statistic", [Sum(ref("free")), Mean(ref("free")), Variance(ref("free")), VectorSum((ref("free"),))]
)
def test_nothing_is_summed_without_bounds(statistic):
    with pytest.raises(UnboundedSensitivityError, match="Declare bounds"):
        lowered(statistic)


def test_bounds_are_chosen_before_a_statistic_is_lowered():
    with pytest.raises(ParameterError, match="chosen before"):
        lowered(Sum(AGE, AUTO))


def test_a_variance_is_made_of_a_count_a_sum_and_a_sum_of_squares():
    count, total, squares = measures(Variance(AGE))
    assert (count, squares) == (ValueCount((AGE,)), StepProduct(total.steps, total.steps))
    (output,) = lowered(Variance(AGE, population=True, root=True)).outputs(2)
    assert (output.count, output.total, output.squares, output.population, output.root) == (2, 3, 4, True, True)


def test_a_covariance_reads_each_value_only_where_the_other_is_present():
    count, x, y, products = measures(Covariance(AGE, PAY))
    assert x.steps.value == Case(((Not(IsNull(PAY)), AGE),), Null(Kind.INTEGER))
    assert y.steps.value == Case(((Not(IsNull(AGE)), PAY),), Null(Kind.FLOAT))
    assert (count, products) == (ValueCount((x.steps.value, y.steps.value)), StepProduct(x.steps, y.steps))


def test_a_value_that_is_never_null_needs_no_case():
    _, x, y, _ = measures(Covariance(AGE, KIDS))
    assert (x.steps.value, y.steps.value) == (AGE, Case(((Not(IsNull(AGE)), KIDS),), Null(Kind.INTEGER)))


def test_a_correlation_has_the_squares_as_well():
    assert len(measures(Covariance(AGE, PAY, normalized=True))) == 6
    assert lowered(Covariance(AGE, PAY, normalized=True)).outputs(1)[0].squares == (5, 6)
    assert lowered(Covariance(AGE, PAY)).outputs(1)[0].squares is None


@pytest.mark.parametrize("value", [ref("v"), ref("f")])
def test_numbers_that_are_multiplied_have_few_enough_steps(value):
    for measure in measures(Variance(value), WIDE):
        low, high = measure.range()
        assert max(-low, high) <= (MAX_FACTOR // 2 + 1) ** 2


def test_a_sum_of_whole_numbers_has_its_own_lattice_however_wide():
    assert steps(Sum(ref("v")), WIDE).resolution == 1
    assert steps(Sum(ref("v"), (Fraction(0), Fraction(10**12))), WIDE).resolution > 1


def test_a_quantile_has_bins_of_equal_width_over_its_lattice():
    (component,) = lowered(Quantile(PAY, Fraction(1, 4))).components
    assert isinstance(component, Ranked)
    assert (component.quantile, component.statement.cell.width, component.statement.cell.count) == (
        Fraction(1, 4),
        1,
        1001,
    )
    (wide,) = lowered(Quantile(ref("w"), Fraction(1, 4)), WIDE).components
    assert wide.statement.cell.count <= MAX_BINS < wide.statement.cell.count * 2


@pytest.mark.parametrize(("value", "is_whole"), [(AGE, True), (PAY, False), (Call(Function.FLOOR, (PAY,)), False)])
def test_whether_an_answer_is_whole_is_said_by_the_kind_alone(value, is_whole):
    assert lowered(Quantile(value, Fraction(1))).outputs(0)[0].is_whole is is_whole
    assert lowered(Sum(value)).outputs(0)[0].is_whole is is_whole
    assert lowered(VectorSum((value,))).outputs(0)[0].is_whole is is_whole


def bin_of(edges, value, table=PEOPLE, name="pay"):
    """What the cell of a histogram says of a value."""
    (component,) = lowered(Histogram(ref(name), edges), table).components
    index = evaluate(component.statement.cell.value, {name: value})
    assert index is None or index in component.statement.cell.values
    return index


def expected_bin(edges, value):
    """[e₀, e₁), …, [eₖ₋₁, eₖ]; nothing outside."""
    for place, (low, high) in enumerate(pairwise(edges)):
        if low <= value < high or (high == edges[-1] == value):
            return place
    return None


@pytest.mark.parametrize(
    ("value", "place"),
    [(0.0, 0), (0.99, 0), (1.0, 1), (2.5, 2), (2.4999, 1), (5.0, 2), (5.01, None), (-0.01, None), (None, None)],
)
def test_a_histogram_has_its_last_edge_in_its_last_bin(value, place):
    assert bin_of(tuple(map(Fraction, (0, 1, "2.5", 5))), value) == place


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True), st.integers(-25, 25))
def test_bins_are_those_of_plain_python(edges, value):
    ordered = tuple(map(Fraction, sorted(edges)))
    assert bin_of(ordered, value, name="free") == expected_bin(ordered, value)


def test_a_histogram_is_one_vector_with_a_column_a_bin():
    made = lowered(Histogram(PAY, (Fraction(0), Fraction(1), Fraction(5))))
    assert [type(component) for component in made.components] == [Celled]
    assert [(o.name, o.measurement, o.coordinate) for o in made.outputs(4)] == [("x_1", 4, 0), ("x_2", 4, 1)]


def test_different_values_are_counted_after_each_unit_has_each_of_its_own_once():
    (component,) = lowered(CountDistinct(ref("ill"), 3), VISITS, "ward").components
    statement = component.statement
    assert statement.measures == (CellCount(),)
    assert isinstance(statement.rows, Distinct)
    assert statement.rows.child.columns == (("ward", ref("ward")), ("value", ref("ill")))
    assert statement.limits == Limits(max_rows_per_unit=4, max_groups_per_unit=2, max_rows_per_group_per_unit=3)
    assert (statement.cell.value, statement.cell.values) == (ref("value"), None)


def test_the_counted_value_has_a_name_that_no_key_has():
    rows = Select(ground(VISITS).rows, (("Value", ref("ward")), ("value_2", ref("ill"))))
    (component,) = lowered(CountDistinct(ref("value_2")), rows, "Value", "value_2").components
    assert list(shape_of(component.statement.rows).columns) == ["Value", "value_2", "value_3"]


def test_where_each_row_is_a_unit_no_limit_of_values_is_needed():
    (component,) = lowered(CountDistinct(ref("town"), 3)).components
    assert component.statement.limits == Limits()


def test_the_most_frequent_are_of_public_values():
    made = lowered(TopK(ref("sex"), 2))
    (component,) = made.components
    assert isinstance(component, Topped)
    assert (component.k, component.statement.cell.values) == (2, ("f", "m"))
    assert [(o.name, o.coordinate, o.values) for o in made.outputs(0)] == [
        ("x_1", 0, ("f", "m")),
        ("x_2", 1, ("f", "m")),
    ]
    assert lowered(TopK(ref("smokes"))).components[0].statement.cell.values == (False, True)


def test_private_values_or_too_few_have_no_most_frequent():
    with pytest.raises(NotPrivateError, match="values = "):
        lowered(TopK(ref("town")))
    with pytest.raises(ParameterError, match="at most 2"):
        lowered(TopK(ref("sex"), 3))


def test_a_vector_of_sums_is_one_component_with_a_column_each():
    made = lowered(VectorSum((AGE, PAY)))
    (component,) = made.components
    assert len(component.measures) == 2
    assert [(o.name, o.coordinate, o.resolution, o.is_whole) for o in made.outputs(5)] == [
        ("x_1", 0, 1, True), ("x_2", 1, Fraction("0.01"), False),
    ]  # fmt: skip


def test_sums_of_text_are_refused():
    with pytest.raises(ParameterError, match="number"):
        lowered(Sum(ref("town")))
