from datetime import date
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.streams.counting.measures import BinCounts, ClampedSum, EventCount, VectorTotal

NAN, INF = float("nan"), float("inf")


def placed(measure, values=None, keys=None):
    places, amounts = measure.placed(values, keys, len(values if values is not None else keys))
    return places.tolist(), amounts.tolist()


def test_counts_go_to_their_key_and_unknown_keys_nowhere():
    by_key = EventCount(keys=("a", 1, date(2026, 1, 1)))
    assert placed(by_key, keys=["a", 1, date(2026, 1, 1), "b", None, [], NAN]) == ([0, 1, 2, -1, -1, -1, -1], [1] * 7)
    assert placed(EventCount(keys=(3, 4)), keys=np.array([4, 3, 9])) == ([1, 0, -1], [1, 1, 1])
    assert placed(EventCount(keys=("x",)), keys=pd.Series(["x", None])) == ([0, -1], [1, 1])
    assert (by_key.numbers, by_key.labels, EventCount().numbers, EventCount().labels) == (
        3,
        ("a", 1, date(2026, 1, 1)),
        1,
        None,
    )


def test_numbers_are_rounded_then_clamped_and_missing_ones_are_0():
    whole = ClampedSum(-2, 10)
    assert placed(whole, [3, 99, -99, None]) == ([0] * 4, [3, 10, -2, 0])
    real = ClampedSum(0, 1, resolution="0.25")
    assert placed(real, [0.3, 0.4, 7, -INF, INF, NAN])[1] == [1, 2, 4, 0, 4, 0]
    assert real.resolution == Fraction(1, 4)
    assert placed(ClampedSum(2, 5), [NAN, 1]) == ([0, 0], [2, 2])
    assert placed(ClampedSum(0, 5, keys=("a", "b")), [9, 1, 1], ["b", "a", "c"]) == ([1, 0, -1], [5, 1, 1])
    assert placed(whole, pa.array([1, None])) == ([0, 0], [1, 0])


def test_numbers_fall_into_bins_and_those_outside_into_none():
    bins = BinCounts((0, 10, "20.5"))
    assert placed(bins, [0, 9.99, 10, 20.5, 20.6, -1, NAN, None, INF])[0] == [0, 0, 1, 1, -1, -1, -1, -1, -1]
    assert bins.labels == ("0–10", "10–20.5")


def test_vectors_are_scaled_to_their_norm():
    places, amounts = placed(VectorTotal(2, l1_norm=10), [[3, 4], [30, 10], [0, 0]])
    assert (places, amounts) == ([[0, 1]] * 3, [[3, 4], [7, 2], [0, 0]])
    assert placed(VectorTotal(1, l2_norm=2), np.array([[5], [-1]])) == ([[0], [0]], [[2], [-1]])
    assert VectorTotal(2, l2_norm=2).labels == (1, 2)
    assert VectorTotal(1, l2_norm=2).labels is None


@pytest.mark.parametrize(
    ("measure", "events"),
    [
        (EventCount(), [(None, None)]),
        (EventCount(keys=("a", "b")), [(None, "a"), (None, "b"), (None, "c")]),
        (ClampedSum(-3, 2), [(value, None) for value in (-9, -3, 0, 2, 9, NAN, INF)]),
        (ClampedSum(-3, 2, keys=("a", "b")), [(value, key) for value in (-9, 0, 9) for key in "abc"]),
        (ClampedSum(0, 1, resolution="0.5"), [(value, None) for value in (-9, 0.25, 0.7, 9, NAN)]),
        (BinCounts((0, 1, 2)), [(value, None) for value in (-1, 0.5, 1, 2, 3, NAN)]),
        (VectorTotal(2, l1_norm=3), [(list(pair), None) for pair in product((-9, 0, 1, 9), repeat=2)]),
        (VectorTotal(2, l2_norm=3), [(list(pair), None) for pair in product((-9, 0, 2, 9), repeat=2)]),
    ],
    ids=["count", "count by key", "sum", "sum by key", "real sum", "bins", "l1 vector", "l2 vector"],
)
def test_no_event_adds_more_than_the_contribution_that_the_noise_is_made_for(measure, events):
    """By brute force over events: what one adds is the difference to the neighboring stream without it."""
    contribution = measure.contribution
    for value, key in events:
        places, amounts = measure.placed(None if value is None else [value], None if key is None else [key], 1)
        if places.flat[0] < 0:
            continue
        added = np.zeros(measure.numbers, dtype=int)
        np.add.at(added, places.ravel(), amounts.ravel())
        assert (added**2).sum() <= contribution.l2_sensitivity**2
        if contribution.kind != "l2":
            assert np.abs(added).sum() <= contribution.l1_sensitivity


@pytest.mark.parametrize(
    "broken",
    [
        lambda: EventCount(keys=()), lambda: EventCount(keys=("a", "a")), lambda: EventCount(keys=(1, True)),
        lambda: EventCount(keys="ab"), lambda: EventCount(keys=([],)), lambda: ClampedSum(2, 1),
        lambda: ClampedSum("0.1", "0.2", resolution=1), lambda: ClampedSum(0, 1 << 50), lambda: BinCounts((1,)),
        lambda: BinCounts((1, 1)), lambda: BinCounts((2, 1)), lambda: VectorTotal(0, l1_norm=1), lambda: VectorTotal(2),
        lambda: VectorTotal(2, l1_norm=1, l2_norm=1), lambda: VectorTotal(2, l2_norm=0),
    ],
)  # fmt: skip
def test_what_bounds_nothing_is_refused(broken):
    with pytest.raises(ParameterError):
        broken()


@pytest.mark.parametrize(
    ("measure", "values", "keys"),
    [
        (EventCount(), [1], None), (EventCount(), None, ["a"]), (EventCount(keys=("a",)), None, None),
        (ClampedSum(0, 1), None, None), (ClampedSum(0, 1), [1], ["a"]), (ClampedSum(0, 1), ["text"], None),
        (BinCounts((0, 1)), None, None), (BinCounts((0, 1)), ["text"], None), (BinCounts((0, 1)), [0], ["a"]),
        (VectorTotal(2, l1_norm=1), [[1]], None), (VectorTotal(2, l1_norm=1), [[1, 1]], ["a"]),
        (VectorTotal(2, l1_norm=1), [["a", "b"]], None),
    ],
)  # fmt: skip
def test_columns_that_a_measure_cannot_use_are_refused_by_their_names_and_types(measure, values, keys):
    with pytest.raises(ParameterError) as refused:
        measure.placed(values, keys, 1)
    assert "text" not in str(refused.value)
