"""The values that a person may hold: public, declared in advance, and numbered from 0."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import is_missing, present
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import positive_integer, set_fields
from sfumato.query.model.columns import unicode_text

Label: TypeAlias = str | int
"""A value as people write it: a text, a whole number, or True and False."""
Indexes: TypeAlias = NDArray[np.int64]

UNKNOWN: Final = -1
"""The number of a value outside of its domain."""
LARGEST_DOMAIN: Final = 1 << 31
"""The most values that a domain may have, if it is not open."""
_LONGEST_HASH: Final = 61
_LONGEST_NUMBER: Final = 20  # digits
_LARGEST_LABEL: Final = 1 << 63
_LISTED: Final = 1 << 20
"""So many values of a domain can be listed at once."""


@dataclass(frozen=True, slots=True, init=False)
class Domain:
    """Values numbered from 0: the whole numbers below a size, listed labels, or all texts by a part of their hash.

    =====================================  ================================================================
    Edge case                              Behavior
    =====================================  ================================================================
    a value that is not in the domain      it counts as `other`; without one, as a uniformly random value
    a missing value (None, NaN, masked)    the same
    3.0 where 3 is listed                  it is 3
    True where 1 is listed                 it is 1, as in Python; both cannot be listed
    two ways to write é in Unicode         two texts; normalize texts, to NFC for example, on both sides
    =====================================  ================================================================

    So no value is an error, because an error on one device would reveal that its value is odd.

    Args:
        values: A size d, for the numbers 0 to d − 1; or the labels, each once.
        other: The listed label that stands for all values that are not listed.

    Raises:
        ParameterError: There are fewer than two values or more than 2^31, a label is no text or whole number of 64
            bits or is listed twice, or `other` is not listed.

    Example:
        >>> colors = Domain(["red", "green", "other"], other="other")
        >>> colors.indexes(["green", "mauve"]).tolist(), len(colors)
        ([1, 2], 3)
    """

    size: int
    labels: tuple[Label, ...] | None
    other: Label | None
    hash_bits: int | None
    _numbers: Mapping[Label, int] = field(compare=False, repr=False)
    _written: Mapping[str, Label] = field(compare=False, repr=False)

    def __init__(self, values: int | Iterable[Label], *, other: Label | None = None) -> None:
        labels = None if isinstance(values, int) and not isinstance(values, bool) else _listed(values)
        size = positive_integer(values, "domain", most=LARGEST_DOMAIN) if labels is None else len(labels)
        if size == 1:
            raise ParameterError("domain", 1, "must have at least two values")
        known = range(size) if labels is None else labels
        if other is not None and of_kind(other, "other", (str, int), "a listed value") not in known:
            raise ParameterError("other", other, "must be one of the values of the domain")
        numbers = {label: number for number, label in enumerate(labels or ())}
        written = {str(label): label for label in labels or () if not isinstance(label, str)}
        set_fields(self, size=size, labels=labels, other=other, hash_bits=None, _numbers=numbers, _written=written)

    @classmethod
    def texts(cls, hash_bits: int = 32) -> "Domain":
        """All texts, each numbered by the first bits of the SHA-256 of its UTF-8 form.

        Two texts share a number with probability 2^−hash_bits. Estimates of such a domain need candidates.

        Raises:
            ParameterError: There are not 16 to 61 bits.

        Example:
            >>> Domain.texts().is_open
            True
        """
        least = 16
        if positive_integer(hash_bits, "hash_bits", most=_LONGEST_HASH) < least:
            raise ParameterError("hash_bits", hash_bits, f"must be at least {least}")
        made = object.__new__(cls)
        set_fields(made, size=1 << hash_bits, labels=None, other=None, hash_bits=hash_bits, _numbers={}, _written={})
        return made

    def __len__(self) -> int:
        return self.size

    @property
    def is_open(self) -> bool:
        """Whether it holds all texts, so that nobody can list its values."""
        return self.hash_bits is not None

    def indexes(self, values: Iterable[Any]) -> Indexes:
        """The number of each value; that of `other`, or −1, for whatever is not in the domain. Never an error."""
        if self.hash_bits is not None:
            return np.array([self._hashed(value) for value in values], dtype=np.int64)
        other = UNKNOWN if self.other is None else self.index(self.other)
        if self.labels is None and _are_plain_integers(values):
            is_in = (values >= 0) & (values < self.size)
            return np.where(is_in, np.where(is_in, values, 0).astype(np.int64), other)
        return np.array([self._position(value, other) for value in values], dtype=np.int64)

    def index(self, value: Label) -> int:
        """The number of a candidate.

        Raises:
            ParameterError: It is not in the domain.
        """
        found = self._hashed(value) if self.hash_bits is not None else self._position(value, UNKNOWN)
        if found == UNKNOWN:
            raise ParameterError("candidates", value, "must be values of the domain")
        return found

    def candidates(self, values: Iterable[Label]) -> Indexes:
        """The numbers of some values of the domain, each given once.

        Raises:
            ParameterError: One is not in the domain or comes twice, or there are none.
        """
        indexes = np.array([self.index(value) for value in values], dtype=np.int64)
        if len(np.unique(indexes)) < len(indexes) or not len(indexes):
            raise ParameterError("candidates", f"{len(indexes)} values", "must be at least one value, each given once")
        return indexes

    def parse(self, text: str) -> Label | None:
        """The value that is written so, as in a CSV file; None if there is none. An empty cell is missing.

        Example:
            >>> Domain(12).parse("07"), Domain([1, 5]).parse("5"), Domain([True, False]).parse("True")
            (7, 5, True)
        """
        if text in self._numbers:
            return text
        if self.is_open:
            return text or None
        if self.labels is None:
            return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None
        return self._written.get(text)

    def values(self) -> tuple[Label, ...]:
        """All values, in the order of their numbers.

        Raises:
            ParameterError: The domain is open, or has more than 2^20 values.
        """
        if self.is_open:
            raise ParameterError("candidates", None, "must be given, because all texts are in the domain")
        if self.size > _LISTED:
            raise ParameterError("candidates", None, f"must be given where the domain has more than {_LISTED:,} values")
        return tuple(range(self.size)) if self.labels is None else self.labels

    def to_json(self) -> dict[str, Any]:
        """The declaration, for a stored protocol."""
        if self.hash_bits is not None:
            return {"hash_bits": self.hash_bits}
        stored: dict[str, Any] = {"size": self.size} if self.labels is None else {"labels": list(self.labels)}
        return stored if self.other is None else stored | {"other": self.other}

    @classmethod
    def from_json(cls, document: Any) -> "Domain":
        """The domain that `to_json` wrote.

        Raises:
            ParameterError: It wrote something else.
        """
        match document:
            case {"hash_bits": bits, **rest} if not rest:
                return cls.texts(bits)
            case {"size": int(size)} | {"labels": list(size)} if set(document) - {"other"} in ({"size"}, {"labels"}):
                return cls(size, other=document.get("other"))
        requirement = 'must be {"size": …} or {"labels": […]}, with "other" if wanted, or {"hash_bits": …}'
        raise ParameterError("domain", "a document", requirement)

    def _position(self, value: Any, other: int) -> int:
        if is_missing(value) or isinstance(value, np.ma.MaskedArray | complex):
            return other
        try:
            held = value.as_py() if hasattr(value, "as_py") else value
            if self.labels is not None:
                return self._numbers.get(held, other)
            is_in = not isinstance(held, str) and 0 <= held < self.size and held == int(held)
        except Exception:  # noqa: BLE001 # whatever a value raises: an error would tell that this value is odd
            return other
        return int(held) if is_in else other

    def _hashed(self, value: Any) -> int:
        """A missing value is no text: it is unknown."""
        held = present(value) if not isinstance(value, str) else value
        if not isinstance(held, str):
            return UNKNOWN
        digest = sha256(held.encode("utf-8", errors="surrogatepass")).digest()
        return int.from_bytes(digest[:8]) >> 64 - (self.hash_bits or 0)


def _are_plain_integers(values: Any) -> TypeGuard[NDArray[np.integer]]:
    """Whether it is an array of whole numbers, none of which is masked."""
    is_plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
    return is_plain and values.dtype.kind in "iu" and values.ndim == 1


def _listed(values: Any) -> tuple[Label, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError("domain", values, "must be a size, or a list of labels")
    labels = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not labels or not all(isinstance(label, str | int) for label in labels):
        raise ParameterError("domain", "some labels", "must be texts or whole numbers, at least two")
    if len(set(labels)) < len(labels):
        raise ParameterError("domain", "some labels", "must be listed once each")
    for label in labels:
        if isinstance(label, str):
            unicode_text(label, "domain")
        elif not -_LARGEST_LABEL <= label < 2 * _LARGEST_LABEL:
            raise ParameterError("domain", "some labels", "must be whole numbers of 64 bits, if they are no texts")
    return labels
