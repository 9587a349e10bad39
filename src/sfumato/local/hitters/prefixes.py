"""Heavy hitters by prefixes: people are split into groups, and each group reports prefixes of one length.

The frequent prefixes of one group, each with all of its extensions, are the candidates of the next group [WLJ21]. So
a collector evaluates thousands of candidates in place of all 2^64 values.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import UNKNOWN, Domain, Indexes, Label
from sfumato.local.core.odds import local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.estimates import FrequencyEstimates, Supports
from sfumato.local.frequency.hashing import PooledHashing
from sfumato.mechanisms.lattice import present
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

_BYTE: Final = 8
_LARGEST_STEP: Final = 8
_LARGEST_TOP: Final = 1024
_LONGEST: Final = 64
_HASH_BITS: Final = 32
_MOST_COUNTERS: Final = 1 << 26

Words: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, init=False)
class PrefixSearch(LocalProtocol):
    """Finds the texts that most people hold, of at most so many bytes, without a list of candidates. Also called PEM.

    Each person is in a uniform one of several groups, and reports with the whole ε the prefix of that group's length by
    `PooledHashing`. Lengths grow by `step` bits, from the least that has `top` prefixes to all bits. The first group
    is estimated at all prefixes; each next one at the extensions of the `top` best.

    A payload is the group and the report of the hashing.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its text: the group does not depend on it,
    and a prefix is a function of it. Proof: proofs/local/hitters/prefixes.md.

    ================================  ==============================================================
    Edge case                         Behavior
    ================================  ==============================================================
    a text of fewer bytes             it is filled with zero bytes, which are cut off in the result
    a text of more bytes, None        it counts as uniformly random bytes
    a group without reports           the estimate is refused: there are too few reports
    ================================  ==============================================================

    Args:
        length: The most bytes of a text in UTF-8, from 1 to 8.
        epsilon: From 10^−6 to 100.
        top: How many prefixes go on from one group to the next, from 2 to 1024, and how many texts are found.
        step: By how many bits prefixes grow, from 1 to 8.
        pool: How many hash functions there are; see `PooledHashing`. All groups together have at most 2^26 counters.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> search = PrefixSearch(length=4, epsilon=2, top=32)
        >>> search.lengths, search.payload_bytes
        ((5, 9, 13, 17, 21, 25, 29, 32), 4)

    References:
        [WLJ21].
    """

    length: int
    epsilon: Fraction
    top: int
    step: int
    pool: int

    kind: ClassVar[str] = "prefix_search"

    def __init__(self, length: int, *, epsilon: Number, top: int = 64, step: int = 4, pool: int = 4096) -> None:
        if positive_integer(top, "top", most=_LARGEST_TOP) == 1:
            raise ParameterError("top", top, "must be at least 2")
        set_fields(
            self,
            length=positive_integer(length, "length", most=_LONGEST // _BYTE),
            epsilon=local_epsilon(epsilon),
            top=top,
            step=positive_integer(step, "step", most=_LARGEST_STEP),
            pool=self._hashing_of(epsilon, pool).pool,
        )
        if self.cells > _MOST_COUNTERS:
            most = pool * _MOST_COUNTERS // self.cells
            raise ParameterError("pool", pool, f"must be at most {most:,}, as all groups have {self.cells:,} counters")

    @property
    def lengths(self) -> tuple[int, ...]:
        """The bits of each group's prefixes."""
        bits = _BYTE * self.length
        return (*range(min((self.top - 1).bit_length(), bits), bits, self.step), bits)

    @property
    def hashing(self) -> PooledHashing:
        """How each group reports."""
        return self._hashing_of(self.epsilon, self.pool)

    @property
    def event(self) -> FiniteEvent:
        """That of the hashing."""
        return self.hashing.event

    @property
    def realized_epsilon(self) -> Fraction:
        """That of the hashing."""
        return self.hashing.realized_epsilon

    @property
    def payload_bytes(self) -> int:
        """The group and the report of the hashing."""
        return 1 + self.hashing.payload_bytes

    @property
    def cells(self) -> int:
        """Those of the hashing for each group, and then the number of each group's reports."""
        return len(self.lengths) * (self.hashing.cells + 1)

    def inputs(self, values: Iterable[Any]) -> Words:
        """The bytes of each text as a number, the first one highest; uniform ones for what is no such text."""
        words = np.array([self.word_of(value) for value in values], dtype=object)
        unknown = np.flatnonzero(words == UNKNOWN)
        words[unknown] = uniform_below(1 << _BYTE * self.length, len(unknown))
        return words.astype(np.uint64)

    def parse(self, text: str) -> str | None:
        """The text itself; an empty cell of a file is missing."""
        return text or None

    def randomize(self, inputs: Words) -> Payloads:
        """A group for each person, and a hashed prefix of its length."""
        lengths, hashing = self.lengths, self.hashing
        groups = uniform_below(len(lengths), len(inputs))
        indexes = np.empty(len(inputs), dtype=np.int64)
        for group, bits in enumerate(lengths):
            who = np.flatnonzero(groups == group)
            indexes[who] = _indexes(self._cut(inputs[who], bits), bits)
        return np.concatenate((groups.astype(np.uint8)[:, None], hashing.randomize(indexes)), axis=1)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """A group, and a report of the hashing."""
        return (payloads[:, 0] < len(self.lengths)) & self.hashing.are_valid(payloads[:, 1:])

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """What each group's reports add to its counts."""
        groups = len(self.lengths)
        parts = [self.hashing.tally(payloads[payloads[:, 0] == group, 1:]) for group in range(groups)]
        return np.concatenate((*parts, np.bincount(payloads[:, 0], minlength=groups)))

    def aggregator(self) -> "HitterAggregator":
        """An empty aggregator."""
        return HitterAggregator(self)

    def word_of(self, value: Any) -> int:
        """The bytes of a text as a number, and −1 for what is no such text."""
        held = value if isinstance(value, str) else present(value)
        if not isinstance(held, str):
            return UNKNOWN
        data = held.encode("utf-8", errors="surrogatepass")
        return int.from_bytes(data.ljust(self.length, b"\0")) if len(data) <= self.length else UNKNOWN

    def text_of(self, word: int) -> str:
        """The text of a number of all its bits."""
        return word.to_bytes(self.length).rstrip(b"\0").decode("utf-8", errors="backslashreplace")

    def _cut(self, words: Words, bits: int) -> Words:
        """The first bits of each text."""
        prefixes: Words = words >> np.uint64(_BYTE * self.length - bits)
        return prefixes

    @staticmethod
    def _hashing_of(epsilon: Number, pool: int) -> PooledHashing:
        return PooledHashing(Domain.texts(_HASH_BITS), epsilon=epsilon, pool=pool)


class HitterAggregator(Aggregator[PrefixSearch]):
    """Counts of each group, and the texts that most people hold.

    Example:
        >>> search = PrefixSearch(length=2, epsilon=4, top=4)
        >>> collected = search.aggregator()
        >>> collected.add(search.client().report_many(["ab"] * 6000 + ["xy"] * 4000)).accepted
        10000
        >>> collected.estimate().values[:2]
        ('ab', 'xy')
    """

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> FrequencyEstimates:
        """The texts that were found, the most frequent first, with the fractions that the last group says.

        These are the best of many, so that they are too large on average: a text whose interval holds 0 may be noise.
        With candidates, the last group is asked about them, and nothing is searched. Intervals include that the group
        is a random part of the people.

        Raises:
            ParameterError: A group has no reports, a candidate is no text of the length, or the confidence is out of
                range.
        """
        protocol = self.protocol
        if candidates is None:
            words = self._found()
        else:
            listed = [protocol.word_of(text) for text in candidates]
            if not listed or UNKNOWN in listed or len(set(listed)) < len(listed):
                requirement = f"must be texts of at most {protocol.length} bytes, each given once"
                raise ParameterError("candidates", f"{len(listed)} values", requirement)
            words = np.array(listed, dtype=np.uint64)
        supports = self._supports(len(protocol.lengths) - 1, words)
        order = np.argsort(-supports.counts, kind="stable") if candidates is None else np.arange(len(words))
        ordered = self._supports(len(protocol.lengths) - 1, words[order])
        texts = tuple(protocol.text_of(word) for word in words[order].tolist())
        held = np.clip(ordered.fractions, 0.0, 1.0)
        squares = min(float(held @ held) + max(0.0, 1 - float(held.sum())) ** 2, 1.0)
        extra = squares / ((protocol.hashing.family.cells - 1) * protocol.pool)
        return ordered.estimate(texts, confidence, extra_variance=extra)

    def _found(self) -> Words:
        """The best of the last group's candidates, group by group."""
        protocol = self.protocol
        words: Words = np.arange(1 << protocol.lengths[0], dtype=np.uint64)
        before = protocol.lengths[0]
        for group, bits in enumerate(protocol.lengths):
            grown = np.uint64(bits - before)
            endings = np.arange(1 << bits - before, dtype=np.uint64)
            words = ((words[:, None] << grown) | endings).ravel()
            counts = self._supports(group, words).counts
            words, before = words[np.argsort(-counts, kind="stable")[: protocol.top]], bits
        return words

    def _supports(self, group: int, words: Words) -> Supports:
        hashing, groups = self.protocol.hashing, len(self.protocol.lengths)
        cells = self._counts[group * hashing.cells : (group + 1) * hashing.cells]
        reports = positive_integer(int(self._counts[groups * hashing.cells + group]), "reports")
        p, q = map(float, hashing.support_probabilities)
        counts = hashing.supports(cells, reports, _indexes(words, self.protocol.lengths[group]))
        return Supports(
            counts=counts, reports=len(self), when_held=p, when_not=q, are_all=False, is_exclusive=False,
            asked=np.full(len(words), reports),
        )  # fmt: skip


def _indexes(prefixes: Words, bits: int) -> Indexes:
    """Numbers of 32 bits for prefixes: themselves, or the top half of a·x + b where they are longer."""
    if bits <= _HASH_BITS:
        return prefixes.astype(np.int64)
    slope, offset = _line(bits)
    return ((prefixes * slope + offset) >> np.uint64(_HASH_BITS)).astype(np.int64)


@lru_cache(maxsize=_LONGEST)
def _line(bits: int) -> tuple[np.uint64, np.uint64]:
    """The public hash function of prefixes of so many bits: a, which is odd, and b, of SHA-256."""
    digest = sha256(b"sfumato prefixes of %d bits" % bits).digest()
    return np.uint64(int.from_bytes(digest[:8]) | 1), np.uint64(int.from_bytes(digest[8:16]))
