import math
import subprocess
import sys

import numpy as np
import pytest

from sfumato import plots
from sfumato.errors import ParameterError

LABELS = ("17–23", "24–31", "32–38")


def heights(axes, container):
    return [bar.get_height() for bar in axes.containers[container].patches]


def legend_texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def tick_texts(axes):
    return [text.get_text() for text in axes.get_xticklabels()]


def spans(axes):
    """The ends of the vertical error bars of the last container."""
    (bars,) = axes.containers[-1].lines[2]
    return [(low, high) for (_, low), (_, high) in bars.get_segments()]


def test_a_histogram_shows_true_and_private_counts_side_by_side():
    (axes,) = plots.histogram(LABELS, [10, 20, 30], [12, -3, 33], [5, 5, 5]).axes
    assert (heights(axes, 0), heights(axes, 1)) == ([10, 20, 30], [12, -3, 33])
    assert tick_texts(axes) == list(LABELS)
    assert legend_texts(axes) == ["true", "private", "95% interval"]
    true, private = (axes.containers[side].patches[0] for side in (0, 1))
    assert true.get_x() + true.get_width() == pytest.approx(private.get_x())


def test_error_bars_reach_as_far_as_the_errors_say():
    (axes,) = plots.histogram(LABELS, [10, 20, 30], [12, -3, 33], [5, 6, 7], confidence=0.9).axes
    assert spans(axes) == [(7, 17), (-9, 3), (26, 40)]
    assert "90% interval" in legend_texts(axes)


def test_a_histogram_of_secret_data_has_no_true_counts():
    (axes,) = plots.histogram(LABELS, None, [12, -3, 33], [5, 5, 5]).axes
    assert legend_texts(axes) == ["private", "95% interval"]


def test_bars_have_their_intervals():
    (axes,) = plots.bars(["n"], [6472], [6442], [6512], y_label="people").axes
    assert heights(axes, 0) == [6472]
    assert spans(axes) == [(6442, 6512)]
    assert axes.get_ylabel() == "people"


def test_one_bar_alone_does_not_fill_the_picture():
    (axes,) = plots.bars(["n"], [6472], [6442], [6512]).axes
    low, high = axes.get_xlim()
    assert axes.containers[0].patches[0].get_width() < (high - low) / 5


@pytest.mark.parametrize(("name", "turned"), [("short", False), ("Married-spouse-absent", True)])
def test_long_labels_are_turned(name, turned):
    (axes,) = plots.bars([name] * 7, [1] * 7, [0] * 7, [2] * 7).axes
    assert {label.get_rotation() > 0 for label in axes.get_xticklabels()} == {turned}


def test_composition_names_each_standard_deviation():
    generator = np.random.default_rng(5)
    samples = {"F1": generator.normal(0, 14, 4_000), "F3": generator.normal(0, 4.7, 4_000)}
    (axes,) = plots.composition(samples).axes
    assert legend_texts(axes) == [f"{name}: σ = {np.std(values):.3g}" for name, values in samples.items()]


def test_bins_hold_as_many_whole_numbers_each():
    (axes,) = plots.composition({"uniform": list(range(100)) * 10}).axes
    inner = axes.patches[0].get_data().values[1:-1]
    assert np.ptp(inner) == pytest.approx(0)


def test_composition_draws_outputs_that_lie_close_together():
    (axes,) = plots.composition({"mean": np.linspace(0.1, 0.2, 500)}).axes
    assert len(axes.patches[0].get_data().values) == 40


def test_group_privacy_grows_with_the_group_and_marks_its_limits():
    upper, lower = plots.group_privacy(0.1, [1, 10, 100, 1_000]).axes
    assert upper.lines[0].get_ydata().tolist() == pytest.approx([0.1, 1, 10, 100])
    assert lower.lines[0].get_ydata()[1] == pytest.approx(math.e / (1 + math.e))
    assert legend_texts(upper) == ["k = 1/ε", "k = 100/ε"]
    assert [line.get_xdata()[0] for line in lower.lines[1:]] == pytest.approx([10, 1_000])


def test_group_privacy_of_a_huge_group_is_certainty_without_overflow():
    _, lower = plots.group_privacy(1, [1, 1_000_000]).axes
    assert lower.lines[0].get_ydata()[-1] == 1


def test_fair_coins_let_an_adversary_believe_three_quarters():
    figure = plots.survey_tradeoff([math.log(3), 2], [0.1, 0.07], sampling_error=0.049, marks={"fair coins": 1.0986})
    upper, lower = figure.axes
    assert lower.lines[0].get_ydata()[0] == pytest.approx(0.75)
    assert upper.lines[0].get_ydata().tolist() == pytest.approx([10, 7])
    assert legend_texts(upper) == ["estimate from noisy answers", "if all told the truth", "fair coins, ε = 1.1"]


def test_every_axis_of_every_figure_has_a_name():
    figures = (
        plots.group_privacy(1, [1, 2]),
        plots.survey_tradeoff([1, 2], [0.1, 0.05]),
        plots.composition({"F1": [1.0, 2.0]}),
    )
    assert all(axes.get_ylabel() for figure in figures for axes in figure.axes)
    assert all(figure.axes[-1].get_xlabel() for figure in figures)


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.histogram(LABELS, [1, 2], [1, 2, 3], [1, 1, 1]),
        lambda: plots.histogram(LABELS, None, [1, 2, 3], [1]),
        lambda: plots.bars([], [], [], []),
        lambda: plots.bars(["n"], [5], [6], [7]),
        lambda: plots.composition({}),
        lambda: plots.composition({"F1": [1.0]}),
        lambda: plots.group_privacy(0, [1]),
        lambda: plots.group_privacy(math.inf, [1]),
        lambda: plots.group_privacy(1, []),
        lambda: plots.group_privacy(1, [0.5, 2]),
        lambda: plots.survey_tradeoff([1, 2], [0.1]),
    ],
)
def test_numbers_that_make_no_picture_are_refused(call):
    with pytest.raises(ParameterError):
        call()


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_as_its_ending_says(tmp_path, ending, start):
    path = plots.save(plots.group_privacy(1, [1, 2]), tmp_path / "new" / f"group.{ending}")
    assert path.read_bytes().startswith(start)


def test_an_unknown_ending_is_refused_with_those_that_work(tmp_path):
    with pytest.raises(ParameterError, match=r"png.*svg"):
        plots.save(plots.group_privacy(1, [1, 2]), tmp_path / "group.docx")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ParameterError, match=r"pip install sfumato\[plots\]"):
        plots.group_privacy(1, [1, 2])


def test_a_picture_never_loads_pyplot_and_its_global_state():
    draw = "import sys; from sfumato import plots; plots.group_privacy(1, [1, 2])"
    code = f"{draw}; print('matplotlib.pyplot' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
