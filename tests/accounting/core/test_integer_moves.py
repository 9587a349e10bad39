import itertools
import math
from fractions import Fraction

import pytest
from tests.accounting.lattice_sums import moves

from sfumato.accounting.core.integer_moves import MOST_SHAPES, attained_move, largest_shapes, longest_move
from sfumato.numeric.rationals import sqrt_up


@pytest.mark.parametrize("coordinates", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("square", [*range(40), 60, 63])
def test_the_longest_move_is_the_largest_sum_of_squares(square, coordinates):
    sums = {sum(step**2 for step in move) for move in moves(square, min(coordinates, 4))}
    assert longest_move(sqrt_up(Fraction(square)), coordinates)[0] == max(sums, default=0)


@pytest.mark.parametrize("square", [10**6 + 3, 10**6 + 1999, 123_456_789])
def test_a_long_move_of_two_coordinates_exists_and_is_nearly_the_longest(square):
    attained, coordinates = attained_move(sqrt_up(Fraction(square)), 2)
    side = math.isqrt(attained)
    assert attained == side**2 + math.isqrt(attained - side**2) ** 2
    assert attained <= square < side**2 + (math.isqrt(attained - side**2) + 1) ** 2
    assert coordinates == 2


def test_the_longest_moves():
    assert longest_move(Fraction("0.9"), 3) == (0, 0)
    assert longest_move(Fraction("1.9"), 1) == (1, 1)
    assert longest_move(Fraction("1.3"), 5) == (1, 1)
    assert longest_move(Fraction("1.9"), 5) == (3, 3)
    assert longest_move(Fraction(10), 3) == (100, 3)


@pytest.mark.parametrize(("squared", "coordinates"), [(1, 5), (2, 2), (9, 2), (10, 10), (17, 3), (25, 2)])
def test_every_move_is_within_a_largest_one_and_none_of_those_in_another(squared, coordinates):
    shapes = largest_shapes(squared, coordinates)
    reach = range(math.isqrt(squared) + 1)
    padded = [shape + (0,) * (coordinates - len(shape)) for shape in shapes]
    if coordinates <= 3:
        for move in itertools.product(reach, repeat=coordinates):
            if sum(step**2 for step in move) <= squared:
                falling = sorted(move, reverse=True)
                assert any(all(a <= b for a, b in zip(falling, shape, strict=True)) for shape in padded)
    for one, other in itertools.permutations(padded, 2):
        assert not all(a <= b for a, b in zip(one, other, strict=True))
    assert all(sum(step**2 for step in shape) <= squared for shape in shapes)


def test_known_shapes():
    assert set(largest_shapes(9, 2)) == {(3,), (2, 2)}
    assert set(largest_shapes(2, 7)) == {(1, 1)}
    assert set(largest_shapes(10, 10)) == {(3, 1), (2, 2, 1, 1), (2, 1, 1, 1, 1, 1, 1), (1,) * 10}


def test_too_many_shapes_are_none():
    assert largest_shapes(64, 64) == ()
    assert largest_shapes(65, 2) == ()
    assert 0 < len(largest_shapes(20, 20)) <= MOST_SHAPES
