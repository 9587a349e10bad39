import pytest

from sfumato.cli.demo.curators import MARITAL_STATUS, numbered_patients, open_curators
from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.privacy.guarantees import PureDP


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
