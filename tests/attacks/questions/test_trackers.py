import numpy as np
import pytest

from sfumato.attacks.questions.trackers import (
    find_tracker,
    general_tracker,
    individual_tracker,
    refuses_small_sets,
    tracking,
)
from sfumato.errors import BudgetExceededError, NotPrivateError, ParameterError

PEOPLE, LEAST = 100, 10
RNG = np.random.default_rng(1979)
SALARIES = RNG.integers(20_000, 290_000, PEOPLE).astype(float)
PAYROLL = refuses_small_sets(SALARIES, least=LEAST)
COUNTS = refuses_small_sets(np.ones(PEOPLE), least=LEAST)
NUMBERS = np.arange(PEOPLE)
HALF = NUMBERS % 2 == 0


def only(person):
    return np.arange(PEOPLE) == person


def first(size):
    return np.arange(PEOPLE) < size


@pytest.mark.parametrize(("size", "answered"), [(9, False), (10, True), (90, True), (91, False)])
def test_groups_that_are_too_small_or_too_large_are_refused(size, answered):
    group = first(size)
    if answered:
        assert PAYROLL(group) == SALARIES[:size].sum()
    else:
        with pytest.raises(NotPrivateError, match="fewer than 10"):
            PAYROLL(group)


def test_a_refusal_says_nothing_of_which_side_was_too_small():
    texts = []
    for size in (1, 99):
        with pytest.raises(NotPrivateError) as refusal:
            PAYROLL(first(size))
        texts.append(str(refusal.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("least", [0, 51])
def test_a_rule_must_refuse_something_and_not_everything(least):
    with pytest.raises(ParameterError, match="least"):
        refuses_small_sets(SALARIES, least=least)


def test_the_individual_tracker_finds_whom_two_facts_tell_apart():
    engineers = NUMBERS < 40
    woman = NUMBERS >= 39  # the only one among the engineers
    assert individual_tracker(PAYROLL, known=engineers, telling=woman) == SALARIES[39]
    assert individual_tracker(COUNTS, known=engineers, telling=woman) == 1


@pytest.mark.parametrize("size", [0, 1, 9, 91, 99, 100])
def test_the_general_tracker_finds_every_sum_that_is_refused(size):
    group = first(size)
    with pytest.raises(NotPrivateError):
        PAYROLL(group)
    assert general_tracker(PAYROLL, target=group, tracker=HALF) == pytest.approx(SALARIES[:size].sum())
    assert general_tracker(COUNTS, target=group, tracker=HALF) == size


def test_all_salaries_are_recovered_and_none_without_a_tracker():
    everyone = [(only(person), SALARIES[person]) for person in range(PEOPLE)]
    assert tracking(PAYROLL, targets=everyone, tracker=HALF).success == 1
    outcome = tracking(PAYROLL, targets=everyone, tracker=only(0))
    assert outcome.successes == 0
    assert outcome.notes == ("refused 100 of 100 times; those guesses were blind",)


def test_a_budget_that_ends_leaves_a_blind_guess():
    answered = []

    def answer(condition):
        if len(answered) == 4:
            raise BudgetExceededError(requested=1, remaining=0)
        answered.append(condition)
        return PAYROLL(condition)

    everyone = [(only(person), SALARIES[person]) for person in range(10)]
    outcome = tracking(answer, targets=everyone, tracker=HALF, baseline=1)
    assert outcome.successes == 10  # one by its answers, nine by guesses that cannot be wrong
    assert "refused 9 of 10" in outcome.notes[0]


def test_a_tracker_is_found_without_knowing_anybody():
    attempts = [only(3), NUMBERS < 15, NUMBERS < 20]
    assert find_tracker(COUNTS, attempts, least=LEAST) is attempts[2]


def test_almost_every_random_condition_is_a_tracker():
    for _ in range(50):
        coin = [RNG.random(PEOPLE) < 0.5]
        found = find_tracker(COUNTS, coin, least=LEAST)  # fewer than 20 of 100 coins: 1e-10
        assert general_tracker(PAYROLL, target=only(7), tracker=found) == pytest.approx(SALARIES[7])


def test_where_none_is_a_tracker_that_is_said():
    with pytest.raises(ParameterError, match="20 people"):
        find_tracker(COUNTS, [NUMBERS < 19, only(1)], least=LEAST)


@pytest.mark.parametrize(
    "condition", [[True] * 50, np.ones(50, dtype=bool), np.arange(100)], ids=["list", "short", "numbers"]
)
def test_a_condition_says_of_each_person_if_it_is_true(condition):
    with pytest.raises(ParameterError, match="condition"):
        PAYROLL(condition)


def kind(value):
    return type(value).__name__


@pytest.mark.parametrize("condition", [None, "women", 1.5, [True], {}, np.ones(5), object()], ids=kind)
def test_what_is_no_condition_is_named(condition):
    payroll = refuses_small_sets([50, 60, 70, 80, 90], least=1)
    halves = np.arange(5) < 2
    with pytest.raises(ParameterError, match=r"^telling = .*: must be a condition"):
        individual_tracker(payroll, known=halves, telling=condition)
    with pytest.raises(ParameterError, match=r"^target = .*: must be a condition"):
        general_tracker(payroll, target=condition, tracker=halves)
    with pytest.raises(ParameterError, match=r"^candidates = .*: must be a condition"):
        find_tracker(payroll, [condition], least=1)


def test_conditions_on_other_people_are_refused():
    payroll = refuses_small_sets([50, 60, 70, 80, 90], least=1)
    with pytest.raises(ParameterError, match=r"^target = .*: must be a condition on the same people"):
        general_tracker(payroll, target=np.array([True, False]), tracker=np.arange(5) < 2)


def test_targets_come_with_the_truth():
    payroll, halves = refuses_small_sets([50, 60, 70, 80, 90], least=1), np.arange(5) < 2
    with pytest.raises(
        ParameterError, match=r"^targets = .*: must be a list of tuples, each of a condition and the tr"
    ):
        tracking(payroll, targets=[halves], tracker=halves)
    with pytest.raises(ParameterError, match=r"^targets = 'much': must be a number"):
        tracking(payroll, targets=[(halves, "much")], tracker=halves)
