import math

import numpy as np
import pytest
from tests.laws import ALPHA

from sfumato.attacks.reconstruction.problem import random_bits, random_masks
from sfumato.attacks.reconstruction.sums import exact_sums, noisy_sums, rounded_sums
from sfumato.errors import ParameterError

SECRET = np.array([True, True, False, True, False, True, True, True])
ALL = np.ones(8, dtype=bool)
DRAWS = 20_000


def test_exact_sums_count_the_bits_of_a_mask():
    secret, masks = random_bits(50), random_masks(questions=20, people=50)
    answer = exact_sums(secret)
    assert [answer(mask) for mask in masks] == (masks.astype(int) @ secret).tolist()


@pytest.mark.parametrize(("step", "shown"), [(1, 6), (5, 5), (4, 8), (20, 0)])
def test_rounded_sums_are_multiples_of_the_step(step, shown):
    assert rounded_sums(SECRET, step=step)(ALL) == shown


@pytest.mark.statistical
@pytest.mark.parametrize(("law", "stddev"), [("laplace", math.sqrt(2)), ("gaussian", 1), ("uniform", 1 / math.sqrt(3))])
def test_noise_is_around_the_sum_and_of_the_size_that_was_asked_for(law, stddev):
    answer = noisy_sums(SECRET, scale=3, law=law)
    noise = np.array([answer(ALL) for _ in range(DRAWS)]) - 6
    assert abs(noise.mean()) < 4.9 * 3 * stddev / math.sqrt(DRAWS), f"type-I error {ALPHA}"
    # the variance of a square is at most 5 times the squared variance, that of Laplace noise
    assert noise.var() == pytest.approx((3 * stddev) ** 2, rel=4.9 * math.sqrt(5 / DRAWS)), f"type-I error {ALPHA}"


def test_uniform_noise_keeps_within_its_bounds():
    answer = noisy_sums(SECRET, scale=2, law="uniform")
    assert max(abs(answer(ALL) - 6) for _ in range(1_000)) <= 2


def test_no_noise_of_scale_nothing():
    assert noisy_sums(SECRET, scale=0)(ALL) == 6


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ParameterError, match="step"):
        rounded_sums(SECRET, step=0)
    for scale in (-1, float("inf"), float("nan")):
        with pytest.raises(ParameterError, match="scale"):
            noisy_sums(SECRET, scale=scale)
    with pytest.raises(ParameterError, match="law"):
        noisy_sums(SECRET, scale=1, law="cauchy")
