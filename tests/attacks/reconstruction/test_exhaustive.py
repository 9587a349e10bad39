import numpy as np
import pytest

from sfumato.attacks.reconstruction.exhaustive import exhaustively
from sfumato.attacks.reconstruction.problem import Problem, every_mask, random_bits
from sfumato.errors import ParameterError

RNG = np.random.default_rng(2003)


def answered(secret, masks, error=0.0):
    exact = (masks & secret).sum(axis=1)
    return Problem(masks=masks, answers=exact + RNG.uniform(-error, error, len(masks)))


@pytest.mark.parametrize("people", [1, 7, 12])
def test_exact_answers_about_all_subsets_give_the_only_database(people):
    secret = random_bits(people)
    assert np.array_equal(exhaustively(answered(secret, every_mask(people))) > 0.5, secret)


@pytest.mark.parametrize("error", [0.49, 1, 2])
def test_answers_that_err_by_e_leave_at_most_4e_bits_wrong(error):
    for _ in range(20):
        secret = random_bits(9)
        found = exhaustively(answered(secret, every_mask(9), error)) > 0.5
        assert (found != secret).sum() <= 4 * error


def test_no_database_errs_less():
    masks = every_mask(8)[RNG.permutation(256)[:40]]
    problem = answered(random_bits(8), masks, 1.5)
    worst = np.abs(every_mask(8).astype(float) @ masks.T - problem.answers).max(axis=1)
    assert np.abs(masks @ exhaustively(problem) - problem.answers).max() == worst.min()


def test_more_than_one_block_of_candidates_is_searched():
    secret = np.ones(13, dtype=bool)  # the last of 8,192 candidates
    assert exhaustively(answered(secret, np.eye(13, dtype=bool))).all()


def test_too_many_people_are_refused():
    with pytest.raises(ParameterError, match="least_squares"):
        exhaustively(Problem(masks=np.ones((1, 21), dtype=bool), answers=np.ones(1)))
