"""Every example as a reader runs it: as a script, with a folder for pictures."""

import runpy
import sys

import pytest
from tests.meta.repository import ROOT

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
PICTURES = {
    "d04_age_histogram",
    "d09_sequential_composition",
    "d11_group_privacy",
    "d12_survey",
    "f02_onthemap",
    "f10_baskets",
    "g03_reconstruction",
    "g06_unicity",
}


@pytest.mark.essential
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_shows_exact_and_private_values_and_what_was_spent(script, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    out = capsys.readouterr().out
    assert "owner only" in out or "known to nobody" in out
    assert "spent" in out
    expected = [f"{script.stem}.png"] if script.stem in PICTURES else []
    assert [path.name for path in tmp_path.iterdir()] == expected


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_that_draws_many_times_says_that_it_is_a_simulation(script):
    text = script.read_text("utf-8")
    many = "release_many(" in text or "np.full(" in text or "range(runs)" in text
    assert not many or "simulat" in text


def test_there_are_thirty_two_examples_and_each_has_its_tests_and_its_place_in_the_tutorial():
    tutorial = (ROOT / "docs" / "tutorials" / "examples.md").read_text("utf-8")
    assert len(SCRIPTS) == 32
    for script in SCRIPTS:
        assert (ROOT / "tests" / "examples" / f"test_{script.name}").is_file()
        assert f"../../examples/{script.name}" in tutorial
