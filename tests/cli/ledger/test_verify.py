from tests.cli.commands import refusal
from tests.cli.ledger.telling import told

from sfumato.ledger.locations import open_ledger


def test_a_ledger_that_verifies_tells_its_length_and_head(ledger):
    with open_ledger(ledger) as opened:
        chain = opened.verify()
    shown = told("verify", ledger)
    assert (
        f"{chain.length} entries: hash chain intact, every charge was allowed; the ledger's key sealed all of them"
        in shown
    )
    assert f"head {chain.head}" in shown
    assert "1 file of large answers, as written" in shown


def test_a_file_of_an_answer_that_is_gone_is_named(ledger, answer_file):
    answer_file.unlink()
    shown = refusal("ledger", "verify", ledger)
    assert answer_file.name in shown
    assert "is gone" in shown


def test_a_file_of_an_answer_that_was_changed_is_named(ledger, answer_file):
    answer_file.write_text("other rows", encoding="utf-8")
    assert "was changed" in refusal("ledger", "verify", ledger)


def test_a_file_that_no_answer_names_is_listed(ledger, answer_file):
    left = answer_file.with_name(f"{'0' * 32}.parquet")
    left.write_text("rows", encoding="utf-8")
    shown = told("verify", ledger)
    assert f"no entry names {left}" in shown
    assert f"no entry names {answer_file}" not in shown


def test_without_the_key_it_says_what_it_cannot_check(ledger, tmp_path):
    (tmp_path / "ledger.db.key").unlink()
    shown = told("verify", ledger)
    assert "9 entries: hash chain intact, every charge was allowed\n" in shown
    assert "not checked, as the key" in shown
    assert "that the ledger wrote these entries" in shown
