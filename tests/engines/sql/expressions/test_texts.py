"""The functions of text in SQL are those of `texts` and `letters`, code point by code point."""

import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import values_of
from tests.expressions_of import PATTERNS, WORDS

from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import column
from sfumato.engines.sql.expressions.texts import TEXTS, is_like, substring
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.texts import lowered, raised
from sfumato.query.values.evaluation import is_like as is_like_in_python

X = Term(sql=column("x"), kind=Kind.TEXT)
LETTERS = [
    chr(code) for code in [*range(0x2200), *range(0x2C00, sys.maxunicode + 1, 37)] if not 0xD800 <= code < 0xE000
]
"""All letters of alphabets with case, but for some of a few."""

SHORT = st.text(st.sampled_from("ab%_\\é\n\x00\U0001f600"), max_size=8)


def in_sql(term, *cells):
    return values_of(term.settled, {"x": pa.array(cells, pa.string())})


@pytest.mark.parametrize(("function", "change"), [(Function.LOWER, lowered), (Function.UPPER, raised)])
def test_letters_change_as_the_table_says_and_as_no_locale_does(function, change):
    beside_others = [f"\u0130\u00df{letter}" for letter in LETTERS]  # with these an engine may do it in another way
    words = [*LETTERS, *beside_others, "ASCII and ascii", "a" * 256 + "\u1e9e", ""]
    found = in_sql(TEXTS[function]([X]), *words)
    assert [(a, b) for a, b in zip(found, map(change, words), strict=True) if a != b] == []


@given(st.lists(SHORT, min_size=1, max_size=20), SHORT | st.sampled_from(PATTERNS))
def test_a_pattern_describes_the_texts_that_it_does_in_python(cells, pattern):
    assert in_sql(is_like(X, pattern), *cells) == [is_like_in_python(cell, pattern) for cell in cells]


@pytest.mark.parametrize("pattern", ["\\", "a\\", "a\\\\", "\\\\\\"])
def test_a_backslash_at_the_end_of_a_pattern_is_one_itself(pattern):
    assert in_sql(is_like(X, pattern), "a\\", "\\", "\\\\") == [
        is_like_in_python(cell, pattern) for cell in ("a\\", "\\", "\\\\")
    ]


@pytest.mark.parametrize(("start", "length"), [(1, 0), (1, 2), (2, 2**31), (2**31, 2**31), (3, 1)])
def test_code_points_are_cut_out(start, length):
    found = in_sql(substring(X, start, length), *WORDS, None)
    assert found == [word[start - 1 : start - 1 + length] for word in WORDS] + [None]


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (Function.LENGTH, len),
        (Function.TRIM, lambda text: text.strip(" ")),
        (Function.LTRIM, lambda text: text.lstrip(" ")),
        (Function.RTRIM, lambda text: text.rstrip(" ")),
    ],
)
def test_code_points_are_counted_and_spaces_taken_off(function, change):
    assert in_sql(TEXTS[function]([X]), *WORDS, None) == [*map(change, WORDS), None]


def test_what_is_joined_with_null_is_null():
    assert in_sql(TEXTS[Function.CONCAT]([X, X, X]), "a", "", None) == ["aaa", "", None]
