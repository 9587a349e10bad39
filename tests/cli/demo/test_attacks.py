import pytest
from tests.cli.demo.telling import row, sentences

from sfumato.cli.demo import attacks
from sfumato.query.statistics.estimates import NOTHING, Estimate


def test_each_coin_has_its_epsilon(stage):
    attacks.show_survey(stage)
    assert row(stage, "fair")[1:3] == ["ln 3 = 1.0986", "40%"]
    assert row(stage, "heads 80%")[1:3] == ["ln 21 = 3.0445", "40%"]


def test_it_says_that_nobody_collects_truths(stage):
    attacks.show_survey(stage)
    assert "100 made-up people, of whom 40" in sentences(stage)
    assert "No curator and no account" in sentences(stage)


@pytest.fixture
def differenced(stage, curators):
    attacks.show_payroll(stage, curators.company)
    return stage


def dollars(text):
    return int(text.replace("$", "").replace(",", ""))


def test_raw_averages_give_the_salary_away(differenced):
    assert "56,000·101 − 55,000·100 = $156,000, Mallory's salary. The attack wins." in sentences(differenced)


@pytest.mark.parametrize("epsilon", attacks.EPSILONS)
def test_private_averages_leave_it_anywhere_within_the_public_bounds(differenced, epsilon):
    _, january, february, difference, low, high = row(differenced, f"{epsilon} ")
    if "unknown" in {january, february}:  # a mean over a noisy count of nobody: 0.3% at ε = 0.1
        assert {difference, low, high} == {"unknown"}
        return
    assert dollars(low) <= dollars(difference) <= dollars(high)
    assert dollars(high) - dollars(low) > attacks.TOP_SALARY  # wider than what is known without asking
    # The averages are differenced in whole dollars: half a dollar for each of 201 employees.
    assert abs(101 * dollars(february) - 100 * dollars(january) - dollars(difference)) <= 101


def test_an_average_that_is_missing_is_not_zero(monkeypatch):
    averages = {"january": NOTHING, "february": Estimate(value=50_000, low=40_000, high=60_000)}
    monkeypatch.setattr(attacks, "_average", lambda _curator, month, _epsilon: averages[month])
    assert attacks._attack(None, "1", 100, 101) == ("1", "unknown", "$50,000", "unknown", "unknown", "unknown")


def test_the_whole_price_is_said(differenced, curators):
    assert "These six answers cost ε 18.2" in sentences(differenced)
    assert str(curators.company.remaining) == "ε 0"


@pytest.fixture
def attacked(stage, curators):
    attacks.show_diagnosis(stage, curators.patients)
    return stage


def test_raw_answers_give_the_diagnosis_away(attacked):
    assert "Q5 − Q4 = 3 − 2, so Chandler = 1: ill. The attack wins." in sentences(attacked)


def test_private_answers_leave_a_difference_that_means_nothing(attacked):
    assert row(attacked, "Q5 at ε = 0.1")[1].removesuffix(" ≲ noise").endswith("± 30")
    assert row(attacked, "Q4 at ε = 0.2")[1].removesuffix(" ≲ noise").endswith("± 15")
    assert row(attacked, "Q5 − Q4")[1].removesuffix(" ≲ noise").endswith("± 45")
    assert "The attack loses" in sentences(attacked)


def test_two_prices_add_up_exactly(attacked):
    assert "0.1 + 0.2 = exactly 0.3, kept as the fraction 3/10" in sentences(attacked)
    assert "0.30000000000000004" in sentences(attacked)
    assert "Budget ε 0.3, spent ε 0.3, left ε 0." in sentences(attacked)


def test_the_same_question_again_is_free_and_a_new_one_is_refused(attacked, curators):
    assert "(paid: nothing, stored answer)" in sentences(attacked)
    assert "refused. The curator says: asked for ε 0.1, but ε 0 is left; nothing was spent" in sentences(attacked)
    assert str(curators.patients.spent) == "ε 0.3"
