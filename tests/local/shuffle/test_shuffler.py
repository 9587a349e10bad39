"""The shuffler: uniform orders, nothing of senders, nothing before enough came, and an event that only it can give."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from tests.local.branches import law_of

from sfumato.accounting import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.local import (
    BasicRappor,
    BucketBits,
    DirectEncoding,
    HadamardResponse,
    LongitudinalDirect,
    Rappor,
    Reports,
    ShuffledReports,
    Shuffler,
    shuffled_epsilon,
)
from sfumato.privacy.codec import decode_event, encode_event
from sfumato.privacy.events import ComposedEvent, LaplaceEvent

DRINKS = DirectEncoding(["tea", "coffee", "water", "milk"], epsilon=1)


def sent(*answers):
    return Reports(DRINKS.fingerprint, np.array(answers, dtype=np.uint8)[:, None])


def given_out(batches, **parameters):
    shuffler = Shuffler(DRINKS, **parameters)
    for batch in batches:
        shuffler.add(batch)
    return shuffler.release()


def test_every_order_is_equally_likely_whatever_the_order_and_the_batches_were():
    """By enumeration of all that the random integers can be."""
    expected = {order: Fraction(1, 24) for order in permutations(range(4))}
    for batches in ([sent(0, 1, 2, 3)], [sent(3), sent(2, 0), sent(1)]):
        law = law_of(lambda batches=batches: tuple(given_out(batches, honest=2).reports.payloads[:, 0].tolist()))
        assert law == expected


def test_a_whole_has_the_reports_that_came_and_no_other_trace_of_them():
    batches = [sent(0, 1), [bytes(next(iter(sent(2))))], next(iter(sent(2))), sent(3, 3, 3)]
    whole = given_out(batches, honest=5)
    assert Counter(whole.reports.payloads[:, 0].tolist()) == {0: 1, 1: 1, 2: 2, 3: 3}
    assert set(ShuffledReports.__slots__) == {"protocol", "reports", "honest"}
    counted, plain = DRINKS.aggregator(), DRINKS.aggregator()
    counted.add(whole.reports)
    for batch in batches:
        plain.add(batch)
    assert counted.snapshot() == plain.snapshot()


def test_nothing_is_given_out_before_enough_came_and_nothing_twice():
    shuffler = Shuffler(DRINKS, honest=3, least=5)
    assert shuffler.add(sent(0, 1, 2, 3)).accepted == 4
    with pytest.raises(ParameterError, match="at least 5"):
        shuffler.release()
    assert len(shuffler) == 4
    assert shuffler.add([b"nonsense", next(iter(sent(9))), next(iter(sent(0)))]).refused == (0, 1)
    whole = shuffler.release()
    assert (len(whole), whole.honest, len(shuffler)) == (5, 3, 0)
    with pytest.raises(ParameterError, match="at least 5"):
        shuffler.release()


def test_the_event_is_that_of_the_honest_people_alone_and_composes():
    whole = given_out([DRINKS.client().report_many(["tea"] * 3000)], honest=2000, least=2500)
    event = whole.event
    assert sum(event.p) == sum(event.q) == 1
    assert decode_event(encode_event(event)) == event
    planned = shuffled_epsilon(DRINKS, reports=2000, delta="1e-6")
    assert whole.epsilon("1e-6") == planned
    alone = float(PLDAccountant().compose(event).epsilon(delta="1e-6"))
    assert planned <= alone * (1 + 1e-9)
    assert alone == pytest.approx(planned, rel=2e-3)
    ten = float(PLDAccountant().compose(event, count=10).epsilon(delta="1e-6"))
    assert alone < ten < 10 * alone
    # With other events: above each of them, and below their sum.
    other = ComposedEvent((LaplaceEvent(20), DirectEncoding(4, epsilon="0.1").event))
    rest = float(PLDAccountant().compose(other).epsilon(delta="1e-6"))
    both = float(PLDAccountant().compose(ComposedEvent((event, other))).epsilon(delta="2e-6"))
    assert max(alone, rest) < both < alone + rest


def test_only_what_a_shuffler_gave_out_has_the_event_of_a_crowd():
    """Reports that came with keys or times are `Reports`, and cost what the protocol says of each."""
    reports = DRINKS.client().report_many(["tea"] * 1000)
    with pytest.raises(ParameterError, match="what a shuffler gave out"):
        ShuffledReports(protocol=DRINKS, reports=reports, honest=1000)
    assert not hasattr(reports, "event")
    assert not hasattr(next(iter(reports)), "event")
    alone = float(PLDAccountant().compose(DRINKS.event).epsilon(delta="1e-6"))
    assert alone == pytest.approx(1, abs=1e-3)
    assert given_out([reports], honest=1000).epsilon("1e-6") < 0.15 * alone


def test_a_whole_is_read_as_it_was_written_and_what_is_damaged_is_refused():
    whole = given_out([DRINKS.client().report_many(["tea", "milk"] * 40)], honest=70)
    data = bytes(whole)
    again = ShuffledReports.from_bytes(data, DRINKS)
    assert bytes(again) == data
    assert again.honest == 70
    for wrong in (data[:-1], data[:60], b"", data[:30] + bytes([data[30] ^ 1]) + data[31:], data + b"x"):
        with pytest.raises(ParameterError, match="reports"):
            ShuffledReports.from_bytes(wrong, DRINKS)
    with pytest.raises(ParameterError, match="of the same protocol"):
        ShuffledReports.from_bytes(data, HadamardResponse(3, epsilon=1))


@pytest.mark.parametrize("honest", [0, 81, 1 << 62])
def test_more_honest_people_than_reports_are_refused(honest):
    """Whoever forges a file with its checksum still cannot have a larger crowd than it has reports."""
    from hashlib import sha256

    state = bytes(given_out([DRINKS.client().report_many(["tea"] * 80)], honest=70))[:-32]
    place = len(state) - 80 - 8
    forged = state[:place] + honest.to_bytes(8) + state[place + 8 :]
    with pytest.raises(ParameterError, match="what a shuffler gave out"):
        ShuffledReports.from_bytes(forged + sha256(forged).digest(), DRINKS)


@pytest.mark.parametrize(
    "protocol",
    [
        BasicRappor(3, f="0.5", p="0.5", q="0.75"),
        BucketBits(9, epsilon=1, sampled=3),
        LongitudinalDirect(3, epsilon=1, permanent_epsilon=2),
        Rappor(bits=32, hashes=1, cohorts=2, f="0.5", p="0.5", q="0.75"),
    ],
    ids=lambda protocol: protocol.kind,
)
def test_protocols_that_repeat_responses_are_refused(protocol):
    with pytest.raises(ParameterError, match="afresh"):
        Shuffler(protocol, honest=10)


@pytest.mark.parametrize(
    "wrong", [{"honest": 0}, {"honest": 1.5}, {"honest": 10**9}, {"least": 9}, {"least": 10.5}, {"protocol": 1}]
)
def test_wrong_arguments_are_refused_by_name(wrong):
    given = {"protocol": DRINKS, "honest": 10} | wrong
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Shuffler(given.pop("protocol"), **given)
