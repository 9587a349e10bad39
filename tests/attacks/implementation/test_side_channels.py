"""Times are of a clock that the tests turn themselves."""

import numpy as np
import pytest

from sfumato.attacks.implementation.side_channels import error_oracle, timing
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.privacy.guarantees import PureDP

RNG = np.random.default_rng(1996)


class Clock:
    """Stands still but where somebody works."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, draw):
        def ask():
            self.now += draw()

        return ask


def attack(first, second, **arguments):
    clock = Clock()
    return timing(clock.work(first), clock.work(second), clock=clock, **arguments)


def heavy_branch():
    return RNG.uniform(60, 75)


def light_branch():
    return RNG.uniform(5, 16)


def test_a_heavy_branch_for_one_person_tells_whether_they_are_there():
    found = attack(heavy_branch, light_branch, rounds=100)
    assert found.outcome.success == 1
    assert found.tells()
    assert 16 < found.threshold < 60
    assert found.medians == (pytest.approx(67.7, abs=5), pytest.approx(10.5, abs=5))


def test_so_does_one_that_is_quicker_for_them():
    assert attack(light_branch, heavy_branch, rounds=100).outcome.success == 1


@pytest.mark.statistical
def test_equal_laws_of_time_tell_nothing():
    """Each of 200 attacks says so by mistake with a chance of at most 0.05: more than 28 less than once in 10^6."""
    told = sum(attack(light_branch, light_branch, rounds=60).tells(significance=0.05) for _ in range(200))
    assert told <= 28


@pytest.mark.statistical
def test_a_machine_that_gets_slower_is_no_evidence():
    slow = iter(np.arange(10**6))
    found = attack(lambda: next(slow), lambda: next(slow), rounds=400)
    assert not found.tells(), "type-I error 1e-6"


@pytest.mark.statistical
def test_a_shift_of_a_deviation_is_found_in_a_thousand_rounds():
    """1.2 deviations: right with a chance of 0.726, 363 of 500 expected, where 304 are needed at 1e-6."""
    found = [attack(lambda: RNG.normal(1.2, 1), lambda: RNG.normal(0, 1), rounds=1000) for _ in range(3)]
    assert all(each.tells() for each in found)


def test_work_that_always_takes_the_same_time_tells_nothing():
    found = attack(lambda: 5.0, lambda: 5.0, rounds=100)
    assert not found.tells()


def test_the_time_of_a_refusal_counts_too():
    clock = Clock()

    def refused():
        clock.now += 3.0
        raise BudgetExceededError(requested=PureDP(1), remaining=PureDP(0))

    assert timing(refused, clock.work(light_branch), clock=clock, rounds=100).outcome.trials == 50


def test_the_report_shows_medians_and_the_p_value():
    text = str(attack(heavy_branch, light_branch, rounds=100))
    assert "right in 50 of 50" in text
    assert "p = 8.9e-16" in text


def test_too_few_rounds_are_refused():
    with pytest.raises(ParameterError, match="rounds"):
        attack(heavy_branch, light_branch, rounds=19)


@pytest.mark.parametrize("clock", [None, lambda: None, lambda: "noon"])
def test_a_clock_gives_numbers(clock):
    with pytest.raises(ParameterError, match=r"^clock"):
        timing(heavy_branch, light_branch, clock=clock)


def test_only_what_can_be_called_is_timed():
    with pytest.raises(ParameterError, match=r"^second = "):
        timing(heavy_branch, None)


def test_rounds_are_a_whole_number():
    with pytest.raises(ParameterError, match="rounds"):
        attack(heavy_branch, light_branch, rounds=20.5)


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
