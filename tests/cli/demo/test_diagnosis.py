import pytest
from tests.cli.demo.telling import row, sentences

from sfumato.cli.demo import diagnosis


@pytest.fixture
def shown(stage, curators):
    diagnosis.show(stage, curators.patients)
    return stage


def test_raw_answers_give_the_diagnosis_away(shown):
    assert "Q5 − Q4 = 3 − 2, so Chandler = 1: ill. The attack wins." in sentences(shown)


def test_private_answers_leave_a_difference_that_means_nothing(shown):
    assert row(shown, "Q5 at ε = 0.1")[1].removesuffix(" ≲ noise").endswith("± 30")
    assert row(shown, "Q4 at ε = 0.2")[1].removesuffix(" ≲ noise").endswith("± 15")
    assert row(shown, "Q5 − Q4")[1].removesuffix(" ≲ noise").endswith("± 45")
    assert "The attack loses" in sentences(shown)


def test_two_prices_add_up_exactly(shown):
    assert "0.1 + 0.2 = exactly 0.3, kept as the fraction 3/10" in sentences(shown)
    assert "0.30000000000000004" in sentences(shown)
    assert "Budget ε 0.3, spent ε 0.3, left ε 0." in sentences(shown)


def test_the_same_question_again_is_free_and_a_new_one_is_refused(shown, curators):
    assert "(paid: nothing, stored answer)" in sentences(shown)
    assert "refused. The curator says: asked for ε 0.1, but ε 0 is left; nothing was spent" in sentences(shown)
    assert str(curators.patients.spent) == "ε 0.3"
