import pytest

from examples import b07_variations as example


def test_the_exact_values_are_those_of_the_text():
    assert (sum(example.HOURS), sorted(example.HOURS)[999]) == (52_240, 25)
    assert sum(hours > 50 for hours in example.HOURS) == 106
    assert min(example.HOURS) >= 0
    assert max(example.HOURS) <= 100


def test_for_a_large_sensitivity_the_staircase_misses_by_less_on_average():
    staircase, laplace = example.TOTAL["staircase"], example.TOTAL["discrete Laplace"]
    assert staircase.expected_error < 0.9 * float(laplace.scale)


def test_one_private_choice_is_best_made_by_permute_and_flip():
    exponential, flip = (example.expected_loss(mechanism) for mechanism in example.LARGEST.values())
    assert 4 < flip < exponential < 6


def test_an_alarm_rings_on_the_two_days_that_stand_out():
    said = example.ALARM.release([0, 0, 10**6, 0, 10**6, 0], threshold=1000)
    assert said == (False, False, True, False, True)


@pytest.mark.statistical
def test_the_private_medians_lie_near_the_true_one():
    """Of 200 draws of each, which would be 200 times the price: half lie within two hours."""
    for mechanism in example.MEDIAN.values():
        near = sum(abs(mechanism.release(example.HOURS) - 25) <= 2 for _ in range(200))
        assert near > 100
