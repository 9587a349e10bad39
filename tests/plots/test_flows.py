import math

import pytest

from sfumato.errors import ParameterError
from sfumato.plots.flows import OWNER_ONLY, flows_on_map

BLOCKS = [[(at, 60), (at + 1, 60), (at + 1, 61), (at, 61)] for at in range(3)]
LINES = [[(0.5, 60.5), (1.5, 60.5)], [(2.5, 60.5), (1.5, 60.5)]]
ASK = {"values": [4, 0, 1], "lines": LINES, "flows": [4, 1], "title": "t"}


def test_blocks_have_the_color_of_their_number_and_lines_the_width_of_their_flow():
    figure = flows_on_map(BLOCKS, label="come from here", caption="ε 1", **ASK)
    empty, blocks, lines = figure.axes[0].collections
    assert len(empty.get_paths()) == 3
    assert blocks.get_array().tolist() == [4, 1]
    wide, narrow = lines.get_linewidths()
    assert (wide - 0.3) == pytest.approx(4 * (narrow - 0.3))
    assert figure.axes[1].get_ylabel() == "come from here"
    assert figure.texts[-1].get_text() == "ε 1"
    assert figure.axes[0].get_aspect() == pytest.approx(1 / math.cos(math.radians(60.5)))


def test_errors_against_exact_flows_are_labeled_as_the_owners():
    figure = flows_on_map(BLOCKS, errors={"0 to 2 km": 0.1, "2 km or more": 0.2}, **ASK)
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left") == OWNER_ONLY)
    assert [bar.get_height() for bar in panel.patches] == [0.1, 0.2]
    assert all(axes.get_title(loc="left") != OWNER_ONLY for axes in flows_on_map(BLOCKS, **ASK).axes)


def test_no_flow_at_all_is_a_map_without_colors():
    figure = flows_on_map(BLOCKS, values=[0, 0, 0], title="t")
    assert len(figure.axes[0].collections[1].get_paths()) == 0


@pytest.mark.parametrize(
    "changed",
    [{"values": [1]}, {"values": [1, -1, 0]}, {"values": [1, float("nan"), 0]}, {"flows": [1]}, {"flows": "ab"},
     {"outlines": []}, {"outlines": [[1]]}, {"lines": [[(0, "x"), (1, 1)]] * 2}, {"errors": [1]}, {"label": 3}],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(changed):
    with pytest.raises(ParameterError):
        flows_on_map(**{"outlines": BLOCKS} | ASK | changed)
