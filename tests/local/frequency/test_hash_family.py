"""Hash functions: exactly pairwise independent, and counted alike by rows and by columns."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.laws import ALPHA

from sfumato.local.frequency import hash_family as module
from sfumato.local.frequency.hash_family import HashFamily, random_keys


def short_functions(bits, word_bits):
    """All functions of short words, in the top bits of long ones, which then wrap as short ones do."""
    words = np.arange(1 << bits, dtype=f"<u{word_bits // 8}") << (word_bits - bits)
    return np.array(list(product(words, words)), dtype=words.dtype)


@pytest.mark.parametrize("word_bits", [32, 64])
@pytest.mark.parametrize(("bits", "value_bits", "hash_bits"), [(4, 2, 3), (5, 3, 3), (6, 2, 5)])
def test_the_hashes_of_two_values_are_uniform_and_independent(word_bits, bits, value_bits, hash_bits):
    """Over all functions: every pair of hashes comes equally often, for every pair of values."""
    keys = short_functions(bits, word_bits)
    family = HashFamily(word_bits, hash_bits, 1 << hash_bits)
    hashes = [family.cell_of(keys, np.full(len(keys), value)) for value in range(1 << value_bits)]
    for first, second in product(range(1 << value_bits), repeat=2):
        if first != second:
            seen = Counter(zip(hashes[first].tolist(), hashes[second].tolist(), strict=True))
            assert set(seen.values()) == {len(keys) >> 2 * hash_bits}
            assert len(seen) == 1 << 2 * hash_bits


def test_values_of_too_many_bits_are_not_independent():
    keys = short_functions(4, 32)
    family = HashFamily(32, 3, 8)
    first, second = (family.cell_of(keys, np.full(len(keys), value)) for value in (0, 8))
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) < 64


@pytest.mark.parametrize("cells", [2, 3, 5, 7, 8])
def test_the_probability_of_a_collision_is_exact(cells):
    keys = short_functions(4, 32)
    family = HashFamily(32, 3, cells)
    first, second = (family.cell_of(keys, np.full(len(keys), value)) for value in (1, 3))
    assert Fraction(int((first == second).sum()), len(keys)) == family.collision_probability


@pytest.mark.parametrize(("word_bits", "hash_bits"), [(32, 16), (64, 32)])
@pytest.mark.parametrize("cells", [2, 4, 56, 4096])
def test_supports_are_the_same_by_definition_by_rows_and_by_columns(word_bits, hash_bits, cells, monkeypatch):
    family = HashFamily(word_bits, hash_bits, cells)
    keys = random_keys(300, word_bits)
    told = np.random.default_rng(1).integers(0, cells, 300)
    for indexes in (np.arange(50), np.array([7, 3, 4, 5, 60_000, 0])):
        expected = [int((family.cell_of(keys, np.full(300, index)) == told).sum()) for index in indexes]
        monkeypatch.setattr(module, "_FEW", 10**9)
        assert family.supports(keys, told, indexes).tolist() == expected
        monkeypatch.setattr(module, "_FEW", 0)
        assert family.supports(keys, told, indexes).tolist() == expected
    assert family.supports(keys[:0], told[:0], np.arange(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("word_bits", [32, 64])
def test_functions_come_back_from_their_bytes(word_bits):
    family = HashFamily(word_bits, 16, 4)
    keys = random_keys(20, word_bits)
    packed = family.packed(keys)
    assert packed.shape == (20, family.key_bytes)
    assert (family.unpacked(packed) == keys).all()
    assert int.from_bytes(packed[0].tobytes()) == int(keys[0, 0]) << word_bits | int(keys[0, 1])


@pytest.mark.statistical
@pytest.mark.parametrize("word_bits", [32, 64])
def test_drawn_functions_are_uniform(word_bits):
    keys = random_keys(50_000, word_bits)
    assert len(np.unique(keys)) > 99_000 if word_bits == 64 else len(np.unique(keys)) > 99_900 * 0.99
    for column in keys.T:
        top = np.bincount((column >> (word_bits - 6)).astype(np.int64), minlength=64)
        assert chisquare(top).pvalue >= ALPHA


@pytest.mark.parametrize("word_bits", [32, 64])
def test_functions_are_the_bytes_of_the_one_source_of_randomness(word_bits, monkeypatch):
    width = word_bits // 8
    given = bytes(range(6 * width))
    monkeypatch.setattr(module.entropy, "random_bytes", lambda count: given[:count])
    words = [int.from_bytes(given[start : start + width], "little") for start in range(0, 6 * width, width)]
    assert random_keys(3, word_bits).ravel().tolist() == words
