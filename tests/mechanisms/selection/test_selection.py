"""What the mechanisms that choose one candidate have in common."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip

CLASSES = [Exponential, PermuteAndFlip]


@pytest.mark.parametrize("mechanism", CLASSES)
@pytest.mark.parametrize(("resolution", "steps"), [("0.3", 1), ("0.2", 2), ("1", 1), ("0.1", 3)])
def test_with_a_resolution_the_sensitivity_is_a_whole_number_of_steps(mechanism, resolution, steps):
    fine = mechanism(utility_sensitivity="0.3", epsilon=1, resolution=resolution)
    whole = mechanism(utility_sensitivity=steps, epsilon=1)
    scores = [Fraction(k) * Fraction(resolution) for k in (0, 3, 5, 4)]
    assert fine.probabilities(scores).tolist() == whole.probabilities([0, 3, 5, 4]).tolist()


@pytest.mark.parametrize("mechanism", CLASSES)
def test_halves_of_a_step_are_rounded_upward(mechanism):
    halves = mechanism(utility_sensitivity=1, epsilon=1, resolution=1).probabilities(np.array([0.5, -0.5, 1.5]))
    assert halves.tolist() == mechanism(utility_sensitivity=1, epsilon=1).probabilities([1, 0, 2]).tolist()


@pytest.mark.parametrize("mechanism", CLASSES)
def test_the_accuracy_covers_the_rounding(mechanism):
    coarse = mechanism(utility_sensitivity=2, epsilon=1, resolution=2, monotonic=True)
    plain = mechanism(utility_sensitivity=2, epsilon=1, monotonic=True)
    assert coarse.accuracy(candidates=9) == pytest.approx(plain.accuracy(candidates=9) + 2)
    within = np.array([-0.9, 0.9, 0.95]) >= 0.95 - coarse.accuracy(0.5, candidates=3)
    assert coarse.probabilities([-0.9, 0.9, 0.95])[within].sum() >= 0.5


@pytest.mark.parametrize("mechanism", CLASSES)
def test_monotonic_utilities_count_twice(mechanism):
    general = mechanism(utility_sensitivity=1, epsilon=2)
    monotonic = mechanism(utility_sensitivity=1, epsilon=1, monotonic=True)
    assert general.probabilities([3, 1, 2]).tolist() == monotonic.probabilities([3, 1, 2]).tolist()


@pytest.mark.parametrize("mechanism", CLASSES)
def test_scores_of_any_form_have_the_same_law(mechanism):
    forms = [[3, 1, 2], (3.0, 1.0, 2.0), np.array([3, 1, 2], dtype=np.int8), np.array([3, 1, 2], dtype=np.uint64)]
    forms += [[Fraction(3), 1, 2.0], np.array([3.0, 1, 2]), {"a": 3, "b": 1, "c": 2}.values()]
    laws = [mechanism(utility_sensitivity=1, epsilon=1).probabilities(form).tolist() for form in forms]
    assert laws == [laws[0]] * len(forms)


def test_classes_with_equal_parameters_are_not_equal():
    assert Exponential(utility_sensitivity=1, epsilon=1) != PermuteAndFlip(utility_sensitivity=1, epsilon=1)
    assert Exponential(utility_sensitivity=1, epsilon=1) == Exponential(utility_sensitivity="1", epsilon=1.0)


def test_the_accuracy_is_rounded_up():
    assert Exponential(utility_sensitivity=1, epsilon=2).accuracy(0.5, candidates=1) >= log(2)
