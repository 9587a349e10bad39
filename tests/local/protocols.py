"""Every protocol of the local model, small enough for all of its payloads to be tried."""

from dataclasses import dataclass
from typing import ClassVar

from sfumato.local import (
    DirectEncoding,
    Domain,
    HadamardResponse,
    LocalHashing,
    OptimizedUnaryEncoding,
    PooledHashing,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
)
from sfumato.local.frequency.hash_family import HashFamily

DRINKS = ("tea", "coffee", "water")
EPSILONS = ("0.25", "1", "3")
SIZES = (2, 3, 4)
KINDS = (
    DirectEncoding,
    HadamardResponse,
    OptimizedUnaryEncoding,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
)
HASHING = (LocalHashing, PooledHashing)
LESS_THAN_ASKED = (ThresholdedHistogram,)
"""Those whose exact probabilities realize less than the ε that was asked for."""

TINY_WORD = 3
"""Bits of the words of functions that can all be tried; `LocalHashing` has 32 or 64."""


@dataclass(frozen=True, slots=True, init=False)
class TinyHashing(LocalHashing):
    """Local hashing with the 64 functions of words of three bits, in the top bits of words of 32."""

    kind: ClassVar[str] = "tiny_hashing"

    @property
    def family(self):
        return HashFamily(32, 2, LocalHashing.family.fget(self).cells)


def tried(kinds, sizes=SIZES, epsilons=EPSILONS):
    return {f"{kind.__name__} of {d} at {e}": kind(d, epsilon=e) for kind in kinds for d in sizes for e in epsilons}


ORACLES = tried(KINDS) | tried([TinyHashing], sizes=(2, 4), epsilons=("0.25", "1"))
"""Frequency oracles whose payloads can be counted, and whose supports have exact probabilities."""

LABELLED = {f"{kind.__name__} of labels": kind(Domain(DRINKS, other="water"), epsilon=1) for kind in (*KINDS, *HASHING)}
LARGE = tried((*KINDS, *HASHING), sizes=(300,), epsilons=("2",))
POOLED = {"PooledHashing of 4, a pool of 3": PooledHashing(4, epsilon=1, pool=3)}
STORED = tried(KINDS) | LABELLED | LARGE | POOLED
"""Those that have a stored form."""

PROTOCOLS = ORACLES | STORED
