"""The notebook as a reader runs it: every cell in order, in a kernel of its own."""

import nbformat
import pytest
from nbclient import NotebookClient
from tests.meta.repository import ROOT

pytestmark = pytest.mark.docs
NOTEBOOK = ROOT / "docs" / "tutorials" / "attacks.ipynb"
PICTURES = 3


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = str(tmp_path_factory.mktemp("notebook"))
    return NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()


def shown(notebook):
    return [
        output["data"] if "data" in output else {"text/plain": output["text"]}
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.get("name") != "stderr"
    ]


def test_every_cell_runs_and_shows_as_many_pictures_as_the_saved_one(run):
    pictures = [sum("image/png" in output for output in shown(one)) for one in (run, nbformat.read(NOTEBOOK, 4))]
    assert pictures == [PICTURES, PICTURES]


def test_attacks_win_on_exact_answers_and_not_on_those_of_a_session(run):
    text = "\n".join(output["text/plain"] for output in shown(run))
    assert "156000" in text
    assert "right in 5,000 of 5,000" in text
    assert "right in 8,700 of 10,000" in text
    assert "a session, 100 times: 1 answer, spent ε 1" in text
    assert "privacy violation" in text.partition("claimed ε = 0.5")[2]
    assert "A pass proves nothing" in text.partition("claimed ε = 0.5")[0]
