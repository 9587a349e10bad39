import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.linking.released_traces import found_by_points, linked_traces
from sfumato.datasets.towns import city
from sfumato.errors import ParameterError

CERTAIN = 1 - 2e-6
"""So that each limit of an interval holds with confidence 1 − 1e-6."""


def counts(passages, people, *, days):
    """How often each person passed each segment, in the days from the first to the last."""
    day = (np.asarray(passages["time"]).astype("datetime64[s]") - np.datetime64("2026-03-02T02:00:00")).astype(int)
    kept = (day // 86_400 >= days[0]) & (day // 86_400 < days[1])
    found = np.zeros((people, 334))
    np.add.at(found, (np.asarray(passages["person"])[kept], np.asarray(passages["segment"])[kept]), 1)
    return found


@pytest.fixture(scope="module")
def weeks():
    """Two weeks of 120 people: how often they passed each segment."""
    passages = city(120, days=14).passages
    return counts(passages, 120, days=(0, 7)), counts(passages, 120, days=(7, 14))


def noisy(trace, epsilon):
    """Each person's counts with noise, as each device might send them: at most 40 passages a week count."""
    clipped = np.minimum(trace, 40 * trace / np.maximum(trace.sum(axis=1, keepdims=True), 40)).astype(np.int64)
    noise = sf.mechanisms.Laplace(l1_sensitivity=40, epsilon=epsilon)
    return np.array([noise.release(row) for row in clipped])


@pytest.mark.statistical
def test_raw_traces_are_linked_across_releases_and_noisy_ones_are_not(weeks):
    first, second = weeks
    raw = linked_traces(first, second)
    assert raw.interval(confidence=CERTAIN)[0] > 0.6
    assert raw.baseline == 1 / 120
    assert linked_traces(noisy(first, 1), noisy(second, 1)).interval(confidence=CERTAIN)[0] < 0.08


@pytest.mark.statistical
def test_people_are_found_in_raw_traces_by_a_few_points_and_not_in_noisy_ones(weeks):
    first, _ = weeks
    by_points = {points: found_by_points(first, first, points=points).success for points in (1, 4, 8)}
    assert by_points[1] < by_points[4] < by_points[8]
    assert by_points[8] > 0.5
    lost = found_by_points(noisy(first, 1), first, points=8)
    assert lost.interval(confidence=CERTAIN)[0] < 0.08


def test_a_guess_is_right_only_where_one_row_alone_is_best():
    exact = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    found = found_by_points(exact, exact, points=3)
    assert (found.successes, found.trials, found.baseline) == (1, 3, 1 / 3)


def test_on_exact_traces_points_find_as_many_as_unicity_says(weeks):
    first, _ = weeks
    person, segment = np.nonzero(first)
    records = {"person": person, "segment": segment}
    plain = sf.attacks.unicity(records, user="person", columns=["segment"], points=1_000).successes
    assert found_by_points(first, first, points=1_000).successes == plain


def test_whoever_was_nowhere_is_not_looked_for():
    assert found_by_points([[1, 0], [0, 1]], [[1, 0], [0, 0]]).trials == 1
    with pytest.raises(ParameterError, match="somewhere"):
        found_by_points([[1, 0], [0, 1]], [[0, 0], [0, 0]])


def test_the_order_of_rows_links_nobody():
    """People without habits are linked as blind guesses are; 3,000 links, a limit with type-I error below 1e-9."""
    alike = np.ones((30, 4))
    linked = sum(linked_traces(alike, alike).successes for _ in range(100))
    assert 40 < linked < 180


def test_negative_numbers_and_empty_rows_are_like_nothing():
    assert linked_traces([[-3, 2, 0], [1, -1, 0]], [[0, 5, -2], [4, 0, 0]]).success == 1
    assert linked_traces([[0, 0], [1, 2]], [[0, 0], [3, 6]]).success == 1


@pytest.mark.parametrize(
    "wrong",
    [([[1, 2]], [[1, 2]]), ([1, 2], [1, 2]), ([[1, math.nan], [1, 2]], [[1, 2], [1, 2]]), ([[], []], [[], []]),
     ([[1, 2], [3, 4]], [[1, 2, 3], [4, 5, 6]]), ([["a"], ["b"]], [[1], [2]])],
    ids=str,
)  # fmt: skip
def test_what_are_no_traces_of_the_same_people_is_refused(wrong):
    for attack in (linked_traces, found_by_points):
        with pytest.raises(ParameterError):
            attack(*wrong)


def test_more_people_than_can_be_compared_are_refused():
    many = np.ones((5_001, 1))
    with pytest.raises(ParameterError, match="5,000"):
        linked_traces(many, many)
