"""Keys of the parties of one secure sum, and what is made of them: seals, and masks that cancel in the sum.

All cryptography is that of the package `cryptography`: X25519 [LHT16] agrees on keys, HKDF with SHA-256 [KE10] derives
them for one purpose each, ChaCha20-Poly1305 [NL18] seals messages, and ChaCha20 makes masks of keys. All keys are
drawn by `sfumato.noise`, and none is used twice.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.parties.party_sum import PartySum, Ring
from sfumato.noise import entropy
from sfumato.numeric.arguments import of_kind

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ModuleNotFoundError:
    requirement = "is needed for secure sums; run: pip install cryptography"
    raise ParameterError("cryptography", None, requirement) from None

KEY_BYTES: Final = 32
SESSION_BYTES: Final = 16
_ONCE: Final = bytes(12)  # each key seals one message
_START: Final = bytes(16)  # and each key makes one mask


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """What a party shows of its keys, so that each other party can agree on secrets with it.

    Attributes:
        party: Its number, from 0.
        sealing: The key for seals.
        masking: The key for masks.
    """

    party: int
    sealing: bytes
    masking: bytes

    def __post_init__(self) -> None:
        for name in ("sealing", "masking"):
            if len(of_kind(getattr(self, name), name, bytes, "bytes")) != KEY_BYTES:
                raise ParameterError(name, "other bytes", f"must have {KEY_BYTES} bytes")


@dataclass(frozen=True, slots=True)
class SumSession:
    """One run of a protocol, which every derived key is bound to: keys of another run fit nothing in this one.

    Args:
        protocol: What all parties agreed on.
        name: 16 random bytes that the aggregator draws for this run alone.
    """

    protocol: PartySum
    name: bytes

    def __post_init__(self) -> None:
        if len(of_kind(self.name, "session", bytes, "bytes")) != SESSION_BYTES:
            raise ParameterError("session", "other bytes", f"must have {SESSION_BYTES} bytes")

    def agreed(self, private: bytes, other: bytes, purpose: str) -> bytes:
        """The key for one purpose that the two holders of the private keys have in common, and nobody else.

        Raises:
            ParameterError: The other key is none.
        """
        key = X25519PrivateKey.from_private_bytes(private)
        try:
            secret = key.exchange(X25519PublicKey.from_public_bytes(other))
        except ValueError:
            raise ParameterError("keys", "a public key", "must be a point of X25519 of full order") from None
        both = b"".join(sorted((key.public_key().public_bytes_raw(), other)))
        info = b"sfumato-parties-1\n" + purpose.encode() + b"\n" + self.protocol.fingerprint + both
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=self.name, info=info).derive(secret)

    def sealed(self, key: bytes, message: bytes) -> bytes:
        """A message that only who has the key can read, or write."""
        return ChaCha20Poly1305(key).encrypt(_ONCE, message, self.name)

    def opened(self, key: bytes, box: Any, sender: int) -> bytes:
        """The message in a seal.

        Raises:
            ParameterError: The sender made another one.
        """
        try:
            return ChaCha20Poly1305(key).decrypt(_ONCE, of_kind(box, "dealt", bytes, "bytes"), self.name)
        except InvalidTag:
            requirement = "must arrive as the party sealed it: it was changed, or is of another run"
            raise ParameterError("dealt", f"the message of party {sender}", requirement) from None

    def mask(self, key: bytes) -> Ring:
        """Numbers of the ring that nobody without the key can tell from uniform ones: b bits each of a key stream."""
        bits, count = self.protocol.modulus_bits, self.protocol.numbers
        stream = Cipher(ChaCha20(key, _START), mode=None).encryptor().update(bytes(8 * count))
        return np.frombuffer(stream, dtype="<u8").astype(np.uint64) & np.uint64((1 << bits) - 1)

    def pair_mask(self, private: bytes, other: bytes, *, is_first: bool) -> Ring:
        """What the holder of a private key adds for that of another one: the second takes off what the first adds."""
        mask = self.mask(self.agreed(private, other, "mask"))
        return mask if is_first else self.protocol.subtract(np.zeros_like(mask), mask)


def private_key() -> bytes:
    """32 random bytes: a private key of X25519, or the key of a mask."""
    return entropy.random_bytes(KEY_BYTES)


def public_key(private: bytes) -> bytes:
    """The public key of a private one."""
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
