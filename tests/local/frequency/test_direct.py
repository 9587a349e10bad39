"""Direct encoding: the published variances, and payloads as short as they can be."""

from math import exp

import numpy as np
import pytest

from sfumato.local import DirectEncoding
from sfumato.privacy.events import RandomizedResponseEvent


@pytest.mark.parametrize(("epsilon", "expected"), [("0.5", 2432), (1, 347.1), (2, 25.22), (4, 0.3748)])
def test_the_published_variances(epsilon, expected):
    assert DirectEncoding(1024, epsilon=epsilon).variance(reports=1) == pytest.approx(expected, rel=3e-4)


def test_the_truth_is_told_as_often_as_the_formula_says():
    p, q = DirectEncoding(10, epsilon=2).support_probabilities
    assert float(p) == pytest.approx(exp(2) / (exp(2) + 9))
    assert p + 9 * q == 1


def test_the_event_is_that_of_randomized_response():
    oracle = DirectEncoding(10, epsilon=2)
    p, q = oracle.support_probabilities
    assert oracle.event == RandomizedResponseEvent(p - q, 10)


@pytest.mark.parametrize(("size", "width"), [(2, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 3)])
def test_a_payload_is_as_short_as_it_can_be(size, width):
    oracle = DirectEncoding(size, epsilon=50)
    assert oracle.payload_bytes == width
    values = np.array([0, 1, size - 1])
    assert oracle.aggregator().estimate is not None
    aggregator = oracle.aggregator()
    aggregator.add(oracle.client().report_many(values))
    assert np.flatnonzero(aggregator.counts).tolist() == sorted(set(values.tolist()))
