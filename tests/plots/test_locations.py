"""Charts of locations."""

import pytest

from sfumato.errors import ParameterError
from sfumato.plots import distances_over_reports


def test_a_line_for_each_device_and_a_title_that_says_what_is_given_away():
    figure = distances_over_reports([1, 100], {"fresh": [300, 30], "remembered": [290, 290]})
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.get_lines()] == ["fresh", "remembered"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    text = axes.get_title(loc="left")
    assert "30 m" in text
    assert "290 m" in text


@pytest.mark.parametrize(
    ("reports", "distances"),
    [
        ([1], {"a": [1, 2]}),
        ([0], {"a": [1]}),
        ([1], {"a": [0]}),
        ([1], {}),
        ([1], 5),
        ([], {"a": []}),
        ([1], {"a": ["x"]}),
    ],
)
def test_what_cannot_be_drawn_is_refused(reports, distances):
    with pytest.raises(ParameterError):
        distances_over_reports(reports, distances)
