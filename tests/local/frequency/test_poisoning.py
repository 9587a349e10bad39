"""Fake reports: the closed forms of the literature, and reports made up to reach them."""

from math import exp

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.local import (
    BucketBits,
    DirectEncoding,
    HadamardResponse,
    LocalHashing,
    OptimizedUnaryEncoding,
    PooledHashing,
    Reports,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogram,
    fake_share_for,
    poisoning_gain,
)
from sfumato.local.frequency.packing import packed_bits

SIZE, TARGETS, HONEST, FAKE = 40, (3, 8, 20), 20_000, 1_000


@pytest.mark.parametrize("epsilon", ["0.5", 1, 3])
@pytest.mark.parametrize("targets", [1, 5])
def test_the_closed_forms_of_the_literature(epsilon, targets):
    share, held, odds = 0.05, 0.01, exp(float(epsilon))
    stated = {
        DirectEncoding: share * (1 - held) + share * (SIZE - targets) / (odds - 1),
        OptimizedUnaryEncoding: share * (2 * targets - held) + 2 * share * targets / (odds - 1),
    }
    for kind, expected in stated.items():
        found = poisoning_gain(kind(SIZE, epsilon=epsilon), targets=targets, fake_share="0.05", held="0.01")
        assert found.gain == pytest.approx(expected)
        assert found.gain == pytest.approx(share * (found.per_report - held))


def supporting(places):
    bits = np.zeros((FAKE, SIZE), dtype=np.bool_)
    bits[:, list(places)] = True
    return packed_bits(bits)


def made_up(oracle):
    """Payloads that a client can make and that support all targets, or as many as a report can."""
    match oracle:
        case DirectEncoding():
            return np.full((FAKE, 1), TARGETS[0], dtype=np.uint8)
        case SubsetSelection():
            others = [value for value in range(SIZE) if value not in TARGETS]
            return supporting([*TARGETS, *others][: oracle.size])
        case HadamardResponse() | LocalHashing():  # the first row, or the constant function, supports all values
            return np.zeros((FAKE, oracle.payload_bytes), dtype=np.uint8)
        case _:
            return supporting(TARGETS)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize(
    "kind",
    [
        DirectEncoding, HadamardResponse, LocalHashing, OptimizedUnaryEncoding, SubsetSelection, SymmetricUnaryEncoding,
        ThresholdedHistogram,
    ],
)  # fmt: skip
def test_reports_that_are_made_up_gain_what_is_stated_within_a_twentieth(kind, epsilon):
    oracle = kind(SIZE, epsilon=epsilon)
    collected = oracle.aggregator()
    held = np.arange(HONEST) % SIZE
    collected.add(oracle.client().report_many(held))
    before = collected.estimate(TARGETS).fractions.sum()
    assert collected.add(Reports(oracle.fingerprint, made_up(oracle))).refused == ()
    after = collected.estimate(TARGETS).fractions.sum()
    share = FAKE / (HONEST + FAKE)
    stated = poisoning_gain(oracle, targets=len(TARGETS), fake_share=share, held=len(TARGETS) / SIZE).gain
    assert after - before == pytest.approx(stated, rel=0.05)


def test_a_pool_gains_no_more_than_fresh_functions():
    pooled, fresh = PooledHashing(SIZE, epsilon=1), LocalHashing(SIZE, epsilon=1)
    assert poisoning_gain(pooled, targets=3, fake_share=1) == poisoning_gain(fresh, targets=3, fake_share=1)


def test_the_share_for_a_gain_gives_that_gain():
    oracle = OptimizedUnaryEncoding(SIZE, epsilon=1)
    share = fake_share_for(oracle, gain="0.2", targets=2)
    assert poisoning_gain(oracle, targets=2, fake_share=share).gain == pytest.approx(0.2)
    assert fake_share_for(DirectEncoding(2, epsilon=50), gain=1, targets=2) == pytest.approx(1)
    with pytest.raises(ParameterError, match="gain"):
        fake_share_for(oracle, gain=2)


def test_reports_that_tell_of_few_values_have_another_gain():
    with pytest.raises(ParameterError, match="every value"):
        poisoning_gain(BucketBits(SIZE, epsilon=1), targets=1, fake_share="0.1")


@pytest.mark.parametrize("wrong", [{"targets": 0}, {"targets": SIZE + 1}, {"fake_share": 2}, {"held": -1}])
def test_wrong_arguments_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        poisoning_gain(OptimizedUnaryEncoding(SIZE, epsilon=1), **({"targets": 1, "fake_share": "0.1"} | wrong))
