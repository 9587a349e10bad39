"""Projections: by their optimality conditions, and expectation maximization by running it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from sfumato.local.frequency.projection import base_cut, most_likely, norm_sub

FRACTIONS = st.lists(st.floats(-1, 1), min_size=1, max_size=12).map(np.array)


@given(FRACTIONS)
def test_norm_sub_is_the_nearest_distribution(fractions):
    """The gradient of the distance is the same wherever the projection is above 0, and no smaller elsewhere."""
    found = norm_sub(fractions)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    gradient = found - fractions
    assert gradient[found > 0] == pytest.approx(np.full((found > 0).sum(), gradient[found > 0].max()))
    assert (gradient[found == 0] >= gradient[found > 0].max() - 1e-12).all()


def test_of_a_part_the_sum_is_at_most_one():
    assert norm_sub(np.array([0.3, -0.1, 0.2]), is_whole=False).tolist() == [0.3, 0.0, 0.2]
    assert norm_sub(np.array([0.9, 0.6]), is_whole=False) == pytest.approx([0.65, 0.35])


def test_base_cut_keeps_what_is_above_its_threshold():
    threshold = -ndtri(0.05 / 3) * 0.1
    found = base_cut(np.array([threshold + 1e-9, threshold - 1e-9, -1.0]), 0.1)
    assert found.tolist() == [threshold + 1e-9, 0.0, 0.0]
    assert base_cut(np.zeros(0), 0.1).tolist() == []


def maximized(channel, seen, *, rounds):
    """Expectation maximization: P(outcome | value) by column, and how often each outcome was seen."""
    fractions = np.full(channel.shape[1], 1 / channel.shape[1])
    for _ in range(rounds):
        fractions = fractions * (channel.T @ (seen / (channel @ fractions)))
        fractions /= fractions.sum()
    return fractions


@pytest.mark.parametrize("seen", [[60, 25, 10, 5], [25, 25, 25, 25], [97, 1, 1, 1], [40, 40, 20, 0]])
def test_randomized_answers_have_the_fractions_that_expectation_maximization_finds(seen):
    p, q = 0.4, 0.2
    channel = np.full((4, 4), q) + (p - q) * np.eye(4)
    expected = maximized(channel, np.array(seen), rounds=8_000)
    found = most_likely(np.array(seen), sum(seen), p, q, is_exclusive=True)
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("supports", [[60, 30, 25, 20], [25, 25, 25, 25], [50, 48, 10, 9], [0, 0, 0, 0], [100] * 4])
def test_separate_supports_have_the_fractions_that_expectation_maximization_finds(supports):
    """Each bit of each report is one outcome: which bit, and whether it is set."""
    p, q, reports = 0.5, 0.25, 100
    given_value = np.full((4, 4), q) + (p - q) * np.eye(4)
    channel = np.concatenate([given_value, 1 - given_value]) / 4
    seen = np.array(supports + [reports - count for count in supports])
    expected = maximized(channel, seen, rounds=8_000)
    found = most_likely(np.array(supports), reports, p, q)
    assert found.sum() == pytest.approx(1)
    assert found == pytest.approx(expected, abs=2e-3)


def test_the_likeliest_fractions_of_a_part_may_lack_of_one():
    found = most_likely(np.array([30, 26]), 100, 0.5, 0.25, is_whole=False)
    assert found == pytest.approx([0.2, 0.04])
    assert most_likely(np.array([60, 50]), 100, 0.5, 0.25, is_whole=False).sum() == pytest.approx(1)
