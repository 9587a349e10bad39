import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA

from sfumato.attacks.questions.repetition import averaging, repeated
from sfumato.errors import BudgetExceededError, ParameterError

RNG = np.random.default_rng(100)
RUNS = 4_000


def fresh(count, scale=1.0):
    """Curators of forty people whose every answer has noise of its own."""
    for _ in range(count):
        yield lambda _: 40 + RNG.laplace(0, scale), 40.0


def budgeted(answers):
    """It gives so many answers and no more."""
    left = itertools.count(answers, -1)

    def answer(_):
        if next(left) <= 0:
            raise BudgetExceededError(requested=1, remaining=0)
        return 40 + RNG.laplace(0, 1)

    return answer


@pytest.mark.statistical
@pytest.mark.parametrize(("times", "chance"), [(1, 1 - math.exp(-0.5)), (10, 0.746), (100, 0.9995)])
def test_fresh_noise_of_scale_1_is_averaged_away(times, chance):
    outcome = averaging(fresh(RUNS), question="how many?", times=times)
    slack = 0.0006  # of the chances for 10 and 100, which are rounded
    low = binom.ppf(ALPHA / 2, RUNS, chance - slack)
    high = binom.ppf(1 - ALPHA / 2, RUNS, min(chance + slack, 1))
    assert low <= outcome.successes <= high, f"type-I error {ALPHA}"


def test_ten_thousand_answers_are_as_good_as_the_truth():
    # 2·Φ(−½·√(10,000/2)) = 2e-274
    assert averaging(fresh(3), question="how many?", times=10_000).success == 1


def test_the_same_answer_again_is_no_better_than_one():
    stored = [(lambda _, answer=answer: answer, 40.0) for answer in 40 + RNG.laplace(0, 1, 500)]
    once, often = (averaging(stored, question="how many?", times=times) for times in (1, 100))
    assert once.successes == often.successes
    assert often.notes == ("the same answer each time in 500 of 500",)
    assert once.notes == ()


def test_a_budget_ends_the_attack_and_that_is_said():
    found = repeated(budgeted(3), question="how many?", times=10)
    assert (len(found.answers), found.refused, found.different) == (3, 7, 3)
    assert found.mean == pytest.approx(sum(found.answers) / 3)
    outcome = averaging([(budgeted(3), 40), (budgeted(10), 40)], question="how many?", times=10)
    assert outcome.notes == ("refused 7 of 20 times",)


@pytest.mark.parametrize(("baseline", "successes"), [(0, 0), (1, 20)])
def test_no_answer_at_all_leaves_a_blind_guess(baseline, successes):
    never = [(budgeted(0), 40.0)] * 20
    assert repeated(budgeted(0), question="how many?", times=2).mean is None
    assert averaging(never, question="how many?", times=2, baseline=baseline).successes == successes


def test_other_errors_are_not_taken_for_a_refusal():
    with pytest.raises(ZeroDivisionError):
        repeated(lambda _: 1 / 0, question="how many?", times=2)


@pytest.mark.parametrize("times", [0, 1.5])
def test_a_question_is_asked_once_or_more(times):
    with pytest.raises(ParameterError, match="times"):
        repeated(budgeted(1), question="how many?", times=times)


@pytest.mark.parametrize("curators", [None, [1], [(40.0, 40.0)], [(budgeted(1), "forty")]])
def test_curators_are_pairs_of_what_answers_and_the_truth(curators):
    with pytest.raises(ParameterError, match=r"^curators = "):
        averaging(curators, question="how many?", times=2)


def test_curators_are_asked_one_after_the_other():
    events = []

    def curators():
        for _ in range(2):
            events.append("made")
            yield (lambda _: events.append("asked") or 3.0), 3.0

    averaging(curators(), question="how many?", times=1)
    assert events == ["made", "asked", "made", "asked"]


@pytest.mark.parametrize(("name", "value"), [("within", None), ("baseline", 2), ("times", 10**400)])
def test_what_else_is_wrong_is_refused_by_its_name(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        averaging(**{"curators": [], "question": "how many?", "times": 2, name: value})


def test_no_number_is_no_answer():
    assert repeated(lambda _: None, question="how many?", times=3).refused == 3
