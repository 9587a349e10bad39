"""Longitudinal direct encoding, and its form for large domains: a hash that each device draws once."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.hash_family import HashFamily, random_keys
from sfumato.local.frequency.oracle import DomainLike
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.local.longitudinal.memory import LongitudinalOracle
from sfumato.mechanisms.response.kary_randomized_response import KaryRandomizedResponse
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

_MOST_CELLS: Final = 1 << 12
_WORD_BITS, _HASH_BITS = 32, 16


@dataclass(frozen=True, slots=True, init=False)
class LongitudinalDirect(LongitudinalOracle):
    """Randomized response to the value for good, and again to that in each report. L-GRR; best for few values.

    The permanent response is the true one of k values with R∞/(R∞ + k − 1), each other with 1/(R∞ + k − 1). A report
    repeats it so often that the true value is reported with R₁/(R₁ + k − 1), each other one with 1/(R₁ + k − 1).

    **Guarantee**: as `LongitudinalOracle`, with e^ε₁ = R₁ and e^ε∞ = R∞. Proof: proofs/local/longitudinal/memory.md.

    Example:
        >>> oracle = LongitudinalDirect(["yes", "no"], epsilon=1, permanent_epsilon=3)
        >>> round(float(oracle.repeated), 4), round(oracle.variance(reports=1), 3)
        (0.5105, 0.921)

    References:
        [ACBX22].
    """

    kind: ClassVar[str] = "longitudinal_direct"
    most_values: ClassVar[int] = 1 << 16

    @property
    def choices(self) -> int:
        """k: how many answers there are."""
        return len(self.domain)

    @property
    def repeated(self) -> Fraction:
        """How often a report repeats the permanent response, rather than being any answer: the quotient of the gaps."""
        permanent, reported = (odds(epsilon) for epsilon in (self.permanent_epsilon, self.epsilon))
        gaps = [(ratio - 1) / (ratio + self.choices - 1) for ratio in (reported, permanent)]
        return gaps[0] / gaps[1]

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """R₁/(R₁ + k − 1) and 1/(R₁ + k − 1)."""
        ratio = odds(self.epsilon)
        return ratio / (ratio + self.choices - 1), 1 / (ratio + self.choices - 1)

    @property
    def event(self) -> FiniteEvent:
        """Randomized response among k answers."""
        return _answers(odds(self.epsilon), self.choices)

    @property
    def permanent_event(self) -> FiniteEvent:
        """The same of the permanent response."""
        return _answers(odds(self.permanent_epsilon), self.choices)

    @property
    def is_exclusive(self) -> bool:
        """A report supports the one value that it names."""
        return True

    @property
    def payload_bytes(self) -> int:
        """As many as hold an answer."""
        return width_of(self.choices)

    @property
    def cells(self) -> int:
        """One for each value."""
        return len(self.domain)

    def remembered(self, indexes: Indexes, devices: NDArray[Any]) -> Indexes:
        """The values themselves."""
        del devices
        return indexes

    def permanent(self, remembered: NDArray[np.int64]) -> NDArray[Any]:
        """Randomized response."""
        ratio = odds(self.permanent_epsilon)
        gap = (ratio - 1) / (ratio + self.choices - 1)
        return KaryRandomizedResponse(categories=self.choices, probability=gap).release(remembered)

    def instantaneous(self, permanent: NDArray[Any], devices: NDArray[Any]) -> Payloads:
        """Randomized response to the permanent response."""
        del devices
        return packed_integers(self.answers(permanent), self.payload_bytes)

    def answers(self, permanent: NDArray[Any]) -> NDArray[np.int64]:
        """The answers of reports."""
        again = KaryRandomizedResponse(categories=self.choices, probability=self.repeated)
        return again.release(permanent.astype(np.int64))

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Those that name an answer."""
        return integers_of(payloads) < self.choices

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports name each value."""
        return np.bincount(integers_of(payloads), minlength=len(self.domain))

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """The counts themselves."""
        del reports
        return counts[indexes]


@dataclass(frozen=True, slots=True, init=False)
class LongitudinalHashing(LongitudinalDirect):
    """Hashes the value into g cells by a function that the device draws once; then `LongitudinalDirect` of g. LOLOHA.

    A device has at most g permanent responses, however many values it holds: its lifetime costs g·ε∞ at most. A value
    that changes within its cell changes nothing. A payload is the function and the cell.

    **Guarantee**: as `LongitudinalOracle`, with e^ε₁ = R₁ and e^ε∞ = R∞. Proof: proofs/local/longitudinal/memory.md.

    Args:
        domain: At most 2^16 values.
        epsilon: The most that one report may reveal; below `permanent_epsilon`.
        permanent_epsilon: The most that all reports of one cell may reveal.
        groups: g, how many cells there are; 2 costs a lifetime the least.

    Example:
        >>> oracle = LongitudinalHashing(1024, epsilon=1, permanent_epsilon=3)
        >>> oracle.most_remembered, oracle.payload_bytes, round(oracle.variance(reports=1), 3)
        (2, 9, 4.683)

    References:
        [ACLSWZ22].
    """

    kind: ClassVar[str] = "longitudinal_hashing"

    groups: int

    def __init__(self, domain: DomainLike, *, epsilon: Number, permanent_epsilon: Number, groups: int = 2) -> None:
        LongitudinalOracle.__init__(self, domain, epsilon=epsilon, permanent_epsilon=permanent_epsilon)
        if positive_integer(groups, "groups", most=_MOST_CELLS) == 1:
            raise ParameterError("groups", groups, "must be at least 2")
        set_fields(self, groups=groups)

    @property
    def family(self) -> HashFamily:
        """The hash functions."""
        return HashFamily(_WORD_BITS, _HASH_BITS, self.groups)

    @property
    def choices(self) -> int:
        """One for each cell."""
        return self.groups

    @property
    def most_remembered(self) -> int:
        """One permanent response for each cell."""
        return self.groups

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often the true cell is reported, and how often another value is in the cell that is."""
        ratio = odds(self.epsilon)
        told, other = ratio / (ratio + self.choices - 1), 1 / (ratio + self.choices - 1)
        return told, other + (told - other) * self.family.collision_probability

    @property
    def is_exclusive(self) -> bool:
        """A report supports many values."""
        return False

    @property
    def payload_bytes(self) -> int:
        """The function and the cell."""
        return self.family.key_bytes + width_of(self.groups)

    def devices(self, count: int) -> NDArray[Any]:
        """A hash function for each."""
        return random_keys(count, _WORD_BITS)

    def remembered(self, indexes: Indexes, devices: NDArray[Any]) -> Indexes:
        """The cell of each value under the function of its device."""
        return self.family.cell_of(devices, indexes)

    def instantaneous(self, permanent: NDArray[Any], devices: NDArray[Any]) -> Payloads:
        """The function, and randomized response to the permanent cell."""
        told = packed_integers(self.answers(permanent), width_of(self.groups))
        return np.concatenate((self.family.packed(devices), told), axis=1)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Any function, and a cell that there is."""
        return integers_of(payloads[:, self.family.key_bytes :]) < self.groups

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports support each value."""
        keys = self.family.unpacked(payloads[:, : self.family.key_bytes])
        cells = integers_of(payloads[:, self.family.key_bytes :])
        return self.family.supports(keys, cells, np.arange(len(self.domain)))


def _answers(ratio: Fraction, choices: int) -> FiniteEvent:
    """Of two values among so many answers: that of the one, that of the other, and all others."""
    total = ratio + choices - 1
    told, other, rest = ratio / total, 1 / total, Fraction(choices - 2) / total
    return event_of(((told, other), (other, told), (rest, rest)))
