"""Clients of every local protocol, each on two values that are as unlike as any: what a collector sees of them."""

from fractions import Fraction

import numpy as np
from tests.audits_of_everything.judging import Case

from sfumato.local import (
    BasicRappor,
    BucketBits,
    CountMeanSketch,
    DirectEncoding,
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
from sfumato.privacy.guarantees import ApproxDP


def client(protocol, *, pair=(0, 1), **facts):
    """The bytes of so many reports of one value, as whole numbers."""

    def run(value, count):
        reports = protocol.client().report_many([value] * count)
        return [int.from_bytes(row.tobytes()) for row in reports.payloads]

    return Case(mechanism=lambda: run, pair=pair, claim=ApproxDP(protocol.realized_epsilon, 0), **facts)


def agreeing(oracle, *, pair=(0, 1), **facts):
    """Which of the two values each report of fresh hash functions supports: functions themselves are never the same."""
    (low, high), family = pair, oracle.family

    def run(value, count):
        payloads = oracle.client().report_many([value] * count).payloads
        keys, told = family.unpacked(payloads[:, : family.key_bytes]), payloads[:, family.key_bytes]
        cells = [family.cell_of(keys, np.full(count, other)) == told for other in (low, high)]
        return (2 * cells[0] + cells[1]).tolist()

    return Case(mechanism=lambda: run, pair=pair, claim=ApproxDP(oracle.realized_epsilon, 0), **facts)


def of_a_device(protocol, *, pair, reports, claim, **facts):
    """All reports that a device with a memory makes of one value; each run is another device."""

    def run(value, count):
        found = []
        for _ in range(count):
            device = protocol.client()
            found.append(tuple(device.report(value).payload for _ in range(reports)))
        return found

    return Case(mechanism=lambda: run, pair=pair, claim=ApproxDP(claim, 0), **facts)


TINY_RAPPOR = Rappor(bits=2, hashes=1, cohorts=1, f="0.5", p="0.125", q="0.875")
"""Of its two bits, the texts "a" and "d" set different ones."""
OF_TWO = LongitudinalDirect(2, epsilon="1.8", permanent_epsilon=2)
REMEMBERED = Rappor(bits=2, hashes=1, cohorts=1, f="0.5", p=0, q=1)

QUARTER = Fraction(1, 4)

ORACLES = (
    DirectEncoding(3, epsilon=2),
    HadamardResponse(3, epsilon=2),
    OptimizedUnaryEncoding(3, epsilon=2),
    PooledHashing(3, epsilon=2, pool=2),
    SubsetSelection(4, epsilon=2),
    SymmetricUnaryEncoding(3, epsilon=2),
    ThresholdedHistogram(3, epsilon=2),
)
NUMBERS = tuple(kind(0, 1, epsilon=2, steps=4) for kind in (DuchiMean, HybridMean, PiecewiseMean, SquareWave))
CASES = {type(oracle).__name__: client(oracle) for oracle in ORACLES} | {
    "Rappor": of_a_device(TINY_RAPPOR, pair=("a", "d"), reports=1, claim=TINY_RAPPOR.realized_epsilon),
    "Rappor, three reports": of_a_device(REMEMBERED, pair=("a", "d"), reports=3, claim=REMEMBERED.lifetime_epsilon),
    "LongitudinalDirect, three reports": of_a_device(OF_TWO, pair=(0, 1), reports=3, claim=OF_TWO.lifetime_epsilon),
    "LongitudinalHashing": agreeing(LongitudinalHashing(9, epsilon=2, permanent_epsilon=3)),
    "LongitudinalSymmetricUnary": client(LongitudinalSymmetricUnary(3, epsilon=2, permanent_epsilon=3)),
    "BucketBits": client(BucketBits(3, epsilon=2, sampled=2)),
    "LongitudinalMean": client(LongitudinalMean(0, 1, epsilon=2, steps=4, flipped="0.1")),
    "LongitudinalUnary": client(LongitudinalUnary(3, epsilon=2, permanent_epsilon=3)),
    "BasicRappor": client(BasicRappor(3, f="0.5", p="0.125", q="0.875")),
    "CountMeanSketch": client(CountMeanSketch(8, epsilon=2, hashes=2, width=4), pair=(0, 2)),
    "HadamardSketch": client(HadamardSketch(8, epsilon=2, hashes=2, width=4), pair=(0, 2)),
    "FragmentPuzzle": client(FragmentPuzzle("ab", length=1, fragment=1, epsilon=2, hashes=1, width=4), pair=("a", "b")),
    "PrefixSearch": client(PrefixSearch(1, epsilon=2, top=128, step=8, pool=2), pair=("a", "b"), share=QUARTER),
    "TreeSearch": client(TreeSearch(1, epsilon=2, hashes=2, width=4), pair=("a", "d"), share=QUARTER),
    "LocalHashing": agreeing(LocalHashing(3, epsilon=2)),
    **{type(one).__name__: client(one, pair=(0, 1)) for one in NUMBERS},
    "SampledMeans": client(SampledMeans({"a": (0, 1), "b": (0, 1)}, epsilon=2, steps=2), pair=((0, 0), (1, 1))),
}
