import pytest
from tests.cli.demo.telling import row, sentences

from sfumato.cli.demo import payroll
from sfumato.session.releases.answer import NOTHING, Estimate


@pytest.fixture
def shown(stage, curators):
    payroll.show(stage, curators.company)
    return stage


def dollars(text):
    return int(text.replace("$", "").replace(",", ""))


def test_raw_averages_give_the_salary_away(shown):
    assert "56,000·101 − 55,000·100 = $156,000, Mallory's salary. The attack wins." in sentences(shown)


@pytest.mark.parametrize("epsilon", payroll.EPSILONS)
def test_private_averages_leave_it_anywhere_within_the_public_bounds(shown, epsilon):
    _, january, february, difference, low, high = row(shown, f"{epsilon} ")
    if "unknown" in {january, february}:  # a mean over a noisy count of nobody: 0.3% at ε = 0.1
        assert {difference, low, high} == {"unknown"}
        return
    assert dollars(low) <= dollars(difference) <= dollars(high)
    assert dollars(high) - dollars(low) > payroll.TOP_SALARY  # wider than what is known without asking
    # The averages are shown in whole dollars: half a dollar for each of 201 employees.
    assert abs(101 * dollars(february) - 100 * dollars(january) - dollars(difference)) <= 101


def test_an_average_that_is_missing_is_not_zero(monkeypatch):
    averages = {"january": NOTHING, "february": Estimate(value=50_000, low=40_000, high=60_000)}
    monkeypatch.setattr(payroll, "_average", lambda _curator, month, _epsilon: averages[month])
    assert payroll._attack(None, "1", 100, 101) == ("1", "unknown", "$50,000", "unknown", "unknown", "unknown")


def test_the_whole_price_is_said(shown, curators):
    assert "These six answers cost ε 18.2" in sentences(shown)
    assert str(curators.company.remaining) == "ε 0"
