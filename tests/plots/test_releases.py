import pytest
from tests.plots.reading import heights, legend_texts, spans, tick_texts

from sfumato import plots
from sfumato.errors import ParameterError

LABELS = ("17–23", "24–31", "32–38")


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


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.histogram(LABELS, [1, 2], [1, 2, 3], [1, 1, 1]),
        lambda: plots.histogram(LABELS, None, [1, 2, 3], [1]),
        lambda: plots.bars([], [], [], []),
        lambda: plots.bars(["n"], [5], [6], [7]),
    ],
)
def test_numbers_that_make_no_picture_are_refused(call):
    with pytest.raises(ParameterError):
        call()
