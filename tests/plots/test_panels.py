import subprocess
import sys

import pytest

from sfumato import plots
from sfumato.errors import ParameterError


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
