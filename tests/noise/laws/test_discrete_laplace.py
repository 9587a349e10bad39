"""Discrete Laplace noise against its exact law, in both tiers, and truncated: right scales accepted, wrong refused."""

from fractions import Fraction
from functools import partial
from math import exp

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS, LONG

from sfumato.errors import ParameterError
from sfumato.noise.laws import discrete_laplace as module
from sfumato.noise.laws.discrete_laplace import (
    discrete_laplace,
    discrete_laplace_one,
    laplace_table,
    truncated_laplace,
    universal_laplace,
    universal_laplace_one,
)
from sfumato.noise.tables.block_table import BlockTable, DirectTable
from sfumato.noise.uniform import bernoulli as coins
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
