"""A device with a memory: what it sends of one value is made of one response, whatever happens to it."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare
from tests.laws import ALPHA
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.local import BasicRappor, Rappor
from sfumato.local.rappor.device import checked_probabilities
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.secret import Secret

HOMEPAGES = Rappor(bits=32, hashes=2, cohorts=8, f="0.5", p="0.25", q="0.75")
DRINKS = BasicRappor(["tea", "coffee", "water"], f="0.5", p="0.25", q="0.75")
BOTH = pytest.mark.parametrize(("protocol", "values"), [(HOMEPAGES, ("a.org", "b.org")), (DRINKS, ("tea", "coffee"))])


def bits_of(protocol, report):
    if protocol is DRINKS:
        return np.unpackbits(np.frombuffer(report.payload, dtype=np.uint8))[: protocol.bits]
    return np.unpackbits(np.frombuffer(report.payload[1:], dtype=np.uint8)[::-1], bitorder="little")


@BOTH
def test_the_same_secret_is_the_same_device(protocol, values):
    device = protocol.client()
    again = protocol.client(secret=device.secret)
    assert again.cohort == device.cohort
    for value in (*values, None, 7):
        assert (again.permanent(value) == device.permanent(value)).all()
        assert (device.permanent(Secret(value)) == device.permanent(value)).all()
    assert len(device.secret) == 32


@pytest.mark.statistical
@BOTH
def test_a_report_is_its_permanent_response_seen_through_fresh_coins(protocol, values):
    device, count = protocol.client(), 3000
    permanent = device.permanent(values[0])
    seen = np.array([bits_of(protocol, device.report(values[0])) for _ in range(count)])
    shares = [float(protocol.q if one else protocol.p) for one in permanent]
    for bit, share in enumerate(shares):
        assert binomtest(int(seen[:, bit].sum()), count, share).pvalue >= ALPHA / protocol.bits
    for bit, (share, beside) in enumerate(pairwise(shares)):
        both = int((seen[:, bit] & seen[:, bit + 1]).sum())
        assert binomtest(both, count, share * beside).pvalue >= ALPHA / protocol.bits


@pytest.mark.statistical
@BOTH
def test_permanent_responses_have_their_distribution_over_devices(protocol, values):
    devices = [protocol.client(cohort=0) for _ in range(3000)]
    drawn = np.array([device.permanent(values[0]) for device in devices])
    held = protocol.set_bits(values[0] if protocol is HOMEPAGES else 0, 0)
    for bit in range(protocol.bits):
        share = float(1 - protocol.f / 2 if bit in held else protocol.f / 2)
        assert binomtest(int(drawn[:, bit].sum()), len(devices), share).pvalue >= ALPHA / protocol.bits


def guessed(reports_of, devices, reports):
    """How often an adversary who averages all reports of a device says rightly which of two drinks it held."""
    right = 0
    for at in range(devices):
        truth = at % 2
        sums = sum(bits_of(DRINKS, report).astype(int) for report in reports_of(("tea", "coffee")[truth], reports))
        right += (sums[1] > sums[0]) == truth if sums[0] != sums[1] else 0.5
    return right / devices


@pytest.mark.statistical
def test_averaging_wins_against_a_device_without_memory_and_loses_against_one_with_it():
    """With memory no test can be right more often than e^ε∞/(1 + e^ε∞) = 0.9; without it almost always."""

    def remembers(value, count):
        device = DRINKS.client()
        return [device.report(value) for _ in range(count)]

    def forgets(value, count):
        return [DRINKS.client().report(value) for _ in range(count)]

    limit = float(np.exp(float(DRINKS.lifetime_epsilon)) / (1 + np.exp(float(DRINKS.lifetime_epsilon))))
    with_memory = guessed(remembers, 200, 150 if FULL_SIZE else 50)
    without = guessed(forgets, 60 if FULL_SIZE else 36, 150)
    assert binomtest(int(with_memory * 200), 200, limit, alternative="greater").pvalue >= ALPHA
    assert without > 0.97
    assert with_memory < 0.93


def test_a_cohort_has_nothing_to_do_with_what_is_held():
    device = HOMEPAGES.client()
    cohorts = {device.report(value).payload[0] for value in ("a", "b", "c", None, *map(str, range(50)))}
    assert cohorts == {device.cohort}


@pytest.mark.statistical
def test_cohorts_are_uniform_over_secrets():
    drawn = [HOMEPAGES.client().cohort for _ in range(4000)]
    assert chisquare(np.bincount(drawn, minlength=8)).pvalue >= ALPHA


def test_an_unknown_drink_is_the_same_for_as_long_as_the_secret():
    responses = {bytes(DRINKS.client(secret=b"s" * 32).permanent(value)) for value in (None, "beer", 3.5)}
    assert len(responses) == 1
    drawn = [DRINKS.remembered(None, random_bytes(32)) for _ in range(200)]
    assert set(drawn) == {0, 1, 2}


def test_metrics_with_different_names_respond_independently():
    named = [Rappor(bits=64, hashes=1, cohorts=1, f="0.5", p=0, q=1, metric=name) for name in ("home", "search")]
    first, second = (protocol.client(secret=b"s" * 32).permanent("a.org") for protocol in named)
    assert not (first == second).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": b"short"},
        {"secret": "text of 16 letters"},
        {"cohort": 8},
        {"cohort": -1},
        {"cohort": 1.0},
        {"cohort": True},
    ],
)
def test_wrong_secrets_and_cohorts_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        HOMEPAGES.client(**wrong)


def test_probabilities_are_checked():
    assert checked_probabilities("0.5", 0, 1) == (Fraction(1, 2), 0, 1)
    for wrong in (("0.5", "0.5", "0.5"), (0, 0, 1), ("0.5", -1, 1)):
        with pytest.raises(ParameterError):
            checked_probabilities(*wrong)
