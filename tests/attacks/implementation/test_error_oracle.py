"""A question that fails only where somebody is tells of them; one that fails everywhere or nowhere does not."""

import pytest

from sfumato.attacks.implementation.error_oracle import error_oracle
from sfumato.errors import BudgetExceededError


def raising(error):
    """Worlds where the question raises an error if the person is there."""

    def answer(coin):
        def ask(_):
            if coin:
                raise error
            return 1

        return ask

    return lambda coins: [answer(coin) for coin in coins]


@pytest.mark.parametrize("error", [ValueError("x"), OverflowError(), ZeroDivisionError(), RuntimeError("cast")])
def test_an_error_that_only_one_world_has_gives_the_person_away(error):
    found = error_oracle(raising(error), question="?", trials=200)
    assert found.rates.advantage == 1
    assert found.outcome.attack == "error oracle"


def test_a_refusal_is_no_error_and_is_guessed_blindly():
    found = error_oracle(raising(BudgetExceededError(requested=1, remaining=0)), question="?", trials=400)
    assert "refused" in found.outcome.notes[0]
    assert found.rates.hits < found.rates.present


@pytest.mark.parametrize("fails", [True, False])
def test_what_fails_everywhere_or_nowhere_tells_nothing(fails):
    def answer(_):
        return 1 / (not fails)

    found = error_oracle(lambda coins: [answer for _ in coins], question="?", trials=100, epsilon=1)
    assert found.rates.advantage == 0
    assert 0.73 < found.outcome.allowed < 0.74


def test_what_stops_the_program_is_not_taken_for_an_answer():
    with pytest.raises(KeyboardInterrupt):
        error_oracle(raising(KeyboardInterrupt()), question="?", trials=50)
