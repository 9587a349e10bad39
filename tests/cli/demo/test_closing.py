from tests.cli.demo.telling import quiet_stage, row, sentences, told

from sfumato.cli.demo import closing
from sfumato.privacy.guarantees import PureDP


def test_the_receipt_is_shown_whole(stage, curators):
    release = curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    closing.show_receipt(stage, release)
    assert release.receipt.to_json() in told(stage)


def test_every_account_is_shown_before_and_after(stage, curators):
    curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    closing.show_accounts(stage, curators, [PureDP(0)] * 3)
    assert row(stage, "patients") == ["patients", "ε 0.3", "ε 0", "ε 0.1", "ε 0.2"]
    assert "Forgotten now" in sentences(stage)


def test_with_a_ledger_it_says_how_to_check_it(tmp_path, curators):
    stage = quiet_stage(tmp_path, ledger="l.db")
    closing.show_accounts(stage, curators, [PureDP(0)] * 3)
    assert "sfumato ledger verify l.db" in sentences(stage)
