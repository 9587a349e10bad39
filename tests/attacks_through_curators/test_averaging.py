"""The same question a hundred times: the curator gives the stored answer, or the budget ends."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

import sfumato as sf
from sfumato.attacks.questions.repetition import averaging
from sfumato.errors import BudgetExceededError

WORLDS, REPEATS = 600, 100
EXACT = 3
QUESTION = "SELECT world, COUNT(*) AS n FROM people WHERE person < {} GROUP BY world"


@pytest.fixture
def curator():
    """Worlds of three people each, with ε = 1 for each person in all."""
    rows = {"world": np.repeat(np.arange(WORLDS), EXACT), "person": np.tile(np.arange(EXACT), WORLDS)}
    columns = {"world": sf.integer(values=range(WORLDS)), "person": sf.integer(0, 1_000)}
    with sf.open(pa.table(rows), name="people", unit=sf.EACH_ROW, columns=columns, budget=sf.PureDP(1)) as people:
        yield people


def attempt(curator, question, epsilon):
    """The counts of all worlds, or how they were refused."""
    try:
        return curator.sql(question, epsilon=epsilon).to_arrow()["n"].to_pylist()
    except BudgetExceededError as refusal:
        return refusal


def worlds(attempts):
    """Each world with what it answers, one attempt after the other."""

    def one(world):
        following = iter(attempts)

        def answer(_):
            found = next(following)
            if isinstance(found, BudgetExceededError):
                raise found
            return found[world]

        return answer

    return [(one(world), EXACT) for world in range(WORLDS)]


def as_often(successes, chance):
    """Whether so many successes may come of this chance."""
    return binom.ppf(ALPHA / 2, WORLDS, chance) <= successes <= binom.ppf(1 - ALPHA / 2, WORLDS, chance)


@pytest.mark.statistical
def test_a_hundred_repeats_of_a_question_are_one_answer_at_one_price(curator):
    attempts = [attempt(curator, QUESTION.format(10), "1") for _ in range(REPEATS)]
    assert curator.spent == sf.PureDP(1)
    once = averaging(worlds(attempts[:1]), question="n", times=1)
    often = averaging(worlds(attempts), question="n", times=REPEATS)
    assert often.successes == once.successes
    assert often.notes == (f"the same answer each time in {WORLDS:,} of {WORLDS:,}",)
    exact = (1 - np.exp(-1)) / (1 + np.exp(-1))  # noise of 0
    assert as_often(once.successes, exact), f"type-I error {ALPHA}"


@pytest.mark.statistical
def test_a_hundred_questions_that_mean_the_same_are_ten_answers_and_ninety_refusals(curator):
    attempts = [attempt(curator, QUESTION.format(number), Fraction(1, 10)) for number in range(10, 10 + REPEATS)]
    outcome = averaging(worlds(attempts), question="n", times=REPEATS)
    assert curator.spent == sf.PureDP(1)
    assert outcome.notes == (f"refused {90 * WORLDS:,} of {REPEATS * WORLDS:,} times",)
    # one answer with all of ε would have been right with a chance of 0.462
    assert outcome.interval(confidence=1 - 2 * ALPHA)[1] < (1 - np.exp(-1)) / (1 + np.exp(-1)), f"type-I error {ALPHA}"


@pytest.mark.statistical
def test_a_hundred_fresh_answers_would_have_given_the_number_away():
    noise = sf.mechanisms.Laplace(l1_sensitivity=1, epsilon=1)
    answers = np.reshape(noise.release(np.full(REPEATS * WORLDS, EXACT)), (REPEATS, WORLDS))
    outcome = averaging(worlds(answers), question="n", times=REPEATS)
    assert outcome.interval(confidence=1 - 2 * ALPHA)[0] > 0.95, f"type-I error {ALPHA}"
