"""Numbers that are reported again: α-point rounding, remembered bits, exact distributions, and means."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom
from tests.laws import ALPHA
from tests.local.branches import law_of, worst_ratio
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import DuchiMean, LongitudinalMean, MemoryClient, protocol_from_json
from sfumato.numeric.rounding import log_up

TINY = LongitudinalMean(0, 4, epsilon=2, steps=4, segments=2)
FLIPPED = LongitudinalMean(0, 2, epsilon=2, steps=2, segments=1, flipped="0.2")
EACH = pytest.mark.parametrize("protocol", [TINY, FLIPPED], ids=["two segments", "flipped"])


def history_law(protocol, values):
    """The joint distribution of what one new device sends of these values, one after the other."""

    def sent():
        device = MemoryClient(protocol)
        return tuple(device.report(value).payload for value in values)

    return law_of(sent)


def test_a_place_is_rounded_up_as_often_as_it_is_far_from_the_lower_end():
    """Over all α: 3 of 12 steps of one segment are the lower end for nine of them."""
    protocol = LongitudinalMean(0, 24, epsilon=1, steps=24, segments=2)
    every = np.arange(12)[:, None]
    for place in range(25):
        ends = protocol.remembered(np.full(12, place), every)
        expected = {place // 12: 12 - place % 12, place // 12 + 1: place % 12}
        assert Counter(ends.tolist()) == {end: count for end, count in expected.items() if count}
    assert law_of(lambda: int(protocol.devices(1)[0, 0])) == {alpha: Fraction(1, 12) for alpha in range(12)}


def test_without_flips_a_report_has_the_distribution_of_duchi():
    plain = DuchiMean(0, 4, epsilon=2, steps=4)
    assert [TINY.probabilities(place) for place in range(5)] == [plain.probabilities(place) for place in range(5)]
    assert TINY.realized_epsilon == TINY.lifetime_epsilon == plain.realized_epsilon
    assert FLIPPED.realized_epsilon < FLIPPED.lifetime_epsilon <= FLIPPED.epsilon


@EACH
def test_all_reports_of_one_number_reveal_no_more_than_one_response(protocol):
    for reports in (1, 2, 3):
        laws = [history_law(protocol, (value,) * reports) for value in (0, 1, protocol.high)]
        largest = log_up(worst_ratio(laws))
        assert protocol.realized_epsilon <= largest <= protocol.lifetime_epsilon


@EACH
def test_histories_that_change_at_the_same_times_have_the_sum_of_their_responses(protocol):
    """Numbers at ends, of which any α makes two responses."""
    low, high = 0, int(protocol.high)
    laws = [history_law(protocol, pattern) for pattern in ((low, high, low), (high, low, high))]
    assert log_up(worst_ratio(laws)) <= 2 * protocol.lifetime_epsilon


def test_one_report_more_before_a_change_is_bounded_where_reports_are_flipped():
    laws = [history_law(FLIPPED, pattern) for pattern in ((0, 2, 2), (0, 0, 2))]
    assert 0 < log_up(worst_ratio(laws)) <= FLIPPED.change_epsilon == log_up(Fraction(4))
    assert TINY.change_epsilon is None


def test_a_device_keeps_its_alpha_and_a_response_for_each_end():
    protocol = LongitudinalMean(0, 100, epsilon=1, steps=100, segments=5)
    device = protocol.client()
    first = {number: device.report(number) for number in range(101)}
    assert device.responses == protocol.most_remembered == 6
    assert device.spent == 6 * protocol.lifetime_epsilon
    assert all(device.report(number) == sent for number, sent in first.items())
    again = protocol.client(memory=device.memory)
    assert all(again.report(number) == sent for number, sent in first.items())
    (alpha,) = device.memory["device"]
    ends = [int(key) for key in device.memory["responses"]]
    assert sorted(ends) == list(range(6))
    assert 0 <= alpha < 20


def test_what_is_no_number_is_one_place_that_is_drawn_once():
    protocol = LongitudinalMean(0, 1, epsilon=1, steps=1000, segments=1000)
    device = protocol.client()
    sent = {bytes(device.report(value)) for value in (None, float("nan"), "much", None)}
    assert len(sent) == device.responses == 1


@pytest.mark.statistical
@pytest.mark.parametrize("flipped", [0, "0.1"])
def test_the_mean_of_many_devices_is_found_in_each_round_and_covered_as_often_as_stated(flipped):
    """The same numbers every time; devices are new in each run, and report twice in it."""
    runs, people = (1000 if FULL_SIZE else 60), 500
    protocol = LongitudinalMean(0, 60, epsilon=2, steps=60, segments=3, flipped=flipped)
    numbers = np.random.default_rng(5).integers(0, 61, people)
    covered = 0
    for _ in range(runs):
        collected = protocol.aggregator()
        collected.add(protocol.client().report_many(numbers))
        found = collected.estimate()
        covered += found.low <= numbers.mean() <= found.high
    # Intervals are rather too wide, by the spread of the numbers, and never too narrow.
    assert binom.cdf(covered, runs, 0.94) >= ALPHA
    assert binom.sf(covered - 1, runs, 0.98) >= ALPHA


def test_the_stored_form_and_what_is_refused():
    for protocol in (TINY, FLIPPED):
        assert protocol_from_json(protocol.to_json()) == protocol
    for wrong in ({"segments": 3}, {"segments": 0}, {"flipped": "1/2"}, {"flipped": -1}, {"epsilon": 0}, {"steps": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            LongitudinalMean(0, 1, **({"epsilon": 1, "steps": 4, "segments": 2} | wrong))
