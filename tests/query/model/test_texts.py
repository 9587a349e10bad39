"""Letters in pairs, and nothing else; DuckDB's TRANSLATE agrees."""

import re

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.values.test_evaluation import as_regex

from sfumato.query.model.texts import (
    ALPHABETS,
    LOWER_LETTERS,
    OTHERWISE_LOWERED,
    OTHERWISE_RAISED,
    UPPER_LETTERS,
    Word,
    WordPlace,
    lowered,
    pieces_of,
    raised,
    word_of,
)


def test_the_table_is_one_to_one():
    letters = LOWER_LETTERS + UPPER_LETTERS
    assert len(set(letters)) == len(letters) == 2 * len(LOWER_LETTERS)
    pairs = zip(LOWER_LETTERS, UPPER_LETTERS, strict=True)
    assert all((lower.upper(), upper.lower()) == (upper, lower) for lower, upper in pairs)


def test_the_letters_of_the_large_alphabets_are_in_it():
    for alphabet in ("abcdefghijklmnopqrstuvwxyz", "àâäåæçéèêëíîïñóôöøùúûüýþÿ", "āăąćčďęěğłńňőœřśşšţťůűźžż",
                     "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώ", "абвгдежзийклмнопрстуфхцчшщъыьэюяёђіїљў"):  # fmt: skip
        assert set(alphabet) <= set(LOWER_LETTERS)


@pytest.mark.parametrize(
    "letter", ["ß", "İ", "ı", "ς", "ſ", "µ", "ŉ", "ΐ", "\u212a", "\u212b", "ǆ", "ﬁ", "ա", "Ⓐ", "1"]
)
def test_letters_without_one_counterpart_stay_as_they_are(letter):
    assert lowered(letter) == raised(letter) == letter


def test_nothing_else_of_unicode_changes():
    others = [c for c in map(chr, [*range(0xD800), *range(0xE000, 0x110000)]) if c not in LOWER_LETTERS + UPPER_LETTERS]
    text = "".join(others)
    assert lowered(text) == raised(text) == text


def test_only_these_letters_are_changed_otherwise_by_unicode():
    assert set("\u0130\u03f4") <= set(OTHERWISE_LOWERED)
    assert set("\u00b5\u00df\u0131\u0149\u017f\u0390\u03b0\u03c2") <= set(OTHERWISE_RAISED)
    for block in ALPHABETS:
        text = "".join(chr(code) for code in block)
        assert [c for c in text if c.lower() != lowered(c) and c not in OTHERWISE_LOWERED] == []
        assert [c for c in text if c.upper() != raised(c) and c not in OTHERWISE_RAISED] == []


@given(st.text())
def test_lower_and_upper_case_keep_the_length_and_undo_each_other(text):
    assert len(lowered(text)) == len(raised(text)) == len(text)
    assert lowered(raised(text)) == lowered(text)
    assert raised(lowered(text)) == raised(text)


def test_translate_in_sql_is_the_same():
    text = "".join(map(chr, [*range(1, 0x600), *range(0x1E00, 0x2200), 0x1F600]))
    sql = "SELECT TRANSLATE($1, $2, $3), TRANSLATE($1, $3, $2)"
    found = duckdb.connect().execute(sql, [text, UPPER_LETTERS, LOWER_LETTERS]).fetchone()
    assert found == (lowered(text), raised(text))


@pytest.mark.parametrize(
    ("pattern", "word", "place"),
    [("", "", WordPlace.WHOLE), ("%", "", WordPlace.ANYWHERE), ("%%", "", WordPlace.ANYWHERE),
     ("ab", "ab", WordPlace.WHOLE), ("ab%", "ab", WordPlace.BEGINNING),
     ("%%ab", "ab", WordPlace.END), ("%ab%%", "ab", WordPlace.ANYWHERE),
     (r"\%a\_%", "%a_", WordPlace.BEGINNING), ("a\\", "a\\", WordPlace.WHOLE)],
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
            WordPlace.WHOLE: text == found.word, WordPlace.BEGINNING: text.startswith(found.word),
            WordPlace.END: text.endswith(found.word), WordPlace.ANYWHERE: found.word in text,
        }  # fmt: skip
        assert looked_for[found.place] == bool(re.fullmatch(as_regex(pattern), text, re.DOTALL))


def test_only_the_ends_of_a_pattern_may_be_nothing():
    assert pieces_of("%%a%%_%") == [(), ("a",), (None,), ()]
    assert pieces_of("") == [()]
