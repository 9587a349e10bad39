"""Longitudinal direct encoding and its hashed form: probabilities, cells, and what many values cost."""

from fractions import Fraction

import numpy as np
import pytest
from tests.local.branches import law_of

from sfumato.errors import ParameterError
from sfumato.local import DirectEncoding, LongitudinalDirect, LongitudinalHashing


@pytest.mark.parametrize("size", [2, 3, 7])
def test_two_steps_make_the_probabilities_of_one(size):
    oracle = LongitudinalDirect(size, epsilon=1, permanent_epsilon=2)
    law = law_of(lambda: int(oracle.randomize(np.array([0]))[0, 0]))
    told, other = oracle.support_probabilities
    assert law == {value: told if value == 0 else other for value in range(size)}
    assert (told, other) == DirectEncoding(size, epsilon=1).support_probabilities


def test_a_report_repeats_the_permanent_response_as_often_as_the_gaps_say():
    oracle = LongitudinalDirect(4, epsilon=1, permanent_epsilon=3)
    law = law_of(lambda: int(oracle.instantaneous(np.array([2]), oracle.devices(1))[0, 0]))
    rest = (1 - oracle.repeated) / 4
    assert law == {value: oracle.repeated + rest if value == 2 else rest for value in range(4)}
    assert 0 < oracle.repeated < 1


@pytest.mark.statistical
@pytest.mark.parametrize("groups", [2, 5])
def test_hashed_values_are_estimated(groups):
    oracle = LongitudinalHashing(30, epsilon=3, permanent_epsilon=6, groups=groups)
    people, aggregator = 20_000, oracle.aggregator()
    aggregator.add(oracle.client().report_many(np.repeat([3, 7], [people // 4, 3 * people // 4])))
    found = aggregator.estimate([3, 7, 8])
    for fraction, truth, error in zip(found.fractions, (0.25, 0.75, 0), found.standard_errors, strict=True):
        assert abs(fraction - truth) < 6 * error


def test_a_value_that_changes_within_its_cell_changes_nothing():
    oracle = LongitudinalHashing(1000, epsilon=1, permanent_epsilon=2)
    device = oracle.client()
    for value in range(1000):
        device.report(value)
    assert device.responses == 2
    assert device.spent == 2 * oracle.lifetime_epsilon


def test_the_function_of_a_device_is_one_for_all_its_reports():
    oracle = LongitudinalHashing(1000, epsilon=1, permanent_epsilon=2)
    device, other = oracle.client(), oracle.client()
    functions = {device.report(value).payload[:8] for value in range(20)}
    assert len(functions) == 1
    assert functions != {other.report(0).payload[:8]}


def test_hashing_supports_as_many_as_share_their_cell():
    oracle = LongitudinalHashing(1000, epsilon=1, permanent_epsilon=2, groups=4)
    told, other = oracle.support_probabilities
    direct = LongitudinalDirect(4, epsilon=1, permanent_epsilon=2).support_probabilities
    assert told == direct[0]
    assert other == Fraction(1, 4)
    assert oracle.are_valid(oracle.client().report_many([1, 2, 3]).payloads).all()


@pytest.mark.parametrize("groups", [0, 1, 4097, "2"])
def test_wrong_numbers_of_cells_are_refused(groups):
    with pytest.raises(ParameterError, match="groups"):
        LongitudinalHashing(10, epsilon=1, permanent_epsilon=2, groups=groups)
