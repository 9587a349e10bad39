import itertools
import math

import pytest

from sfumato.accounting.profiles.shapes import MOST_SHAPES, largest_shapes


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
