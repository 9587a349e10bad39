"""Released numbers are drawn where they belong, with their intervals; what is not there is a gap and never 0."""

import math
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from tests.plots.reading import heights, spans, tick_texts

from sfumato import plots
from sfumato.errors import ParameterError
from sfumato.plots.measured import MOST_PANELS
from sfumato.plots.panels import short_times

FIRST = date(2026, 1, 1)


def measured(*values, error=5):
    ends = [[None if one is None else one + side * error for one in values] for side in (-1, 1)]
    return plots.Measured(values=values, lows=ends[0], highs=ends[1])


def drawn(values, places, form, **options):
    figure = plots.small_multiples({"": measured(*values)}, places, form=form, **options)
    figure.canvas.draw()
    (axes,) = figure.axes
    return axes


def band(axes):
    """The corners of the filled bands."""
    return np.concatenate([path.vertices for path in axes.collections[0].get_paths()])


def test_bins_touch_at_their_edges_and_the_edges_are_named():
    axes = drawn([12, -3, 33], [0, 10, 20, 30], "bins")
    bars = axes.containers[0].patches
    assert heights(axes, 0) == [12, -3, 33]
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars] == [(0, 10), (10, 20), (20, 30)]
    assert tick_texts(axes) == ["0", "10", "20", "30"]
    assert spans(axes) == [(7, 17), (-8, 2), (28, 38)]


def test_bins_of_different_widths_are_equally_wide_so_that_no_area_is_misread():
    axes = drawn([12, 20, 33], [0, 18, 65, 120], "bins")
    assert {bar.get_width() for bar in axes.containers[0].patches} == {1}
    assert tick_texts(axes) == ["0", "18", "65", "120"]


def test_of_many_edges_some_are_named():
    axes = drawn([1] * 200, list(range(201)), "bins")
    assert 4 < len(tick_texts(axes)) < 30
    assert tick_texts(axes)[0] == "0"


def test_a_series_over_dates_has_few_of_them_along_the_bottom_and_a_band():
    days = [FIRST + timedelta(days=number) for number in range(365)]
    axes = drawn(range(365), days, "series")
    assert 3 <= len(tick_texts(axes)) <= 9
    assert tick_texts(axes)[0] == "Jan\n2026"
    assert len(axes.lines[0].get_ydata()) == 365
    corners = band(axes)
    assert (corners[:, 1].min(), corners[:, 1].max()) == (-5, 369)


def test_where_a_day_is_missing_the_line_is_broken():
    days = [FIRST + timedelta(days=number) for number in (0, 1, 2, 5, 6)]
    line = drawn([10, 11, 12, 13, 14], days, "series").lines[0]
    assert [None if math.isnan(one) else one for one in line.get_ydata()] == [10, 11, 12, None, 13, 14]


def test_a_day_that_was_not_released_is_a_gap_and_one_alone_is_a_point_with_its_interval():
    days = [FIRST + timedelta(days=number) for number in range(5)]
    axes = drawn([10, None, 12, None, 14], days, "series")
    assert np.isnan(axes.lines[0].get_ydata()).tolist() == [False, True, False, True, False]
    assert axes.lines[1].get_ydata().tolist() == [10, 12, 14]
    assert spans(axes) == [(5, 15), (7, 17), (9, 19)]


def test_a_series_is_in_the_order_of_its_places_whatever_that_of_the_answer():
    line = drawn([3, 1, 2], [30, 10, 20], "series").lines[0]
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([10, 20, 30], [1, 2, 3])


def test_a_bar_that_was_not_released_has_neither_height_nor_interval():
    axes = drawn([10, None, 12], ["a", "b", "c"], "bars")
    assert heights(axes, 0) == [10, 0, 12]
    assert spans(axes) == [(5, 15), (7, 17)]


def test_a_value_whose_error_is_not_known_has_no_interval():
    values = plots.Measured(values=[10, 12], lows=[None, 11], highs=[None, 13])
    (axes,) = plots.small_multiples({"": values}, ["a", "b"]).axes
    assert spans(axes) == [(11, 13)]


def test_panels_have_one_scale_and_their_names():
    wards = {"A": measured(1, 2), "B": measured(100, 200), "C": measured(3, 4), "D": measured(5, 6)}
    figure = plots.small_multiples(wards, ["f", "m"], title="n by sex and ward", x_label="sex", y_label="n")
    assert [axes.get_title("left") for axes in figure.axes] == list("ABCD")
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert [axes.get_ylabel() for axes in figure.axes] == ["n", "", "n", ""]
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "sex", "sex"]


def test_of_many_names_some_are_written():
    axes = drawn([1] * 200, [f"town {number}" for number in range(200)], "bars")
    assert len(tick_texts(axes)) <= 30


def test_names_with_dollars_are_no_formulas():
    figure = plots.small_multiples(
        {"$a$": measured(1), r"$\frac$": measured(2)}, ["$x$"], title="$", x_label="$x", y_label="$y", caption="$z"
    )
    figure.canvas.draw()


def test_one_number_lies_on_a_line_with_its_interval_and_is_written():
    (axes,) = plots.one_number(6472, 6442, 6512, text="6,472 ± 40").axes
    assert axes.lines[0].get_xdata().tolist() == [6442, 6512]
    assert [text.get_text() for text in axes.texts] == ["6,472 ± 40"]
    assert axes.get_xlim() == (6472 - 80, 6472 + 80)


@pytest.mark.parametrize(("value", "limits"), [(8, (0, 16)), (0, (-2, 2)), (-3, (-6, 0))])
def test_one_number_of_unknown_error_is_a_point(value, limits):
    (axes,) = plots.one_number(value, None, None, text="x").axes
    assert [line.get_xdata().tolist() for line in axes.lines] == [[value]]
    assert axes.get_xlim() == limits


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2026-01-01", "2027-01-01"], ["2026", "2027"]),
        (["2025-11-01", "2026-01-01", "2026-02-01"], ["Nov\n2025", "Jan\n2026", "Feb"]),
        (["2026-01-15", "2026-02-01", "2026-02-15"], ["15\nJan 2026", "1\nFeb", "15"]),
        (["2026-01-31T06:00", "2026-01-31T12:00", "2026-02-01T00:00"], ["6:00\n31 Jan 2026", "12:00", "0:00\n1 Feb"]),
        (["2026-01-31T06:00:30"], ["6:00:30\n31 Jan 2026"]),
    ],
)
def test_times_are_as_short_as_they_can_be_told_apart(times, expected):
    assert short_times([datetime.fromisoformat(time) for time in times]) == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.small_multiples({}, ["a"]),
        lambda: plots.small_multiples({"": measured(1, 2)}, ["a"]),
        lambda: plots.small_multiples({"": measured(1, 2)}, [0, 1], form="bins"),
        lambda: plots.small_multiples({"": measured(1, 2)}, [0, 2, 1], form="bins"),
        lambda: plots.small_multiples(dict.fromkeys(map(str, range(MOST_PANELS + 1)), measured(1)), ["a"]),
        lambda: plots.Measured(values=[5], lows=[6], highs=[7]),
        lambda: plots.Measured(values=[5], lows=[4], highs=[]),
        lambda: plots.one_number(5, 6, 7, text="5"),
    ],
)
def test_numbers_that_make_no_picture_are_refused(call):
    with pytest.raises(ParameterError):
        call()
