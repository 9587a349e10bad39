"""Clients of every local protocol, each on two values that are as unlike as any: what a collector sees of them."""

import numpy as np
from tests.audits_of_everything.judging import Case

from sfumato.local import (
    DirectEncoding,
    DuchiMean,
    HadamardResponse,
    HybridMean,
    LocalHashing,
    OptimizedUnaryEncoding,
    PiecewiseMean,
    PooledHashing,
    SampledMeans,
    SquareWave,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
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
    "LocalHashing": agreeing(LocalHashing(3, epsilon=2)),
    **{type(one).__name__: client(one, pair=(0, 1)) for one in NUMBERS},
    "SampledMeans": client(SampledMeans({"a": (0, 1), "b": (0, 1)}, epsilon=2, steps=2), pair=((0, 0), (1, 1))),
}
