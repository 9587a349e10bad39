from tests.cli.demo.telling import told

from sfumato.cli.demo.stage import paid


def test_a_section_is_a_line_with_its_title(stage):
    stage.section("1. [Title]")
    assert told(stage).startswith("\n1. [Title] ──")


def test_sentences_and_figures_follow(stage):
    stage.say("A sentence.")
    stage.figures(("name", "n"), [("a", "1")])
    assert [line.split() for line in told(stage).splitlines() if line.strip()][::3] == [["A", "sentence."], ["a", "1"]]


def test_an_answer_is_paid_once(curators):
    first, again = (curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1") for _ in range(2))
    assert (paid(first), paid(again)) == ("ε 0.1", "nothing, stored answer")
