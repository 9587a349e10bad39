from math import exp, log

import pytest

from examples import b06_posterior_sampling as example
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


def test_a_draw_costs_the_range_of_one_patients_log_likelihood():
    assert float(example.SIDE_EFFECT.epsilon) == pytest.approx(log(0.9 / 0.1))
    assert float(example.TEMPERED.epsilon) == 1
    assert float(example.TEMPERED.power) == pytest.approx(1 / log(9))


def test_the_price_of_a_rate_is_that_of_the_most_telling_patient():
    assert float(example.RATE.model.epsilon(ADD_OR_REMOVE_ONE)) == pytest.approx(6 * log(6) - 5)
    assert example.RATE.epsilon == 1


@pytest.mark.statistical
def test_draws_lie_about_the_truth_and_the_tempered_ones_are_wider():
    """A simulation of 160 draws each: the standard deviations follow from the curvature of the posterior."""
    truth = sum(example.ILL) / len(example.ILL)
    for mechanism in (example.SIDE_EFFECT, example.TEMPERED):
        draws = [float(mechanism.release(example.ILL)) for _ in range(160)]
        expected = (truth * (1 - truth) / (len(example.ILL) * float(mechanism.power))) ** 0.5
        mean = sum(draws) / len(draws)
        spread = (sum((draw - mean) ** 2 for draw in draws) / len(draws)) ** 0.5
        assert abs(mean - truth) < 5.5 * expected / 160**0.5 + 0.01
        assert expected / 1.4 < spread < 1.4 * expected


def test_without_limits_it_is_refused_with_the_reason():
    assert "low" in example.refusal("0")
    assert example.refusal("0.1") == "accepted"


def test_one_patient_moves_the_chance_of_any_answer_by_at_most_a_factor():
    assert exp(float(example.SIDE_EFFECT.epsilon)) == pytest.approx(9)
