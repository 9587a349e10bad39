"""Bits of sampled buckets: exact distributions, what is remembered, and estimates from those who sampled a value."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tests.local.branches import law_of, payload_law, worst_ratio
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import BucketBits, MemoryClient, Reports, protocol_from_json
from sfumato.numeric.rounding import log_up

TINY = BucketBits(3, epsilon=1, sampled=2)
PERTURBED = BucketBits(3, epsilon=2, sampled=2, flipped="0.2")
RUNS = 200 if FULL_SIZE else 20


def test_the_largest_ratio_is_the_realized_epsilon_however_many_reports_there_are():
    for reports in (1, 2):

        def sent(value, reports=reports):
            device = MemoryClient(TINY)
            return tuple(device.report(value).payload for _ in range(reports))

        laws = [law_of(lambda value=value: sent(value)) for value in range(3)]
        assert log_up(worst_ratio(laws)) == TINY.realized_epsilon == TINY.lifetime_epsilon
    assert 0 <= TINY.epsilon - TINY.realized_epsilon < Fraction(1, 10**11)


def test_samples_are_uniform_sets():
    law = law_of(lambda: tuple(BucketBits(5, epsilon=1, sampled=3).devices(1)[0].tolist()))
    assert law == {chosen: Fraction(1, 10) for chosen in combinations(range(5), 3)}


def test_bits_are_right_as_often_as_the_odds_say():
    held, other = TINY.support_probabilities
    law = payload_law(TINY, 0)
    of_both = {payload: mass for payload, mass in law.items() if payload[:2] == bytes([0, 1])}
    expected = {(1, 1): held * other, (1, 0): held * (1 - other), (0, 1): (1 - held) * other}
    for bits, mass in expected.items():
        assert of_both[bytes([0, 1, bits[0] << 7 | bits[1] << 6])] == mass / 3


def test_a_value_that_moves_among_others_changes_nothing():
    protocol = BucketBits(1000, epsilon=1, sampled=2)
    device = protocol.client()
    sampled = set(device.memory["device"])
    sent = {bytes(device.report(value)) for value in range(1000) if value not in sampled}
    assert len(sent) == device.responses == 1
    for value in sampled:
        device.report(value)
    assert device.responses == protocol.most_remembered == 3
    assert device.spent == 3 * protocol.lifetime_epsilon
    again = protocol.client(memory=device.memory)
    assert all(again.report(value) == device.report(value) for value in (0, 5, *sampled))


@pytest.mark.parametrize("size", [2, 3])
def test_a_device_that_samples_one_value_spends_all_of_its_epsilon_on_one_bit(size):
    protocol = BucketBits(size, epsilon=1)
    laws = [payload_law(protocol, value) for value in range(size)]
    assert log_up(worst_ratio(laws)) == protocol.realized_epsilon
    assert 0 <= protocol.epsilon - protocol.realized_epsilon < Fraction(1, 10**11)


def test_estimates_are_those_of_the_reports_that_sampled_the_value():
    """Three of them, one with a 1; and one, with a 1. Rounded to a common number of reports, they were not unbiased."""
    protocol = BucketBits(2, epsilon=2)
    rows = np.array([[0, 0x80], [0, 0], [0, 0], [1, 0x80]], dtype=np.uint8)
    collected = protocol.aggregator()
    assert collected.add(Reports(protocol.fingerprint, rows)).accepted == 4
    p, q = map(float, protocol.support_probabilities)
    found = collected.estimate()
    assert found.fractions == pytest.approx([(1 / 3 - q) / (p - q), (1 - q) / (p - q)])
    assert found.errors_at_0 == pytest.approx(np.sqrt(q * (1 - q) / np.array([3, 1])) / (p - q))
    assert found.reports == 4
    assert found.project().fractions.sum() == pytest.approx(1)
    assert found.project("em").fractions.sum() == pytest.approx(1)


def history_law(protocol, values):
    """The joint distribution of what one new device sends of these values, one after the other."""

    def sent():
        device = MemoryClient(protocol)
        return tuple(device.report(value).payload for value in values)

    return law_of(sent)


def test_flipped_reports_reveal_less_each_and_together_no_more_than_the_response():
    largest = [
        log_up(worst_ratio([history_law(PERTURBED, (value,) * reports) for value in range(3)])) for reports in (1, 2)
    ]
    assert PERTURBED.realized_epsilon == largest[0] < largest[1] < PERTURBED.lifetime_epsilon <= PERTURBED.epsilon
    assert PERTURBED.realized_epsilon < Fraction(6, 5)


def test_one_report_more_before_a_change_is_bounded_where_reports_are_flipped():
    """Histories whose value changes a report earlier or later: without flips some reports tell them apart for sure."""
    early, late = (0, 1, 1), (0, 0, 1)
    tiny = BucketBits(2, epsilon=2, sampled=1, flipped="0.2")
    largest = log_up(worst_ratio([history_law(tiny, early), history_law(tiny, late)]))
    assert 0 < largest <= tiny.change_epsilon == log_up(Fraction(4))
    plain = BucketBits(2, epsilon=2, sampled=1)
    assert plain.change_epsilon is None
    assert history_law(plain, early).keys() != history_law(plain, late).keys()
    assert PERTURBED.change_epsilon == log_up(Fraction(16))


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "flipped"), [(2, 0), (8, 0), (3, "0.1")])
def test_errors_are_those_that_are_stated(epsilon, flipped):
    """Also where the noise is so small that most of the error is who was asked."""
    rng, size, people = np.random.default_rng(4), 20, 8000
    protocol = BucketBits(size, epsilon=epsilon, sampled=5, flipped=flipped)
    squares, covered = 0.0, 0.0
    for _ in range(RUNS):
        held = np.minimum(rng.zipf(1.6, people), size) - 1
        truth = np.bincount(held, minlength=size) / people
        collected = protocol.aggregator()
        collected.add(protocol.client().report_many(held))
        found = collected.estimate()
        variances = [protocol.variance(reports=people, fraction=float(fraction)) for fraction in truth]
        squares += float(((found.fractions - truth) ** 2 / np.array(variances)).mean())
        covered += float(((found.low <= truth) & (truth <= found.high)).mean())
    least, most = (0.85, 1.15) if FULL_SIZE else (0.6, 1.5)
    assert least <= squares / RUNS <= most
    assert covered / RUNS >= (0.93 if FULL_SIZE else 0.88)


def test_what_no_client_makes_is_refused():
    rows = np.array([[0, 1, 0xC0], [1, 0, 0], [0, 0, 0], [0, 3, 0], [0, 1, 0x20]], dtype=np.uint8)
    collected = TINY.aggregator()
    assert collected.add(Reports(TINY.fingerprint, rows)).refused == (1, 2, 3, 4)
    assert collected.counts.tolist() == [1, 1, 0, 1, 1, 0]
    assert len(collected.estimate([0, 1])) == 2
    with pytest.raises(ParameterError, match="each of the values was sampled"):
        collected.estimate()


def test_the_stored_form_has_one_epsilon():
    assert protocol_from_json(TINY.to_json()) == TINY
    assert set(TINY.to_json()) == {"version", "kind", "domain", "epsilon", "sampled", "flipped"}
    assert protocol_from_json(PERTURBED.to_json()) == PERTURBED
    assert BucketBits(64, epsilon=1, sampled=64).payload_bytes == 72


@pytest.mark.parametrize(
    "wrong",
    [
        {"sampled": 0},
        {"sampled": 4},
        {"sampled": "2"},
        {"flipped": "0.5"},
        {"flipped": -1},
        {"epsilon": 0},
        {"domain": 2**17},
    ],
)
def test_parameters_out_of_range_are_refused(wrong):
    given = {"domain": 3, "epsilon": 1, "sampled": 2} | wrong
    with pytest.raises(ParameterError):
        BucketBits(given.pop("domain"), **given)
