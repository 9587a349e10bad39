"""Discrete Laplace noise against its exact law, in both tiers, truncated, one-sided, and in shares that add up."""

from fractions import Fraction
from functools import partial
from math import comb, exp, expm1
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import nbinom
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS, LONG

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws import discrete_laplace as module
from sfumato.noise.laws.discrete_laplace import (
    ATTEMPT_BITS,
    discrete_laplace,
    discrete_laplace_one,
    geometric,
    geometric_one,
    laplace_table,
    polya,
    truncated_laplace,
    universal_laplace,
    universal_laplace_one,
)
from sfumato.noise.tables.block_table import BlockTable, DirectTable
from sfumato.noise.uniform import bernoulli as coins
from sfumato.noise.uniform.uniform import scaled
from sfumato.numeric.distributions import discrete_laplace_cdf

SCALES = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(10, 3),
    Fraction(128),
    Fraction(1000),
    Fraction(10**30 + 7, 10**29),
    Fraction(3**40, 2**60),
    Fraction(2**50),
]
TIERS = {"table": lambda scale, size: laplace_table(scale).draw(size), "chosen": discrete_laplace}


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
@pytest.mark.parametrize("tier", TIERS)
def test_it_follows_its_law_and_none_ten_percent_off(tier, scale):
    samples = TIERS[tier](scale, DRAWS)
    assert samples.dtype == np.int64
    assert_law(samples, partial(discrete_laplace_cdf, scale))
    assert_not_law(samples, partial(discrete_laplace_cdf, scale * Fraction(11, 10)))
    assert_not_law(samples, partial(discrete_laplace_cdf, scale * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(10, 3), Fraction(1000)])
def test_one_by_one_it_follows_its_law_in_both_tiers(scale):
    table = laplace_table(scale)
    for one in (table.draw_one, partial(discrete_laplace_one, scale)):
        assert_law(np.array([one() for _ in range(30_000)]), partial(discrete_laplace_cdf, scale))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7)])
def test_signs_are_symmetric(scale):
    samples = discrete_laplace(scale, DRAWS)
    signs = np.sign(samples)
    assert abs(signs.sum()) < 4.9 * np.abs(signs).sum() ** 0.5  # two-sided, below 1e-6


@pytest.mark.parametrize(
    ("scale", "kind"), [(1, DirectTable), (128, DirectTable), (129, BlockTable), (2**50, BlockTable)]
)
def test_the_table_suits_the_scale(scale, kind):
    assert isinstance(laplace_table(Fraction(scale)), kind)


@pytest.mark.parametrize("size", [1, 100, 400_000])
def test_the_smallest_scale_gives_zero_but_for_a_chance_of_e_to_the_minus_1000(size):
    assert not discrete_laplace(Fraction(1, 1000), size).any()


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(2**50 + 1)])
@pytest.mark.parametrize("draw", [partial(discrete_laplace, size=1), discrete_laplace_one])
def test_a_scale_outside_is_refused(scale, draw):
    with pytest.raises(ParameterError, match="scale"):
        draw(scale)


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(10), Fraction(2**50)])
def test_no_noise_is_drawn_if_none_is_asked(scale):
    assert discrete_laplace(scale, 0).tolist() == []


def test_a_big_denominator_does_not_wrap():
    for size in (1000, 400_000):
        assert int(np.abs(discrete_laplace(Fraction(2**80 + 1, 2**80), size)).max()) < 100


@pytest.mark.parametrize(("factor", "made"), [(1, "laplace_weights"), (200, "LaplaceShape"), (10**9, "LaplaceShape")])
def test_a_scale_of_long_terms_arrives_exactly_whatever_draws(factor, made, monkeypatch):
    """No test of samples would see a scale that is off by 1e-13; numerator and denominator say so."""
    scale, arrived = LONG * factor, {}
    for name in ("universal_laplace", "universal_laplace_one", made):
        real = getattr(module, name)

        def record(value, *others, name=name, real=real):
            arrived.setdefault(name, set()).add(value.as_integer_ratio())
            return real(value, *others)

        monkeypatch.setattr(module, name, record)
    module._supply.cache_clear()
    module.discrete_laplace_one(scale)
    for size in (3, 100, 400_000):
        module.discrete_laplace(scale, size)
    module._supply.cache_clear()
    terms = scale.as_integer_ratio()
    assert min(map(len, map(str, terms))) >= 20
    assert arrived == {name: {terms} for name in ("universal_laplace", "universal_laplace_one", made)}


def truncated_cdf(scale, bound):
    masses = [exp(-abs(k) / float(scale)) for k in range(-bound, bound + 1)]
    sums = np.cumsum(masses) / sum(masses)
    return lambda k: 0.0 if k < -bound else float(sums[min(k + bound, 2 * bound)])


@pytest.mark.statistical
@pytest.mark.parametrize(("scale", "bound"), [(Fraction(10), 3), (Fraction(10), 25), (LONG, 8), (LONG * 9, 20)])
def test_truncated_noise_follows_its_law(scale, bound):
    samples = truncated_laplace(scale, bound, SAMPLES)
    assert_law(samples, truncated_cdf(scale, bound))
    assert_not_law(samples, truncated_cdf(scale / 2, bound))


@pytest.mark.statistical
@pytest.mark.parametrize("attempt", [module._from_laplace, module._from_uniform])
@pytest.mark.parametrize("scale", [Fraction(5), LONG])
def test_both_proposals_have_one_law(attempt, scale):
    assert_law(attempt(scale, 7, SAMPLES), truncated_cdf(scale, 7))


@pytest.mark.parametrize("bound", [0, 1, 2, 2**60])
@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(2), Fraction(2**50), LONG])
def test_nothing_lies_beyond_the_bound(scale, bound):
    draws = truncated_laplace(scale, bound, 200)
    assert (len(draws), draws.dtype) == (200, np.int64)
    assert (abs(draws) <= bound).all()


@pytest.mark.parametrize(
    ("scale", "bound", "size"),
    [(Fraction(0), 1, 1), (Fraction(1), -1, 1), (Fraction(1), 2**60 + 1, 1), (Fraction(1), 1, -1)],
)
def test_parameters_of_truncated_noise_outside_are_refused(scale, bound, size):
    with pytest.raises(ParameterError, match=r"scale|bound|size"):
        truncated_laplace(scale, bound, size)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_without_a_table_it_follows_its_law_and_none_ten_percent_off(scale):
    samples = universal_laplace(scale, DRAWS)
    assert samples.dtype == np.int64
    assert_law(samples, partial(discrete_laplace_cdf, scale))
    assert_not_law(samples, partial(discrete_laplace_cdf, scale * Fraction(11, 10)))
    assert_not_law(samples, partial(discrete_laplace_cdf, scale * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_one_by_one_it_follows_its_law(scale):
    assert_law(np.array([universal_laplace_one(scale) for _ in range(30_000)]), partial(discrete_laplace_cdf, scale))


@pytest.mark.statistical
def test_integers_alone_decide_alike(monkeypatch):
    monkeypatch.setattr(coins, "MARGIN", 2.0)
    assert_law(universal_laplace(Fraction(10, 3), 30_000), partial(discrete_laplace_cdf, Fraction(10, 3)))


@pytest.mark.statistical
def test_zero_is_counted_once():
    samples = universal_laplace(Fraction(1), DRAWS)
    zeros, expected = int((samples == 0).sum()), 0.46211715726 * DRAWS  # tanh(1/2)
    assert abs(zeros - expected) < 4.9 * (expected * 0.538) ** 0.5


@pytest.mark.parametrize("blocks", [2**11, 2**13, 2**40])
def test_noise_beyond_int64_comes_as_python_integers(blocks, monkeypatch):
    monkeypatch.setattr(module, "geometric_attempts", lambda _, words: np.array([blocks * 2**50] * len(words), object))
    assert {abs(value) for value in universal_laplace(Fraction(2**50), 100).tolist()} == {blocks * 2**50}


def test_a_secret_scale_leaves_no_trace_in_the_tables():
    before = module._supply.cache_info()
    universal_laplace(Fraction(123_457, 1000), 400_000)
    assert module._supply.cache_info() == before


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(2**50 + 1)])
def test_a_scale_outside_is_refused_without_a_table(scale):
    with pytest.raises(ParameterError, match="scale"):
        universal_laplace(scale, 1)


def test_a_scale_of_long_terms_arrives_exactly(monkeypatch):
    arrived = []
    for name in ("geometric_attempts", "geometric_one"):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda scale, bits, real=real: arrived.append(scale) or real(scale, bits))
    universal_laplace(LONG, 20)
    universal_laplace_one(LONG)
    assert len(arrived) > 1
    assert {scale.as_integer_ratio() for scale in arrived} == {LONG.as_integer_ratio()}


GEOMETRIC_SCALES = [
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
@pytest.mark.parametrize("scale", GEOMETRIC_SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_it_follows_the_geometric_law(scale):
    samples = geometric(scale, DRAWS)
    assert samples.dtype == np.int64
    assert_law(samples, geometric_cdf(scale))
    assert_not_law(samples, geometric_cdf(scale * Fraction(11, 10)))
    assert_not_law(samples, geometric_cdf(scale * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", GEOMETRIC_SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_one_by_one_it_follows_the_geometric_law(scale):
    attempts = (geometric_one(scale, int.from_bytes(entropy.random_bytes(ATTEMPT_BITS // 8))) for _ in range(30_000))
    samples = np.array([value for value in attempts if value is not None])
    assert len(samples) > 28_000
    assert_law(samples, geometric_cdf(scale))


@pytest.mark.statistical
def test_integers_alone_decide_geometric_draws_alike(monkeypatch):
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
def test_a_geometric_scale_outside_is_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        geometric(scale, 1)


def test_no_geometric_integers_are_drawn_if_none_are_asked():
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
