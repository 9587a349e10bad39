"""Pictures of maps: what has a color is told from 0, and what is refused."""

import pytest

from sfumato.errors import ParameterError
from sfumato.plots.maps import colored_cells, outlines_of

SQUARE = [[[(0, 0), (1, 0), (1, 1), (0, 1)], [(0.4, 0.4), (0.4, 0.6), (0.6, 0.6)]]]
LINE = [(0, 0), (1, 1)]


def test_only_values_that_are_told_from_0_have_a_color():
    figure = colored_cells(
        [SQUARE] * 4, values=[1, None, 3, 4], is_noise=[False, False, True, False], title="t", label="$n$"
    )
    drawn = [one.get_array() for one in figure.axes[0].collections if one.get_array() is not None]
    assert [list(values) for values in drawn] == [[1, 4]]
    assert len(figure.axes) == 2  # the map and its colors
    nothing = colored_cells([SQUARE], values=[None], is_noise=[True], title="t", label="n", caption="ε $1$")
    assert len(nothing.axes) == 1


def test_lists_that_do_not_fit_are_refused():
    for cells, values in (([], []), ([SQUARE], [1, 2])):
        with pytest.raises(ParameterError):
            colored_cells(cells, values=values, is_noise=[False], title="t", label="n")


def test_lines_of_all_kinds_are_outlines():
    kinds = {"LineString": LINE, "MultiLineString": [LINE, LINE], "Point": LINE[0]}
    features = [{"geometry": {"type": kind, "coordinates": own}} for kind, own in kinds.items()]
    assert outlines_of({"features": features}) == [LINE, LINE, LINE]
