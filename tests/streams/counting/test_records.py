import numpy as np
import pytest

from sfumato.streams.counting.records import History, packed, packed_row, unpacked, unpacked_row


def test_a_header_and_bytes_come_back():
    for body in (b"", b"\0" * 5, b'{"x": 1}'):
        assert unpacked(packed({"a": [1, "ε"]}, body)) == ({"a": [1, "ε"]}, body)


@pytest.mark.parametrize("number", [0, -5, 2**62, -(2**80)])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2)])
def test_a_row_comes_back_with_numbers_of_any_size_and_who_took_part(number, shape):
    sums = np.full(shape, number, dtype=np.int64 if abs(number) < 2**63 else object)
    first, found, taken = unpacked_row(packed_row(7, sums, [("ann", 7), (3, 8)]))
    assert (first, found.tolist(), taken) == (7, sums.tolist(), [("ann", 7), (3, 8)])


def test_a_row_may_hold_one_of_the_two_and_is_empty_without_either():
    assert unpacked_row(packed_row(2, None, [("ann", 2)])) == (2, None, [("ann", 2)])
    first, found, taken = unpacked_row(packed_row(2, np.array([[1]]), []))
    assert (first, found.tolist(), taken) == (2, [[1]], [])
    assert packed_row(2, None, []) == b""


@pytest.mark.parametrize("block", [1, 3, 100])
def test_the_last_numbers_are_kept_and_older_ones_let_go(block):
    history, expected = History(most=1000), np.arange(6000).reshape(-1, 2)
    for first in range(0, len(expected), block):
        history.add(first + 1, expected[first : first + block])
        if first % 500 == 0:
            start, found = history.all(2)
            assert found.tolist() == expected[start - 1 : first + block].tolist()
    start, found = history.all(2)
    assert found.tolist() == expected[start - 1 :].tolist()
    assert 1000 <= found.size < 2000 + 2 * block


def test_nothing_was_released_at_first():
    first, found = History().all(3)
    assert (first, found.shape) == (1, (0, 3))
