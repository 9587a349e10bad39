"""Asking one question many times in other words: what is not given again is paid for, and the budget ends it."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.attacks_on_ledgers.census import COUNT, asked, census
from tests.attacks_on_ledgers.variants import variants
from tests.laws import ALPHA
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.errors import BudgetExceededError

EXACT = 28
"""How many people are at least 30."""
SURE = 3_000
EPSILON = Fraction(1, 5)
PAID = 5
"""So many answers a budget of 1 pays."""
RUNS = 200
SPELLINGS = 1_000 if FULL_SIZE else 120


@pytest.fixture(scope="module")
def curator():
    """A session without a limit; each attack has an account of its own below it."""
    with census(budget=sf.NO_GUARANTEE) as session:
        yield session


@pytest.fixture(scope="module")
def questions(curator):
    """The question in many spellings."""
    return [curator.query(one.sql, parameters=one.parameters) for one in variants(SPELLINGS)]


def attacker(curator, name, budget=None):
    return curator.open_account(name, budget=budget or sf.PureDP(1))


def released(question, view, epsilon=EPSILON):
    """The answer to a question on another account; None if that cannot pay."""
    try:
        return replace(question, desk=view._desk).release(epsilon=epsilon)
    except BudgetExceededError:
        return None


def value(release):
    return release.estimates[0][-1].value


def test_46_all_spellings_are_one_question(curator, questions):
    view = attacker(curator, "sure", sf.NO_GUARANTEE)
    assert {value(released(question, view, SURE)) for question in questions} == {EXACT}


def test_46_spellings_are_given_again_for_nothing_or_charged_until_the_budget_is_spent(curator, questions):
    view = attacker(curator, "patient")
    answers, refused = {}, 0
    for question in questions * 2:  # what was stored is given on, also when nothing is left
        before = view.spent.epsilon
        release = released(question, view)
        if release is None:
            refused += 1
            assert view.spent.epsilon == before == 1
            continue
        request = release.receipt.request
        assert release.reused == (request in answers)
        assert view.spent.epsilon == before + (0 if release.reused else EPSILON)
        assert answers.setdefault(request, release.estimates[0][-1]) == release.estimates[0][-1]
    assert len(answers) == PAID
    assert 0 < refused < len(questions) * 2 - PAID


def first_of_each(curator, questions):
    """Spellings that are all charged, as many as a budget of 1 pays, and one more."""
    view = attacker(curator, "scout", sf.NO_GUARANTEE)
    new = (question for question in questions if not released(question, view).reused)
    return [next(new) for _ in range(PAID + 1)]


def moments(epsilon):
    """The second and the fourth moment of discrete Laplace noise for a count."""
    places = np.arange(1, int(60 / epsilon))
    masses = math.tanh(epsilon / 2) * np.exp(-float(epsilon) * places)
    return 2 * float(masses @ places**2.0), 2 * float(masses @ places**4.0)


def least_error(paid, epsilon, runs):
    """What the mean squared error of the mean of some answers stays above, but once in a million times.

    P(mean of X ≤ E X − t) ≤ exp(−runs t² / (2 E X²)) for X ≥ 0 (Maurer 2003), here X the square of a mean of noises.
    """
    variance, fourth = moments(epsilon)
    mean, square = variance / paid, (paid * fourth + 3 * paid * (paid - 1) * variance**2) / paid**4
    return mean - math.sqrt(2 * square * math.log(1 / ALPHA) / runs)


@pytest.mark.statistical
def test_46_the_mean_of_all_answers_errs_as_much_as_the_spent_budget_makes_it(curator, questions):
    attempts = first_of_each(curator, questions)
    means = []
    for run in range(RUNS):
        view = attacker(curator, f"run {run}")
        found = [released(question, view) for question in attempts]
        assert found.pop() is None
        means.append(float(np.mean([value(release) for release in found])))
    assert np.mean((np.array(means) - EXACT) ** 2) >= least_error(PAID, EPSILON, RUNS)


@pytest.mark.statistical
def test_46_who_paid_a_quarter_of_the_answers_would_be_seen():
    rng, ratio = np.random.default_rng(46), math.exp(-EPSILON)
    first, second = (rng.geometric(1 - ratio, (RUNS, 4 * PAID)) for _ in range(2))
    assert np.mean((first - second).mean(axis=1) ** 2) < least_error(PAID, EPSILON, RUNS)


@pytest.mark.parametrize("epsilon", ["0.1", "0.10", "1e-1", 0.1, Decimal("0.100"), Fraction(1, 10)], ids=repr)
def test_46_a_price_is_one_however_it_is_written(epsilon):
    with census() as session:
        first, again = asked(session, 30), asked(session, 30, epsilon=epsilon)
        in_text = session.sql(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.10) {COUNT[7:]} WHERE age >= 30")
        assert first.records() == again.records() == in_text.records()
        assert session.spent == sf.PureDP("0.1")


def test_46_each_price_is_paid_in_full():
    with census() as session:
        for epsilon in ("0.1", "0.2", "0.3"):
            assert not asked(session, 30, epsilon=epsilon).reused
        assert session.spent == sf.PureDP("0.6")


def test_46_an_error_that_is_asked_for_is_the_price_that_it_needs():
    with census() as session:
        question = session.query(f"{COUNT} WHERE age >= 30")
        first = question.release(error={"n": 30})
        assert question.release(epsilon=first.receipt.guarantee.epsilon).records() == first.records()
        assert session.spent == first.receipt.guarantee


def test_46_other_intervals_of_an_answer_are_free_and_around_the_same_value():
    with census() as session:
        found = [asked(session, 30, confidence=share) for share in ("0.5", "0.95", "0.999")]
        assert len({value(release) for release in found}) == 1
        assert len({release["n"][0].half_width for release in found}) == 3
        assert session.spent == sf.PureDP("0.1")


def test_46_whoever_asks_pays_and_the_account_above_pays_for_all():
    with census() as session:
        views = [session.open_account(f"analyst {number}", budget=sf.PureDP("0.5")) for number in range(20)]
        found = []
        for view in views:
            try:
                found.append(asked(view, 30, epsilon=EPSILON))
            except BudgetExceededError:
                assert session.remaining == sf.PureDP(0)
        assert len(found) == len({release.receipt.request for release in found}) == PAID
        assert sum(view.spent.epsilon for view in views) == session.spent.epsilon == 1
