from tests.cli.demo.telling import told


def test_a_section_is_a_line_with_its_title(stage):
    stage.section("1. [Title]")
    assert told(stage).startswith("\n1. [Title] ──")


def test_sentences_and_figures_follow(stage):
    stage.say("A sentence.")
    stage.figures(("name", "n"), [("a", "1")])
    assert [line.split() for line in told(stage).splitlines() if line.strip()][::3] == [["A", "sentence."], ["a", "1"]]
