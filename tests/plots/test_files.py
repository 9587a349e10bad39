import pytest

from sfumato import plots
from sfumato.errors import ParameterError


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_is_saved_as_its_ending_says(tmp_path, ending, start):
    path = plots.save(plots.group_privacy(1, [1, 2]), tmp_path / "new" / f"group.{ending}")
    assert path.read_bytes().startswith(start)


def test_an_unknown_ending_is_refused_with_those_that_work(tmp_path):
    with pytest.raises(ParameterError, match=r"png.*svg"):
        plots.save(plots.group_privacy(1, [1, 2]), tmp_path / "group.docx")
