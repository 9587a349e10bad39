"""Keys, seals and masks: published vectors, a second derivation of each, and what binds a key to its one use."""

import hashlib
import hmac
import sys
from importlib import import_module, reload
from struct import pack, unpack

import numpy as np
import pytest
from tests.local.parties.runs import of

from sfumato.errors import ParameterError
from sfumato.local import PublicKeys
from sfumato.local.parties import keys as module
from sfumato.local.parties.keys import SumSession, private_key, public_key
from sfumato.noise import entropy

# Section 6.1 of [LHT16].
ALICE = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
BOB = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
ALICE_SHOWS = bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
BOB_SHOWS = bytes.fromhex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
AGREED = bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
NAME = bytes(range(16))
PRIME = 2**255 - 19


def multiplied(scalar, place):
    """X25519 by its definition: the ladder of Montgomery, on Python's integers."""
    k = int.from_bytes(scalar, "little") & (1 << 254) - 8 | 1 << 254
    x = int.from_bytes(place, "little") & (1 << 255) - 1
    a, b, c, d = 1, 0, x, 1
    for bit in (k >> at & 1 for at in range(254, -1, -1)):
        if bit:
            a, b, c, d = c, d, a, b
        e, f, g, h = a + b, a - b, c + d, c - d
        aa, bb, da, cb = e * e, f * f, h * e, g * f
        a, b = aa * bb % PRIME, (aa - bb) * (aa + 121665 * (aa - bb)) % PRIME
        c, d = (da + cb) ** 2 % PRIME, x * (da - cb) ** 2 % PRIME
        if bit:
            a, b, c, d = c, d, a, b
    return (a * pow(b, -1, PRIME) % PRIME).to_bytes(32, "little")


def derived(secret, salt, info):
    """HKDF by its definition, one block of SHA-256."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\1", "sha256")


def key_stream(key, length):
    """ChaCha20 by its definition, from block 0 with a nonce of zeros."""

    def turned(word, by):
        return (word << by | word >> 32 - by) & 0xFFFFFFFF

    stream = b""
    for block in range(-(-length // 64)):
        start = [*unpack("<4I", b"expand 32-byte k"), *unpack("<8I", key), block, 0, 0, 0]
        state = list(start)
        for places in 10 * [
            *((at, 4 + at, 8 + at, 12 + at) for at in range(4)),
            *((at, 4 + (at + 1) % 4, 8 + (at + 2) % 4, 12 + (at + 3) % 4) for at in range(4)),
        ]:
            a, b, c, d = places
            for one, two, three, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                state[one] = (state[one] + state[two]) & 0xFFFFFFFF
                state[three] = turned(state[three] ^ state[one], by)
        stream += pack("<16I", *((s + t) & 0xFFFFFFFF for s, t in zip(state, start, strict=True)))
    return stream[:length]


def test_public_keys_are_those_of_the_standard():
    assert (public_key(ALICE), public_key(BOB)) == (ALICE_SHOWS, BOB_SHOWS)
    assert multiplied(ALICE, BOB_SHOWS) == AGREED


@pytest.mark.parametrize("purpose", ["mask", "seal 0 1"])
def test_the_agreed_key_is_derived_as_was_said(purpose):
    session = SumSession(of(), NAME)
    info = b"sfumato-parties-1\n" + purpose.encode() + b"\n" + session.protocol.fingerprint
    expected = derived(AGREED, NAME, info + min(ALICE_SHOWS, BOB_SHOWS) + max(ALICE_SHOWS, BOB_SHOWS))
    assert session.agreed(ALICE, BOB_SHOWS, purpose) == session.agreed(BOB, ALICE_SHOWS, purpose) == expected


def test_another_purpose_run_protocol_or_party_has_another_key():
    keys = [
        SumSession(of(), NAME).agreed(ALICE, BOB_SHOWS, "mask"),
        SumSession(of(), NAME).agreed(ALICE, BOB_SHOWS, "seal 0 1"),
        SumSession(of(), NAME).agreed(ALICE, BOB_SHOWS, "seal 1 0"),
        SumSession(of(), bytes(16)).agreed(ALICE, BOB_SHOWS, "mask"),
        SumSession(of(high=101), NAME).agreed(ALICE, BOB_SHOWS, "mask"),
        SumSession(of(), NAME).agreed(ALICE, public_key(private_key()), "mask"),
    ]
    assert len(set(keys)) == len(keys)


def test_masks_are_the_low_bits_of_the_key_stream_word_by_word():
    session = SumSession(of(numbers=21), NAME)
    words = np.frombuffer(key_stream(ALICE, 8 * 21), dtype="<u8")
    bits = session.protocol.modulus_bits
    assert session.mask(ALICE).tolist() == [int(word) % (1 << bits) for word in words]


def test_the_masks_of_a_pair_cancel_and_come_from_what_they_agree_on():
    session = SumSession(of(numbers=50), NAME)
    first = session.pair_mask(ALICE, BOB_SHOWS, is_first=True)
    second = session.pair_mask(BOB, ALICE_SHOWS, is_first=False)
    assert session.protocol.add(first, second).tolist() == [0] * 50
    assert first.tolist() == session.mask(session.agreed(ALICE, BOB_SHOWS, "mask")).tolist()


def test_only_who_has_the_key_opens_a_seal_and_only_as_it_was():
    session, other = SumSession(of(), NAME), SumSession(of(), bytes(16))
    box = session.sealed(ALICE, b"parts")
    assert b"parts" not in box
    assert session.opened(ALICE, box, 3) == b"parts"
    wrong = [(BOB, box), (ALICE, box[:-1]), (ALICE, bytes([box[0] ^ 1]) + box[1:]), (ALICE, b"")]
    for key, changed in wrong:
        with pytest.raises(ParameterError, match="message of party 3"):
            session.opened(key, changed, 3)
    with pytest.raises(ParameterError, match="of another run"):
        other.opened(ALICE, box, 3)
    with pytest.raises(ParameterError, match="dealt"):
        session.opened(ALICE, "text", 3)


@pytest.mark.parametrize("point", [bytes(32), b"\1" + bytes(31)])
def test_points_that_give_everybody_the_same_key_are_refused(point):
    with pytest.raises(ParameterError, match="full order"):
        SumSession(of(), NAME).agreed(ALICE, point, "mask")


def test_keys_come_from_the_one_source_of_entropy(monkeypatch):
    monkeypatch.setattr(entropy, "random_bytes", lambda count: bytes(range(count)))
    assert private_key() == bytes(range(32))


@pytest.mark.parametrize("wrong", [b"short", "x" * 32, None])
def test_what_is_no_key_or_session_is_refused(wrong):
    with pytest.raises(ParameterError, match="sealing"):
        PublicKeys(0, wrong, ALICE)
    with pytest.raises(ParameterError, match="masking"):
        PublicKeys(0, ALICE, wrong)
    with pytest.raises(ParameterError, match="session"):
        SumSession(of(), wrong)


def test_without_cryptography_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(ParameterError, match="pip install cryptography"):
        reload(import_module("sfumato.local.parties.keys"))
    assert len(hashlib.sha256().digest()) == module.KEY_BYTES
