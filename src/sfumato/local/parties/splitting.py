"""Shamir's secret sharing: any t of n parts give a secret back, and t − 1 of them say nothing about it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from sfumato.errors import ParameterError
from sfumato.noise.uniform.uniform import uniform_one_below

SECRET_BYTES: Final = 32
PRIME: Final = 2**521 - 1
"""A Mersenne prime: far more values than secrets, so that parts that do not belong together are noticed."""
PART_BYTES: Final = 66


def split(secret: bytes, *, parts: int, threshold: int) -> dict[int, bytes]:
    """Part i, for i = 0 to parts − 1: the value at i + 1 of a random polynomial of degree < threshold.

    Its constant term is the secret, its other coefficients are uniform modulo `PRIME`.

    **Guarantee**: any threshold − 1 parts are uniform and independent of the secret, exactly. Proof:
    proofs/local/parties/splitting.md.

    Args:
        secret: 32 bytes.
        parts: n.
        threshold: t, from 1 to n.

    Raises:
        ParameterError: The threshold or the length is out of range.

    Example:
        >>> parts = split(bytes(range(32)), parts=5, threshold=3)
        >>> joined({4: parts[4], 0: parts[0], 2: parts[2]}, threshold=3) == bytes(range(32))
        True

    References:
        [Sha79].
    """
    if len(secret) != SECRET_BYTES:
        raise ParameterError("secret", f"{len(secret)} bytes", f"must have {SECRET_BYTES} bytes")
    if not 1 <= threshold <= parts < PRIME:
        raise ParameterError("threshold", threshold, f"must be 1 to the number of parts, {parts}")
    coefficients = polynomial(int.from_bytes(secret), threshold, PRIME)
    return {part: value_at(part + 1, coefficients, PRIME).to_bytes(PART_BYTES) for part in range(parts)}


def joined(parts: Mapping[int, bytes], *, threshold: int) -> bytes:
    """The secret of at least `threshold` parts, by their numbers.

    Parts that do not all lie on one polynomial of that degree are refused, and so are those that give more than 32
    bytes. Just `threshold` parts, one of which was changed a little on purpose, may give another secret: this is no
    protection against parties that lie.

    Raises:
        ParameterError: They are too few, or do not belong together.
    """
    points = {part + 1: int.from_bytes(value) for part, value in sorted(parts.items())}
    if len(points) < threshold:
        raise ParameterError("parts", f"{len(points)} parts", f"must be at least {threshold} to give the secret")
    chosen = dict(list(points.items())[:threshold])
    secret = interpolated(0, chosen, PRIME)
    fits = all(interpolated(place, chosen, PRIME) == points[place] for place in points.keys() - chosen.keys())
    if not fits or secret >> 8 * SECRET_BYTES or any(len(value) != PART_BYTES for value in parts.values()):
        raise ParameterError("parts", "some parts", "must belong to one secret: at least one was changed")
    return secret.to_bytes(SECRET_BYTES)


def polynomial(constant: int, threshold: int, prime: int) -> list[int]:
    """A uniformly random polynomial of degree below `threshold` with this constant, its lowest coefficient first."""
    return [constant, *(uniform_one_below(prime) for _ in range(threshold - 1))]


def value_at(place: int, coefficients: list[int], prime: int) -> int:
    """The value of a polynomial modulo a prime, by Horner's rule."""
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * place + coefficient) % prime
    return value


def interpolated(place: int, points: Mapping[int, int], prime: int) -> int:
    """The value at a place of the one polynomial of lowest degree through the points, by Lagrange's formula.

    Example:
        >>> interpolated(0, {1: 5, 2: 7}, 11)
        3
    """
    weights = _weights(place, tuple(points), prime)
    return sum(value * weight for value, weight in zip(points.values(), weights, strict=True)) % prime


@lru_cache(maxsize=4096)
def _weights(place: int, others: tuple[int, ...], prime: int) -> tuple[int, ...]:
    """What each value is multiplied by: public, and the same for the secrets of all parties."""
    found = []
    for own in others:
        above = below = 1
        for other in others:
            if other != own:
                above, below = above * (place - other) % prime, below * (own - other) % prime
        found.append(above * pow(below, -1, prime) % prime)
    return tuple(found)
