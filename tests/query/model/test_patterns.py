import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.values.test_evaluation import as_regex

from sfumato.query.model.patterns import Place, Word, pieces_of, word_of


@pytest.mark.parametrize(
    ("pattern", "word", "place"),
    [("", "", Place.WHOLE), ("%", "", Place.ANYWHERE), ("%%", "", Place.ANYWHERE), ("ab", "ab", Place.WHOLE),
     ("ab%", "ab", Place.BEGINNING), ("%%ab", "ab", Place.END), ("%ab%%", "ab", Place.ANYWHERE),
     (r"\%a\_%", "%a_", Place.BEGINNING), ("a\\", "a\\", Place.WHOLE)],
)  # fmt: skip
def test_one_word_in_one_place_is_told(pattern, word, place):
    assert word_of(pattern) == Word(word=word, place=place)


@pytest.mark.parametrize("pattern", ["_", "a_", "a%b", "%a%b%", "_%", "%_%", "a%%b"])
def test_anything_else_is_no_word(pattern):
    assert word_of(pattern) is None


@given(st.text("ab%_\\", max_size=8), st.text("ab%_\\", max_size=6))
def test_a_word_in_its_place_is_what_the_pattern_describes(pattern, text):
    found = word_of(pattern)
    if found is not None:
        looked_for = {
            Place.WHOLE: text == found.word, Place.BEGINNING: text.startswith(found.word),
            Place.END: text.endswith(found.word), Place.ANYWHERE: found.word in text,
        }  # fmt: skip
        assert looked_for[found.place] == bool(re.fullmatch(as_regex(pattern), text, re.DOTALL))


def test_only_the_ends_of_a_pattern_may_be_nothing():
    assert pieces_of("%%a%%_%") == [(), ("a",), (None,), ()]
    assert pieces_of("") == [()]
