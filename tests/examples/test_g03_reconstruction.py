import numpy as np
import pytest

from examples import g03_reconstruction as example
from sfumato.attacks.reconstruction import random_bits

SECRET = random_bits(example.PEOPLE)


def test_the_subsets_differ_and_are_half_of_the_people():
    masks = example.subsets()
    assert masks.shape == (512, 128)
    assert len({mask.tobytes() for mask in masks}) == 512
    assert masks.mean() == pytest.approx(0.5, abs=0.01)


def test_sql_means_the_same_subsets_as_the_masks():
    for place in (0, 1, 8, 511):
        inside = [eval(example.subset(place), {"person": person}) for person in range(example.PEOPLE)]  # noqa: S307
        assert inside == example.subsets()[place].tolist()


def test_answers_without_a_proof_give_the_bits_away():
    found = example.without_proof(SECRET, example.subsets())
    shares = {name: outcome.success for name, outcome in found.items()}
    assert shares["exact"] == 1
    assert min(shares["rounded to 5"], shares["within 2"]) > 0.97
    assert shares["within √n / 2"] > 0.8


@pytest.mark.statistical
def test_the_session_adds_noise_of_the_size_of_the_number_of_questions(monkeypatch):
    monkeypatch.setattr(example, "QUESTIONS", 64)
    masks, answer = example.subsets(), example.private_sums(SECRET, 1)
    errors = np.array([answer(mask) for mask in masks]) - masks @ SECRET.astype(float)
    # the mean of 64 sizes of noise of scale 64 is 64 ± 8, and 5 of them away with a chance near 1e-6
    assert 24 < np.abs(errors).mean() < 106
