"""Uniform integers below n: exact by enumeration for small words, by chi-square for all sizes."""

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform import uniform as module
from sfumato.noise.uniform.uniform import uniform_below, uniform_one_below


def uniform_cdf(n):
    return lambda k: min(max(k + 1, 0), n) / n


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 200, 255, 256, 3000, 4096])
def test_each_small_value_comes_from_equally_many_halfwords(n, monkeypatch):
    monkeypatch.setattr(entropy, "random_halfwords", lambda count: np.arange(count, dtype="<u2"))
    assert np.bincount(module._below(n, 1 << 16), minlength=n).tolist() == [2**16 // n] * n


@pytest.mark.parametrize("n", [4097, 5000, 8191, 8192])
def test_each_larger_value_comes_from_exactly_one_pattern_of_low_bits(n, monkeypatch):
    every_pattern = np.arange(2**13, dtype=np.uint64) | np.uint64(0xABCD << 48)  # high bits are masked away
    monkeypatch.setattr(entropy, "random_bytes", lambda count: every_pattern[: count // 8].tobytes())
    assert sorted(module._below(n, 2**13).tolist()) == list(range(n))


@pytest.mark.statistical
@pytest.mark.parametrize("n", [2, 3, 10, 1000, 2**31 + 1, 2**62 - 1, 2**62, 2**62 + 1, 3**50, 2**64, 2**64 + 1, 7**100])
def test_it_follows_the_uniform_law(n):
    assert_law(uniform_below(n, DRAWS if n <= 2**62 else SAMPLES), uniform_cdf(n))


@pytest.mark.statistical
@pytest.mark.parametrize("n", [1000, 2**62, 7**100])
def test_ten_percent_more_or_less_is_refused(n):
    samples = uniform_below(n, SAMPLES)
    assert_not_law(samples, uniform_cdf(n * 11 // 10))
    assert_not_law(samples, uniform_cdf(n * 10 // 11))


@pytest.mark.parametrize(("n", "dtype"), [(1, np.int64), (2**62, np.int64), (2**100, object)])
@pytest.mark.parametrize("size", [1, 50])
def test_types(n, dtype, size):
    values = uniform_below(n, size)
    assert values.dtype == dtype
    assert all(0 <= value < n for value in values.tolist())


@pytest.mark.parametrize("n", [1, 10, 2**100])
def test_none_are_drawn_if_none_are_asked(n):
    assert uniform_below(n, 0).tolist() == []


@pytest.mark.parametrize("n", [0, -1])
def test_an_empty_range_is_refused(n):
    with pytest.raises(ParameterError, match="at least 1"):
        uniform_below(n, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100, 255])
def test_one_draw_takes_equally_many_of_all_words_for_each_value(n, monkeypatch):
    monkeypatch.setattr("sfumato.noise.uniform.uniform._SPARE", 8)  # words of one byte up to 7 bits, of two beyond
    size = (n.bit_length() + 8) // 8
    drawn = []
    for word in range(256**size):
        words = iter([word])
        monkeypatch.setattr(entropy, "random_bytes", lambda count, words=words: next(words).to_bytes(count))
        try:
            drawn.append(uniform_one_below(n))
        except StopIteration:
            continue  # discarded: another word would have been drawn
    assert np.bincount(drawn, minlength=n).tolist() == [256**size // n] * n


@pytest.mark.statistical
@pytest.mark.parametrize("n", [10, 2**62 + 1, 7**100])
def test_one_by_one_it_follows_the_uniform_law(n):
    values = np.array([uniform_one_below(n) for _ in range(30_000)], dtype=object if n > 2**62 else np.int64)
    assert_law(values, uniform_cdf(n))
