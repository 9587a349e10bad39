"""Sums of parties: exact laws of shares, exhaustive privacy with dropouts and colluders, the ring, odd values."""

from collections import defaultdict
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import product
from math import exp, inf, isclose, nan

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import nbinom
from tests.audits_of_everything.judging import Case, judged
from tests.laws import SAMPLES, assert_law, assert_not_law

from sfumato.errors import ParameterError
from sfumato.local import PartySum, TrustedSum
from sfumato.mechanisms import DistributedLaplace, DistributedSkellam
from sfumato.mechanisms.distributed import laplace as module
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.privacy.events import DiscreteLaplaceEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret


def of(parties=4, max_dropouts=2, *, low=0, high=1, epsilon=2, **options):
    noise = DistributedLaplace(parties=parties, l1_sensitivity=1, epsilon=epsilon, max_dropouts=max_dropouts)
    return PartySum(noise, low=low, high=high, **options)


def added(protocol, shares):
    return reduce(protocol.add, shares)


# The law of the noise, derived twice.


def rising(shape, count):
    """shape·(shape + 1)·…/count!, exactly: what q^count is multiplied by in a Pólya integer of this shape."""
    found = Fraction(1)
    for step in range(count):
        found *= (shape + step) / Fraction(step + 1)
    return found


@pytest.mark.parametrize("honest", [1, 2, 3, 7])
def test_the_exact_convolution_of_the_shares_is_discrete_laplace(honest):
    """As power series in q: h Pólya integers of shape 1/h add up to a geometric one, in rational numbers."""
    terms = [rising(Fraction(1, honest), k) for k in range(25)]
    total = [Fraction(1)] + [Fraction(0)] * 24
    for _ in range(honest):
        total = [sum(total[j] * terms[k - j] for j in range(k + 1)) for k in range(25)]
    assert total == [1] * 25  # P(k) = (1 − q)·q^k
    q = 0.6  # and the difference of two geometric integers is discrete Laplace
    for k in range(-5, 6):
        difference = sum((1 - q) ** 2 * q**j * q ** (j + abs(k)) for j in range(200))
        assert isclose(difference, (1 - q) / (1 + q) * q ** abs(k), rel_tol=1e-12)


@pytest.mark.statistical
def test_the_least_shares_without_the_colluders_have_exactly_the_laplace_law():
    protocol = of(6, 3, epsilon="1/2", numbers=SAMPLES // 2)
    zeros = np.zeros(protocol.numbers, dtype=np.int64)
    shares = [protocol.share(zeros) for _ in range(protocol.least_shares - 1)]
    half = 1 << protocol.modulus_bits - 1
    noise = (added(protocol, shares).astype(np.int64) + half) % (2 * half) - half
    assert_law(noise, lambda k: discrete_laplace_cdf(Fraction(2), k))
    assert_not_law(noise, lambda k: discrete_laplace_cdf(Fraction(9, 5), k))


# Brute force: what a curious aggregator knows, together with colluders, on all small neighboring databases.


def share_law(protocol, value, reach):
    """The law of one real share, by its number in the ring: each Pólya integer is replaced by every one."""
    law, ratio = defaultdict(float), exp(-float(1 / protocol.noise.scale))
    for noise in product(range(reach + 1), repeat=2):
        with pytest.MonkeyPatch.context() as patch:
            left, masses = list(noise), []

            def draw(shape, scale, size, left=left, masses=masses):
                del scale
                drawn = left.pop()
                masses.append(nbinom.pmf(drawn, float(shape), 1 - ratio))
                return np.full(size, drawn)

            patch.setattr(module, "polya", draw)
            (number,) = protocol.share(value)
        law[int(number)] += masses[0] * masses[1]
    return law


def sum_law(protocol, values, reach):
    """The law of the sum in the ring."""
    total = {0: 1.0}
    for value in values:
        found = defaultdict(float)
        for (a, p), (b, q) in product(total.items(), share_law(protocol, value, reach).items()):
            found[(a + b) % (1 << protocol.modulus_bits)] += p * q
        total = found
    return total


def excess(first, second, epsilon):
    """Σ max(0, P − e^ε·Q), and what the reach of the noise leaves out."""
    found = sum(max(0.0, p - exp(epsilon) * second.get(at, 0.0)) for at, p in first.items())
    return found, exp(epsilon) * (1 - sum(second.values()))


@pytest.mark.parametrize(("parties", "colluders", "missing"), [(3, 0, 1), (3, 1, 0), (4, 1, 1), (4, 2, 0), (5, 2, 1)])
def test_no_neighbors_differ_by_more_than_epsilon_whoever_sends_and_colludes(parties, colluders, missing):
    """Colluders take their shares off the published sum, so what is left is the sum of all others that sent."""
    protocol = of(parties, colluders + missing, max_colluders=colluders, epsilon=3)
    for absent in range(missing + 1):
        others = parties - absent - colluders
        assert protocol.honest <= others
        for rest in {(one,) * (others - 1) for one in (0, 1)}:  # equal up to a shift, but for the ring
            laws = [sum_law(protocol, [value, *rest], 6) for value in (0, 1)]
            for first, second in (laws, laws[::-1]):
                found, left_out = excess(first, second, 3)
                assert found <= left_out + 1e-12
                assert left_out < 1e-3
        if absent == missing:
            assert others == protocol.honest == protocol.least_shares - colluders
            assert excess(*laws, 2.9)[0] > 10 * excess(*laws, 3)[1]  # tight


@pytest.mark.parametrize("parties", [3, 4, 6])
def test_one_honest_share_too_few_breaks_the_promise(parties):
    """Which is why fewer are refused, and why each party counts as a colluder against itself."""
    protocol = of(parties, 1, epsilon=2)
    laws = [sum_law(protocol, [value] + [0] * (protocol.honest - 2), 8) for value in (0, 1)]
    found, left_out = excess(*laws, 2)
    assert found > 10 * left_out


@pytest.mark.statistical
def test_an_audit_of_what_a_colluder_and_the_aggregator_see_refutes_nothing():
    protocol = of(3, 2, epsilon=2)

    def view(value, count):
        seen = []
        for _ in range(count):
            shares = [protocol.share(value), protocol.share(1)]
            total = protocol.estimate(added(protocol, shares), shares=2).total
            seen.append((total - int(shares[1][0])) % (1 << protocol.modulus_bits))
        return seen

    judged(Case(mechanism=lambda: view, pair=(0, 1), claim=ApproxDP(2, 0), fewer=4)).assert_true()


# Who takes part.


def test_dropouts_and_colluders_are_counted_apart():
    protocol = of(20, 4, max_colluders=1)
    assert (protocol.parties, protocol.honest, protocol.least_shares) == (20, 16, 17)
    assert of(20, 4, max_colluders=4).least_shares == 20
    assert of(20, 4, max_colluders=0).least_shares == 16


@pytest.mark.parametrize("shares", [0, 1, 2, 5])
def test_too_few_shares_and_too_many_are_refused(shares):
    protocol = of(4, 2)
    with pytest.raises(ParameterError, match="3 to 4"):
        protocol.estimate(np.zeros(1, dtype=np.uint64), shares=shares)


def test_the_event_is_that_of_the_noise_of_the_least_honest_shares():
    assert of(9, 4, epsilon="1/2").event == DiscreteLaplaceEvent(Fraction(2), Fraction(1))


def test_it_says_in_words_what_it_rests_on():
    words = " ".join(of(20, 4, high=500).trust)
    for part in ("one privacy unit among a party's numbers", "1 of the parties", "At least 16", "fewer than 17"):
        assert part in words
    assert "protects all that a party sends" in of(20, 4).trust[0]


def test_it_knows_whether_it_protects_all_that_a_party_sends():
    assert of(4, 2, high=1).protects_whole_parties
    assert not of(4, 2, high=2).protects_whole_parties
    assert not of(4, 2, high=1, numbers=2).protects_whole_parties
    skellam = DistributedSkellam(
        parties=4, linf_sensitivity=3, epsilon=1, delta="1e-3", max_dropouts=1, l0_sensitivity=2
    )
    assert PartySum(skellam, low=-1, high=2, numbers=2).protects_whole_parties
    assert not PartySum(skellam, low=-1, high=2, numbers=3).protects_whole_parties
    assert not PartySum(skellam, low=-1, high=3, numbers=2).protects_whole_parties


# The ring.


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-100, 7), (5, 6), (-9, -8), (0, 10**12)])
def test_the_extremes_of_sum_and_noise_come_back_from_the_ring(low, high):
    protocol = of(low=low, high=high)
    reach = protocol.noise.accuracy(1 - protocol.wrap_probability)
    for total in (4 * low - reach, 4 * high + reach):
        assert -(1 << protocol.modulus_bits - 1) <= total < 1 << protocol.modulus_bits - 1
        found = protocol.estimate(np.array([total % (1 << protocol.modulus_bits)], dtype=np.uint64), shares=4)
        assert found.total == total
    smaller = protocol.modulus_bits - 1
    assert max(4 * abs(low), 4 * abs(high)) + reach >= 1 << smaller - 1


def test_the_probability_of_a_wrap_is_at_most_what_was_stated():
    for stated in ("1e-3", "1e-9"):
        protocol = of(4, 2, epsilon=1, numbers=3, wrap_probability=stated)
        masses = nbinom.pmf(np.arange(400), 2, 1 - exp(-1))
        noise = np.convolve(masses, masses[::-1])  # of all 4 shares where 2 are needed
        reach = protocol._reach(4)
        assert 3 * (noise[: 399 - reach].sum() + noise[400 + reach :].sum()) <= float(Fraction(stated))


def test_a_modulus_that_is_too_small_is_refused_and_a_larger_one_kept():
    needed = of(4, 2, high=500).modulus_bits
    make = {"parties": 4, "l1_sensitivity": 1, "epsilon": 2, "max_dropouts": 2}
    assert PartySum(DistributedLaplace(**make, modulus_bits=40), low=0, high=500).modulus_bits == 40
    for bits in (needed - 1, 64):
        with pytest.raises(ParameterError, match=f"modulus_bits.*{needed} to 63"):
            PartySum(DistributedLaplace(**make, modulus_bits=bits), low=0, high=500)
    with pytest.raises(ParameterError, match="room for the sum in 63 bits"):
        of(4, 2, high=2**61)


def test_sums_that_no_honest_shares_reach_are_refused():
    protocol = of(4, 2, high=500)
    reach = protocol.noise.accuracy(1 - protocol.wrap_probability, shares=3)
    for total in (3 * 500 + reach + 1, -reach - 1):
        with pytest.raises(ParameterError, match="a share was wrong"):
            protocol.estimate(np.array([total % (1 << protocol.modulus_bits)], dtype=np.uint64), shares=3)


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([1 << 13], dtype=np.uint64),
        np.array([1], dtype=np.int64),
        np.array([1.0]),
        np.array([1, 2], dtype=np.uint64),
        np.uint64(1),
        [None],
        "1",
    ],
    ids=repr,
)
def test_what_is_not_of_the_ring_is_refused_and_not_shown(wrong):
    protocol = of(4, 2, high=500)
    assert protocol.modulus_bits < 13
    with pytest.raises(ParameterError, match="share = 'other numbers'"):
        protocol.checked(wrong, "share")


def test_the_ring_adds_and_subtracts_modulo():
    protocol = of(4, 2, high=500)
    top = np.array([(1 << protocol.modulus_bits) - 1], dtype=np.uint64)
    one = np.array([1], dtype=np.uint64)
    assert (protocol.add(top, one).tolist(), protocol.subtract(one - one, one).tolist()) == ([0], top.tolist())


# Values.


ODD = [
    None,
    nan,
    pd.NA,
    pd.NaT,
    np.ma.masked,
    "3",
    b"3",
    Decimal("NaN"),
    Decimal("sNaN"),
    1j,
    object(),
    pa.scalar(None),
]


@pytest.mark.parametrize("value", ODD, ids=lambda value: f"{type(value).__name__}-{str(value)[:4]}")
def test_no_value_is_an_error_and_what_is_none_counts_as_any(value):
    protocol = of(low=10, high=12)
    assert {protocol._clamped(value) for _ in range(200)} == {10, 11, 12}


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        (5, 5), (-1, 0), (11, 10), (inf, 10), (-inf, 0), (10**400, 10), (Fraction(-(10**400)), 0), (3.7, 4),
        (2.5, 3), (True, 1), (np.float32(2.5), 3), (np.int8(7), 7), (Decimal("6.4"), 6), (np.array(4), 4),
        (pa.scalar(9), 9), (np.uint64(2**63), 10),
    ],
    ids=repr,
)  # fmt: skip
def test_values_are_rounded_and_clamped(value, counted):
    assert of(high=10)._clamped(value) == counted


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.float64])
def test_arrays_are_clamped_as_single_values_are(dtype, monkeypatch):
    protocol = of(high=10, numbers=3)
    monkeypatch.setattr(type(protocol.noise), "share", lambda _, values: np.asarray(values))
    low = 0 if dtype is np.uint8 else -5
    assert protocol.share(np.array([low, 3, 99], dtype=dtype)).tolist() == [0, 3, 10]


def test_lengths_are_as_agreed():
    pair = of(numbers=2)
    assert pair.share([1, 0]).shape == pair.share(Secret(np.array([1, 0]))).shape == (2,)
    for value in ([1], [1, 2, 3], 1):
        with pytest.raises(ParameterError, match="must be 2"):
            pair.share(value)
    with pytest.raises(ParameterError, match="there are several"):
        _ = pair.estimate(np.zeros(2, dtype=np.uint64), shares=3).total


# Estimates.


@pytest.mark.statistical
@pytest.mark.parametrize("shares", [3, 4, 5])
def test_intervals_and_the_stated_deviation_are_those_of_the_shares_that_came(shares):
    protocol = of(5, 3, high=9, epsilon="1/2", numbers=4000)
    values = np.arange(4000) % 10
    found = protocol.estimate(added(protocol, [protocol.share(values) for _ in range(shares)]), shares=shares)
    errors = np.array(found.totals) - shares * values
    held = [low <= shares * value <= high for value, (low, high) in zip(values, found.intervals, strict=True)]
    assert np.mean(held) >= 0.95 - 5 * (0.95 * 0.05 / 4000) ** 0.5
    assert errors.std() / found.stddev == pytest.approx(1, abs=0.16)  # 5 standard errors, of kurtosis 6
    assert abs(errors.mean()) < 5 * found.stddev / 4000**0.5
    assert isclose(found.stddev**2, float(protocol.surplus(shares)) * protocol.noise.variance_of(2))


@pytest.mark.parametrize("shares", [3, 4, 5])
def test_the_interval_is_that_of_the_shares_that_came(shares):
    protocol = of(5, 3, epsilon="1/100")
    found = protocol.estimate(np.zeros(1, dtype=np.uint64), shares=shares)
    masses = nbinom.pmf(np.arange(6000), shares / 2, 1 - exp(-1 / 100))
    tails = np.cumsum(np.convolve(masses, masses[::-1]))  # from −5999 on
    assert 2 * tails[5999 - found.half_width - 1] <= 0.05 < 2 * tails[5999 - found.half_width]


def test_more_shares_than_needed_are_more_noise_and_it_says_how_much_more():
    protocol = of(20, 4)
    assert [protocol.surplus(shares) for shares in (16, 17, 20)] == [1, Fraction(17, 16), Fraction(5, 4)]
    deviations = [protocol.estimate(np.zeros(1, dtype=np.uint64), shares=shares).stddev for shares in (17, 20)]
    assert isclose(deviations[1] ** 2 / deviations[0] ** 2, 20 / 17)
    widths = [protocol.noise.accuracy("0.95", shares=shares) for shares in (16, 17, 20)]
    assert widths == sorted(widths)


def test_an_estimate_has_rows_and_is_frozen():
    found = of(4, 2).estimate(np.array([2], dtype=np.uint64), shares=3, confidence="0.5")
    (low, high) = found.intervals[0]
    assert found.rows() == [{"total": 2, "low": low, "high": high, "shares": 3}]
    assert (found.parties, found.confidence, found.event) == (4, 0.5, of(4, 2).event)
    with pytest.raises(FrozenInstanceError):
        found.totals = (3,)


def test_a_sum_with_skellam_noise_is_near_the_truth():
    noise = DistributedSkellam(parties=5, linf_sensitivity=1, epsilon=1, delta="1e-6", max_dropouts=2, l0_sensitivity=1)
    protocol = PartySum(noise, low=-5, high=5, numbers=3)
    box = TrustedSum(protocol)
    for number in range(4):
        box.add(number, protocol.share([number, -5, 1]))
    found = box.estimate(confidence="0.999999")
    assert all(low <= total <= high for total, (low, high) in zip((6, -20, 4), found.intervals, strict=True))


# What is agreed.


def test_every_parameter_changes_the_fingerprint():
    made = [
        of(), of(5), of(4, 1), of(low=-1), of(high=2), of(epsilon=3), of(numbers=2), of(max_colluders=0),
        of(wrap_probability="1e-8"), of(epsilon="2.0000000001"),
    ]  # fmt: skip
    assert len({protocol.fingerprint for protocol in made}) == len(made)
    assert of().fingerprint == of().fingerprint
    assert of(max_colluders=np.int64(0)).fingerprint == of(max_colluders=0).fingerprint


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 1},
        {"low": 0.0},
        {"high": 0},
        {"max_colluders": 3},
        {"max_colluders": -1},
        {"numbers": 0},
        {"wrap_probability": 0},
        {"wrap_probability": 1},
        {"max_dropouts": 0},
        {"parties": 20_000},
        {"epsilon": 0},
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_by_name(wrong):
    (name,) = wrong
    said = {"low": "high", "max_dropouts": "max_colluders"}.get(name, name)
    with pytest.raises(ParameterError, match=said):
        of(**wrong)


def test_what_is_no_noise_in_shares_is_refused():
    with pytest.raises(ParameterError, match="noise"):
        PartySum(3, low=0, high=1)
    with pytest.raises(ParameterError, match="l0_sensitivity"):
        PartySum(
            DistributedSkellam(parties=3, linf_sensitivity=1, epsilon=1, delta="0.1", max_dropouts=1),
            low=0, high=1, numbers=2,
        )  # fmt: skip
