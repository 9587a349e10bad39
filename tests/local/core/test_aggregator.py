"""Counts add up in any order, survive a snapshot, and take nothing that no client makes."""

import numpy as np
import pytest
from tests.local.protocols import PROTOCOLS, some_values

from sfumato.errors import ParameterError
from sfumato.local import (
    DirectEncoding,
    HadamardResponse,
    HybridMean,
    Intake,
    LocalHashing,
    OptimizedUnaryEncoding,
    PooledHashing,
    Report,
    Reports,
    SampledMeans,
    SubsetSelection,
)

EACH = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)


def collected(protocol, reports):
    aggregator = protocol.aggregator()
    aggregator.add(reports)
    return aggregator


def some_reports(protocol, count=50):
    values = some_values(protocol)
    return protocol.client().report_many([values[i % len(values)] for i in range(count)])


@EACH
def test_reports_count_the_same_together_apart_and_in_any_order(protocol):
    reports = some_reports(protocol)
    whole = collected(protocol, reports)
    assert len(whole) == len(reports)
    singles = list(reports)
    for given in (singles[::-1], [bytes(one) for one in singles], [one.to_text() for one in singles], iter(singles)):
        assert collected(protocol, given).snapshot() == whole.snapshot()
    one_by_one = protocol.aggregator()
    for report in singles:
        assert one_by_one.add(report) == one_by_one.add([]) or len(one_by_one)
    assert one_by_one.snapshot() == whole.snapshot()


@EACH
def test_merged_parts_are_the_whole(protocol):
    reports = some_reports(protocol)
    first, second = collected(protocol, reports[:20]), collected(protocol, reports[20:])
    before = second.snapshot()
    first.merge(second)
    assert first.snapshot() == collected(protocol, reports).snapshot()
    assert second.snapshot() == before


@EACH
def test_a_snapshot_restores_the_state(protocol):
    aggregator = collected(protocol, some_reports(protocol))
    restored = protocol.aggregator().restore(aggregator.snapshot())
    assert restored.snapshot() == aggregator.snapshot()
    assert len(restored) == len(aggregator)
    assert (restored.counts == aggregator.counts).all()
    restored.add(some_reports(protocol))
    assert len(restored) == 2 * len(aggregator)


@EACH
def test_a_damaged_snapshot_is_refused(protocol):
    snapshot = collected(protocol, some_reports(protocol)).snapshot()
    flipped = bytearray(snapshot)
    flipped[-40] ^= 1
    for damaged in (None, snapshot[:-1], snapshot + b"\0", b"", bytes(flipped), b"x" + snapshot[1:]):
        with pytest.raises(ParameterError, match="snapshot"):
            protocol.aggregator().restore(damaged)


def test_counts_of_another_protocol_are_refused():
    mine, other = DirectEncoding(3, epsilon=1).aggregator(), DirectEncoding(3, epsilon=2).aggregator()
    with pytest.raises(ParameterError, match="of the same protocol"):
        mine.merge(other)
    with pytest.raises(ParameterError, match="of this protocol"):
        mine.restore(other.snapshot())


@EACH
def test_what_is_no_report_is_refused_alone(protocol):
    good = protocol.client().report(some_values(protocol)[0])
    data = bytes(good)
    hostile = [
        b"", b"\x01", data[:-1], data + b"\0", b"\x02" + data[1:], data[:1] + b"zzzz" + data[5:], b"x" * 10_000_000,
        None, float("nan"), 7, "not base64!", good.to_text() + "\n", Report(b"zzzz", good.payload), ["nested"], {},
    ]  # fmt: skip
    aggregator = protocol.aggregator()
    assert aggregator.add([data, *hostile, good]) == Intake(2, tuple(range(1, len(hostile) + 1)))
    assert len(aggregator) == 2


@EACH
def test_a_hostile_report_is_refused_where_no_good_one_comes_with_it(protocol):
    """A batch of which nothing is left to count must not be an error: anybody could send it again and again."""
    good = protocol.client().report(some_values(protocol)[0])
    empty = protocol.aggregator().snapshot()
    for hostile in (b"", Report(b"zzzz", good.payload), Report(good.fingerprint, b"x" * (len(good.payload) + 1))):
        aggregator = protocol.aggregator()
        assert aggregator.add([hostile]) == Intake(0, (0,))
        assert aggregator.add(Reports(good.fingerprint, np.empty((0, len(good.payload)), np.uint8))) == Intake(0)
        assert aggregator.snapshot() == empty
    ones = Reports(good.fingerprint, np.full((1, len(good.payload)), 255, dtype=np.uint8))
    assert protocol.aggregator().add(ones) in (Intake(1), Intake(0, (0,)))


def test_payloads_that_no_client_makes_are_refused():
    direct = DirectEncoding(3, epsilon=1)
    rows = np.array([[0], [3], [2], [255]], dtype=np.uint8)
    assert direct.aggregator().add(Reports(direct.fingerprint, rows)) == Intake(2, (1, 3))
    hadamard = HadamardResponse(3, epsilon=1)
    rows = np.array([[0], [7], [8], [255]], dtype=np.uint8)
    assert hadamard.aggregator().add(Reports(hadamard.fingerprint, rows)) == Intake(2, (2, 3))
    subset = SubsetSelection(12, epsilon="0.1")
    rows = np.array([[0b11111100, 0], [0b11111110, 0], [0b11111000, 0], [0b11111000, 1]], dtype=np.uint8)
    assert (subset.size, subset.aggregator().add(Reports(subset.fingerprint, rows))) == (6, Intake(1, (1, 2, 3)))
    hashing = LocalHashing(3, epsilon=1)
    rows = np.array([[255] * 8 + [3], [0] * 8 + [4], [0] * 8 + [0]], dtype=np.uint8)
    assert hashing.aggregator().add(Reports(hashing.fingerprint, rows)) == Intake(2, (1,))
    pooled = PooledHashing(3, epsilon=1, pool=5)
    rows = np.array([[4, 3], [5, 0], [0, 4]], dtype=np.uint8)
    assert pooled.aggregator().add(Reports(pooled.fingerprint, rows)) == Intake(1, (1, 2))
    hybrid = HybridMean(0, 1, epsilon=1, steps=2)
    rows = np.array([[0], [4], [5], [6]], dtype=np.uint8)
    assert (hybrid.outputs, hybrid.aggregator().add(Reports(hybrid.fingerprint, rows))) == (5, Intake(2, (2, 3)))
    sampled = SampledMeans({"a": (0, 1), "b": (0, 1), "c": (0, 1)}, epsilon=5, steps=2)
    rows = np.array([[0, 0, 1, 4], [1, 0, 0, 0], [1, 0, 1, 0], [0, 5, 1, 0], [0, 0, 3, 0]], dtype=np.uint8)
    assert sampled.aggregator().add(Reports(sampled.fingerprint, rows)) == Intake(1, (1, 2, 3, 4))
    unary = OptimizedUnaryEncoding(3, epsilon=1)
    rows = np.array([[0b11100000], [0b11110000], [0b00000001]], dtype=np.uint8)
    assert unary.aggregator().add(Reports(unary.fingerprint, rows)) == Intake(1, (1, 2))


def test_a_report_alone_may_be_any_kind_of_bytes():
    oracle = DirectEncoding(3, epsilon=1)
    data = bytes(oracle.client().report(1))
    aggregator = oracle.aggregator()
    for given in (data, bytearray(data), memoryview(data)):
        assert aggregator.add(given) == Intake(1)


@pytest.mark.parametrize("given", [None, 7, np.array([b"a\0"])], ids=["nothing", "a number", "bytes of NumPy"])
def test_what_holds_no_reports_is_an_error(given):
    """NumPy cuts zeros off the end of its bytes: those reports would be refused whose payload ends in 0."""
    with pytest.raises(ParameterError, match="reports"):
        DirectEncoding(3, epsilon=1).aggregator().add(given)


def test_an_aggregator_is_not_merged_into_itself():
    oracle = DirectEncoding(3, epsilon=1)
    aggregator = collected(oracle, oracle.client().report_many([0, 1]))
    with pytest.raises(ParameterError, match="another aggregator"):
        aggregator.merge(aggregator)
    assert len(aggregator) == 2


def test_a_batch_of_another_protocol_is_refused_whole():
    mine, other = DirectEncoding(3, epsilon=1), DirectEncoding(3, epsilon=2)
    reports = other.client().report_many([0, 1, 2])
    assert mine.aggregator().add(reports) == Intake(0, (0, 1, 2))


def test_positions_of_refused_reports_are_counted_across_blocks():
    oracle = DirectEncoding(3, epsilon=1)
    good = bytes(oracle.client().report(1))
    given = [good] * 40_000
    given[5], given[20_000], given[39_999] = b"", b"", b""
    assert oracle.aggregator().add(given) == Intake(39_997, (5, 20_000, 39_999))


def test_the_counts_cannot_be_changed_from_outside():
    oracle = DirectEncoding(3, epsilon=1)
    aggregator = collected(oracle, oracle.client().report_many([0, 1]))
    aggregator.counts[:] = 7
    assert aggregator.counts.sum() == 2
