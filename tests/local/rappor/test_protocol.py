"""RAPPOR: the published ε, the exact distribution of tiny ones in one and in many reports, and their bytes."""

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import product
from math import nan

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.local.branches import law_of, payload_law, worst_ratio
from tests.local.rappor.google import KernelRandom, bloom_of, cpp_client, instantaneous

from sfumato.accounting import BasicAccountant
from sfumato.errors import ParameterError
from sfumato.local import Rappor, protocol_from_json
from sfumato.numeric.rounding import log_up
from sfumato.privacy.codec import decode_event, encode_event

PUBLISHED = [
    ("0.5", "0.5", "0.75", 2, 1.0743, 4.3944),
    ("0.75", "0.5", "0.75", 2, 0.5343, 2.0433),
    ("0.45", "0.39", "0.61", 2, 0.9728, 4.9471),
    ("0.5", "0.25", "0.75", 1, 1.0217, 2.1972),
]
WORDS = ("a", "b", "c", "d", "e", None)
TINY = {
    "3 bits": Rappor(bits=3, hashes=1, cohorts=2, f="0.5", p="0.25", q="0.75"),
    "4 bits, 2 hashes": Rappor(bits=4, hashes=2, cohorts=1, f="1/3", p="0.5", q="0.75"),
    "no instantaneous noise": Rappor(bits=2, hashes=1, cohorts=2, f="0.25", p=0, q=1),
}
SMALL = pytest.mark.parametrize("protocol", TINY.values(), ids=TINY)
HOMEPAGES = Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")


@pytest.mark.parametrize(("f", "p", "q", "hashes", "one", "all_of_them"), PUBLISHED)
def test_the_published_epsilons(f, p, q, hashes, one, all_of_them):
    protocol = Rappor(bits=128, hashes=hashes, cohorts=16, f=f, p=p, q=q)
    assert float(protocol.realized_epsilon) == pytest.approx(one, abs=5e-5)
    assert float(protocol.lifetime_epsilon) == pytest.approx(all_of_them, abs=5e-5)
    high, low = protocol.reported
    assert protocol.realized_epsilon == log_up((high * (1 - low) / (low * (1 - high))) ** hashes)
    for event in (protocol.event, protocol.lifetime_event):
        assert decode_event(encode_event(event)) == event
    charged = BasicAccountant().compose(protocol.event).epsilon()
    assert protocol.realized_epsilon <= charged < protocol.realized_epsilon + Fraction(1, 10**11)


@SMALL
def test_the_largest_ratio_of_one_report_is_at_most_the_realized_one_and_reached_where_no_bit_is_shared(protocol):
    laws = {word: payload_law(protocol, word) for word in WORDS}
    assert log_up(worst_ratio(list(laws.values()))) <= protocol.realized_epsilon
    apart = [
        (first, second)
        for first, second in product(WORDS[:-1], repeat=2)
        for cohort in range(protocol.cohorts)
        if len({*protocol.set_bits(first, cohort), *protocol.set_bits(second, cohort)}) == 2 * protocol.hashes
    ]
    assert apart, "no two of the words have different bits"
    assert log_up(worst_ratio([laws[word] for word in apart[0]])) == protocol.realized_epsilon


def permanent_law(protocol, word, cohort):
    """The probability of each permanent response, under a random secret."""
    held, law = set(protocol.set_bits(word, cohort)), {}
    for response in product((False, True), repeat=protocol.bits):
        law[response] = Fraction(1)
        for bit, one in enumerate(response):
            law[response] *= 1 - protocol.f / 2 if one == (bit in held) else protocol.f / 2
    return law


@cache
def report_law(protocol, response):
    return law_of(lambda: tuple(protocol.instantaneous(np.array(response)).tolist()))


@SMALL
def test_a_first_report_is_a_permanent_response_randomized_again(protocol):
    """`randomize` draws each bit once; devices draw twice. Both are one distribution, exactly."""
    for word in WORDS:
        expected = defaultdict(Fraction)
        for cohort in range(protocol.cohorts):
            for response, mass in permanent_law(protocol, word, cohort).items():
                for bits, share in report_law(protocol, response).items():
                    payload = protocol.payloads_of(np.array([cohort]), np.array([bits]))[0].tobytes()
                    expected[payload] += mass * share / protocol.cohorts
        assert payload_law(protocol, word) == {payload: mass for payload, mass in expected.items() if mass}


def history_law(protocol, words, cohort=0):
    """The joint distribution of one device's reports of these texts, which share the response to each text."""
    found = defaultdict(Fraction)
    different = sorted(set(words))
    for responses in product(*(permanent_law(protocol, word, cohort).items() for word in different)):
        mass = np.prod([share for _, share in responses])
        laws = [report_law(protocol, responses[different.index(word)][0]) for word in words]
        for reports in product(*(law.items() for law in laws)):
            found[tuple(bits for bits, _ in reports)] += mass * np.prod([share for _, share in reports])
    return dict(found)


def test_however_many_reports_of_one_text_reveal_no_more_than_the_permanent_response():
    protocol = Rappor(bits=2, hashes=1, cohorts=1, f="0.25", p="0.25", q="0.75")
    first, second = (next(word for word in WORDS if protocol.set_bits(word, 0) == [bit]) for bit in (0, 1))
    before = Fraction(1)
    for reports in (1, 2, 3):
        ratio = worst_ratio([history_law(protocol, (word,) * reports) for word in (first, second)])
        assert before < ratio
        assert log_up(ratio) <= protocol.lifetime_epsilon
        before = ratio
    assert log_up(before) > protocol.realized_epsilon


def test_that_a_text_changed_shows_beyond_every_multiple_of_the_lifetime_epsilon():
    """Memory protects which texts are held, not whether two reports are of one text."""
    protocol = Rappor(bits=2, hashes=1, cohorts=1, f="0.75", p=0, q=1)
    first, second = (next(word for word in WORDS if protocol.set_bits(word, 0) == [bit]) for bit in (0, 1))
    same, changed = history_law(protocol, (first, first)), history_law(protocol, (first, second))
    assert any(mass > 0 and not same.get(reports) for reports, mass in changed.items())
    for pair in ((first, second), (second, first)):
        alike = history_law(protocol, (first, second)), history_law(protocol, pair)
        assert log_up(worst_ratio(list(alike))) <= 2 * protocol.lifetime_epsilon


def test_the_bytes_are_the_cohort_and_the_bits_of_the_cpp_client():
    protocol = Rappor(bits=64, hashes=2, cohorts=128, f="0.25", p="0.5", q="0.75", metric="metric-name")
    client = protocol.client(secret=b"client-secret-of-16")
    random, wanted = KernelRandom(), []
    bloom = bloom_of(b"foo", client.cohort, 2, 64)
    permanent = cpp_client(b"client-secret-of-16", b"metric-name", bloom, 0.25, 64)
    masks = random.mask(0.5, 64), random.mask(0.75, 64)

    def bernoulli(probability, size):
        wanted.append(probability)
        mask = masks[probability != Fraction(1, 2)]
        return np.array([bool(mask >> i & 1) for i in range(size)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.local.rappor.device.bernoulli", bernoulli)
        report = client.report("foo")
    assert wanted == [Fraction(1, 2), Fraction(3, 4)]
    assert report.payload == bytes([client.cohort]) + instantaneous(permanent, *masks).to_bytes(8, "big")


def test_the_stored_form_is_the_protocol_and_fingerprints_are_those_of_earlier_versions():
    for protocol in (HOMEPAGES, *TINY.values()):
        assert protocol_from_json(protocol.to_json()) == protocol
    assert HOMEPAGES.fingerprint.hex() == "69160bba"


def test_values_that_are_no_texts_set_no_bits():
    odd = [None, nan, 7, b"bytes", [1], pd.NaT, object(), "text", np.str_("text")]
    assert HOMEPAGES.inputs(odd).tolist() == [None] * 7 + ["text"] * 2
    assert HOMEPAGES.set_bits(None, 3) == []
    assert len(HOMEPAGES.client().report_many(odd)) == len(odd)
    assert HOMEPAGES.parse("07") == "07"
    assert len(HOMEPAGES.client().report_many([])) == 0


@pytest.mark.parametrize("bits", [1, 8, 13, 32, 130])
def test_counts_are_those_of_the_bits(bits):
    protocol = Rappor(bits=bits, hashes=1, cohorts=5, f="0.5", p="0.25", q="0.75")
    reports = protocol.client().report_many(["a", "b", "c"] * 400)
    assert protocol.are_valid(reports.payloads).all()
    aggregator = protocol.aggregator()
    assert aggregator.add(reports).accepted == 1200
    expected = np.zeros((5, 1 + bits), dtype=int)
    for row in reports:
        cohort, whole = row.payload[0], int.from_bytes(row.payload[1:])
        expected[cohort] += [1, *(whole >> i & 1 for i in range(bits))]
    assert (aggregator.counts.reshape(5, -1) == expected).all()


def test_reports_of_no_cohort_or_of_too_many_bits_are_refused_alone():
    protocol = Rappor(bits=13, hashes=1, cohorts=5, f="0.5", p="0.25", q="0.75")
    good = bytes(protocol.client().report("a"))
    hostile = [good[:5] + b"\x05" + good[6:], good[:6] + b"\x20" + good[7:], good + b"\0", good[:-1], b"", None]
    intake = protocol.aggregator().add([good, *hostile, good])
    assert intake.accepted == 2
    assert intake.refused == (1, 2, 3, 4, 5, 6)


@pytest.mark.statistical
def test_bits_of_first_reports_are_independent_coins():
    people = 60_000
    payloads = HOMEPAGES.client().report_many(["google.com"] * people).payloads
    cohorts, whole = HOMEPAGES.parts_of(payloads)
    bits = np.unpackbits(whole[:, ::-1], axis=1, bitorder="little")
    members = bits[cohorts == 5]
    assert binomtest(len(members), people, 1 / 16).pvalue >= ALPHA
    for bit, expected in ((19, 11 / 16), (118, 11 / 16), (20, 9 / 16), (0, 9 / 16), (127, 9 / 16)):
        assert binomtest(int(members[:, bit].sum()), len(members), expected).pvalue >= ALPHA
    assert binomtest(int((members[:, 19] & members[:, 20]).sum()), len(members), 99 / 256).pvalue >= ALPHA


@pytest.mark.parametrize(
    "changed",
    [
        {"bits": 0}, {"bits": 4097}, {"hashes": 0}, {"hashes": 17}, {"cohorts": 0}, {"cohorts": 1025}, {"f": 0},
        {"f": 1}, {"p": "0.75"}, {"p": "0.8"}, {"q": 2}, {"p": -1}, {"metric": 3}, {"metric": "\ud800"}, {"bits": True},
        {"bits": 512, "hashes": 9},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_are_refused(changed):
    with pytest.raises(ParameterError):
        Rappor(**{"bits": 32, "hashes": 2, "cohorts": 4, "f": "0.5", "p": "0.5", "q": "0.75"} | changed)
