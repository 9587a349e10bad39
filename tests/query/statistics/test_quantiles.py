"""Quantiles: their bins, and what they are made of."""

import datetime as dt
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import grouped, planned, ref
from tests.query.recipes import AGE, PAY, WIDE, lowered

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.expressions import Call, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table, date, integer, timestamp
from sfumato.query.statistics.estimates import Misrank
from sfumato.query.statistics.means import Sum
from sfumato.query.statistics.quantiles import MAX_BINS, Percentile, median, quantile
from sfumato.query.statistics.quantiles import max as sf_max
from sfumato.query.statistics.quantiles import min as sf_min
from sfumato.query.statistics.recipes import BinQuantile
from sfumato.query.statistics.vectors import VectorSum
from sfumato.query.values.evaluation import evaluate


def test_a_quantile_has_bins_of_equal_width_over_its_lattice():
    (component,) = lowered(Percentile(PAY, Fraction(1, 4))).components
    assert isinstance(component, BinQuantile)
    assert (component.quantile, component.statement.cell.width, component.statement.cell.count) == (
        Fraction(1, 4),
        1,
        1001,
    )
    (wide,) = lowered(Percentile(ref("w"), Fraction(1, 4)), WIDE).components
    assert wide.statement.cell.count <= MAX_BINS < wide.statement.cell.count * 2


@pytest.mark.parametrize(("value", "is_whole"), [(AGE, True), (PAY, False), (Call(Function.FLOOR, (PAY,)), False)])
def test_whether_an_answer_is_whole_is_said_by_the_kind_alone(value, is_whole):
    assert lowered(Percentile(value, Fraction(1))).outputs((0,))[0].is_whole is is_whole
    assert lowered(Sum(value)).outputs((0,))[0].is_whole is is_whole
    assert lowered(VectorSum((value,))).outputs((0,))[0].is_whole is is_whole


DATES = Table(
    name="t",
    columns={
        "d": date("2026-01-01", "2026-01-31"), "t": timestamp("2026-01-01 00:00", "2026-01-01 00:59:59"),
        "any": date(), "long": timestamp("0001-01-01 00:00", "9999-12-31 23:59:59.999999"), "n": integer(0, 9),
    },
)  # fmt: skip
DAY, NOON = dt.date(2026, 1, 31), dt.datetime.fromisoformat("2026-01-31 12:00")


def shown(statistic, *rows):
    """The answers that a statistic makes of chosen bins."""
    recipe = lowered(statistic, DATES)
    outputs = recipe.outputs(range(len(recipe.components)))
    return [outputs[0].estimate(row, Misrank(error=1, unit="ranks")) for row in rows]


def test_a_day_has_a_bin_and_a_time_one_a_second():
    for name, count in (("d", 31), ("t", 3600)):
        (component,) = lowered(Percentile(ref(name), Fraction(1, 2)), DATES).components
        assert (component.statement.cell.count, component.statement.cell.width) == (count, 1)
    (wide,) = lowered(Percentile(ref("long"), Fraction(1, 2)), DATES).components
    assert wide.statement.cell.count <= MAX_BINS


def test_what_is_chosen_of_days_and_times_is_shown_as_one():
    assert [one.value for one in shown(median("d"), [[0]], [[30]])] == [dt.date(2026, 1, 1), dt.date(2026, 1, 31)]
    first, last = (dt.datetime.fromisoformat(f"2026-01-01 00:{end}") for end in ("00:00", "59:59"))
    assert [one.value for one in shown(median("t"), [[0]], [[3599]])] == [first, last]
    assert {(one.low, one.high) for one in shown(median("d"), [[0]])} == {(None, None)}


def test_the_ends_of_a_bought_interval_are_days_on_both_sides_whichever_was_chosen_for_which():
    for row in ([[3], [1], [9]], [[3], [9], [1]]):
        (one,) = shown(median("d", interval=True), row)
        assert (one.value, one.low, one.high) == (dt.date(2026, 1, 4), dt.date(2026, 1, 2), dt.date(2026, 1, 10))
        assert one.half_width == inf
        assert not one.is_mostly_noise
        assert not one.is_unbounded


def test_the_last_bin_of_all_time_lies_within_it():
    bins = lowered(median("long"), DATES).components[0].statement.cell
    first, last = shown(median("long"), [[0]], [[bins.count - 1]])
    assert first.value.year == 1
    assert last.value.year == 9999


@given(st.datetimes())
def test_a_time_is_so_many_seconds_after_the_first_one_that_there_is(moment):
    (component,) = lowered(median("long"), DATES).components
    seconds = evaluate(component.statement.cell.value, {"long": moment})
    assert seconds == (moment - dt.datetime.combine(dt.date.min, dt.time.min)) // dt.timedelta(seconds=1)
    assert evaluate(component.statement.cell.value, {"long": None}) is None


@pytest.mark.parametrize("make", [median, sf_min, sf_max, lambda value, **more: quantile(value, "0.9", **more)])
def test_dates_are_clamped_to_stated_bounds_and_null_stays_null(make):
    bounded = make("any", bounds=(dt.date(2026, 1, 1), DAY))
    (component,) = lowered(bounded, DATES).components
    steps = component.statement.cell.steps
    assert (component.statement.cell.count, steps.nullable) == (31, True)
    low, high, nothing = (evaluate(steps.value, {"any": day}) for day in (dt.date.min, dt.date.max, None))
    assert (low, high, nothing) == (steps.lower, steps.upper, None)


@pytest.mark.parametrize(
    ("statistic", "error", "message"),
    [
        (lambda: median("any"), UnboundedSensitivityError, "sf.date"),
        (lambda: median("d", bounds=(0, 9)), ParameterError, "two dates"),
        (lambda: median("t", bounds="auto"), ParameterError, "two timestamps"),
        (lambda: median("d", bounds=(DAY, DAY)), ParameterError, "lower bound below"),
        (lambda: median("d", bounds=(DAY, NOON)), ParameterError, "two dates or two timestamps"),
        (lambda: median("t", bounds=(dt.date(2026, 1, 1), DAY)), ParameterError, "one kind"),
        (lambda: median("n", bounds=(dt.date(2026, 1, 1), DAY)), ParameterError, "one kind"),
        (lambda: median("t", bounds=(NOON, NOON.replace(year=2027, tzinfo=dt.UTC))), ParameterError, "time zone"),
        (lambda: Percentile(Literal("x"), Fraction(1, 2)), ParameterError, "numbers, dates or timestamps"),
    ],
)
def test_dates_without_bounds_or_with_other_bounds_are_refused(statistic, error, message):
    with pytest.raises(error, match=message):
        planned(DATES, statistic())


def test_a_quantile_of_dates_has_the_kind_of_dates():
    for name, kind in (("d", Kind.DATE), ("t", Kind.TIMESTAMP), ("n", Kind.INTEGER)):
        (facts,) = median(name).facts(grouped(DATES).shape)
        assert facts.kind is kind
