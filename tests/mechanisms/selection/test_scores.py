"""Utilities as whole numbers over one denominator."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import as_rational
from sfumato.mechanisms.selection.scores import gaps_below_best, whole_scores


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
