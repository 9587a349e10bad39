"""Alarms over a stream: the distribution of all replies for neighboring streams, and what is compared when."""

import json
from fractions import Fraction
from itertools import product
from math import exp, inf, log

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RunningTotal, SlidingWindow
from sfumato.mechanisms.monitors.statistics import Change, CumulativeSum, RunningStatistic
from sfumato.mechanisms.monitors.threshold_alarm import ThresholdAlarm
from sfumato.mechanisms.selection import sparse_vector_session as noises
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.privacy.events import PureEvent, SelfComposedEvent
from sfumato.privacy.secret import Secret

TICKS = 3


def noise_masses(scale, reach=60):
    """Noises, and their probabilities."""
    ks = np.arange(-int(reach * float(scale)), int(reach * float(scale)) + 1)
    ratio = exp(-1 / float(scale))
    return ks, (1 - ratio) / (1 + ratio) * ratio ** np.abs(ks)


def at_least(scale, k):
    """P(noise ≥ k), of an array of k."""
    ratio = exp(-1 / float(scale))
    tail = ratio ** np.where(k > 0, k, 1 - k) / (1 + ratio)
    return np.where(k > 0, tail, 1 - tail)


def distribution(alarm, totals):
    """P(replies): summed over the noise of each threshold, with what the code compares at each tick."""
    compared = alarm.sparse_vector
    ks, masses = noise_masses(compared.threshold_scale)
    found = {}

    def follow(replies, weights):
        if len(replies) == len(totals) or sum(replies) == alarm.alarms:
            found[replies] = float(weights.sum())
            return
        running = RunningStatistic(alarm.statistic)
        for said, total in zip((*replies, None), totals, strict=False):
            value = running.next(total)
            if said:
                running.alarmed()
        if value is None:
            follow((*replies, False), weights)
            return
        steps = int(value / alarm.resolution)
        limit = -(-alarm.threshold // alarm.resolution)
        above = at_least(compared.comparison_scale, int(limit) + ks - steps)
        follow((*replies, False), weights * (1 - above))
        said = weights * above
        follow((*replies, True), masses * said.sum() if alarm.is_refreshed else said)

    follow((), masses)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    return found


def worst(alarm, units):
    """The largest log-ratio between a stream and one without a unit, either way."""
    largest = 0
    for stream in product((0, 1, 3), repeat=TICKS):
        base = distribution(alarm, stream)
        for unit in units:
            other = distribution(alarm, tuple(map(sum, zip(stream, unit, strict=True))))
            largest = max(largest, *(abs(log(base[replies] / other[replies])) for replies in base))
    return largest


EVENTS = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
EVERY_TICK = [(1, 1, 1)]
CASES = {
    "each tick": ({}, EVENTS),
    "each tick, a unit of all ticks": ({"participation": Participation(3)}, EVERY_TICK),
    "each tick, two alarms": ({"alarms": 2}, EVENTS),
    "each tick, two alarms, refreshed": ({"alarms": 2, "is_refreshed": True}, EVENTS),
    "a window": ({"statistic": SlidingWindow(2)}, EVENTS),
    "a window, a unit of all ticks": ({"statistic": SlidingWindow(2), "participation": Participation(3)}, EVERY_TICK),
    "all ticks": ({"statistic": RunningTotal(), "alarms": 2}, EVENTS),
    "a change": ({"statistic": Change(1), "alarms": 2}, EVENTS),
    "the size of a change": ({"statistic": Change(1, absolute=True)}, EVENTS),
    "a cumulative sum": ({"statistic": CumulativeSum("0.5"), "alarms": 2}, EVENTS),
    "a cumulative sum, a unit of two ticks": (
        {"statistic": CumulativeSum(1), "participation": Participation(2)},
        [(1, 1, 0), (0, 1, 1), (1, 0, 1)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_no_unit_is_told_by_more_than_epsilon(name):
    facts, units = CASES[name]
    alarm = ThresholdAlarm(2, epsilon=2, **facts)
    found = worst(alarm, units)
    assert 0.3 < found <= 2 + 1e-9


def supply(monkeypatch, alarm, thresholds, comparisons):
    """Noise by the scale that is asked for, in turn; of equal scales, that of the threshold comes first."""
    compared = alarm.sparse_vector
    left = {compared.threshold_scale: list(thresholds), compared.comparison_scale: list(comparisons)}
    if len(left) == 1:
        left = {compared.threshold_scale: [*thresholds, *comparisons]}
    monkeypatch.setattr(
        noises, "discrete_laplace", lambda scale, size: np.array([left[scale].pop(0) for _ in range(size)])
    )
    return left


def replies(state, totals):
    found = []
    for total in totals:
        alarm = state.tick(total)
        found.append(None if alarm is None else (alarm.tick, alarm.excess, alarm.estimate))
        if state.is_over:
            break
    return found


def test_the_noise_of_the_threshold_is_drawn_once_for_all_alarms(monkeypatch):
    alarm = ThresholdAlarm(10, epsilon=1, alarms=3)
    left = supply(monkeypatch, alarm, [2], [0, 1, -3, 0, 0, 5])
    found = replies(alarm.start(), [11, 11, 16, 12, 11, 9, 99])
    assert found == [None, (2, 0, 10), (3, 1, 11), (4, 0, 10)]
    assert left[alarm.sparse_vector.comparison_scale] == [0, 5]


def test_a_refreshed_threshold_has_noise_of_its_own_for_each_alarm(monkeypatch):
    alarm = ThresholdAlarm(10, epsilon=1, alarms=2, is_refreshed=True, neighboring_relation="replace_one")
    left = supply(monkeypatch, alarm, [2, -4, 99], [0] * 9)
    assert replies(alarm.start(), [11, 12, 5, 6, 9]) == [None, (2, 0, 10), None, (4, 0, 10)]
    assert left[alarm.sparse_vector.threshold_scale] == [99]
    assert alarm.sparse_vector.epsilon * 2 == alarm.epsilon
    assert alarm.event == SelfComposedEvent(PureEvent(Fraction(1, 2)), 2)


def quiet(monkeypatch):
    monkeypatch.setattr(noises, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))


def test_in_a_pause_nothing_is_compared(monkeypatch):
    alarm = ThresholdAlarm(10, epsilon=1, alarms=3, pause=2)
    left = supply(monkeypatch, alarm, [0], [0] * 9)
    found = replies(alarm.start(), [10, 99, 99, 1, 10, 99, 99])
    assert found == [(1, 0, 10), None, None, None, (5, 0, 10), None, None]
    assert len(left[alarm.sparse_vector.comparison_scale]) == 9 - 3


def test_below_a_threshold_windows_are_whole(monkeypatch):
    quiet(monkeypatch)
    alarm = ThresholdAlarm(10, epsilon=1, alarms=2, direction="below", statistic=SlidingWindow(3))
    assert replies(alarm.start(), [1, 1, 20, 1, 1, 1]) == [None, None, None, None, None, (6, 7, 3)]
    alarm = ThresholdAlarm(10, epsilon=1, statistic=SlidingWindow(3))
    assert replies(alarm.start(), [4, 7]) == [None, (2, 1, 11)]


def test_a_threshold_between_values_is_the_next_one_beyond(monkeypatch):
    quiet(monkeypatch)
    assert replies(ThresholdAlarm("9.5", epsilon=1).start(), [9, 10]) == [None, (2, 0, 10)]
    below = ThresholdAlarm("9.5", epsilon=1, direction="below")
    assert replies(below.start(), [10, 9]) == [None, (2, 0, 9)]
    sums = ThresholdAlarm("1.2", epsilon=1, statistic=CumulativeSum("0.5"))
    assert replies(sums.start(), [1, 1, 1]) == [None, None, (3, 0, Fraction(3, 2))]


def test_a_cumulative_sum_begins_again_after_an_alarm(monkeypatch):
    quiet(monkeypatch)
    alarm = ThresholdAlarm(4, epsilon=1, alarms=3, statistic=CumulativeSum(10))
    assert replies(alarm.start(), [9, 12, 12, 12, 12, 0]) == [None, None, (3, 0, 4), None, (5, 0, 4), None]


@pytest.mark.parametrize("name", CASES)
def test_a_restored_alarm_goes_on_with_the_noise_it_had(name, monkeypatch):
    facts, _ = CASES[name]
    alarm, totals = ThresholdAlarm(40, epsilon=2, pause=1, **facts), [3, 30, 60, 2, 0, 90, 90, 90]
    for cut in range(len(totals)):
        supply(monkeypatch, alarm, [7, -2], [1, -1, 3, 0, 2, -2, 1, 0])
        whole = replies(alarm.start(), totals)
        supply(monkeypatch, alarm, [7, -2], [1, -1, 3, 0, 2, -2, 1, 0])
        state = alarm.start()
        first = replies(state, totals[:cut])
        restored = alarm.restored(json.loads(json.dumps(state.saved())))
        assert (restored.ticks, restored.remaining) == (state.ticks, state.remaining)
        assert first + ([] if restored.is_over else replies(restored, totals[cut:])) == whole


def test_after_the_last_alarm_nothing_is_read():
    state = ThresholdAlarm(10, epsilon=1).start()
    assert state.tick(Secret(10**6)) is not None
    with pytest.raises(ParameterError, match="alarms"):
        state.tick("no number")


def test_without_epsilon_there_is_no_alarm():
    alarm = ThresholdAlarm(1, epsilon=0)
    assert replies(alarm.start(), [10**9] * 3) == [None] * 3
    assert (alarm.stddev, alarm.accuracy(ticks=3)) == (inf, inf)


def test_the_noise_depends_on_what_one_unit_can_move():
    def scale(**facts):
        return ThresholdAlarm(10, epsilon=1, **facts).sparse_vector.comparison_scale

    often = Participation(10)
    assert scale() == scale(participation=often) == scale(statistic=SlidingWindow(5))
    assert scale(statistic=SlidingWindow(5), participation=often) == 5 * scale()
    assert scale(statistic=RunningTotal(), participation=often) == 10 * scale()
    assert scale(bounds=(0, 7)) == 7 * scale()
    assert scale(statistic=Change(5)) == scale(neighboring_relation="replace_one") > scale()


def test_replies_are_right_within_the_accuracy():
    alarm = ThresholdAlarm(0, epsilon=1)
    alpha = alarm.accuracy("0.9", ticks=3)
    compared = alarm.sparse_vector
    ks, masses = noise_masses(compared.threshold_scale)
    quiet_ticks = 1 - at_least(compared.comparison_scale, ks - (-int(alpha) - 1))
    loud = at_least(compared.comparison_scale, ks - int(alpha))
    assert (masses * quiet_ticks**2 * loud).sum() >= 0.9
    assert ThresholdAlarm(0, epsilon=1, alarms=4, is_refreshed=True).accuracy(ticks=3) > alpha
    assert discrete_laplace_cdf(compared.threshold_scale, 0) > 0.5


def test_the_event_is_that_of_the_whole_stream():
    assert ThresholdAlarm(1, epsilon="0.1", alarms=9).event == PureEvent(Fraction(1, 10))
    assert ThresholdAlarm(1, epsilon="0.1", is_refreshed=True).event == PureEvent(Fraction(1, 10))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("threshold", {"threshold": "many"}),
        ("threshold", {"threshold": 0, "statistic": CumulativeSum(1)}),
        ("epsilon", {"epsilon": -1}),
        ("statistic", {"statistic": 7}),
        ("alarms", {"alarms": 0}),
        ("direction", {"direction": "up"}),
        ("direction", {"direction": "below", "statistic": CumulativeSum(1)}),
        ("pause", {"pause": -1}),
        ("bounds", {"bounds": (0, 0)}),
        ("bounds", {"bounds": (0, 1, 2)}),
        ("bounds", {"bounds": (0, 2**41)}),
        ("participation", {"participation": 3}),
        ("neighboring_relation", {"neighboring_relation": "any"}),
        ("is_refreshed", {"is_refreshed": 1}),
    ],
)
def test_parameters_out_of_range_are_refused(name, wrong):
    with pytest.raises(ParameterError, match=name):
        ThresholdAlarm(**{"threshold": 10, "epsilon": 1, **wrong})


def test_what_no_alarm_saved_is_refused():
    alarm = ThresholdAlarm(10, epsilon=1, statistic=SlidingWindow(2))
    saved = alarm.start().saved()
    for wrong in (None, {}, *({**saved, name: value} for name in saved for value in (None, "abc", -1, {}))):
        with pytest.raises(ParameterError, match="saved"):
            alarm.restored(wrong)
