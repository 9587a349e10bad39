import numpy as np
import pytest

from sfumato.audit.canaries.guesses import Guesses, Scored
from sfumato.errors import ParameterError

SEEN = Scored(scores=[5.0, 1.0, 4.0, 2.0, 3.0, 0.0], included=[True, False, False, True, True, False])


@pytest.mark.parametrize(
    ("high", "low", "right"), [(1, 0, 1), (2, 0, 1), (3, 0, 2), (0, 1, 1), (0, 3, 2), (3, 3, 4), (0, 0, 0)]
)
def test_the_highest_are_guessed_included_and_the_lowest_left_out(high, low, right):
    assert SEEN.guesses(high=high, low=low) == Guesses(right=right, made=high + low, canaries=6)


def test_ties_go_by_the_order_of_the_canaries_alone():
    included = np.array([True, False] * 10)
    flat = Scored(scores=[1.0] * 20, included=included)
    assert flat.guesses(high=5, low=0).right == np.count_nonzero(included[-5:])
    assert flat.guesses(high=0, low=5).right == np.count_nonzero(~included[:5])


@pytest.mark.parametrize(("high", "low"), [(4, 3), (-1, 2), (7, 0)])
def test_more_guesses_than_canaries_are_refused(high, low):
    with pytest.raises(ParameterError, match="no more guesses"):
        SEEN.guesses(high=high, low=low)


def test_how_many_guesses_are_tried_does_not_depend_on_scores_or_coins():
    other = Scored(scores=np.arange(6), included=[False] * 6)
    assert [found.made for found in SEEN.tries()] == [found.made for found in other.tries()]


def test_shares_are_tried_from_both_ends_and_from_the_upper_end():
    large = Scored(scores=np.arange(64.0), included=np.arange(64) >= 32)
    assert sorted(found.made for found in large.tries((1, 1 / 4))) == [16, 16, 64]
    assert all(found.right == found.made for found in large.tries((1, 1 / 4)))


@pytest.mark.parametrize(
    ("scores", "included", "match"),
    [
        ([1.0], [True], "two or more"),
        ([1.0, 2.0], [True], "one for each"),
        ([[1.0, 2.0]], [[True, False]], "list"),
        ([1.0, float("nan")], [True, False], "−inf"),
        ([1.0, 2.0], [1, 0], "True or False"),
    ],
)
def test_what_cannot_be_read_is_refused(scores, included, match):
    with pytest.raises(ParameterError, match=match):
        Scored(scores=scores, included=included)


@pytest.mark.parametrize("counts", [(3, 2, 5), (-1, 2, 5), (2, 6, 5)])
def test_impossible_counts_are_refused(counts):
    right, made, canaries = counts
    with pytest.raises(ParameterError, match="guesses"):
        Guesses(right=right, made=made, canaries=canaries)
