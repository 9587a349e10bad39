from tests.cli.demo.telling import row, sentences

from sfumato.cli.demo import survey


def test_each_coin_has_its_epsilon(stage):
    survey.show(stage)
    assert row(stage, "fair")[1:3] == ["ln 3 = 1.0986", "40%"]
    assert row(stage, "heads 80%")[1:3] == ["ln 21 = 3.0445", "40%"]


def test_it_says_that_nobody_collects_truths(stage):
    survey.show(stage)
    assert "100 made-up people, of whom 40" in sentences(stage)
    assert "No curator and no account" in sentences(stage)
