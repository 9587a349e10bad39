import math
import subprocess
import sys

import numpy as np
import pytest

from sfumato import plots
from sfumato.errors import ParameterError
from sfumato.plots.panels import curve, drawable, numbers, pairs


def test_every_axis_of_every_figure_has_a_name():
    figures = (
        plots.group_privacy(1, [1, 2]),
        plots.survey_tradeoff([1, 2], [0.1, 0.05]),
        plots.composition({"F1": [1.0, 2.0]}),
        plots.privacy_loss([-1, 1], [0.3, 0.7]),
        plots.trade_off({"one": ([0, 1], [1, 0])}),
        plots.privacy_profile({"one": ([0, 1], [1, 0.5])}),
        plots.risk([1]),
    )
    assert all(axes.get_ylabel() for figure in figures for axes in figure.axes)
    assert all(figure.axes[-1].get_xlabel() for figure in figures)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ParameterError, match=r"run: pip install matplotlib$"):
        plots.group_privacy(1, [1, 2])


def test_a_picture_never_loads_pyplot_and_its_global_state():
    draw = "import sys; from sfumato import plots; plots.group_privacy(1, [1, 2])"
    code = f"{draw}; print('matplotlib.pyplot' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_numbers_are_as_many_in_each_column_and_gaps_are_nan():
    places, heights = numbers(places=(1, 2), heights=[None, 3])
    assert np.isnan(heights).tolist() == [True, False]
    assert places.tolist() == [1, 2]


@pytest.mark.parametrize(
    "given", [{"places": None}, {"places": "12"}, {"places": []}, {"places": [1], "heights": [1, 2]}, {"places": [[1]]}]
)
def test_what_are_no_columns_is_refused_by_name(given):
    with pytest.raises(ParameterError, match=r"^(places|heights) = "):
        numbers(**given)


def test_gaps_are_refused_where_there_is_no_place_for_them():
    with pytest.raises(ParameterError, match=r"^places = .*: must be finite numbers$"):
        numbers(places=[1, None], are_finite=True)


@pytest.mark.parametrize("values", [None, [1, 2], [(1, 2, 3)], [(1, "a")]], ids=str)
def test_pairs_are_two_numbers_each(values):
    assert pairs([], "limits").shape == (0, 2)
    with pytest.raises(ParameterError, match=r"^limits = "):
        pairs(values, "limits")


@pytest.mark.parametrize("values", [None, ([1],), ([1], [1, 2]), (1, 2)], ids=str)
def test_a_curve_is_two_columns(values):
    with pytest.raises(ParameterError, match=r"one"):
        curve(values, "curves['one']")


@pytest.mark.parametrize("value", [None, "a", True, 1e301, math.nan, math.inf], ids=str)
def test_a_number_that_has_no_place_in_a_picture_is_refused(value):
    assert drawable("1/4", "claimed") == 0.25
    assert drawable(math.inf, "mean", may_be_infinite=True) == math.inf
    with pytest.raises(ParameterError, match=r"^claimed = "):
        drawable(value, "claimed")


@pytest.mark.parametrize("name", ["title", "x_label", "y_label", "caption"])
def test_words_of_a_picture_are_text(name):
    measured = {"": plots.Measured(values=[1], lows=[1], highs=[1])}
    with pytest.raises(ParameterError, match=f"^{name} = 3: must be text$"):
        plots.small_multiples(measured, ["a"], **{name: 3})


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_as_its_ending_says(tmp_path, ending, start):
    path = plots.save(plots.group_privacy(1, [1, 2]), tmp_path / "new" / f"group.{ending}")
    assert path.read_bytes().startswith(start)


def test_an_unknown_ending_is_refused_with_those_that_work(tmp_path):
    with pytest.raises(ParameterError, match=r"png.*svg"):
        plots.save(plots.group_privacy(1, [1, 2]), tmp_path / "group.docx")
