"""The median and its smooth sensitivity, against their definitions over all small databases."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import exp, inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mechanisms.exhaustive import databases, neighbours

from sfumato.errors import ParameterError
from sfumato.mechanisms.quantiles.grid import ValueGrid
from sfumato.mechanisms.stable import median as module
from sfumato.mechanisms.stable.median import distance_to_instability, median, ordered, smooth_sensitivity_up, width_of
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

GRID = ValueGrid(Fraction(0), Fraction(5), Fraction(1))
STEPS = list(range(6))
BETAS = [Fraction(1, 100), Fraction(1, 5), Fraction(3, 4), Fraction(3)]
WORLDS = {
    "add or remove": (ADD_OR_REMOVE_ONE, range(6)),
    "replace in four": (REPLACE_ONE, range(4, 5)),
    "replace in five": (REPLACE_ONE, range(5, 6)),
}


def middle(database):
    return median(ordered(GRID, database))


def bound(database, beta, relation):
    return smooth_sensitivity_up(ordered(GRID, database), smoothness=beta, neighboring_relation=relation)


def instability(database, sensitivity, relation):
    return distance_to_instability(ordered(GRID, database), sensitivity=sensitivity, neighboring_relation=relation)


def pairs(relation, sizes):
    rests = range(sizes.start - 1, sizes.stop - 1) if relation is REPLACE_ONE else range(sizes.stop - 1)
    return [tuple(map(sorted_tuple, pair)) for pair in neighbours(STEPS, relation, sizes=rests)]


def sorted_tuple(database):
    return tuple(sorted(database))


@cache
def world(name):
    """All databases, all neighboring pairs, and the local sensitivity of each, by looking at every neighbor."""
    relation, sizes = WORLDS[name]
    beyond = range(sizes.stop + 1) if relation is ADD_OR_REMOVE_ONE else sizes
    local = Counter()
    for first, second in pairs(relation, beyond):
        local[first] = max(local[first], abs(middle(first) - middle(second)))
    return list(databases(STEPS, sizes)), pairs(relation, sizes), local


@cache
def distance(first, second, relation):
    missing, added = Counter(first) - Counter(second), Counter(second) - Counter(first)
    changes = (missing.total(), added.total())
    return max(changes) if relation is REPLACE_ONE else sum(changes)


@pytest.mark.parametrize(
    ("values", "expected"), [([], 0), ([4], 4), ([4, 2], 2), ([5, 1, 3], 3), ([2, 2, 5, 5], 2), ([9, 9, -9], 5)]
)
def test_the_median_is_the_value_in_the_middle_or_the_lower_of_two(values, expected):
    assert middle(values) == expected


@pytest.mark.parametrize("beta", BETAS, ids=float)
@pytest.mark.parametrize("name", WORLDS)
def test_the_bound_is_the_definition_of_smooth_sensitivity_a_little_rounded_up(name, beta):
    relation = WORLDS[name][0]
    everything, _, local = world(name)
    weights = [exp(-beta * k) for k in range(11)]
    for database in everything:
        terms = [weights[distance(database, other, relation)] * local[other] for other in everything]
        found = float(bound(database, beta, relation))
        assert max(1.0, *terms) * (1 - 1e-12) <= found <= max(1.0, *terms) * (1 + 2e-8)


@pytest.mark.parametrize("beta", BETAS, ids=float)
@pytest.mark.parametrize("name", WORLDS)
def test_the_bound_is_smooth_exactly_and_covers_the_local_sensitivity(name, beta):
    relation = WORLDS[name][0]
    everything, both, local = world(name)
    bounds = {database: bound(database, beta, relation) for database in everything}
    assert all(max(1, local[database]) <= bounds[database] <= 5 for database in everything)
    with localcontext(prec=60):
        limit = (Decimal(beta.numerator) / beta.denominator).exp()
        ratios = {bounds[first] / bounds[second] for first, second in both}
        worst = max(Decimal(ratio.numerator) / ratio.denominator for ratio in ratios)
        assert worst <= limit
        assert worst > min(limit, Decimal(5)) * Decimal("0.99")  # as rough as it may be


def test_without_the_reserve_rounding_would_break_smoothness(monkeypatch):
    monkeypatch.setattr(module, "_RESERVE", Fraction(0))
    with pytest.raises(AssertionError):
        test_the_bound_is_smooth_exactly_and_covers_the_local_sensitivity("add or remove", Fraction(1, 5))


@pytest.mark.parametrize("sensitivity", range(5))
@pytest.mark.parametrize("name", WORLDS)
def test_the_distance_to_instability_is_that_to_the_nearest_database_that_is_unstable(name, sensitivity):
    relation = WORLDS[name][0]
    everything, both, local = world(name)
    unstable = [database for database in everything if local[database] > sensitivity]
    distances = {database: instability(database, sensitivity, relation) for database in everything}
    for database in everything:
        assert distances[database] == min(distance(database, other, relation) for other in unstable)
    assert max(abs(distances[first] - distances[second]) for first, second in both) == 1


@given(
    st.lists(st.integers(0, 10**6) | st.integers(0, 5), max_size=60),
    st.fractions(Fraction(1, 10**4), 3),
)
def test_divide_and_conquer_finds_the_largest_of_all_windows(values, beta):
    data = ordered(ValueGrid(Fraction(0), Fraction(10**6), Fraction(1)), values)
    place = (len(values) + 1) // 2
    terms = [
        exp(-beta * (j - i - 1)) * int(data[j] - data[i])
        for i in range(place + 1)
        for j in range(max(place, i + 1), len(data))
    ]
    found = smooth_sensitivity_up(data, smoothness=beta, neighboring_relation=REPLACE_ONE)
    assert float(found) == pytest.approx(max(1.0, *terms), rel=1e-6)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("beta", [Fraction(1, 2**20), Fraction(1, 50), Fraction(10**6)])
def test_a_hundred_thousand_values_are_no_trouble(relation, beta):
    grid = ValueGrid(Fraction(-(2**49)), Fraction(2**49), Fraction(1))
    values = np.random.default_rng(0).integers(-(2**48), 2**48, 100_000)
    data = ordered(grid, values)
    assert 1 <= smooth_sensitivity_up(data, smoothness=beta, neighboring_relation=relation) <= 2**50
    assert 0 <= distance_to_instability(data, sensitivity=2**40, neighboring_relation=relation) <= len(values)


@pytest.mark.parametrize("relation", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_equal_values_are_as_stable_as_can_be(relation):
    data = ordered(GRID, [3] * 99)
    assert smooth_sensitivity_up(data, smoothness=Fraction(1), neighboring_relation=relation) == 1
    expected = 98 if relation is ADD_OR_REMOVE_ONE else 49
    assert distance_to_instability(data, sensitivity=2, neighboring_relation=relation) == expected


def test_no_data_value_is_an_error():
    assert ordered(GRID, Secret([nan, None, inf, -inf, 1e300, 2.5])).tolist() == [0, 0, 0, 0, 3, 5, 5, 5]
    assert ordered(GRID, np.array([], dtype=np.float64)).tolist() == [0, 5]


@pytest.mark.parametrize("values", [3, "345", None, {1, 2}, ["a"], [[1, 2]]])
def test_what_is_no_sequence_of_numbers_is_refused(values):
    with pytest.raises(ParameterError):
        ordered(GRID, values)


@pytest.mark.parametrize(("upper", "accepted"), [(0, False), (1, True), (2**50, True), (2**50 + 1, False)])
def test_a_grid_of_one_point_or_too_many_is_refused(upper, accepted):
    grid = ValueGrid(Fraction(0), Fraction(upper), Fraction(1))
    if accepted:
        assert width_of(grid) == upper
    else:
        with pytest.raises(ParameterError, match="upper"):
            width_of(grid)
