import pytest

import sfumato as sf
from examples import d03_people_over_50 as example


def test_6460_people_are_over_50():
    assert example.exact_count() == 6_460


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", example.EPSILONS)
def test_the_private_count_is_within_its_interval_of_confidence_one_minus_1e_6(epsilon):
    with example.curator() as adult:
        answer = adult.query(example.QUESTION).release(epsilon=epsilon, confidence=1 - 1e-6)["n"][0]
    assert answer.low <= 6_460 <= answer.high, "type-I error 1e-6"


@pytest.mark.parametrize(("epsilon", "half_width"), [("0.1", 30), ("0.001", 2_996)])
def test_the_error_is_known_before_anything_is_spent(epsilon, half_width):
    with example.curator() as adult:
        assert adult.query(example.QUESTION).error(epsilon=epsilon)[0].half_width == half_width
        assert adult.spent == sf.PureDP(0)


def test_both_answers_together_cost_their_sum():
    with example.curator() as adult:
        for epsilon in example.EPSILONS:
            adult.sql(example.QUESTION, epsilon=epsilon)
        assert adult.spent == sf.PureDP("0.101")
