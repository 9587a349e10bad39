"""Shamir's sharing: perfect secrecy by enumeration of all polynomials, every set of parts, and wrong parts."""

from collections import Counter
from itertools import combinations, product

import pytest

from sfumato.errors import ParameterError
from sfumato.local.parties import splitting as module
from sfumato.local.parties.splitting import PART_BYTES, PRIME, interpolated, joined, polynomial, split, value_at

SECRET = bytes(range(100, 132))


@pytest.mark.parametrize(("parts", "threshold"), [(1, 1), (2, 1), (2, 2), (3, 2), (5, 3), (6, 6)])
def test_every_set_of_enough_parts_gives_the_secret(parts, threshold):
    made = split(SECRET, parts=parts, threshold=threshold)
    for count in range(threshold, parts + 1):
        for chosen in combinations(made, count):
            assert joined({part: made[part] for part in chosen}, threshold=threshold) == SECRET


@pytest.mark.parametrize("prime", [5, 7])
@pytest.mark.parametrize("threshold", [2, 3])
def test_fewer_parts_are_uniform_whatever_the_secret(prime, threshold):
    """All polynomials are enumerated, as if drawn by the real code, which draws each coefficient uniformly."""
    parts = min(prime - 1, 4)
    for secret, seen in product(range(prime), combinations(range(1, parts + 1), threshold - 1)):
        laws = Counter(
            tuple(value_at(place, [secret, *rest], prime) for place in seen)
            for rest in product(range(prime), repeat=threshold - 1)
        )
        assert len(laws) == prime ** (threshold - 1)
        assert set(laws.values()) == {1}


def test_all_coefficients_but_the_secret_are_drawn_below_the_prime(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "uniform_one_below", lambda n: asked.append(n) or len(asked))
    assert polynomial(9, 4, PRIME) == [9, 1, 2, 3]
    assert asked == [PRIME] * 3


def test_the_prime_is_one_and_places_are_never_zero(monkeypatch):
    assert all(pow(base, PRIME - 1, PRIME) == 1 for base in (2, 3, 5, 7))
    assert pow(3, (PRIME - 1) // 2, PRIME) == PRIME - 1
    places = []
    original = value_at
    monkeypatch.setattr(module, "value_at", lambda place, *rest: places.append(place) or original(place, *rest))
    split(SECRET, parts=3, threshold=2)
    assert places == [1, 2, 3]  # at 0 stands the secret


def test_two_splits_of_one_secret_have_nothing_in_common():
    first, second = (split(SECRET, parts=3, threshold=2) for _ in range(2))
    assert not set(first.values()) & set(second.values())


def test_interpolation_is_that_of_the_definition():
    coefficients = [3, 1, 4]
    points = {place: value_at(place, coefficients, 101) for place in (2, 5, 9)}
    assert [interpolated(place, points, 101) for place in (0, 1, 7)] == [3, 8, (3 + 7 + 4 * 49) % 101]


def test_too_few_parts_give_nothing():
    made = split(SECRET, parts=5, threshold=3)
    with pytest.raises(ParameterError, match="at least 3"):
        joined({0: made[0], 1: made[1]}, threshold=3)
    # a threshold that was lowered finds no secret either
    with pytest.raises(ParameterError, match="belong to one secret"):
        joined({0: made[0], 1: made[1]}, threshold=2)


@pytest.mark.parametrize(("count", "change"), [(3, 1 << 400), (4, 1), (5, 1)])
def test_a_part_that_was_changed_is_noticed(count, change):
    made = dict(list(split(SECRET, parts=5, threshold=3).items())[:count])
    for part, value in made.items():
        changed = made | {part: (int.from_bytes(value) ^ change).to_bytes(PART_BYTES)}
        with pytest.raises(ParameterError, match="at least one was changed"):
            joined(changed, threshold=3)
    with pytest.raises(ParameterError, match="at least one was changed"):
        joined(made | {0: b"\0" + made[0]}, threshold=3)


@pytest.mark.parametrize(
    ("secret", "parts", "threshold"), [(b"short", 3, 2), (SECRET, 3, 4), (SECRET, 3, 0), (SECRET, 0, 0)]
)
def test_wrong_arguments_are_refused(secret, parts, threshold):
    with pytest.raises(ParameterError, match=r"secret|threshold"):
        split(secret, parts=parts, threshold=threshold)
