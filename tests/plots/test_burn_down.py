import pytest
from tests.plots.reading import legend_texts

from sfumato import plots
from sfumato.errors import ParameterError

DAY = 86_400


def test_what_is_left_is_drawn_in_steps_under_its_name():
    (axes,) = plots.burn_down({"ann": ([0, DAY, 2 * DAY], [1, 0.5, 0.5]), "bob": ([0], [2])}, budget=2).axes
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert axes.lines[0].get_ydata().tolist() == [1, 0.5, 0.5]
    assert axes.lines[0].get_xdata().astype("datetime64[D]").astype(str).tolist()[1] == "1970-01-02"
    assert legend_texts(axes) == ["ann", "bob", "budget"]
    assert axes.get_ylabel() == "ε left"
    assert axes.get_ylim()[0] == 0


def test_how_it_goes_on_is_dashed_in_the_same_color():
    (axes,) = plots.burn_down({"ann": ([0, DAY], [1, 0.5])}, projected_by_name={"ann": ([DAY, 2 * DAY], [0.5, 0])}).axes
    steps, dashed = axes.lines
    assert (dashed.get_linestyle(), dashed.get_color()) == ("--", steps.get_color())
    assert axes.get_legend().get_title().get_text() == "dashed: at this pace"


def test_shares_are_percents():
    figure = plots.burn_down({"ann": ([0, DAY], [1, 0.5])}, unit=None, budget=1)
    figure.canvas.draw()
    assert "100%" in [label.get_text() for label in figure.axes[0].get_yticklabels()]


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.burn_down({}),
        lambda: plots.burn_down({"ann": ([], [])}),
        lambda: plots.burn_down({"ann": ([0, 1], [1])}),
        lambda: plots.burn_down({"ann": ([0], [1])}, projected_by_name={"ann": ([0, 1], [1])}),
    ],
)
def test_numbers_that_make_no_picture_are_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_a_time_after_the_year_9999_is_refused():
    with pytest.raises(ParameterError, match="years 1 to 9999"):
        plots.burn_down({"ann": ([1e15], [1])})
