import pytest
from tests.laws import ALPHA

from examples import g01_differencing as example
from sfumato.attacks.core.outcome import largest_advantage
from sfumato.attacks.questions.differences import difference, differencing

TRIALS = 2_000


def test_exact_answers_give_away_chandler_mikhail_and_mallory():
    assert difference(example.exact_sums("en"), larger=5, smaller=4) == 1
    assert difference(example.exact_sums("ru"), larger=4, smaller=3) == 1
    assert example.mallory() == 156_000


def game(worlds):
    return differencing(worlds, larger="ill", known=sum(example.OTHERS), trials=TRIALS)


def test_exact_worlds_are_told_apart_each_time():
    assert game(example.exact_worlds).rates.advantage == 1


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_session_leaves_the_advantage_that_epsilon_allows(epsilon):
    low, high = game(example.private_worlds(epsilon)).rates.advantage_limits(confidence=1 - ALPHA)
    assert low <= largest_advantage(epsilon=float(epsilon)) <= high, f"type-I error {ALPHA}"
