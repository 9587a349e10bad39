import pytest
from tests.cli.demo.telling import quiet_stage, row, sentences

from sfumato.cli.demo import census
from sfumato.cli.demo.stage import MARITAL_STATUS
from sfumato.errors import ParameterError
from sfumato.mechanisms import Exponential


def test_both_answers_stand_beside_the_true_one(stage, people, curators):
    census.show_over_fifty(stage, people, curators.people)
    assert row(stage, "0.1")[1:2] + row(stage, "0.1")[3:] == ["6,460", "ε 0.1"]
    assert row(stage, "0.001")[1:2] + row(stage, "0.001")[3:] == ["6,460", "ε 0.001"]


@pytest.mark.parametrize(("epsilon", "error"), [("0.1", "± 30"), ("0.001", "± 2,996")])
def test_the_error_bar_is_that_of_its_epsilon(stage, people, curators, epsilon, error):
    census.show_over_fifty(stage, people, curators.people)
    assert row(stage, epsilon)[2].removesuffix(" ≲ noise").endswith(error)


def test_the_first_answer_comes_back_for_its_receipt(stage, people, curators):
    release = census.show_over_fifty(stage, people, curators.people)
    assert str(release.receipt.guarantee) == "ε 0.1"
    assert abs(release["n"][0].value - 6_460) < 400  # 40 scales: e^-40


TRUE_AGES = {"17-24": "5,570", "39-46": "6,163", "76-82": "174", "83-90": "67"}


def test_every_bin_is_shown_true_and_private(stage, people, curators):
    census.show_ages(stage, people, curators.people)
    assert {label: row(stage, label)[1] for label in TRUE_AGES} == TRUE_AGES
    assert row(stage, "83-90")[2].removesuffix(" ≲ noise").endswith("± 300")


def test_the_picture_is_a_png(stage, people, curators):
    census.show_ages(stage, people, curators.people)
    assert (stage.output / census.PICTURE).read_bytes().startswith(b"\x89PNG")
    assert f"Picture: {stage.output / census.PICTURE}" in sentences(stage)


def test_it_says_which_bins_drown_in_the_noise(stage, people, curators):
    census.show_ages(stage, people, curators.people)
    assert "= 141 people" in sentences(stage)
    assert "drown in it (76-82, 83-90)" in sentences(stage)


def test_the_whole_histogram_costs_its_epsilon_once(stage, people, curators):
    census.show_ages(stage, people, curators.people)
    assert str(curators.people.spent) == "ε 0.01"


def test_without_matplotlib_the_table_is_all(stage, people, curators, monkeypatch):
    def missing(*_, **__):
        raise ParameterError("matplotlib", None, "is needed for pictures")

    monkeypatch.setattr(census, "histogram", missing)
    census.show_ages(stage, people, curators.people)
    assert "No picture: matplotlib" in sentences(stage)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, people, curators):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ParameterError, match="output = "):
        census.show_ages(quiet_stage(tmp_path / "file" / "folder"), people, curators.people)


TRUE_MARITAL_STATUS = ("22,379", "16,117", "6,633", "1,530", "1,518", "628", "37")


@pytest.fixture
def shown_marital_status(stage, people, curators):
    census.show_marital_status(stage, people, curators.people)
    return stage


def test_every_status_is_counted_true_and_private(shown_marital_status):
    assert tuple(row(shown_marital_status, status)[1] for status in MARITAL_STATUS) == TRUE_MARITAL_STATUS
    assert all("± 30" in row(shown_marital_status, status)[2] for status in MARITAL_STATUS)


def test_the_people_are_those_of_both_files(shown_marital_status):
    assert "48,842 rows: adult.data and adult.test together (paid: ε 0.1)" in sentences(shown_marital_status)


EXPECTED = ("9,577.2", "418.3", "3.65", "0.28", "0.28", "0.18", "0.13")


@pytest.fixture
def shown_exponential(stage, people):
    census.show_exponential(stage, people)
    return stage


def test_expected_draws_are_those_of_the_texts(shown_exponential):
    assert tuple(row(shown_exponential, status)[2] for status in MARITAL_STATUS) == EXPECTED


def test_ten_thousand_are_drawn(shown_exponential):
    drawn = [int(row(shown_exponential, status)[3].replace(",", "")) for status in MARITAL_STATUS]
    assert sum(drawn) == 10_000
    assert abs(drawn[0] - 9_577) < 200  # 10 standard deviations


def test_it_is_called_a_simulation_with_both_totals(shown_exponential):
    said = sentences(shown_exponential)
    assert "A simulation of the mechanism, outside any session" in said
    assert "Nominal total: ε 10,000" in said
    assert "a draw really costs ε 0.001, and all 10,000 together at most ε 10." in said


def test_the_true_price_is_of_the_same_law():
    scores = [22.379, 16.117, 0.037]
    same = Exponential(utility_sensitivity=census.TRUE_SENSITIVITY, epsilon=census.TRUE_EPSILON)
    assert same.probabilities(scores).tolist() == census.CLAIMED.probabilities(scores).tolist()
