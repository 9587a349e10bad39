"""Two questions about groups that differ in one person, to a curator who charges ε for both together."""

import math
from contextlib import ExitStack

import numpy as np
import pyarrow as pa
import pytest
from tests.attacks_through_curators.disjoint_worlds import OTHERS, looked_up, released, with_and_without
from tests.laws import ALPHA

import sfumato as sf
from sfumato.attacks.core.membership_game import play
from sfumato.attacks.core.outcome import largest_advantage, largest_success
from sfumato.attacks.questions.differences import (
    MeanOf,
    difference,
    difference_of_means,
    differencing,
    value_inference,
)

TRIALS = 12_000
RNG = np.random.default_rng(55_000)
SURE = 100_000
"""An ε that leaves next to no noise."""
COUNT = "COUNT(*) AS everybody"
COUNTS = f"{COUNT}, COUNT(CASE WHEN person > 0 THEN 1 END) AS others"
LOW, HIGH = 0, 290_000


def worst_case(epsilon, *, claimed=None):
    """Is person 0 there? Who knows how many others are needs one answer, with all of ε in it."""
    worlds = with_and_without(epsilon, statistics=COUNT)
    return differencing(worlds, larger="everybody", known=OTHERS, trials=TRIALS, epsilon=claimed or epsilon)


def surely_within(game, epsilon):
    """Whether the advantage and the success may be within what ε allows; said of a right curator with 1 − ALPHA."""
    confidence = 1 - ALPHA
    return game.rates.advantage_limits(confidence=confidence)[0] <= largest_advantage(
        epsilon=epsilon
    ) and game.outcome.interval(confidence=confidence)[0] <= largest_success(epsilon=epsilon)


def test_without_noise_the_difference_tells_each_time():
    worlds = with_and_without(SURE, statistics=COUNTS)
    game = differencing(worlds, larger="everybody", smaller="others", trials=500)
    assert game.outcome.success == game.rates.advantage == 1


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_advantage_of_the_best_attack_is_what_epsilon_allows_and_no_more(epsilon):
    game, bound = worst_case(epsilon), largest_advantage(epsilon=float(epsilon))
    assert surely_within(game, float(epsilon)), f"{game}, allowed advantage {bound:.3f} (type-I error {ALPHA})"
    # the noise is discrete Laplace, against which this threshold reaches the bound
    assert game.rates.advantage_limits(confidence=1 - ALPHA)[1] >= bound, f"too weak an attack: {game}"


@pytest.mark.statistical
def test_a_curator_with_half_of_the_noise_is_found_out():
    game = worst_case("2", claimed=1)
    assert not surely_within(game, 1), f"not found out: {game}"
    assert game.outcome.interval(confidence=1 - ALPHA)[0] > game.outcome.allowed


@pytest.mark.statistical
def test_two_noisy_answers_with_half_of_epsilon_each_tell_less():
    worlds = with_and_without("1", statistics=COUNTS)
    game = differencing(worlds, larger="everybody", smaller="others", trials=TRIALS, epsilon=1)
    assert surely_within(game, 1)
    # Pr[L₁ − L₂ ≥ 0 or 1] for discrete Laplace noise of scale 2
    masses = math.tanh(0.25) * np.exp(-np.abs(np.arange(-200, 201)) / 2)
    equal = float(masses @ masses)
    low, high = game.rates.advantage_limits(confidence=1 - ALPHA)
    assert low <= equal <= high < largest_advantage(epsilon=1), f"{game} (type-I error {ALPHA})"


def diagnoses(epsilon):
    """The article's table in each world; the coin is the diagnosis of person 5, and Q(5) − Q(4) would tell it."""

    def worlds(coins):
        ill = [bit for coin in coins for bit in (1, 1, 0, 0, int(coin))]
        rows = {
            "world": np.repeat(np.arange(len(coins)), 5),
            "position": np.tile(np.arange(1, 6), len(coins)),
            "ill": ill,
        }
        columns = {"position": sf.integer(1, 5), "ill": sf.integer(0, 1)}
        sums = (f"SUM(CASE WHEN position <= {first} THEN ill ELSE 0 END) AS q{first}" for first in (5, 4))
        question = f"SELECT world, {', '.join(sums)} FROM people GROUP BY world"
        return looked_up(released(rows, columns, question, epsilon))

    return worlds


def chandler(answer):
    return difference(answer, larger="q5", smaller="q4")


@pytest.mark.statistical
def test_the_diagnosis_of_the_article_is_read_without_noise_and_lost_with_it():
    assert play(diagnoses(SURE), chandler, trials=200).outcome.success == 1
    assert surely_within(play(diagnoses("1"), chandler, trials=TRIALS, epsilon=1), 1)


def test_a_budget_for_one_answer_leaves_blind_guesses():
    count = "SELECT COUNT(*) AS n FROM people"
    with ExitStack() as open_sessions:

        def curator(coin):
            people = sf.open(
                pa.table({"person": range(not coin, OTHERS + 1)}), name="people", unit=sf.EACH_ROW,
                columns={"person": sf.integer(0, OTHERS)}, budget=sf.PureDP(1),
            )  # fmt: skip
            open_sessions.enter_context(people)
            return lambda question: people.sql(question, epsilon=1)["n"][0].value

        outcome = differencing(
            lambda coins: map(curator, coins), larger=count, smaller=f"{count} WHERE person > 0", trials=5, epsilon=1
        ).outcome
    assert outcome.notes == ("refused 5 of 5 times; those guesses were blind",)


def payrolls(salaries, epsilon):
    """In each world a hundred people with a mean of $55,000, and Mallory, who is person 100."""
    people = 101
    pay = np.full((len(salaries), people), 55_000)
    pay[:, 100] = salaries
    rows = {
        "world": np.repeat(np.arange(len(salaries)), people),
        "person": np.tile(np.arange(people), len(salaries)),
        "pay": pay.ravel(),
    }
    columns = {"person": sf.integer(0, 100), "pay": sf.integer(LOW, HIGH)}
    before = "CASE WHEN person < 100 THEN {} END"
    question = (
        "SELECT world, COUNT(*) AS n_after, AVG(pay) AS mean_after, "
        f"COUNT({before.format(1)}) AS n_before, AVG({before.format('pay')}) AS mean_before FROM people GROUP BY world"
    )
    return zip(looked_up(released(rows, columns, question, epsilon)), salaries.tolist(), strict=True)


def mallory(answer):
    before, after = (MeanOf(count=f"n_{when}", mean=f"mean_{when}") for when in ("before", "after"))
    return difference_of_means(answer, larger=after, smaller=before)


def test_two_counts_and_two_means_give_156000_dollars_away_without_noise():
    ((answer, salary),) = payrolls(np.array([156_000]), 10**9)
    assert answer("mean_after") == pytest.approx(56_000)
    assert mallory(answer) == pytest.approx(salary, abs=1)


@pytest.mark.statistical
def test_at_epsilon_1_a_salary_is_guessed_hardly_better_than_blindly():
    salaries = RNG.integers(LOW, HIGH, 1_000, endpoint=True)
    outcome = value_inference(payrolls(salaries, "1"), mallory, low=LOW, high=HIGH, within=10_000, epsilon=1)
    assert outcome.allowed == pytest.approx(math.e * 20_000 / HIGH)
    assert outcome.interval(confidence=1 - 2 * ALPHA)[1] <= outcome.allowed, f"{outcome} (type-I error {ALPHA})"
