"""Discrete Laplace noise without a table: its law, and that it leaves nothing behind."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from tests.laws import assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS, LONG

from sfumato.errors import ParameterError
from sfumato.noise.laws import discrete_laplace
from sfumato.noise.laws import universal_laplace as module
from sfumato.noise.laws.universal_laplace import universal_laplace, universal_laplace_one
from sfumato.noise.uniform import acceptance
from sfumato.numeric.distributions import discrete_laplace_cdf

SCALES = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(10, 3),
    Fraction(1000),
    Fraction(10**30 + 7, 10**29),
    Fraction(3**40, 2**60),
    Fraction(2**50),
]


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.4g}")
def test_it_follows_its_law_and_none_ten_percent_off(scale):
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
    monkeypatch.setattr(acceptance, "MARGIN", 2.0)
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
    before = discrete_laplace._supply.cache_info()
    universal_laplace(Fraction(123_457, 1000), 400_000)
    assert discrete_laplace._supply.cache_info() == before


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(2**50 + 1)])
def test_a_scale_outside_is_refused(scale):
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
