"""Discrete Gaussian noise against its exact law: right parameters accepted, wrong ones refused."""

from fractions import Fraction
from functools import partial
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS, LONG

from sfumato.errors import ParameterError
from sfumato.noise.laws import discrete_gaussian as module
from sfumato.noise.laws.discrete_gaussian import (
    discrete_gaussian,
    discrete_gaussian_one,
    gaussian_table,
    universal_gaussian,
    universal_gaussian_one,
)
from sfumato.noise.tables.block_table import BlockTable, DirectTable
from sfumato.noise.uniform import bernoulli as coins
from sfumato.numeric.distributions import discrete_gaussian_cdf

STDDEVS = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(10, 3),
    Fraction(128),
    Fraction(1000),
    Fraction(10**30 + 7, 10**29),
    Fraction(3**40, 2**60),
    Fraction(2**50),
]
TIERS = {"table": lambda variance, size: gaussian_table(variance).draw(size), "chosen": discrete_gaussian}


@pytest.mark.statistical
@pytest.mark.parametrize("stddev", STDDEVS, ids=lambda stddev: f"{float(stddev):.4g}")
@pytest.mark.parametrize("tier", TIERS)
def test_it_follows_its_law_and_none_ten_percent_off(tier, stddev):
    samples = TIERS[tier](stddev**2, DRAWS)
    assert samples.dtype == np.int64
    assert_law(samples, partial(discrete_gaussian_cdf, stddev))
    assert_not_law(samples, partial(discrete_gaussian_cdf, stddev * Fraction(11, 10)))
    assert_not_law(samples, partial(discrete_gaussian_cdf, stddev * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(2), Fraction(1, 3)])
def test_the_variance_need_not_be_a_square(variance):
    samples = discrete_gaussian(variance, DRAWS)
    weights = {k: np.exp(-k * k / (2 * float(variance))) for k in range(-20, 21)}
    total = sum(weights.values())
    assert_law(samples, lambda k: sum(w for j, w in weights.items() if j <= k) / total)


@pytest.mark.statistical
def test_signs_are_symmetric():
    signs = np.sign(discrete_gaussian(Fraction(4), DRAWS))
    assert abs(signs.sum()) < 4.9 * np.abs(signs).sum() ** 0.5  # two-sided, below 1e-6


def test_the_smallest_variance_gives_zero_but_for_a_chance_of_e_to_the_minus_500000():
    assert not discrete_gaussian(Fraction(1, 10**6), 10_000).any()


@pytest.mark.statistical
@pytest.mark.parametrize("stddev", [Fraction(10, 3), Fraction(1000)])
def test_one_by_one_it_follows_its_law_in_both_tiers(stddev):
    table = gaussian_table(stddev**2)
    for one in (table.draw_one, partial(discrete_gaussian_one, stddev**2)):
        assert_law(np.array([one() for _ in range(20_000)]), partial(discrete_gaussian_cdf, stddev))


@pytest.mark.parametrize(
    ("stddev", "kind"), [(1, DirectTable), (128, DirectTable), (129, BlockTable), (2**50, BlockTable)]
)
def test_the_table_suits_the_stddev(stddev, kind):
    assert isinstance(gaussian_table(Fraction(stddev**2)), kind)


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(1, 10**6 + 1), Fraction(2**100 + 1)])
def test_a_variance_outside_is_refused(variance):
    with pytest.raises(ParameterError, match="variance"):
        discrete_gaussian(variance, 1)


@pytest.mark.parametrize("variance", [Fraction(1, 10**6), Fraction(10), Fraction(2**100)])
def test_no_noise_is_drawn_if_none_is_asked(variance):
    assert discrete_gaussian(variance, 0).tolist() == []


@pytest.mark.parametrize(
    ("factor", "made"), [(1, "gaussian_weights"), (200, "gaussian_weights"), (10**9, "GaussianShape")]
)
def test_a_variance_of_long_terms_arrives_exactly_whatever_draws(factor, made, monkeypatch):
    """No test of samples would see a variance that is off by 1e-13; numerator and denominator say so."""
    variance, arrived = LONG * factor, {}
    for name in ("universal_gaussian", "universal_gaussian_one", made):
        real = getattr(module, name)

        def record(value, *others, name=name, real=real):
            arrived.setdefault(name, set()).add(value.as_integer_ratio())
            return real(value, *others)

        monkeypatch.setattr(module, name, record)
    module._supply.cache_clear()
    module.discrete_gaussian_one(variance)
    for size in (3, 100, 400_000):
        module.discrete_gaussian(variance, size)
    module._supply.cache_clear()
    terms = variance.as_integer_ratio()
    assert min(map(len, map(str, terms))) >= 20
    assert arrived == {name: {terms} for name in ("universal_gaussian", "universal_gaussian_one", made)}


@pytest.mark.statistical
@pytest.mark.parametrize("stddev", STDDEVS, ids=lambda stddev: f"{float(stddev):.4g}")
def test_without_a_table_it_follows_its_law_and_none_ten_percent_off(stddev):
    samples = universal_gaussian(stddev**2, DRAWS)
    assert samples.dtype == np.int64
    assert_law(samples, partial(discrete_gaussian_cdf, stddev))
    assert_not_law(samples, partial(discrete_gaussian_cdf, stddev * Fraction(11, 10)))
    assert_not_law(samples, partial(discrete_gaussian_cdf, stddev * Fraction(10, 11)))


@pytest.mark.statistical
@pytest.mark.parametrize("stddev", STDDEVS, ids=lambda stddev: f"{float(stddev):.4g}")
def test_one_by_one_it_follows_its_law(stddev):
    samples = np.array([universal_gaussian_one(stddev**2) for _ in range(20_000)])
    assert_law(samples, partial(discrete_gaussian_cdf, stddev))


@pytest.mark.statistical
def test_integers_alone_decide_alike(monkeypatch):
    monkeypatch.setattr(coins, "MARGIN", 2.0)
    assert_law(universal_gaussian(Fraction(100, 9), 20_000), partial(discrete_gaussian_cdf, Fraction(10, 3)))


@given(st.integers(0, 2**56), st.fractions(Fraction(1, 10**6), 2**100))
def test_the_float_of_an_exponent_is_near_enough(magnitude, variance):
    scale = module._proposal_scale(variance)
    exact = module._exponent(magnitude, variance, scale)
    distance = float(magnitude) - float(variance / scale)
    ours = min(distance * distance * (0.5 / float(variance)), 1000.0)
    assert abs(exp(-ours) - exp(-float(min(exact, 1000)))) < 2.0**-43


def test_without_a_table_the_smallest_variance_gives_zero_too():
    assert not universal_gaussian(Fraction(1, 10**6), 10_000).any()


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(1, 10**6 + 1), Fraction(2**100 + 1)])
def test_a_variance_outside_is_refused_without_a_table(variance):
    with pytest.raises(ParameterError, match="variance"):
        universal_gaussian(variance, 1)


@pytest.mark.parametrize("variance", [LONG, LONG * 200, LONG * 10**9], ids=lambda variance: f"{float(variance):.4g}")
def test_a_variance_of_long_terms_decides_the_coins_exactly(variance, monkeypatch):
    """No test of samples would see a variance that is off by 1e-13; numerator and denominator say so."""
    decided, real = [], module._exponent

    def exponent(proposal, variance, scale):
        decided.append(variance.as_integer_ratio())
        return real(proposal, variance, scale)

    monkeypatch.setattr(coins, "MARGIN", 2.0)  # integers decide every coin
    monkeypatch.setattr(module, "_exponent", exponent)
    universal_gaussian(variance, 20)
    drawn = len(decided)
    universal_gaussian_one(variance)
    assert 20 <= drawn < len(decided)
    assert set(decided) == {variance.as_integer_ratio()}
    scale = module._proposal_scale(variance)
    assert real(7, variance, scale) * 2 * variance == (7 - variance / scale) ** 2
