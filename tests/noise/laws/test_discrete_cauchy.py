"""Discrete Cauchy noise against its exact law: right scales accepted, wrong ones refused."""

from fractions import Fraction
from functools import partial
from math import pi, tanh

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import binomtest
from tests.laws import ALPHA, SAMPLES, assert_law, assert_not_law

from sfumato.errors import ParameterError
from sfumato.noise.laws import discrete_cauchy as module
from sfumato.noise.laws.discrete_cauchy import discrete_cauchy

DRAWS = SAMPLES // 2
SCALES = [
    Fraction(1),
    Fraction(4, 3),
    Fraction(2),
    Fraction(10, 3),
    Fraction(1000),
    Fraction(10**30 + 7, 10**29),
    Fraction(2**50 - 1),
]


def mass(scale, k):
    return float(scale) * tanh(pi * float(scale)) / pi / (float(scale) ** 2 + k * k)


def cdf(scale, k):
    """P(X > k) = mass(0)·scale² · Σ_{j>k} 1/(scale² + j²), and the sum is Im ψ(k + 1 + i·scale)/scale."""
    if k < 0:
        return 1 - cdf(scale, -k - 1)
    return 1 - tanh(pi * float(scale)) / pi * digamma(complex(k + 1, float(scale))).imag


def test_the_distribution_function_of_this_test_sums_the_mass():
    for scale in (Fraction(1), Fraction(7, 2)):
        assert cdf(scale, 5) - cdf(scale, -3) == pytest.approx(sum(mass(scale, k) for k in range(-2, 6)))
        assert sum(mass(scale, k) for k in range(-100_000, 100_001)) == pytest.approx(1, abs=1e-4)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_it_follows_its_law_and_none_twenty_percent_off(scale):
    samples = discrete_cauchy(scale, DRAWS).astype(object)
    assert_law(samples, partial(cdf, scale))
    assert_not_law(samples, partial(cdf, scale * Fraction(6, 5)))
    assert_not_law(samples, partial(cdf, max(Fraction(1, 2), scale * Fraction(5, 6))))


@pytest.mark.statistical
def test_zero_is_counted_once():
    zeros = int((discrete_cauchy(Fraction(1), DRAWS) == 0).sum())
    assert binomtest(zeros, DRAWS, mass(1, 0)).pvalue >= ALPHA


@pytest.mark.statistical
def test_far_tails_are_as_heavy_as_they_should_be():
    far = int((np.abs(discrete_cauchy(Fraction(3), DRAWS)) > 1000).sum())
    assert binomtest(far, DRAWS, 2 * (1 - cdf(Fraction(3), 1000))).pvalue >= ALPHA


@pytest.mark.statistical
def test_signs_are_symmetric():
    signs = np.sign(discrete_cauchy(Fraction(2), DRAWS).astype(object)).astype(np.int64)
    assert abs(signs.sum()) < 4.9 * np.abs(signs).sum() ** 0.5  # two-sided, below 1e-6


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 4), Fraction(9, 2)])
def test_proposal_times_acceptance_is_the_law_but_for_a_constant(scale, monkeypatch):
    """Every magnitude below 64 h, each with the exact chance that an attempt ends there."""
    top = 1 << (int(scale).bit_length() - 1)
    products = set()
    for inner, doublings in [(True, 0), *((False, doublings) for doublings in range(6))]:
        width = top << doublings
        proposals = {}
        monkeypatch.setattr(module, "_heads", lambda count, doublings=doublings: np.full(count, doublings))
        monkeypatch.setattr(module, "uniform_below", lambda n, count: np.arange(count) % n)
        monkeypatch.setattr(
            module, "bernoulli", lambda p, count, inner=inner: np.full(count, inner and p.denominator == 3)
        )
        monkeypatch.setattr(
            module,
            "_coins",
            lambda numerators, denominators, found=proposals: (
                found.update(enumerate(map(Fraction, numerators, denominators))) or np.ones(len(numerators), dtype=bool)
            ),
        )
        magnitudes = module._attempts(scale.numerator, scale.denominator, top.bit_length() - 1, width)
        assert sorted(magnitudes) == list(range(width) if inner else range(width, 2 * width))
        block = Fraction(1, 3) if inner else Fraction(2, 3) / 2 ** (doublings + 1)
        products |= {
            block / width * proposals[index] * (scale**2 + magnitude**2) for index, magnitude in enumerate(magnitudes)
        }
        assert all(0 < chance <= 1 for chance in proposals.values())
    assert products == {Fraction(top, 3)}


def test_a_coin_is_decided_by_its_rest_only_at_a_tie(monkeypatch):
    third = (1 << module._COIN_BITS) // 3
    words = np.array([third - 1, third, third + 1])
    asked = []
    monkeypatch.setattr(module, "uniform_below", lambda *_: words)
    monkeypatch.setattr(module, "bernoulli", lambda p, _: asked.append(p) or np.array([True]))
    numerators, denominators = np.full(3, 1, dtype=object), np.full(3, 3, dtype=object)
    assert module._coins(numerators, denominators).tolist() == [True, True, False]
    assert asked == [Fraction((1 << module._COIN_BITS) % 3, 3)]


@pytest.mark.statistical
def test_true_coins_before_a_false_one_halve_at_every_step():
    heads = module._heads(DRAWS)
    for least in range(1, 8):
        assert binomtest(int((heads >= least).sum()), DRAWS, 0.5**least).pvalue >= ALPHA


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(999, 1000)])
def test_a_scale_outside_is_refused_and_not_quoted(scale):
    with pytest.raises(ParameterError, match="scale = 'a number'"):
        discrete_cauchy(scale, 1)


def test_no_noise_is_drawn_if_none_is_asked():
    assert discrete_cauchy(Fraction(1), 0).tolist() == []


def test_noise_beyond_int64_comes_as_python_integers(monkeypatch):
    monkeypatch.setattr(module, "_heads", lambda count: np.full(count, 80))
    outer = [abs(value) for value in discrete_cauchy(Fraction(2**50), 200).tolist() if abs(value) >= 2**50]
    assert outer
    assert all(2**130 <= value < 2**131 for value in outer)
