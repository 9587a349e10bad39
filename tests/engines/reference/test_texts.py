"""Patterns against regular expressions, and places against Python's own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.reference.texts import is_like, substring

LETTERS = st.text("ab%_\\\n", max_size=8)


def as_regex(pattern):
    """The pattern as a regular expression, by another road."""
    taken = re.findall(r"\\.|\\$|.", pattern, re.DOTALL)
    terms = {"%": ".*", "_": "."}
    return "".join(terms.get(term) or re.escape(term[1:] if len(term) > 1 else term) for term in taken)


@given(LETTERS, LETTERS)
def test_a_pattern_is_the_regular_expression_that_it_stands_for(text, pattern):
    assert is_like(text, pattern) == bool(re.fullmatch(as_regex(pattern), text, re.DOTALL))


@given(st.text(max_size=8))
def test_escaped_text_is_like_itself_and_like_nothing_else(text):
    pattern = re.sub(r"([%_\\])", r"\\\1", text)
    assert is_like(text, pattern)
    assert not is_like(text + "a", pattern)


@pytest.mark.parametrize(
    ("pattern", "texts"), [("%a%a%", ("aa", "aba")), ("a%a", ("aa", "aba")), ("%ab%b", ("abb", "aabb"))]
)
def test_no_character_of_the_text_is_used_twice(pattern, texts):
    assert all(is_like(text, pattern) for text in texts)
    assert not is_like("a" if "b" not in pattern else "ab", pattern)


@pytest.mark.parametrize("pattern", ["%a" * 40 + "%b", "_%" * 40])
def test_a_pattern_of_many_runs_takes_no_time(pattern):
    assert is_like("a" * 5_000, pattern) == pattern.startswith("_")


@given(st.text(max_size=8), st.integers(1, 10), st.integers(0, 10) | st.just(2**62))
def test_a_substring_starts_at_its_place_and_is_no_longer_than_asked(text, start, length):
    piece = substring(text, start, length)
    assert len(piece) == max(0, min(length, len(text) - start + 1))
    assert text[start - 1 :].startswith(piece)
