import numpy as np
import pytest
from scipy.stats import binom, binomtest
from tests.laws import ALPHA

from sfumato.attacks.core.answers import tossed
from sfumato.attacks.core.membership_game import Rates, play
from sfumato.attacks.core.outcome import largest_success
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError

TRIALS = 20_000


def shows(coins):
    """Databases that show the coin."""
    return [lambda _, coin=coin: float(coin) for coin in coins]


def refuses(coins):
    def answer(_):
        raise BudgetExceededError(requested=2, remaining=1)

    return [answer for _ in coins]


def look(answer):
    return answer("is the person there?")


def test_who_sees_the_coin_is_always_right():
    game = play(shows, look, trials=500)
    assert game.outcome.success == game.rates.advantage == 1
    assert game.rates.present + game.rates.absent == 500
    assert game.outcome.notes == ()


def test_who_reads_it_the_wrong_way_round_is_always_wrong():
    game = play(shows, lambda answer: -look(answer), threshold=0, trials=500)
    assert (game.rates.hits, game.rates.false_alarms) == (0, game.rates.absent)
    assert game.rates.advantage == -1


def test_an_estimate_at_the_threshold_means_that_the_person_is_there():
    game = play(shows, lambda _: 3.0, threshold=3, trials=50)
    assert (game.rates.hits, game.rates.false_alarms) == (game.rates.present, game.rates.absent)


def half(successes, trials):
    """Whether a fair coin may have done it; it has not once in 1/ALPHA times."""
    return binom.ppf(ALPHA / 2, trials, 0.5) <= successes <= binom.ppf(1 - ALPHA / 2, trials, 0.5)


@pytest.mark.statistical
def test_the_coins_are_fair_and_new_each_time():
    game = play(shows, look, trials=TRIALS)
    assert half(game.rates.present, TRIALS), f"type-I error {ALPHA}"
    assert not np.array_equal(tossed(200), tossed(200))


@pytest.mark.statistical
def test_who_is_refused_guesses_blindly_and_says_so():
    game = play(refuses, look, trials=TRIALS)
    assert half(game.outcome.successes, TRIALS), f"type-I error {ALPHA}"
    assert game.outcome.notes == ("refused 20,000 of 20,000 times; those guesses were blind",)


def test_other_errors_are_not_taken_for_a_refusal():
    with pytest.raises(ZeroDivisionError):
        play(shows, lambda _: 1 / 0, trials=2)


def test_a_question_that_is_not_allowed_is_refused_too():
    def answer(_):
        raise NotPrivateError("question", "no", "Ask another.")

    assert "refused 1 of 1" in play(lambda _: [answer], look, trials=1).outcome.notes[0]


def test_what_a_guarantee_allows_is_stated_if_one_is_claimed():
    assert play(shows, look, trials=2).outcome.allowed is None
    game = play(shows, look, trials=2, epsilon=1, delta="0.1")
    assert game.outcome.allowed == largest_success(epsilon=1, delta="0.1")
    assert "advantage" in str(game)


def test_there_must_be_trials_and_a_database_for_each():
    for trials in (0, 2.5):
        with pytest.raises(ParameterError, match="trials"):
            play(shows, look, trials=trials)
    with pytest.raises(ParameterError, match="databases"):
        play(lambda coins: shows(coins)[1:], look, trials=3)


@pytest.mark.parametrize("databases", [None, list, lambda _: None, lambda coins: coins])
def test_databases_are_functions_that_answer(databases):
    with pytest.raises(ParameterError, match=r"^databases"):
        play(databases, look, trials=3)


@pytest.mark.parametrize("estimate", [None, lambda: 1, lambda _: "there", lambda _: np.ones(2)])
def test_an_estimate_is_a_number_of_one_answer(estimate):
    with pytest.raises(ParameterError, match=r"^estimate"):
        play(shows, estimate, trials=3)


@pytest.mark.parametrize(("name", "value"), [("threshold", "abc"), ("trials", 10**400), ("attack", None)])
def test_what_else_is_wrong_is_refused_by_its_name(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        play(shows, look, **{name: value})


def test_more_confidence_needs_wider_limits_around_the_advantage():
    rates = Rates(hits=300, present=400, false_alarms=90, absent=300)
    low, high = rates.advantage_limits()
    lower, higher = rates.advantage_limits(confidence=1 - 1e-6)
    assert rates.advantage == pytest.approx(0.45)
    assert lower < low < rates.advantage < high < higher


def test_the_limits_are_those_of_both_rates_each_with_a_quarter_of_the_errors():
    rates = Rates(hits=9, present=10, false_alarms=2, absent=10)
    low, _ = rates.advantage_limits(confidence=0.8)
    least = binomtest(9, 10).proportion_ci(confidence_level=0.9, method="exact").low
    most = binomtest(2, 10).proportion_ci(confidence_level=0.9, method="exact").high
    assert low == pytest.approx(least - most)


@pytest.mark.parametrize(("facts", "name"), [((3, 2, 0, 1), "hits"), ((0, 2, -1, 1), "false_alarms")])
def test_impossible_counts_are_refused(facts, name):
    with pytest.raises(ParameterError, match=name):
        Rates(**dict(zip(("hits", "present", "false_alarms", "absent"), facts, strict=True)))


def test_of_nobody_nothing_is_known():
    rates = Rates(hits=0, present=0, false_alarms=0, absent=0)
    assert rates.advantage == 0
    assert rates.advantage_limits() == (-1, 1)


@pytest.mark.parametrize("confidence", [0, 1])
def test_nothing_is_certain(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        Rates(hits=1, present=2, false_alarms=1, absent=2).advantage_limits(confidence=confidence)
