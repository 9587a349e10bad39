"""Bloom filters and permanent responses: the vectors of Google's repository and of NIST, and a port of both clients."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.local.rappor.google import (
    KernelRandom,
    bloom_of,
    cpp_client,
    drbg,
    fine_client,
    instantaneous,
    python_client,
)

from sfumato.errors import ParameterError
from sfumato.local.rappor.permanent import (
    bloom_bits,
    cohort_of,
    differing_bits,
    hmac_drbg,
    permanent_response,
    realized_f,
    reported_probabilities,
)
from sfumato.noise.entropy import random_bytes

SECRET = b"client-secret"
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def number(bits):
    return sum(1 << i for i, one in enumerate(bits) if one)


def test_bloom_bits_are_the_published_ones():
    assert bloom_bits("v1", 0, bits=32, hashes=2) == [24, 26]
    assert bloom_bits("google.com", 5, bits=128, hashes=2) == [19, 118]


@pytest.mark.parametrize("bits", [16, 32, 128, 256])
def test_bloom_filters_are_those_of_the_other_clients(bits):
    for word, cohort in product(("", "foo", "Ærøskøbing", "x" * 300), (0, 1, 63, 1000)):
        found = bloom_bits(word, cohort, bits=bits, hashes=3)
        assert sum({1 << bit for bit in found}) == bloom_of(word.encode(), cohort, 3, bits)


def test_beyond_256_bits_two_bytes_choose_one():
    found = bloom_bits("foo", 3, bits=512, hashes=8)
    assert len(found) == 8
    assert max(found) > 255
    assert [bit % 256 for bit in found] == [bloom_bits("foo", 3, bits=256, hashes=16)[2 * i] for i in range(8)]


def test_a_text_of_half_a_character_has_bits_too():
    assert len(bloom_bits("\ud800", 0, bits=32, hashes=2)) == 2


NIST = (
    "d67b8c1734f46fa3f763cf57c6f9f4f2dc1089bd8bc1f6f023950bfc56176352"
    "08c850123 8ad7a4400defee46c640b61af77c2d1a3bfaa90ede5d207406e5403".replace(" ", "")
)


def test_the_generator_has_the_vectors_of_nist_and_of_the_cpp_client():
    provided = bytes(range(0x37)) + bytes(range(0x20, 0x28))
    assert hmac_drbg(provided, 64).hex() == NIST
    assert hmac_drbg(b"keyvalue", 30).hex() == "89d71bb8a37d80c26e639cbd68f3607aa94deef425a7afbbf8d00992af92"
    assert hmac_drbg(b"anything", 1000) == drbg(b"anything", 1000)


def test_cohorts_are_those_of_the_unit_tests_of_the_cpp_client():
    assert cohort_of(SECRET, cohorts=128, bits=32) == 3
    assert cohort_of(SECRET, cohorts=128, bits=64) == 93


def test_the_report_of_the_unit_test_of_the_python_client():
    """Its random numbers are 0.0, 0.6, 0.0, again and again."""
    set_bits = bloom_bits("abc", 0, bits=16, hashes=2)
    permanent = number(permanent_response(b"secret", set_bits, bits=16, f=HALF, metric=""))
    masks = [sum(int((0.0, 0.6, 0.0)[i % 3] < share) << i for i in range(16)) for share in (0.5, 0.75)]
    assert instantaneous(permanent, *masks) == 64493


@pytest.mark.parametrize(("word", "cohort", "expected"), [("foo", 3, 2281639167), ("foo", 4, 2281637247)])
def test_the_reports_of_the_unit_tests_of_the_cpp_client_where_they_are_determined(word, cohort, expected):
    """These tests read the name of the metric from memory that was freed, so that only bits are known whose value does
    not depend on the permanent response: half of them, and that Bloom bits are as likely as the test has them."""
    random = KernelRandom()
    if_unset, if_set = random.mask(0.75, 32), random.mask(0.5, 32)
    determined = ~(if_unset ^ if_set)
    permanent = number(
        permanent_response(SECRET, bloom_bits(word, cohort, bits=32, hashes=2), bits=32, f=QUARTER, metric="m")
    )
    assert instantaneous(permanent, if_unset, if_set) & determined == expected & determined


@pytest.mark.parametrize("f", [Fraction(1, 128), QUARTER, HALF, Fraction(127, 128)])
@pytest.mark.parametrize("metric", ["", "homepage"])
@pytest.mark.parametrize("bits", [1, 8, 31, 32, 40, 64, 128, 256])
def test_permanent_responses_are_those_of_the_other_clients(bits, metric, f):
    for word in ("foo", "", "bar.com"):
        bloom = bloom_of(word.encode(), 7, 2, bits)
        found = permanent_response(SECRET, bloom_bits(word, 7, bits=bits, hashes=2), bits=bits, f=f, metric=metric)
        assert len(found) == bits
        if bits <= 32 and not metric:
            assert number(found) == python_client(SECRET, bloom, f, bits)
        else:
            assert number(found) == cpp_client(SECRET, metric.encode(), bloom, f, bits)


@pytest.mark.parametrize("f", ["0.3", "1/3", "0.0001", "0.9999"])
@pytest.mark.parametrize("bits", [8, 32, 200])
def test_any_other_f_is_compared_with_63_bits(bits, f):
    exact = realized_f(f)
    for word in map(str, range(20)):
        set_bits = bloom_bits(word, 7, bits=bits, hashes=2)
        found = permanent_response(SECRET, set_bits, bits=bits, f=exact, metric="m")
        assert number(found) == fine_client(SECRET, b"m", bloom_of(word.encode(), 7, 2, bits), exact, bits)


@pytest.mark.statistical
@pytest.mark.parametrize("f", [HALF, realized_f("0.3")])
def test_bits_are_uniform_as_often_as_f_says(f):
    secrets = 4000
    drawn = np.array([permanent_response(random_bytes(32), [2], bits=12, f=f, metric="m") for _ in range(secrets)])
    for bit, expected in ((2, 1 - f / 2), (3, f / 2), (11, f / 2)):
        assert binomtest(int(drawn[:, bit].sum()), secrets, float(expected)).pvalue >= ALPHA
    both = drawn[:, 2] & drawn[:, 3]
    assert binomtest(int(both.sum()), secrets, float((1 - f / 2) * f / 2)).pvalue >= ALPHA


def test_responses_differ_between_secrets_values_and_metrics_and_are_remembered():
    def response(secret=b"s" * 32, set_bits=(1, 5), metric="m"):
        return number(permanent_response(secret, set_bits, bits=128, f=HALF, metric=metric))

    assert response() == response() == response(set_bits=(5, 1, 5))
    noise = response() ^ number([i in {1, 5} for i in range(128)])
    other = response(set_bits=(1, 6)) ^ number([i in {1, 6} for i in range(128)])
    assert len({response(), response(secret=b"t" * 32), response(metric="n")}) == 3
    assert noise != other


def test_a_threshold_is_exact_or_rounded_up():
    assert realized_f("0.5") == HALF
    assert realized_f("3/128") == Fraction(3, 128)
    third = realized_f("1/3")
    assert 0 < third - Fraction(1, 3) < Fraction(1, 2**63)
    assert realized_f(third) == third
    for wrong in (0, 1, "1.5", None, "x", Fraction(2**70 - 1, 2**70)):
        with pytest.raises(ParameterError, match="f"):
            realized_f(wrong)


@pytest.mark.parametrize("each", [1, 2, 3])
def test_the_event_of_differing_bits_is_that_of_all_outcomes(each):
    high, low = Fraction(7, 10), Fraction(2, 5)
    event = differing_bits(high, low, each=each)
    ratio = max(max(p / q, q / p) for p, q in zip(event.p, event.q, strict=True))
    assert ratio == (high * (1 - low) / (low * (1 - high))) ** each
    total = Fraction(0)
    for outcome in product((0, 1), repeat=2 * each):
        first = second = Fraction(1)
        for at, one in enumerate(outcome):
            mine, others = (high, low) if at < each else (low, high)
            first *= mine if one else 1 - mine
            second *= others if one else 1 - others
        total += max(first - second, 0)
    assert sum(max(p - q, 0) for p, q in zip(event.p, event.q, strict=True)) == total


def test_reported_probabilities_are_those_of_the_paper():
    assert reported_probabilities(HALF, HALF, Fraction(3, 4)) == (Fraction(11, 16), Fraction(9, 16))
