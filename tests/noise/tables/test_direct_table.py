"""Tables that name every value: what they draw, and that a settled value is the one its bits stand for."""

from fractions import Fraction

import numpy as np
import pytest
from tests.noise import exact_tables as tables

from sfumato.noise import entropy
from sfumato.noise.tables.direct_table import DirectTable, zigzag
from sfumato.noise.tables.word_table import WordTable


def test_atoms_stand_for_values_of_growing_magnitude():
    assert zigzag(np.arange(7)).tolist() == [0, -1, 1, -2, 2, -3, 3]


@pytest.mark.parametrize("law", [tables.laplace(Fraction(10))[0], tables.gaussian(Fraction(128**2))[0]])
def test_every_leading_part_gives_the_value_of_its_words(law, monkeypatch):
    words = WordTable(law)
    table = DirectTable(words)
    every = np.arange(1 << 16, dtype="<u2")
    monkeypatch.setattr(entropy, "random_halfwords", lambda count: every[:count])
    monkeypatch.setattr(entropy, "random_words", lambda count: np.full(count, 123 << 16, dtype=np.uint64))
    drawn = np.concatenate([table.draw(1 << 15), table.draw(1 << 15)])
    assert drawn.dtype == np.int64
    for leading in range(0, 1 << 15, 7):
        atom = words.atom(leading << 48 | 123)
        assert drawn[leading] == zigzag(np.array([atom]))[0]


@pytest.mark.parametrize("size", [0, 1, 32_767, 32_768, 32_769, 100_000])
def test_it_draws_as_many_as_asked(size):
    assert len(DirectTable(WordTable(tables.laplace(Fraction(3))[0])).draw(size)) == size


def test_one_draw_is_the_value_of_its_word(monkeypatch):
    words = WordTable(tables.laplace(Fraction(3))[0])
    table = DirectTable(words)
    for leading in range(0, 1 << 16, 11):
        word = leading << 48 | 77
        monkeypatch.setattr(entropy, "random_bytes", lambda _, word=word: word.to_bytes(8))
        assert table.draw_one() == zigzag(np.array([words.atom(word)]))[0]
