import pytest
from tests.cli.demo.telling import quiet_stage, row, sentences

from sfumato.cli.demo import ages
from sfumato.errors import ParameterError

TRUE = {"17-24": "5,570", "39-46": "6,163", "76-82": "174", "83-90": "67"}


def test_every_bin_is_shown_true_and_private(stage, people, curators):
    ages.show(stage, people, curators.people)
    assert {label: row(stage, label)[1] for label in TRUE} == TRUE
    assert row(stage, "83-90")[2].removesuffix(" ≲ noise").endswith("± 300")


def test_the_picture_is_a_png(stage, people, curators):
    ages.show(stage, people, curators.people)
    assert (stage.output / ages.PICTURE).read_bytes().startswith(b"\x89PNG")
    assert f"Picture: {stage.output / ages.PICTURE}" in sentences(stage)


def test_it_says_which_bins_drown_in_the_noise(stage, people, curators):
    ages.show(stage, people, curators.people)
    assert "= 141 people" in sentences(stage)
    assert "drown in it (76-82, 83-90)" in sentences(stage)


def test_the_whole_histogram_costs_its_epsilon_once(stage, people, curators):
    ages.show(stage, people, curators.people)
    assert str(curators.people.spent) == "ε 0.01"


def test_without_matplotlib_the_table_is_all(stage, people, curators, monkeypatch):
    def missing(*_, **__):
        raise ParameterError("matplotlib", None, "is needed for pictures")

    monkeypatch.setattr(ages, "histogram", missing)
    ages.show(stage, people, curators.people)
    assert "No picture: matplotlib" in sentences(stage)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, people, curators):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ParameterError, match="output = "):
        ages.show(quiet_stage(tmp_path / "file" / "folder"), people, curators.people)
