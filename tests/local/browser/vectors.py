"""Golden reports: what Python makes of values with given random bits, for the client in browsers to make as well.

The bits are a short text of bytes, read again from its start at its end. Some are drawn once for all. Others mix digits
of the probabilities into them: with these, coins tie time after time, and draws are rejected. The last are more digits
of one probability than any float has.
"""

import json
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest

from sfumato.local import CountMeanSketch, DirectEncoding, Domain, OptimizedUnaryEncoding, Rappor
from sfumato.local.core.protocol import LocalProtocol
from sfumato.noise import entropy

VECTORS = Path(__file__).with_name("vectors.json")
LONE, PAIR = "half \ud83d", "\U0001f600é"
LABELS = ("tea", "caf\u00e9", "\U0001f600", 'quote " and \\', "\x00\x1f\b\t\x7f\u2028/", 7, False, "")
HALVES = {"f": "1/2", "p": "1/2", "q": "3/4"}
SECRET = sha256(b"a device").digest()
_WORDS = 31
_PLACES = 8  # digits of 16 bits each

CASES = (
    (DirectEncoding(["yes", "no"], epsilon=1), ("yes", "no", "perhaps", None)),
    (DirectEncoding(Domain(LABELS, other=7), epsilon="0.7"), (*LABELS, 7.0, 0, True, "coffee", LONE)),
    (DirectEncoding(5, epsilon="1e-6"), (0, 4, True, 2.5, -1, 5, "3")),
    (DirectEncoding(Domain(300, other=299), epsilon=4), (0, 258, 300, None)),
    (DirectEncoding(70_000, epsilon="1/3"), (69_999, 70_000)),
    (DirectEncoding(3, epsilon=100), (1,)),
    (OptimizedUnaryEncoding(["a", "b", "c"], epsilon=2), ("a", "c", "d")),
    (OptimizedUnaryEncoding(Domain(20, other=3), epsilon="0.01"), (0, 19, None)),
    (OptimizedUnaryEncoding(33_000, epsilon=3), (32_999,)),
    (CountMeanSketch(1_000, epsilon=1, hashes=3, width=10), (0, 999, 1_000)),
    (CountMeanSketch(2**31, epsilon="2.5", hashes=5_000, width=17), (2**31 - 1,)),
    (CountMeanSketch(Domain.texts(), epsilon=4, hashes=128, width=32), ("apple", PAIR, LONE, "", None)),
    (CountMeanSketch(Domain.texts(61), epsilon="0.1", hashes=1, width=2), ("pear", 5)),
    (Rappor(bits=32, hashes=2, cohorts=16, **HALVES), ("v1", PAIR, LONE, "x" * 119, None)),
    (Rappor(bits=16, hashes=16, cohorts=1, f="1/128", p=0, q=1, metric="m\u00e9tier"), ("v1", "", 3)),
    (Rappor(bits=128, hashes=2, cohorts=300, **HALVES), ("google.com", "x" * 55, "x" * 64)),
    (Rappor(bits=5, hashes=1, cohorts=2, f="0.3", p="0.1", q="0.9"), ("a", "b")),
    (Rappor(bits=300, hashes=8, cohorts=1024, f="0.3", p="1/3", q="1/2", metric="home"), ("a",)),
)
"""Protocols, with the values of their reports."""


def bits_of(protocol: LocalProtocol, number: int) -> bytes:
    """Random bits for the reports of a protocol: for an even number any, for an odd one such that coins tie."""
    drawn = b"".join(sha256(b"bits %d %d" % (number, part)).digest() for part in range(2))[: 2 * _WORDS - 1]
    if number % 2 == 0:
        return drawn
    mixed = bytearray(2 * _WORDS)
    digits = [digit for share in _probabilities(protocol) for digit in _digits(share)] + [0, 0xFFFF]
    for word in range(_WORDS):
        chosen = digits[drawn[word] % len(digits)] if drawn[word + 8] % 3 else drawn[word] << 8 | drawn[word + 16]
        mixed[2 * word : 2 * word + 2] = chosen.to_bytes(2, "little")
    return bytes(mixed)


def made() -> list[dict]:
    """All vectors, as Python makes them."""
    found = []
    for protocol, values in CASES:
        secret = {"secret": SECRET} if isinstance(protocol, Rappor) else {}
        client, reports = protocol.client(**secret), []
        given = [(value, bits_of(protocol, 3 * place + n)) for place, value in enumerate(values) for n in range(3)]
        for value, bits in [*given[: 1 if len(values) == 1 else None], *_deep(protocol, values[0])]:
            report, drawn = _report_of(client, value, bits)
            reports.append({"value": value, "bits": bits.hex(), "drawn": drawn, "report": report.hex()})
        kept = {name: value.hex() for name, value in secret.items()}
        found.append({"protocol": protocol.to_json(), **kept, "reports": reports})
    return found


def write() -> None:
    """Write the file anew, a protocol a line."""
    VECTORS.write_text("[\n" + ",\n".join(map(json.dumps, made())) + "\n]\n", "utf-8")


def _report_of(client, value, bits):
    """A report, and how many bytes of entropy it took."""
    drawn = 0

    def read(count):
        nonlocal drawn
        first, drawn = drawn, drawn + count
        whole = bits * (count // len(bits) + 2)
        return whole[first % len(bits) :][:count]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entropy, "_read", read)
        return bytes(client.report(value)), drawn


def _probabilities(protocol):
    if isinstance(protocol, Rappor):
        return protocol.p, protocol.q
    held, other = getattr(protocol, "column_probabilities", protocol.support_probabilities)
    return 1 - held, held, other


def _deep(protocol, value):
    """Bits with which the first coins of a report tie in each of the first digits of their probability."""
    match protocol:
        case DirectEncoding():
            coins, share = 1, 1 - protocol.support_probabilities[0]
        case OptimizedUnaryEncoding() if len(protocol.domain) <= _WORDS:
            coins, share = len(protocol.domain), protocol.support_probabilities[1]
        case _:
            return []
    return [(value, b"".join(coins * digit.to_bytes(2, "little") for digit in _digits(share, _PLACES)))]


def _digits(share: Fraction, places: int = 3) -> list[int]:
    """The first digits of a probability, in halfwords."""
    return [int(share * (1 << 16 * place)) & 0xFFFF for place in range(1, places + 1)]


if __name__ == "__main__":
    write()
