"""What the mechanisms that choose one candidate have in common."""

from decimal import Decimal
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import as_rational
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.mechanisms.selection.permute_and_flip import PermuteAndFlip
from sfumato.mechanisms.selection.selection import gaps_below_best, whole_scores

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


@pytest.mark.parametrize(
    "scores",
    [
        [1, 2, 3],
        [2**70, -5],
        [0.1, 0.2, Fraction(1, 3)],
        [Decimal("0.25"), None, float("nan")],
        [True, 2.5],
        np.array([2**64 - 1, 0], dtype=np.uint64),
        np.array([0.1, 1e-3, -7.0]),
        np.array([True, False]),
        np.array([1, 2**80], dtype=object),
    ],
    ids=str,
)
def test_scores_are_kept_exactly(scores):
    numerators, denominator = whole_scores(scores, None)
    assert [Fraction(int(n), denominator) for n in numerators] == [as_rational(score) for score in scores]


HUGE = 10**310


@pytest.mark.parametrize(
    "huge", [HUGE, float("inf"), Decimal(HUGE), Fraction(HUGE)], ids=["int", "float", "decimal", "fraction"]
)
def test_utilities_have_one_clamp_whatever_holds_them(huge):
    for scores in ([huge, -huge, 1], [huge, -huge, 1.5], np.array([huge, -huge, 1], dtype=object)):
        numerators, denominator = whole_scores(scores, None)
        assert [int(n) // denominator for n in numerators] == [10**308, -(10**308), 1]


def test_with_a_resolution_scores_are_its_steps():
    steps, denominator = whole_scores([0.1, 0.25, 0.3], Fraction(1, 10))
    assert (steps.tolist(), denominator) == ([1, 3, 3], 1)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(0, 2**70))
@example([7, 7], 2**70)
def test_gaps_are_exact_whatever_their_size(scores, factor):
    expected = [factor * (max(scores) - score) for score in scores]
    assert gaps_below_best(np.array(scores, dtype=np.int64), factor).tolist() == expected
    assert gaps_below_best(np.array(scores, dtype=object), factor).tolist() == expected


@pytest.mark.parametrize("scores", [[], np.array([]), np.zeros((2, 2)), np.array(3)])
def test_no_candidates_are_an_error(scores):
    with pytest.raises(ParameterError, match="scores"):
        whole_scores(scores, None)


def test_what_is_no_number_is_an_error():
    with pytest.raises(ParameterError, match="must be a number"):
        whole_scores(["7"], None)
