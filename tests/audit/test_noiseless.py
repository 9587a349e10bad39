"""Claimed sensitivities against exact answers: what is too small is found with its pair, what is right is not."""

from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import inf, nan, sqrt
from operator import add

import numpy as np
import pytest

from sfumato.audit.core.findings import Verdict
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.neighbors import small_pairs
from sfumato.audit.noiseless import check_sensitivity
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

PAIR = NeighborPair(0, 1, "one person more")


def moved(here, there, *, norm="l1", **claim):
    return check_sensitivity(lambda database: there if database else here, [PAIR], norm=norm, **claim)


def clamped_sum(low, high):
    return lambda database: sum(min(max(value, low), high) for value in database)


@pytest.mark.parametrize(
    ("relation", "low", "high", "sensitivity"),
    [(ADD_OR_REMOVE_ONE, -2, 3, 3), (REPLACE_ONE, -2, 3, 5), (ADD_OR_REMOVE_ONE, 0, 1, 1), (REPLACE_ONE, 0, 1, 1)],
)
def test_a_claim_holds_exactly_from_the_brute_force_sensitivity_on(relation, low, high, sensitivity):
    pairs = list(small_pairs((-9, -1, 0, 2, 9), largest=2, relation=relation))
    right = check_sensitivity(clamped_sum(low, high), pairs, claimed=sensitivity, norm="l1")
    assert right.verdict is Verdict.NOTHING_FOUND
    assert right.largest == sensitivity
    assert right.checks == len(pairs)
    wrong = check_sensitivity(clamped_sum(low, high), pairs, claimed=sensitivity - Fraction(1, 10**30), norm="l1")
    assert wrong.verdict is Verdict.SENSITIVITY_BUG


def test_the_finding_names_the_pair():
    finding = check_sensitivity(
        sum, small_pairs((0, 1, 7), largest=2, relation=ADD_OR_REMOVE_ONE), claimed=1, norm="l1"
    )
    assert "(7,) and ()" in finding.pair
    assert "l1 sensitivity ≥ 7, claimed 1" in str(finding)


@pytest.mark.parametrize(("norm", "size"), [("l0", 2), ("l1", 7), ("l2", 5), ("linf", 4)])
def test_each_norm(norm, size):
    assert moved([1, 1, 1], [4, 5, 1], claimed=size, norm=norm).verdict is Verdict.NOTHING_FOUND
    assert moved([1, 1, 1], [4, 5, 1], claimed=size, norm=norm).largest == size
    assert moved([1, 1, 1], [4, 5, 1], claimed=size - Fraction(1, 10**9), norm=norm).verdict is Verdict.SENSITIVITY_BUG


def test_a_root_that_is_no_number_is_compared_by_its_square():
    assert moved([0, 0], [1, 1], claimed=sqrt(2), norm="l2").verdict is Verdict.NOTHING_FOUND  # this double is larger
    assert moved([0, 0], [1, 1], claimed="1.41421356237309504880168872420969807856", norm="l2").is_exceeded
    assert float(moved([0, 0], [1, 1], claimed=2, norm="l2").largest) == pytest.approx(sqrt(2))


def added(database):
    """One after the other, which `sum` of newer versions of Python does not do."""
    return reduce(add, database)


def test_floats_count_as_what_they_are():
    """A sum of floats may move by more than its bound, by what was rounded."""
    pairs = [NeighborPair((2.0**53, 1.0, 1.0), (2.0**53, 1.0), "fewer")]
    assert check_sensitivity(added, pairs, claimed=1, norm="l1").verdict is Verdict.NOTHING_FOUND
    pairs = [NeighborPair((1.0, 1.0, 2.0**53), (1.0, 2.0**53), "fewer")]
    finding = check_sensitivity(added, pairs, claimed=1, norm="l1")
    assert (finding.is_exceeded, finding.largest) == (True, 2)
    assert moved(0.1, 0.3, claimed="0.2").is_exceeded == (Fraction(0.3) - Fraction(0.1) > Fraction(1, 5))


@pytest.mark.parametrize(
    ("here", "there"),
    [(nan, 1), (inf, 0), (None, 0), ("a", "b"), ([1, nan], [1, 2]), ({"a": 1}, {"b": "x"}), (Decimal("nan"), 1)],
)
def test_what_is_no_number_has_no_distance(here, there):
    finding = moved(here, there, claimed=10**9)
    assert finding.largest == inf
    assert finding.verdict is Verdict.SENSITIVITY_BUG


@pytest.mark.parametrize("answer", [nan, inf, None, "a", [1, None], {"a": "x"}])
def test_equal_answers_have_distance_zero(answer):
    assert moved(answer, answer, claimed=0).verdict is Verdict.NOTHING_FOUND


@pytest.mark.parametrize(
    ("here", "there", "distance"),
    [
        ({"a": 1, "b": 2}, {"b": 5}, 4),
        ([1, 2], [1], 2),
        ([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 5}], 3),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 6]]), 2),
        (np.float32(0.5), np.int64(2), Fraction(3, 2)),
        (Decimal("0.1"), Fraction(3, 10), Fraction(1, 5)),
        (True, False, 1),
        (2**80, 2**80 + 1, 1),
    ],
    ids=str,
)
def test_vectors_mappings_and_numbers_of_every_kind(here, there, distance):
    assert moved(here, there, claimed=distance).largest == distance


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("claimed", {"claimed": -1}), ("norm", {"claimed": 1, "norm": "l3"}), ("claimed", {"claimed": "nan"})],
)
def test_impossible_parameters_are_refused_by_name(name, arguments):
    with pytest.raises(ParameterError, match=name):
        moved(1, 2, **arguments)


def test_no_pairs_are_refused():
    with pytest.raises(ParameterError, match="pairs"):
        check_sensitivity(sum, [], claimed=1, norm="l1")
