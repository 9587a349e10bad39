"""Geometric integers of any scale, and shares of them: their laws, and that shares add up."""

from fractions import Fraction
from math import comb, exp, expm1
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import nbinom
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS, LONG

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws import geometric as module
from sfumato.noise.laws.geometric import ATTEMPT_BITS, geometric, geometric_one, polya
from sfumato.noise.uniform import bernoulli as coins
from sfumato.noise.uniform.uniform import scaled

SCALES = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(10, 3),
    Fraction(2**24 + 1),
    Fraction(10**30 + 7, 10**29),
    Fraction(2**50),
]


def geometric_cdf(scale):
    return lambda k: -expm1(-(k + 1) / float(scale)) if k >= 0 else 0.0


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_it_follows_the_geometric_law(scale):
    samples = geometric(scale, DRAWS)
    assert samples.dtype == np.int64
    assert_law(samples, geometric_cdf(scale))
    assert_not_law(samples, geometric_cdf(scale * Fraction(11, 10)))
    assert_not_law(samples, geometric_cdf(scale * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_one_by_one_it_follows_its_law(scale):
    attempts = (geometric_one(scale, int.from_bytes(entropy.random_bytes(ATTEMPT_BITS // 8))) for _ in range(30_000))
    samples = np.array([value for value in attempts if value is not None])
    assert len(samples) > 28_000
    assert_law(samples, geometric_cdf(scale))


@pytest.mark.statistical
def test_integers_alone_decide_alike(monkeypatch):
    monkeypatch.setattr(coins, "MARGIN", 2.0)
    monkeypatch.setattr(module, "_SURE", 0)
    assert_law(geometric(Fraction(10, 3), 20_000), geometric_cdf(Fraction(10, 3)))


@pytest.mark.parametrize("numerator", [1, 3, 10, 1 << 24])
def test_places_out_of_half_words_are_uniform_by_lemires_rule(numerator):
    """Of all 2^32 halves, those that give one place and are kept are equally many: counted at the borders."""
    rejected = 2**32 % numerator
    for place in {0, 1 % numerator, numerator // 2, numerator - 1}:
        first = -(-(place << 32) // numerator)
        last = -(-((place + 1) << 32) // numerator)
        halves = np.array([first, first + 1, last - 1], dtype=np.uint64)
        places, kept = scaled(halves, numerator, 32)
        assert places.tolist() == [place] * 3
        assert kept.tolist() == [(int(half) * numerator) % 2**32 >= rejected for half in halves]


@pytest.mark.parametrize("place", [1 << 18, 1 << 19, (1 << 20) - 1])
def test_a_place_in_a_block_is_kept_by_its_own_chance(place, monkeypatch):
    """Of 2^20 places in a block: by first bits of the coin on either side of the chance, which leave nothing open."""
    monkeypatch.setattr(module, "uniform_one_below", lambda _: place)
    limit = int(exp(-place / (32 << 20)) * 2**16)
    for leading, is_kept in ((limit - 1, True), (limit + 1, False)):
        word = np.array([place << 12 + 32 | leading << 16], dtype=np.uint64)
        assert module.geometric_attempts(Fraction(1 << 20), word).tolist() == ([place // 32] if is_kept else [])
        assert geometric_one(Fraction(1 << 20), leading << 64) == (place // 32 if is_kept else None)


def test_a_sure_coin_is_below_the_worst_chance():
    assert module._SURE < exp(-1 / 32) * 2**16 < module._SURE + 2


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(1, 1001), Fraction(2**50 + 1)])
def test_a_scale_outside_is_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        geometric(scale, 1)


def test_none_are_drawn_if_none_are_asked():
    assert geometric(Fraction(3), 0).tolist() == []


def test_a_scale_of_long_terms_is_not_rounded(monkeypatch):
    """Of a block so far out, the value has more digits than any shorter fraction near the scale would give."""
    block, (numerator, denominator) = 10**40, LONG.as_integer_ratio()
    monkeypatch.setattr(module, "_blocks", lambda leading: np.array([block] * len(leading), dtype=object))
    monkeypatch.setattr(module, "uniform_below", lambda n, size: np.array([n - 1] * size, dtype=object))
    monkeypatch.setattr(module, "uniform_one_below", lambda n: n - 1)
    monkeypatch.setattr(module, "_table", lambda: SimpleNamespace(atom=lambda _: block))
    value = (numerator * (block + 1) - 1) // (32 * denominator)
    assert value != int(LONG.limit_denominator(10**18) * (block + 1) / 32)
    assert module.geometric_attempts(LONG, np.zeros(2, dtype=np.uint64)).tolist() == [value, value]
    assert geometric_one(LONG, 0) == value


def polya_cdf(shape, scale):
    return lambda k: nbinom.cdf(k, float(shape), -expm1(-1 / float(scale)))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("shape", "scale"),
    [("1/2", 1), ("1/3", "7/2"), ("1/10", 100), ("9/10", 10**6), ("2/3", 2**50), ("1/1000", 10**5), ("1", 10)],
)
def test_shares_follow_their_law(shape, scale):
    assert_law(polya(Fraction(shape), Fraction(scale), DRAWS), polya_cdf(Fraction(shape), Fraction(scale)))


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_laws_of_shares_ten_percent_off_are_refused(factor):
    samples = polya(Fraction(1, 2), Fraction(50), SAMPLES)
    assert_not_law(samples, polya_cdf(0.5, 50 * factor))
    assert_not_law(samples, polya_cdf(0.5 * factor, 50))


@pytest.mark.statistical
@pytest.mark.parametrize("parties", [2, 5])
def test_shares_add_up_to_a_geometric_integer(parties):
    total = sum(polya(Fraction(1, parties), Fraction(20), SAMPLES) for _ in range(parties))
    assert_law(total, polya_cdf(1, 20))


def given_stick(stick, shape):
    """The exact polya_cdf of what is kept of a stick, by enumerating every way to break it and every coin."""
    if stick == 0:
        return {0: Fraction(1)}
    found = {}
    for piece in range(1, stick + 1):
        for kept, rest in given_stick(stick - piece, shape).items():
            for gain, chance in ((piece, shape), (0, 1 - shape)):
                found[kept + gain] = found.get(kept + gain, 0) + rest * chance / stick
    return found


def rising(shape, k):
    product = Fraction(1)
    for i in range(k):
        product *= shape + i
    return product


@pytest.mark.parametrize("shape", [Fraction(1, 2), Fraction(1, 7), Fraction(1)])
@pytest.mark.parametrize("stick", range(7))
def test_broken_sticks_have_exactly_the_law_of_an_urn(stick, shape):
    for kept, chance in given_stick(stick, shape).items():
        urn = comb(stick, kept) * rising(shape, kept) * rising(1 - shape, stick - kept) / rising(Fraction(1), stick)
        assert chance == urn


def test_numbers_beyond_int64_are_broken_exactly(monkeypatch):
    monkeypatch.setattr(module, "geometric", lambda _, size: np.array([2**70] * size, dtype=object))
    assert polya(Fraction(1), Fraction(10), 3).tolist() == [2**70] * 3


def test_no_shares_are_drawn_if_none_are_asked():
    assert polya(Fraction(1, 2), Fraction(3), 0).tolist() == []


@pytest.mark.parametrize("shape", [Fraction(0), Fraction(-1), Fraction(3, 2)])
def test_a_shape_outside_is_refused(shape):
    with pytest.raises(ParameterError, match="shape"):
        polya(shape, Fraction(1), 1)


def test_a_scale_of_shares_outside_is_refused():
    with pytest.raises(ParameterError, match="scale"):
        polya(Fraction(1, 2), Fraction(2**50 + 1), 1)
