"""Local hashing: each person hashes the domain to a few cells and reports the cell of the true value, randomized."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import LARGEST_DOMAIN, Indexes, Label
from sfumato.local.core.odds import epsilon_of, event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.estimates import Supports
from sfumato.local.frequency.hash_family import HashFamily, Keys, random_keys
from sfumato.local.frequency.oracle import DomainLike, FrequencyAggregator, FrequencyOracle
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.mechanisms.response.kary_randomized_response import KaryRandomizedResponse
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

_MOST_CELLS: Final = 1 << 12
_SHORT_DOMAIN: Final = 1 << 16
_LARGEST_POOL: Final = 1 << 16
_LARGEST_TABLE: Final = 1 << 24
_LISTED: Final = 1 << 20
_AT_A_TIME: Final = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class CellEncoding(FrequencyOracle):
    """What both kinds of local hashing share: the cell of the true value is told with probability R/(R + g − 1).

    g = round(R) + 1, at most 4096, has the least variance. R is the rational just below e^ε.
    """

    takes_texts: ClassVar[bool] = True
    most_values: ClassVar[int] = LARGEST_DOMAIN

    @property
    def family(self) -> HashFamily:
        """The hash functions: of 32 bits for up to 2^16 values, of 64 bits beyond."""
        cells = min(round(odds(self.epsilon)) + 1, _MOST_CELLS)
        return HashFamily(32, 16, cells) if len(self.domain) <= _SHORT_DOMAIN else HashFamily(64, 32, cells)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often the true cell is told, and how often another value is in the cell that is told."""
        told, other = self._cell_probabilities
        return told, other + (told - other) * self.family.collision_probability

    @property
    def realized_epsilon(self) -> Fraction:
        """The logarithm of R, rounded up."""
        return epsilon_of(self.event)

    @property
    def event(self) -> FiniteEvent:
        """Of two values that share their cell as often as any two."""
        told, other = self._cell_probabilities
        apart = self._apart
        same = 1 - apart * (told + other)
        return event_of(((apart * told, apart * other), (apart * other, apart * told), (same, same)))

    @property
    def _apart(self) -> Fraction:
        """How often two values have different cells, at most."""
        return 1 - self.family.collision_probability

    @property
    def _cell_probabilities(self) -> tuple[Fraction, Fraction]:
        ratio, others = odds(self.epsilon), self.family.cells - 1
        return ratio / (ratio + others), 1 / (ratio + others)

    def told_cells(self, keys: Keys, inputs: Indexes) -> NDArray[np.int64]:
        """The cell of each value, or another one, by randomized response."""
        told, other = self._cell_probabilities
        response = KaryRandomizedResponse(categories=self.family.cells, probability=told - other)
        return response.release(self.family.cell_of(keys, inputs))


@dataclass(frozen=True, slots=True, init=False)
class LocalHashing(CellEncoding):
    """Draws a hash function for each report, and reports it with the randomized cell of the true value. Also OLH.

    A payload is the function, 8 bytes for up to 2^16 values and 16 beyond, and the cell. A value is supported if the
    function puts it into that cell. The variance is that of `OptimizedUnaryEncoding`; reports stay short for any
    domain, also for all texts, but a collector evaluates each function at each value.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its value, with e^realized = R. Proof:
    proofs/local/frequency/hashing.md.

    Args:
        domain: At most 2^31 values, or all texts of at most 32 bits.
        epsilon: From 10^−6 to 100.

    Example:
        >>> oracle = LocalHashing(1024, epsilon=1)
        >>> oracle.family.cells, oracle.payload_bytes, round(oracle.variance(reports=1), 3)
        (4, 9, 3.692)

    References:
        [WBLJ17] Section 4.3; [Die96] for the hash functions.
    """

    kind: ClassVar[str] = "local_hashing"

    def __init__(self, domain: DomainLike, *, epsilon: Number) -> None:
        FrequencyOracle.__init__(self, domain, epsilon=epsilon)
        if (self.domain.hash_bits or 0) > self.family.hash_bits:
            raise ParameterError("domain", f"{self.domain.hash_bits} bits", "must be texts of at most 32 bits")

    @property
    def payload_bytes(self) -> int:
        """The function and the cell."""
        return self.family.key_bytes + width_of(self.family.cells)

    @property
    def cells(self) -> int:
        """One for each value.

        Raises:
            ParameterError: They are too many to be all counted.
        """
        if len(self.domain) > _LISTED:
            requirement = f"must be given to the aggregator where the domain has more than {_LISTED:,} values"
            raise ParameterError("candidates", None, requirement)
        return len(self.domain)

    def randomize(self, inputs: Indexes) -> Payloads:
        """A function for each report, and a cell."""
        keys = random_keys(len(inputs), self.family.word_bits)
        cells = packed_integers(self.told_cells(keys, inputs), width_of(self.family.cells))
        return np.concatenate((self.family.packed(keys), cells), axis=1)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Any function, and a cell that it has."""
        return integers_of(payloads[:, self.family.key_bytes :]) < self.family.cells

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports support each value."""
        return self.tally_of(payloads, np.arange(self.cells))

    def tally_of(self, payloads: Payloads, indexes: Indexes) -> NDArray[np.int64]:
        """How many reports support each of these values."""
        keys = self.family.unpacked(payloads[:, : self.family.key_bytes])
        return self.family.supports(keys, integers_of(payloads[:, self.family.key_bytes :]), indexes)

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """The counts themselves."""
        del reports
        return counts[indexes]

    def aggregator(self, candidates: Iterable[Label] | None = None) -> FrequencyAggregator:
        """An empty aggregator, of these candidates alone if some are given: it counts no other value, and faster.

        Raises:
            ParameterError: A candidate is not in the domain or comes twice, or there are none.
        """
        return FrequencyAggregator(self) if candidates is None else CandidateAggregator(self, candidates)


class CandidateAggregator(FrequencyAggregator):
    """Counts which of some candidates the reports support; for domains of which nobody can count all values.

    Example:
        >>> from sfumato.local import Domain
        >>> words = LocalHashing(Domain.texts(), epsilon=3)
        >>> collected = words.aggregator(candidates=["apple", "pear"])
        >>> collected.add(words.client().report_many(["apple"] * 500)).accepted
        500
        >>> bool(collected.estimate(["apple"]).fractions[0] > 0.5)
        True
    """

    def __init__(self, protocol: LocalHashing, candidates: Iterable[Label]) -> None:
        self._hashing: Final = protocol
        self._labels: Final = tuple(candidates)
        self._indexes: Final = protocol.domain.candidates(self._labels)
        super().__init__(protocol)

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> Any:
        """As that of `FrequencyAggregator`, of all its candidates if none are given."""
        return super().estimate(self._labels if candidates is None else candidates, confidence)

    @property
    def _cells(self) -> int:
        return len(self._indexes)

    def _tally(self, payloads: Payloads) -> NDArray[np.int64]:
        return self._hashing.tally_of(payloads, self._indexes)

    def _scope(self) -> bytes:
        return self._indexes.astype("<i8").tobytes()

    def _supports(self, indexes: Indexes) -> NDArray[np.int64]:
        order = np.argsort(self._indexes)
        places = np.searchsorted(self._indexes, indexes, sorter=order).clip(max=len(order) - 1)
        found = order[places]
        if (self._indexes[found] != indexes).any():
            raise ParameterError("candidates", "some", "must be among those whose supports were counted")
        supported: NDArray[np.int64] = self._counts[found]
        return supported


@dataclass(frozen=True, slots=True, init=False)
class PooledHashing(CellEncoding):
    """Local hashing with a public pool of hash functions, of which each report names one. Also FLH.

    The collector counts reports by function and cell, so that its time no longer grows with reports times values. The
    price: the functions are the same for all, so that values share cells in the same way in every report. This adds
    Σf²/((g − 1)·pool) to the variance of an estimate, which intervals include; more reports do not lower it.

    A payload is the number of the function and the cell. The functions are made of SHA-256 and the same everywhere.

    **Guarantee**: as `LocalHashing`, for every pool. Proof: proofs/local/frequency/hashing.md.

    Args:
        domain: At most 2^31 values, or all texts of at most 32 bits.
        epsilon: From 10^−6 to 100.
        pool: How many functions there are, from 2 to 2^16; with their cells at most 2^24 counters.

    Example:
        >>> oracle = PooledHashing(1024, epsilon=1)
        >>> oracle.pool, oracle.payload_bytes
        (4096, 3)

    References:
        [CMM21].
    """

    kind: ClassVar[str] = "pooled_hashing"

    pool: int

    def __init__(self, domain: DomainLike, *, epsilon: Number, pool: int = 4096) -> None:
        FrequencyOracle.__init__(self, domain, epsilon=epsilon)
        if positive_integer(pool, "pool", most=_LARGEST_POOL) == 1:
            raise ParameterError("pool", 1, "must be at least 2")
        set_fields(self, pool=pool)
        if self.cells > _LARGEST_TABLE:
            most = _LARGEST_TABLE // self.family.cells
            requirement = f"must be at most {most:,} at this ε: each function has {self.family.cells:,} counters"
            raise ParameterError("pool", pool, requirement)
        if (self.domain.hash_bits or 0) > self.family.hash_bits:
            raise ParameterError("domain", f"{self.domain.hash_bits} bits", "must be texts of at most 32 bits")

    @property
    def payload_bytes(self) -> int:
        """The number of the function, and the cell."""
        return width_of(self.pool) + width_of(self.family.cells)

    @property
    def cells(self) -> int:
        """One for each function and cell."""
        return self.pool * self.family.cells

    @property
    def _apart(self) -> Fraction:
        """Some values may share no cell in any function of the pool."""
        return Fraction(1)

    def randomize(self, inputs: Indexes) -> Payloads:
        """A function of the pool for each report, and a cell."""
        chosen = uniform_below(self.pool, len(inputs))
        told = self.told_cells(pool_keys(self.pool, self.family.word_bits)[chosen], inputs)
        width = width_of(self.family.cells)
        return np.concatenate((packed_integers(chosen, width_of(self.pool)), packed_integers(told, width)), axis=1)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """A function of the pool, and a cell that it has."""
        chosen, told = self._parts(payloads)
        return (chosen < self.pool) & (told < self.family.cells)

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports have each function and cell."""
        chosen, told = self._parts(payloads)
        return np.bincount(chosen * self.family.cells + told, minlength=self.cells)

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """For each function, the counts of the cells into which it puts the values."""
        del reports
        family, total = self.family, np.zeros(len(indexes), dtype=np.int64)
        keys, first = pool_keys(self.pool, family.word_bits), np.arange(self.pool) * family.cells
        functions = max(1, _AT_A_TIME // len(indexes))
        for start in range(0, self.pool, functions):
            part = slice(start, start + functions)
            total += counts[first[part, None] + family.cell_of(keys[part, None], indexes)].sum(axis=0)
        return total

    def aggregator(self) -> FrequencyAggregator:
        """An empty aggregator."""
        return PooledAggregator(self)

    def _parts(self, payloads: Payloads) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        width = width_of(self.pool)
        return integers_of(payloads[:, :width]), integers_of(payloads[:, width:])


class PooledAggregator(FrequencyAggregator):
    """Adds to each variance what values that share cells add: Σf²/((g − 1)·pool), with estimates in place of f.

    What is left of 1 beside the candidates counts as one value, the worst case.
    """

    def __init__(self, protocol: PooledHashing) -> None:
        self._pooled: Final = protocol
        super().__init__(protocol)

    def _extra_variance(self, supports: Supports) -> float:
        held = np.clip(supports.fractions, 0.0, 1.0)
        squares = float(held @ held) + max(0.0, 1 - float(held.sum())) ** 2
        return min(squares, 1.0) / ((self._pooled.family.cells - 1) * self._pooled.pool)


@lru_cache(maxsize=8)
def pool_keys(pool: int, word_bits: int) -> Keys:
    """The public functions of a pool: SHA-256 of their number.

    Example:
        >>> pool_keys(2, 32).tolist() == pool_keys(3, 32)[:2].tolist()
        True
    """
    width = word_bits // 8
    digests = (sha256(b"sfumato hash function %d" % number).digest()[: 2 * width] for number in range(pool))
    keys = np.frombuffer(b"".join(digests), dtype=f">u{width}").astype(f"<u{width}").reshape(pool, 2)
    keys.flags.writeable = False
    return keys
