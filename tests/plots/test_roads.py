import math

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.plots.roads import speeds_on_roads

LINES = [[(0, 0), (0, 1)], [(0, 1), (1, 1)], [(1, 1), (2, 1), (2, 0)]]


def drawn(figure):
    """The collections of the map: water, roads that are not shown, and roads that are."""
    return figure.axes[0].collections


def test_color_is_speed_and_width_grows_with_the_count():
    figure = speeds_on_roads(LINES, speeds=[30, 50, 20], counts=[100, 25, 0], title="t", caption="ε 1")
    water, hidden, roads = drawn(figure)
    assert (len(water.get_segments()), len(hidden.get_segments()), len(roads.get_segments())) == (0, 0, 3)
    assert roads.get_array().tolist() == [30, 50, 20]
    wide, middle, narrow = roads.get_linewidths()
    assert wide - narrow == pytest.approx(2 * (middle - narrow))
    assert figure.axes[1].get_ylabel() == "mean speed (km/h)"
    assert "ε 1" in figure.texts[-1].get_text()


def test_what_is_not_shown_is_grey_and_thin_and_without_a_speed():
    _, hidden, roads = drawn(speeds_on_roads(LINES, speeds=[30, None, 20], counts=[9, 9, None], title="t"))
    assert len(hidden.get_segments()) == 2
    assert roads.get_array().tolist() == [30]
    assert hidden.get_linewidths()[0] < roads.get_linewidths()[0]


def test_nothing_to_show_is_a_map_without_colors():
    figure = speeds_on_roads(LINES, speeds=[None] * 3, counts=[None] * 3, water=[[(0, 0), (1, 1)]], title="t")
    assert len(figure.axes) == 1
    assert len(drawn(figure)[0].get_segments()) == 1


def test_a_meter_is_as_long_to_the_north_as_to_the_east():
    north = [[(0, 59.99), (0, 60.01)], [(0, 60.01), (0.02, 60.01)]]
    figure = speeds_on_roads(north, speeds=[1, 1], counts=[1, 1], title="t")
    assert figure.axes[0].get_aspect() == pytest.approx(1 / math.cos(math.radians(60)))


def test_heights_are_left_out():
    assert (
        len(drawn(speeds_on_roads([[(0, 0, 9), (0, 1, 9)]], speeds=[1], counts=[1], title="t"))[2].get_segments()) == 1
    )


@pytest.mark.parametrize(
    "wrong",
    [{"lines": []}, {"speeds": [1]}, {"lines": [[(0, 0)]] * 3}, {"lines": [[(0,), (1,)]] * 3}, {"lines": [3] * 3},
     {"lines": [[(0, 0), (0, np.nan)]] * 3}, {"counts": 3}, {"title": 3}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(wrong):
    arguments = {"lines": LINES, "speeds": [1, 1, 1], "counts": [1, 1, 1], "title": "t"} | wrong
    with pytest.raises(ParameterError):
        speeds_on_roads(arguments.pop("lines"), **arguments)
