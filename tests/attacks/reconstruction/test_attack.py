"""128 secret bits, 512 random subsets: which noise gives the bits away, and which hides them."""

import math
from functools import partial

import numpy as np
import pytest

from sfumato.attacks.core.outcome import curve, largest_success
from sfumato.attacks.reconstruction import (
    accuracy_over,
    every_mask,
    exact_sums,
    exhaustively,
    least_squares,
    linear_program,
    noisy_sums,
    random_bits,
    reconstruct,
    rounded_sums,
    together,
)
from sfumato.errors import BudgetExceededError, ParameterError

PEOPLE, QUESTIONS, DATABASES = 128, 512, 6
BITS = PEOPLE * DATABASES
ROOT = math.sqrt(PEOPLE)


def accuracy(curator, method):
    found = accuracy_over([0], lambda secret, _: curator(secret), method=method, databases=DATABASES)
    assert found[0].trials == BITS
    return found[0].success


@pytest.mark.parametrize("curator", [exact_sums, rounded_sums, partial(noisy_sums, scale=2, distribution="uniform")])
def test_exact_rounded_and_slightly_noisy_answers_give_away_99_of_100_bits(curator):
    assert accuracy(curator, least_squares) >= 0.99


@pytest.mark.parametrize(
    ("curator", "least"),
    [(exact_sums, 1), (partial(noisy_sums, scale=2, distribution="uniform"), 0.98), (rounded_sums, 0.97)],
)
def test_the_linear_program_finds_nearly_as_many(curator, least):
    assert accuracy(curator, linear_program) >= least


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("law", "scale", "by_sums", "by_squares"),
    [
        ("uniform", ROOT / 2, 0.848, 0.950),
        ("gaussian", ROOT / 2, 0.786, 0.834),
        ("gaussian", PEOPLE / 4, 0.556, 0.573),
        ("laplace", QUESTIONS, 0.511, 0.510),
    ],
)
def test_more_noise_hides_more(law, scale, by_sums, by_squares):
    # expected are means of 60 databases; those of 6 have a standard error of 0.018 at most, and 5 of them are allowed
    for method, expected in ((linear_program, by_sums), (least_squares, by_squares)):
        assert accuracy(partial(noisy_sums, scale=scale, distribution=law), method) == pytest.approx(expected, abs=0.09)


def test_the_exhaustive_attack_is_one_of_the_methods():
    secret = random_bits(10)
    found = reconstruct(rounded_sums(secret, step=2), secret=secret, masks=every_mask(10), method=exhaustively)
    assert (found.bits != secret).sum() <= 4  # answers err by 1 at most
    assert found.outcome.trials == 10


def test_the_adversary_does_not_see_the_secret():
    shown, scored = random_bits(64), np.zeros(64, dtype=bool)
    found = reconstruct(exact_sums(shown), secret=scored)
    assert np.array_equal(found.bits, shown)
    assert found.outcome.successes == (~shown).sum()


def test_what_a_guarantee_allows_for_each_bit_is_stated():
    secret = random_bits(16)
    assert reconstruct(exact_sums(secret), secret=secret).outcome.allowed is None
    assert reconstruct(exact_sums(secret), secret=secret, epsilon=1).outcome.allowed == largest_success(epsilon=1)


def test_a_budget_that_ends_leaves_fewer_questions_and_none_a_blind_guess():
    secret, left = random_bits(64), iter(range(40))

    def answer(mask):
        if next(left, None) is None:
            raise BudgetExceededError(requested=1, remaining=0)
        return exact_sums(secret)(mask)

    assert reconstruct(answer, secret=secret).outcome.notes == ("refused 216 of 256 queries",)
    assert reconstruct(answer, secret=secret).outcome.notes == ("refused 256 of 256 queries",)


def test_masks_must_be_of_these_people():
    with pytest.raises(ParameterError, match="masks"):
        reconstruct(exact_sums(random_bits(4)), secret=random_bits(4), masks=np.ones((2, 5), dtype=bool))


def test_accuracy_over_the_size_of_noise_is_a_falling_curve():
    found = accuracy_over(
        [0.0, 4.0, 400.0],
        lambda secret, scale: noisy_sums(secret, scale=scale),
        people=64,
        questions=256,
        databases=10,
        epsilon=lambda scale: 256 / scale if scale else 1_000,
    )
    shares = [outcome.success for outcome in found.values()]
    assert shares[0] == 1
    assert shares[0] > shares[1] > shares[2]
    assert [outcome.trials for outcome in found.values()] == [640] * 3
    assert found[400.0].allowed == largest_success(epsilon=256 / 400)
    (axes,) = curve(found, x_label="scale of the noise").axes
    assert axes.get_xlabel() == "scale of the noise"
    assert axes.get_lines()[0].get_ydata().tolist() == shares


@pytest.mark.parametrize("method", [None, lambda _: None, lambda _: [0.5], lambda problem: problem.masks])
def test_a_method_gives_a_number_for_each_person(method):
    secret = random_bits(4)
    with pytest.raises(ParameterError, match=r"^method"):
        reconstruct(exact_sums(secret), secret=secret, method=method)


@pytest.mark.parametrize("answer", [None, lambda: 1, lambda _: "many", lambda mask: mask])
def test_answers_are_numbers(answer):
    with pytest.raises(ParameterError, match=r"^answer"):
        reconstruct(answer, secret=random_bits(4))


@pytest.mark.parametrize("secret", [None, [], 1, [0, 2], [[True]], ["Ada"]])
def test_a_secret_is_a_bit_for_each_person_and_the_error_shows_none(secret):
    with pytest.raises(ParameterError, match=r"^secret = ") as refused:
        reconstruct(lambda _: 1, secret=secret)
    assert "Ada" not in str(refused.value)


def test_too_large_a_secret_is_refused_before_anything_is_drawn():
    with pytest.raises(ParameterError, match=r"^secret = '20,000 bits': "):
        reconstruct(lambda _: 1, secret=np.zeros(20_000, dtype=bool))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("places", None), ("places", ["a"]), ("curator", None), ("curator", lambda _: 1), ("curator", lambda *_: None),
        ("people", 0), ("questions", 10**400), ("databases", 10**400), ("epsilon", 1), ("epsilon", lambda _: "abc"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_curve_is_refused_by_its_name(name, value):
    right = {"places": [1], "curator": lambda secret, _: exact_sums(secret), "people": 4, "questions": 4}
    with pytest.raises(ParameterError, match=rf"^{name}"):
        accuracy_over(**right | {name: value})


def test_nothing_is_not_put_together():
    with pytest.raises(ParameterError, match="outcomes"):
        together([])
    with pytest.raises(ParameterError, match="databases"):
        accuracy_over([1], lambda secret, _: exact_sums(secret), databases=0)
