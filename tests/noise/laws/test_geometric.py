"""Geometric integers of any scale."""

from fractions import Fraction
from math import exp, expm1
from types import SimpleNamespace

import numpy as np
import pytest
from tests.laws import assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS, LONG

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws import geometric as module
from sfumato.noise.laws.geometric import ATTEMPT_BITS, geometric, geometric_one
from sfumato.noise.uniform import acceptance
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
    monkeypatch.setattr(acceptance, "MARGIN", 2.0)
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
