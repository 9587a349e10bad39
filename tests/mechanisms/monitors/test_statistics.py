"""Statistics of monitors: their definitions, and how far a unit moves them, by trying every unit on every stream."""

from itertools import pairwise, product

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RunningTotal, SlidingWindow
from sfumato.mechanisms.monitors.statistics import Change, CumulativeSum, RunningStatistic, sensitivity_of
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

STATISTICS = {
    "a tick": SlidingWindow(1),
    "two ticks": SlidingWindow(2),
    "all ticks": RunningTotal(),
    "a change": Change(1),
    "a change of two ticks": Change(2),
    "the size of a change": Change(1, absolute=True),
    "a rise": CumulativeSum("0.5"),
    "a fall": CumulativeSum(1, falling=True),
}
TICKS = 4


def values(statistic, totals):
    running = RunningStatistic(statistic)
    return [running.next(total) for total in totals]


def defined(statistic, totals, t):
    """The statistic of tick t, from its definition."""
    match statistic:
        case RunningTotal():
            return sum(totals[: t + 1])
        case SlidingWindow(width):
            return sum(totals[max(0, t + 1 - width) : t + 1])
        case Change(width, absolute):
            if t + 1 < 2 * width:
                return None
            now, before = totals[t + 1 - width : t + 1], totals[t + 1 - 2 * width : t + 1 - width]
            change = sum(now) - sum(before)
            return abs(change) if absolute else change
    sign = -1 if statistic.falling else 1
    suffixes = [sum(sign * (x - statistic.drift) for x in totals[s : t + 1]) for s in range(t + 2)]
    return max(suffixes)  # the empty one is 0


@pytest.mark.parametrize("name", STATISTICS)
def test_a_statistic_is_its_definition(name):
    totals = (3, 0, 2, 7, 7, 1, 0, 0, 5, 2, 9, 1)
    assert values(STATISTICS[name], totals) == [defined(STATISTICS[name], totals, t) for t in range(len(totals))]


STREAMS = ((0, 0, 0, 0), (2, 0, 2, 0), (0, 2, 1, 2), (3, 3, 0, 0))


def units(participation, lower, upper):
    """What one unit may add to each tick, nothing first."""
    for amounts in product((0, *sorted({lower, upper} - {0})), repeat=TICKS):
        at = [t for t, amount in enumerate(amounts) if amount]
        near = any(later - earlier < participation.separation for earlier, later in pairwise(at))
        if len(at) <= participation.most and not near:
            yield amounts


def measured(statistic, stream, participation, lower, upper):
    """The statistic of each tick with each unit, one row a unit; ticks without a value are left out."""
    rows = [
        values(statistic, tuple(map(sum, zip(stream, unit, strict=True))))
        for unit in units(participation, lower, upper)
    ]
    return np.array([[float(value) for value in row if value is not None] for row in rows])


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 2)], ids=["counts", "signed"])
@pytest.mark.parametrize("participation", [Participation(1), Participation(2), Participation(3, 2)], ids=str)
def test_no_unit_moves_a_statistic_by_more(bounds, participation):
    low, high = bounds
    for statistic in STATISTICS.values():
        added, replaced = (
            sensitivity_of(statistic, lower=low, upper=high, participation=participation, relation=relation)
            for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE)
        )
        found = [measured(statistic, stream, participation, low, high) for stream in STREAMS]
        moved = [rows[1:] - rows[0] for rows in found]
        apart = max((rows.max(axis=0) - rows.min(axis=0)).max() for rows in found)
        assert max(abs(sequences).max() for sequences in moved) <= added.furthest
        assert apart <= replaced.furthest
        assert not replaced.is_monotonic
        both = any(((sequences.min(axis=1) < 0) & (sequences.max(axis=1) > 0)).any() for sequences in moved)
        assert not (both and added.is_monotonic)
        if isinstance(statistic, (SlidingWindow, RunningTotal)) and participation.separation == 1:
            assert max(abs(sequences).max() for sequences in moved) == added.furthest
            assert apart == replaced.furthest


def test_a_change_moves_in_both_directions_and_is_not_said_to_be_monotonic():
    rows = measured(Change(1), STREAMS[0], Participation(1), 0, 1)
    assert any(min(row) < 0 < max(row) for row in rows)
    moved = sensitivity_of(Change(1), lower=0, upper=1, participation=Participation(1), relation=ADD_OR_REMOVE_ONE)
    assert moved == (1, False)


def test_in_one_tick_a_unit_counts_once_however_many_ticks_it_is_in():
    for most in (1, 10, 10**6):
        moved = sensitivity_of(
            SlidingWindow(1), lower=0, upper=3, participation=Participation(most), relation=ADD_OR_REMOVE_ONE
        )
        assert moved == (3, True)


def test_a_statistic_goes_on_from_what_was_saved():
    totals = (3, 0, 2, 7, 7, 1, 0, 4)
    for statistic in STATISTICS.values():
        running = RunningStatistic(statistic)
        before = [running.next(total) for total in totals[:5]]
        restored = RunningStatistic(statistic)
        restored.restore(running.saved())
        assert before + [restored.next(total) for total in totals[5:]] == values(statistic, totals)


def test_only_cumulative_sums_begin_again_after_an_alarm():
    for statistic in STATISTICS.values():
        running = RunningStatistic(statistic)
        running.next(9)
        running.alarmed()
        is_new = isinstance(statistic, CumulativeSum)
        assert running.next(9) == values(statistic, (9,) if is_new else (9, 9))[-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Change(0),
        lambda: Change(1, absolute="no"),
        lambda: CumulativeSum("1/3000000"),
        lambda: CumulativeSum(1, falling=1),
        lambda: CumulativeSum("many"),
        lambda: sensitivity_of(
            RunningTotal(), lower=0, upper=0, participation=Participation(), relation=ADD_OR_REMOVE_ONE
        ),
        lambda: sensitivity_of(
            RunningTotal(), lower=2, upper=1, participation=Participation(), relation=ADD_OR_REMOVE_ONE
        ),
    ],
    ids=["width", "absolute", "denominator", "falling", "drift", "no bounds", "turned bounds"],
)
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises(ParameterError):
        make()
