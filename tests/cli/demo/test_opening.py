from tests.cli.demo.telling import quiet_stage, sentences

from sfumato.cli.demo import opening


def test_it_says_who_the_people_are_and_who_looks_at_raw_rows(stage, people, curators):
    opening.show(stage, people, curators)
    said = sentences(stage)
    assert "the Adult census (UCI, adult.data), 32,561 rows" in said
    assert "The demo owns this data" in said
    assert "one budget, ε 0.25" in said
    assert "forgotten when the demo ends" in said


def test_with_a_ledger_it_says_what_was_spent_before(tmp_path, people, curators):
    curators.people.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.05")
    stage = quiet_stage(tmp_path, ledger="l.db")
    opening.show(stage, people, curators)
    assert "Ledger l.db. Spent before this run: adult ε 0.05, company ε 0, patients ε 0." in sentences(stage)
