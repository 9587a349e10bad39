import pytest
from tests.cli.demo.telling import row, sentences

from sfumato.cli.demo import exponential
from sfumato.cli.demo.curators import MARITAL_STATUS
from sfumato.mechanisms import Exponential

EXPECTED = ("9,577.2", "418.3", "3.65", "0.28", "0.28", "0.18", "0.13")


@pytest.fixture
def shown(stage, people):
    exponential.show(stage, people)
    return stage


def test_expected_draws_are_those_of_the_texts(shown):
    assert tuple(row(shown, status)[2] for status in MARITAL_STATUS) == EXPECTED


def test_ten_thousand_are_drawn(shown):
    drawn = [int(row(shown, status)[3].replace(",", "")) for status in MARITAL_STATUS]
    assert sum(drawn) == 10_000
    assert abs(drawn[0] - 9_577) < 200  # 10 standard deviations


def test_it_is_called_a_simulation_with_both_totals(shown):
    said = sentences(shown)
    assert "A simulation of the mechanism, outside any session" in said
    assert "Nominal total: ε 10,000" in said
    assert "a draw really costs ε 0.001, and all 10,000 together at most ε 10." in said


def test_the_true_price_is_of_the_same_law():
    scores = [22.379, 16.117, 0.037]
    same = Exponential(utility_sensitivity=exponential.TRUE_SENSITIVITY, epsilon=exponential.TRUE_EPSILON)
    assert same.probabilities(scores).tolist() == exponential.CLAIMED.probabilities(scores).tolist()
