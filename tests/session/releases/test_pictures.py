"""An answer chooses its picture by its keys; nothing that was released is left out unsaid."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.plots.reading import heights, tick_texts
from tests.query.planned import N, ref
from tests.session.desk import SURE, asked, desk, rows

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.schema import Table, date, integer, text
from sfumato.query.statistics.estimates import AnswerValue
from sfumato.query.statistics.histograms import Histogram
from sfumato.query.statistics.top_values import TopValues

DAYS = [dt.date(2026, 1, day) for day in range(1, 32)]
VISITS = Table(
    name="visits",
    columns={
        "sex": text(values=["f", "m"]),
        "ward": text(values=["A", "B", "C"]),
        "age": integer(0, 99),
        "year": integer(values=range(40)),
        "day": date(values=DAYS),
    },
)
DATA = rows(
    VISITS,
    *[{"sex": "f", "ward": "A", "age": 20, "year": 3, "day": DAYS[0]}] * 3,
    *[{"sex": "m", "ward": "C", "age": 70, "year": 9, "day": DAYS[9]}] * 2,
)
AGES = ("h", Histogram(ref("age"), tuple(map(Fraction, (0, 18, 65, 99)))))


def release(*statistics, epsilon=SURE, **clauses):
    question = asked(desk((VISITS, DATA), budget=sf.NO_GUARANTEE), VISITS, statistics=statistics or (N,), **clauses)
    return question.release(epsilon=epsilon, delta=0)


def panels(found, statistic=None):
    figure = found.plot(statistic)
    figure.canvas.draw()
    return figure.axes


def caption(found, statistic=None):
    return found.plot(statistic).texts[-1].get_text()


def test_a_histogram_is_drawn_by_its_bins_and_edges():
    found = release(AGES)
    (axes,) = panels(found)
    assert heights(axes, 0) == [0, 3, 2]
    assert tick_texts(axes) == ["0", "18", "65", "99"]
    assert axes.get_xlabel() == "age (bins of different widths, drawn equally wide)"
    assert heights(panels(found, "h")[0], 0) == [0, 3, 2]


def test_one_bin_can_be_drawn_by_its_own_name():
    (axes,) = panels(release(AGES), "h_2")
    assert "3" in axes.texts[0].get_text()


def test_a_histogram_of_each_group_has_a_panel():
    axes = panels(release(AGES, keys=("sex",)))
    assert [one.get_title("left") for one in axes] == ["f", "m"]
    assert [heights(one, 0) for one in axes] == [[0, 3, 0], [0, 0, 2]]


def test_a_histogram_under_other_names_keeps_its_edges():
    columns = tuple((f"bin{number}", ColumnRef(f"h_{number}")) for number in (1, 2, 3))
    (histogram,) = release(AGES, columns=columns).histograms
    assert histogram.columns == ("bin1", "bin2", "bin3")
    assert release(AGES, columns=columns[:2]).histograms == ()


def test_one_number_is_drawn_on_a_line():
    (axes,) = panels(release())
    assert axes.texts[0].get_text().startswith("5")


def test_a_number_of_unknown_error_is_drawn_too_and_that_is_said():
    found = release()
    unknown = replace(found, estimates=((AnswerValue(value=7, low=None, high=None),),))
    assert panels(unknown)[0].texts[0].get_text() == "7 ± ∞ ≲ noise"
    assert caption(unknown).endswith("where none is drawn, the error is not known")


def test_over_dates_there_is_a_series_with_a_band():
    (axes,) = panels(release(keys=("day",)))
    assert np.nansum(axes.lines[0].get_ydata()) == 5
    assert len(axes.collections) >= 1
    assert len(tick_texts(axes)) < 10


def test_over_many_numbers_there_is_a_series():
    (axes,) = panels(release(keys=("year",)))
    assert len(axes.lines[0].get_ydata()) == 40


def test_over_names_there_are_bars_in_the_order_of_the_answer():
    (axes,) = panels(release(keys=("ward",)))
    assert (heights(axes, 0), tick_texts(axes)) == ([3, 0, 2], ["A", "B", "C"])


def test_two_keys_make_small_multiples_and_time_goes_along_the_bottom():
    axes = panels(release(keys=("sex", "ward")))
    assert [one.get_title("left") for one in axes] == ["f", "m"]
    assert [heights(one, 0) for one in axes] == [[3, 0, 0], [0, 0, 2]]
    days = panels(release(keys=("day", "ward")))
    assert [one.get_title("left") for one in days] == ["A", "B", "C"]


def test_three_keys_make_a_panel_for_each_pair():
    axes = panels(release(keys=("sex", "ward", "day")))
    assert [one.get_title("left") for one in axes][:2] == ["f · A", "f · B"]


def test_groups_that_the_answer_does_not_tell_apart_are_all_drawn():
    found = release(keys=("sex", "ward"), columns=(("sex", ColumnRef("sex")), ("n", ColumnRef("n"))))
    (axes,) = panels(found)
    assert heights(axes, 0) == [3, 0, 0, 0, 0, 2]


def test_too_many_panels_are_refused_with_what_to_do():
    with pytest.raises(ParameterError, match="has 40 groups, and at most 24 panels are drawn"):
        release(keys=("day", "year")).plot()


def test_words_are_refused():
    with pytest.raises(ParameterError, match="contains no numbers"):
        release(("w", TopValues(ref("ward")))).plot()


def test_the_caption_says_what_intervals_are_and_what_was_paid():
    assert caption(release(N, epsilon=1)) == "95% intervals; ε 1"


def test_a_group_that_is_not_in_the_answer_is_a_gap_and_that_is_said():
    found = release(N, keys=("sex", "ward"))
    assert "gap" not in caption(found)
    without_first = replace(found, groups=found.groups[1:], estimates=found.estimates[1:])
    assert caption(without_first).endswith("what was not released is a gap")


def test_what_is_nowhere_on_the_axis_is_said_not_to_be_drawn():
    found = release(N, keys=("day",))
    total = replace(found, groups=((None,), *found.groups[1:]))
    assert caption(total).endswith("where day is NULL is not drawn")
