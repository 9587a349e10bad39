"""Every protocol of the local model, small enough for all of its payloads to be tried."""

from dataclasses import dataclass
from typing import ClassVar

from sfumato.local import (
    BasicRappor,
    BucketBits,
    CountMeanSketch,
    DirectEncoding,
    Domain,
    DuchiMean,
    FragmentPuzzle,
    HadamardResponse,
    HadamardSketch,
    HybridMean,
    LocalHashing,
    LongitudinalDirect,
    LongitudinalHashing,
    LongitudinalMean,
    LongitudinalSymmetricUnary,
    LongitudinalUnary,
    OptimizedUnaryEncoding,
    PiecewiseMean,
    PooledHashing,
    PrefixSearch,
    Rappor,
    SampledMeans,
    SquareWave,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
    TreeSearch,
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


BASIC = {
    "BasicRappor of 3": BasicRappor(3, f="0.5", p="0.5", q="0.75"),
    "BasicRappor of 2, a third uniform": BasicRappor(2, f="1/3", p="0.125", q="0.875"),
}
REMEMBERING = {
    f"{kind.__name__} of {size}": kind(size, epsilon=1, permanent_epsilon=2)
    for kind in (LongitudinalDirect, LongitudinalSymmetricUnary, LongitudinalUnary)
    for size in (2, 3)
}
HASHED = {
    "LongitudinalHashing of 9": LongitudinalHashing(9, epsilon=1, permanent_epsilon=2),
    "BucketBits of 9": BucketBits(9, epsilon=1, sampled=3),
    "BucketBits of 9, a tenth flipped": BucketBits(9, epsilon=1, sampled=3, flipped="0.1"),
}
ORACLES = tried(KINDS) | BASIC | REMEMBERING | tried([TinyHashing], sizes=(2, 4), epsilons=("0.25", "1"))
"""Frequency oracles whose payloads can be counted, and whose supports have exact probabilities."""

LABELLED = {f"{kind.__name__} of labels": kind(Domain(DRINKS, other="water"), epsilon=1) for kind in (*KINDS, *HASHING)}
LARGE = tried((*KINDS, *HASHING), sizes=(300,), epsilons=("2",))
POOLED = {"PooledHashing of 4, a pool of 3": PooledHashing(4, epsilon=1, pool=3)}

OF_NUMBERS = (DuchiMean, HybridMean, PiecewiseMean, SquareWave)
NUMBERS = {
    f"{kind.__name__} with {steps} steps at {epsilon}": kind(-1, 3, epsilon=epsilon, steps=steps)
    for kind in OF_NUMBERS
    for steps in (1, 2, 4)
    for epsilon in EPSILONS
}
"""Protocols of numbers whose outputs can be counted."""

PERTURBED = LongitudinalMean(-1, 3, epsilon=3, steps=3, segments=1, flipped="0.1")
"""Its ε is that of all reports of a number; one report has less."""
ROUNDED = {
    "LongitudinalMean of two segments": LongitudinalMean(-1, 3, epsilon=1, steps=4, segments=2),
    "LongitudinalMean, a tenth flipped": PERTURBED,
}

SAMPLED = {
    "one of three": SampledMeans({"a": (0, 1), "b": (-1, 3), "c": (0, 2)}, epsilon=1, steps=1),
    "two of three": SampledMeans({"a": (0, 1), "b": (-1, 3), "c": (0, 2)}, epsilon=5, steps=1),
    "both of two": SampledMeans({"a": (0, 1), "b": (-1, 3)}, epsilon=6, steps=1),
}
USUAL = {f"{kind.__name__} as usual": kind(0, 100, epsilon=2) for kind in OF_NUMBERS}
TEXTS = {
    "PrefixSearch of four bytes": PrefixSearch(4, epsilon=1, top=2, step=8, pool=2),
    "TreeSearch of four bytes": TreeSearch(4, epsilon=2, hashes=2, width=8),
    "Rappor of 13 bits": Rappor(bits=13, hashes=2, cohorts=5, f="0.3", p="0.25", q="0.75", metric="tests"),
    "CountMeanSketch of texts": CountMeanSketch(Domain.texts(), epsilon=2, hashes=7, width=19),
    "HadamardSketch of texts": HadamardSketch(Domain.texts(), epsilon=2, hashes=7, width=16),
    "FragmentPuzzle of four letters": FragmentPuzzle("abcd", length=4, epsilon=2, hashes=3, width=11),
}
"""Protocols of texts, of which nobody lists all."""

STORED = (
    TEXTS
    | BASIC
    | REMEMBERING
    | HASHED
    | tried(KINDS)
    | LABELLED
    | LARGE
    | POOLED
    | NUMBERS
    | ROUNDED
    | SAMPLED
    | USUAL
)
"""Those that have a stored form."""

PROTOCOLS = ORACLES | STORED

SMALL = ORACLES | NUMBERS | ROUNDED | SAMPLED
"""Those whose payloads can all be tried."""


def some_values(protocol):
    """Values of a protocol that can be told apart: all of a domain, all lattice places, or the corners."""
    if protocol in TEXTS.values():
        return ["abcd", "bad", "cab", None]
    if hasattr(protocol, "domain"):
        return list(protocol.domain.values())
    if hasattr(protocol, "attributes"):
        return [tuple(low for _, low, _ in protocol.attributes), tuple(high for _, _, high in protocol.attributes)]
    width = protocol.high - protocol.low
    return [protocol.low + width * place / protocol.steps for place in range(protocol.steps + 1)]


def apart(protocol):
    """Two values that are as unlike as any."""
    values = some_values(protocol)
    return (values[0], values[1]) if hasattr(protocol, "domain") else (values[0], values[-1])
