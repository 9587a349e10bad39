"""Google's clients, written from their description: the slow way, bit by bit, for comparison with ours."""

import hmac
import struct
from hashlib import md5, sha256


def bloom_of(word, cohort, hashes, bits):
    digest = md5(struct.pack(">L", cohort) + word, usedforsecurity=False).digest()
    return sum({1 << digest[i] % bits for i in range(hashes)})


def drbg(data, count):
    """HMAC_DRBG of SP 800-90A: update with the data twice, then generate."""
    key, value = b"\x00" * 32, b"\x01" * 32

    def mac(message):
        return hmac.new(key, message, sha256).digest()

    key = mac(value + b"\x00" + data)
    value = mac(value)
    key = mac(value + b"\x01" + data)
    value = mac(value)
    made = b""
    while len(made) < count:
        value = mac(value)
        made += value
    return made[:count]


def permanent_of(drawn, f, bloom, bits):
    """One byte for each bit: the lowest bit is the uniform one, the seven others decide whether it is taken."""
    made = 0
    for i in range(bits):
        is_noise = (drawn[i] >> 1) < int(f * 128)
        made |= ((drawn[i] & 1) if is_noise else (bloom >> i & 1)) << i
    return made


def fine_client(secret, name, bloom, f, bits):
    """Ours where theirs cannot: 64 bits for each bit, of which 63 decide."""
    message = bloom.to_bytes(4 if bits <= 32 else -(-bits // 8), "big")
    drawn, made = drbg(secret + b"\x02" + name + message, 8 * bits), 0
    for i in range(bits):
        word = int.from_bytes(drawn[8 * i : 8 * i + 8], "little")
        made |= ((word & 1) if (word >> 1) < f * 2**63 else (bloom >> i & 1)) << i
    return made


def python_client(secret, bloom, f, bits):
    return permanent_of(hmac.new(secret, struct.pack(">L", bloom), sha256).digest(), f, bloom, bits)


def cpp_client(secret, name, bloom, f, bits):
    if bits <= 32:
        return permanent_of(
            hmac.new(secret, b"\x01" + name + struct.pack(">L", bloom), sha256).digest(), f, bloom, bits
        )
    return permanent_of(drbg(secret + b"\x01" + name + bloom.to_bytes(bits // 8, "big"), bits), f, bloom, bits)


def instantaneous(permanent, ones_if_unset, ones_if_set):
    return (ones_if_unset & ~permanent) | (ones_if_set & permanent)


class KernelRandom:
    """The bytes 0, 17, 34, … that the unit tests of the C++ client read in place of random ones."""

    def __init__(self):
        self.at = 0

    def mask(self, probability, count):
        made = [(17 * (self.at + i)) % 256 < int(probability * 256) for i in range(count)]
        self.at += count
        return sum(int(one) << i for i, one in enumerate(made))
