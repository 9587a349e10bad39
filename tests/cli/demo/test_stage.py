import pytest
from tests.cli.demo.telling import told

from sfumato.cli.demo.stage import (
    BINS,
    MARITAL_STATUS,
    age_bin,
    cost,
    load_people,
    numbered_patients,
    open_curators,
    true_counts,
)
from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.privacy.guarantees import PureDP


def test_a_section_is_a_line_with_its_title(stage):
    stage.section("1. [Title]")
    assert told(stage).startswith("\n1. [Title] ──")


def test_sentences_and_figures_follow(stage):
    stage.say("A sentence.")
    stage.figures(("name", "n"), [("a", "1")])
    assert [line.split() for line in told(stage).splitlines() if line.strip()][::3] == [["A", "sentence."], ["a", "1"]]


def test_an_answer_is_paid_once(curators):
    first, again = (curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1") for _ in range(2))
    assert (cost(first), cost(again)) == ("ε 0.1", "nothing, stored answer")


@pytest.mark.parametrize(
    ("age", "index"),
    [(17, 0), (24, 0), (25, 1), (31, 1), (53, 4), (54, 5), (82, 8), (83, 9), (90, 9), (0, 0), (120, 9)],
)
def test_ages_fall_into_ten_equal_bins_of_the_declared_range(age, index):
    assert age_bin(age) == index


def test_the_census_is_both_files_and_its_bins_are_a_column(people):
    assert (people.dataset, people.table.num_rows, people.everyone.num_rows) == ("adult", 32_561, 48_842)
    assert sum(true_counts(people.table["age_bin"].to_pylist(), range(BINS))) == 32_561


@pytest.mark.usefixtures("no_adult")
def test_without_the_census_the_people_are_made_up_and_pay_from_another_account():
    made_up = load_people()
    assert (made_up.dataset, made_up.table.num_rows) == ("made-up people", 32_561)
    assert "made-up" in made_up.origin
    assert made_up.everyone.num_rows == made_up.table.num_rows


def test_counts_are_of_each_key_in_turn():
    assert true_counts(["a", "b", "a"], ["b", "a", "c"]) == [1, 2, 0]


def test_each_database_has_its_account_and_budget(curators):
    assert [(each.policy.dataset, each.budget) for each in curators.all] == [
        ("adult", PureDP("0.25")), ("company", PureDP("18.2")), ("patients", PureDP("0.3")),
    ]  # fmt: skip


def test_only_declared_columns_can_be_asked_about(curators):
    with pytest.raises(ParameterError, match="income"):
        curators.people.sql("SELECT COUNT(*) AS n FROM people WHERE income = '>50K'", epsilon="0.1")
    assert curators.people.spent == PureDP(0)


def test_the_seven_statuses_are_all_there_are(people):
    assert set(people.everyone["marital_status"].to_pylist()) == set(MARITAL_STATUS)


def test_patients_are_numbered_from_one():
    assert numbered_patients()["number"].to_pylist() == [1, 2, 3, 4, 5]


def test_one_ledger_holds_all_three(people, tmp_path):
    with open_curators(people, ledger=str(tmp_path / "l.db")) as curators:
        curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    with open_curators(people, ledger=str(tmp_path / "l.db")) as curators:
        assert [each.spent for each in curators.all] == [PureDP(0), PureDP(0), PureDP("0.1")]


def test_a_file_that_is_no_ledger_is_refused(people, tmp_path):
    (tmp_path / "l.db").write_bytes(b"not a ledger" * 100)
    with pytest.raises((LedgerError, LedgerCorruptError)), open_curators(people, ledger=str(tmp_path / "l.db")):
        pass
