"""Histograms: their cells, and what they are made of."""

import datetime as dt
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, planned, question, ref
from tests.query.recipes import PAY, lowered

from sfumato.errors import ParameterError
from sfumato.query.model.schema import Table, date, integer, timestamp
from sfumato.query.printing.canonical import question_text
from sfumato.query.statistics.histograms import Histogram, histogram
from sfumato.query.statistics.recipes import NoisyCells
from sfumato.query.values.evaluation import evaluate


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


DATES = Table(name="t", columns={"d": date(), "t": timestamp(), "n": integer()})
JANUARY, MARCH, JUNE = (dt.date(2026, month, 1) for month in (1, 3, 6))


@pytest.mark.parametrize(
    ("name", "edges", "values"),
    [
        (
            "d",
            (JANUARY, MARCH, JUNE),
            {JANUARY: 0, dt.date(2026, 2, 28): 0, MARCH: 1, JUNE: 1, dt.date(2026, 6, 2): None},
        ),
        (
            "t",
            tuple(dt.datetime.combine(day, dt.time.min) for day in (JANUARY, MARCH)),
            {dt.datetime.combine(MARCH, dt.time.min): 0, dt.datetime.combine(MARCH, dt.time(1)): None},
        ),
    ],
)
def test_a_histogram_of_dates_and_times_has_edges_of_their_kind_and_no_bounds(name, edges, values):
    statistic = histogram(name, edges=edges)
    assert {value: bin_of(statistic.edges, value, DATES, name) for value in values} == values
    assert bin_of(statistic.edges, None, DATES, name) is None


@pytest.mark.parametrize(
    ("name", "edges", "message"),
    [
        ("d", (1, 2), "kind of the values, date"),
        (
            "d",
            (dt.datetime.combine(JANUARY, dt.time.min), dt.datetime.combine(MARCH, dt.time.min)),
            "kind of the values",
        ),
        ("t", (JANUARY, MARCH), "kind of the values, timestamp"),
        ("n", (JANUARY, MARCH), "kind of the values, integer"),
        ("d", (MARCH, JANUARY), "in ascending order"),
        ("d", (JANUARY,), "at least two"),
    ],
)
def test_edges_of_another_kind_or_that_do_not_ascend_are_refused(name, edges, message):
    with pytest.raises(ParameterError, match=message):
        planned(DATES, histogram(name, edges=edges))


def test_edges_of_dates_belong_to_the_question():
    first, second = (question(DATES, histogram("d", edges=(JANUARY, end))) for end in (MARCH, JUNE))
    assert question_text(first) != question_text(second)
    assert (
        histogram("d", edges=(JANUARY, MARCH)).sql(["d"]) == "HISTOGRAM(d, ARRAY[DATE '2026-01-01', DATE '2026-03-01'])"
    )


def test_a_histogram_is_one_vector_with_a_column_a_bin():
    made = lowered(Histogram(PAY, (Fraction(0), Fraction(1), Fraction(5))))
    assert [type(component) for component in made.components] == [NoisyCells]
    assert [(o.name, o.measurement, o.coordinate) for o in made.outputs((4,))] == [("x_1", 4, 0), ("x_2", 4, 1)]
