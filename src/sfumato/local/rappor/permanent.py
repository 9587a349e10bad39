"""Bloom filters and permanent responses, bit for bit those of Google's clients.

A text sets h of k bits, which differ from cohort to cohort. The permanent response to a set of bits is a function of a
secret of the device: a pseudorandom function gives each bit its coins. So a device remembers all of its responses by
remembering its secret, and two devices with different secrets respond independently.

Up to 32 bits the function is HMAC-SHA256, beyond it is HMAC-DRBG of SP 800-90A [NIST15].
"""

import hmac
from collections.abc import Iterable
from fractions import Fraction
from hashlib import md5
from math import ceil, comb
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.core.odds import event_of
from sfumato.noise.uniform.bernoulli import Booleans
from sfumato.numeric.rationals import Number, open_probability
from sfumato.privacy.events import FiniteEvent

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_FILTER: Final = 4096
"""The most bits that a value may be spread over."""
SHORT: Final = 32
"""As many bits as one HMAC-SHA256 decides."""
ONE_BYTE: Final = 256
"""Up to so many bits of a Bloom filter, one byte of a hash chooses one; beyond, two do."""
SEVEN_BITS: Final = 128
"""Google's clients compare seven bits with f, so their f is a multiple of 1/128."""
FINE_BITS: Final = 63
"""Any other f is compared with so many bits."""
_DIGEST: Final = "sha256"
_SEVEN_BITS_FOLLOW: Final = b"\x01"
_MORE_BITS_FOLLOW: Final = b"\x02"
_COHORT_BYTES: Final = 16


def bloom_bits(text: str, cohort: int, *, bits: int, hashes: int) -> list[int]:
    """The numbers of the bits that a text sets in a cohort, in the order of the hashes; some may be equal.

    MD5 of the cohort, as four bytes, and the text in UTF-8: its bytes choose the bits, two of them each (the least
    significant one first) if there are more than 256. The hash keeps no secret, so that a weak one does.

    Example:
        >>> bloom_bits("v1", 0, bits=32, hashes=2), bloom_bits("google.com", 5, bits=128, hashes=2)
        ([24, 26], [19, 118])
    """
    digest = md5(cohort.to_bytes(4) + text.encode("utf-8", errors="surrogatepass"), usedforsecurity=False).digest()
    if bits <= ONE_BYTE:
        return [byte % bits for byte in digest[:hashes]]
    return [int.from_bytes(digest[start : start + 2], "little") % bits for start in range(0, 2 * hashes, 2)]


def hmac_drbg(data: bytes, count: int) -> bytes:
    """Pseudorandom bytes of HMAC-DRBG with SHA-256, instantiated with this data and asked once.

    Example:
        >>> hmac_drbg(b"key" + b"value", 4).hex()
        '89d71bb8'

    References:
        [NIST15] Section 10.1.2.
    """
    key, value = bytes(32), b"\x01" * 32
    for separator in (b"\x00", b"\x01"):
        key = hmac.digest(key, value + separator + data, _DIGEST)
        value = hmac.digest(key, value, _DIGEST)
    found = b""
    while len(found) < count:
        value = hmac.digest(key, value, _DIGEST)
        found += value
    return found[:count]


def cohort_of(secret: bytes, *, cohorts: int, bits: int) -> int:
    """The cohort of a device: a function of its secret, and of nothing that its person holds.

    Example:
        >>> cohort_of(b"client-secret", cohorts=128, bits=32), cohort_of(b"client-secret", cohorts=128, bits=64)
        (3, 93)
    """
    drawn = hmac.digest(secret, b"", _DIGEST) if bits <= SHORT else hmac_drbg(secret, SHORT)
    return int.from_bytes(drawn[:_COHORT_BYTES], "little") % cohorts


def permanent_response(secret: bytes, set_bits: Iterable[int], *, bits: int, f: Fraction, metric: str) -> Booleans:
    """The permanent response to a set of bits: each bit is uniform with probability f, and else it is kept.

    Without a name of a metric and up to 32 bits it is that of Google's Python client, otherwise that of its C++ client,
    if f is a multiple of 1/128. Any other f must be one of 2^−63.

    Args:
        secret: That of the device.
        set_bits: The numbers of the bits that the value sets.
        bits: k, how many bits there are.
        f: How often a bit is uniform.
        metric: The name of what is collected: metrics with different names have independent responses.

    Returns:
        k bits, the one with the number 0 first.
    """
    bloom = sum(1 << bit for bit in set(set_bits))
    message = bloom.to_bytes(4 if bits <= SHORT else -(-bits // 8))
    is_seven = (f * SEVEN_BITS).denominator == 1
    if not is_seven:
        words = hmac_drbg(secret + _MORE_BITS_FOLLOW + metric.encode() + message, 8 * bits)
        drawn: NDArray[np.unsignedinteger] = np.frombuffer(words, dtype="<u8")
    elif bits > SHORT:
        drawn = np.frombuffer(hmac_drbg(secret + _SEVEN_BITS_FOLLOW + metric.encode() + message, bits), dtype=np.uint8)
    else:
        named = _SEVEN_BITS_FOLLOW + metric.encode() + message if metric else message
        drawn = np.frombuffer(hmac.digest(secret, named, _DIGEST)[:bits], dtype=np.uint8)
    threshold = f * (SEVEN_BITS if is_seven else 1 << FINE_BITS)
    is_uniform = (drawn >> drawn.dtype.type(1)) < drawn.dtype.type(int(threshold))
    kept = np.unpackbits(np.frombuffer(bloom.to_bytes(-(-bits // 8), "little"), dtype=np.uint8), bitorder="little")
    response: Booleans = np.where(is_uniform, (drawn & drawn.dtype.type(1)).astype(np.bool_), kept[:bits] != 0)
    return response


def realized_f(f: Number) -> Fraction:
    """The f that devices realize: the same, if it is a multiple of 1/128; else rounded up to one of 2^−63.

    Raises:
        ParameterError: It is not above 0 and below 1.

    Example:
        >>> realized_f("0.5"), realized_f("0.3") - Fraction(3, 10) < Fraction(1, 2**63)
        (Fraction(1, 2), True)
    """
    wanted = open_probability(f, "f")
    if (wanted * SEVEN_BITS).denominator == 1:
        return wanted
    rounded = Fraction(ceil(wanted * (1 << FINE_BITS)), 1 << FINE_BITS)
    if rounded == 1:
        raise ParameterError("f", f, "must be below 1 by 2^-63 or more")
    return rounded


def reported_probabilities(f: Fraction, p: Fraction, q: Fraction) -> tuple[Fraction, Fraction]:
    """q* and p*: the probability of a 1 in a report, for a bit that the value sets and for one that it does not.

    Example:
        >>> reported_probabilities(Fraction(1, 2), Fraction(1, 2), Fraction(3, 4))
        (Fraction(11, 16), Fraction(9, 16))
    """
    middle = f * (p + q) / 2
    return middle + (1 - f) * q, middle + (1 - f) * p


def differing_bits(when_set: Fraction, when_unset: Fraction, *, each: int) -> FiniteEvent:
    """The event of independent bits, some of which only the one value sets, and as many only the other one.

    Args:
        when_set: The probability of a 1 at a bit that the value sets.
        when_unset: The probability of a 1 at another bit.
        each: How many bits only the one value sets.
    """

    def ones(of: Fraction) -> list[Fraction]:
        return [comb(each, count) * of**count * (1 - of) ** (each - count) for count in range(each + 1)]

    mine, others = ones(when_set), ones(when_unset)
    pairs = [(first, second) for first in range(each + 1) for second in range(each + 1)]
    return event_of((mine[a] * others[b], others[a] * mine[b]) for a, b in pairs)
