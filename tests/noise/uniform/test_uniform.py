"""Uniform integers below n: exact by enumeration for small words, by chi-square for all sizes."""

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law, cdf_of
from tests.noise.exact_tables import DRAWS

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform import uniform as module
from sfumato.noise.uniform.uniform import accepted, uniform_below, uniform_below_each, uniform_one_below


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


def uniform(n):
    return cdf_of(np.full(n, 1 / n))


@pytest.mark.statistical
@pytest.mark.parametrize("dtype", [np.int64, object])
@pytest.mark.parametrize("bound", [2, 3, 64, 65, 1000])
def test_each_is_uniform_below_its_bound(bound, dtype):
    bounds = np.full(2 * SAMPLES, 5).astype(dtype)
    bounds[::2] = bound
    draws = uniform_below_each(bounds)
    assert_law(draws[::2], uniform(bound))
    assert_law(draws[1::2], uniform(5))
    assert_not_law(draws[::2], uniform(bound + 1) if bound < 64 else uniform(bound * 11 // 10))


def test_a_draw_stays_below_its_bound_up_to_the_largest():
    bounds = np.array([1, 2, 3, 2**40, 2**62, 2**63 - 1] * 100)
    draws = uniform_below_each(bounds)
    assert ((draws >= 0) & (draws < bounds)).all()


def test_bounds_beyond_64_bits_are_reached():
    assert max(uniform_below_each(np.array([2**100] * 100, dtype=object))) > 2**90


def test_without_bounds_there_is_no_draw():
    assert uniform_below_each(np.array([], dtype=np.int64)).tolist() == []


def test_a_bound_below_one_is_refused():
    with pytest.raises(ParameterError, match="bounds"):
        uniform_below_each(np.array([3, 0]))


class Stream:
    """Attempts 0, 1, 2, … of which every `every`-th is accepted."""

    def __init__(self, every):
        self.every, self.next, self.batches = every, 0, []

    def __call__(self, count):
        attempts = np.arange(self.next, self.next + count)
        self.next += count
        self.batches.append(count)
        return attempts[attempts % self.every == self.every - 1]


@pytest.mark.parametrize("every", [1, 2, 7, 1000])
@pytest.mark.parametrize("size", [0, 1, 10, 999])
def test_the_first_accepted_values_are_returned_in_order(every, size):
    assert accepted(Stream(every), size).tolist() == [every - 1 + every * index for index in range(size)]


def test_attempts_are_hardly_more_than_needed():
    stream = Stream(2)
    accepted(stream, 100_000)
    assert sum(stream.batches) < 250_000


def test_rare_acceptance_asks_for_a_bounded_number_at_a_time():
    stream = Stream(300_000)
    accepted(stream, 2)
    assert max(stream.batches) == 1 << 15


def test_a_negative_size_is_refused():
    with pytest.raises(ParameterError, match="size = -1"):
        accepted(Stream(1), -1)
