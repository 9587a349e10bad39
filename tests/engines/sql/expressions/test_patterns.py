"""The regular expressions of patterns, by Python's own, which reads those of both engines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.sql.expressions.terms import column, function, text
from sfumato.engines.sql.expressions.texts import in_java, in_re2, liked
from sfumato.query.model.texts import WordPlace, pieces_of
from sfumato.query.values.evaluation import is_like

FINDERS = {WordPlace.BEGINNING: "FIRST", WordPlace.END: "LAST", WordPlace.ANYWHERE: "SOMEWHERE"}
X = column("x")


def in_python(expression):
    """Python writes the end of a text, and a character by its number, in another way."""
    numbered = re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: re.escape(chr(int(found[1], 16))), expression)
    return numbered.replace(r"\z", r"\Z")


@pytest.mark.parametrize("made_of", [in_re2, in_java])
@given(pattern=st.text("ab%_\\.*é\n $", max_size=8), text=st.text("ab%_.é\n$", max_size=8))
def test_a_regular_expression_describes_what_the_pattern_does(made_of, pattern, text):
    expression = in_python(made_of(pieces_of(pattern)))
    assert bool(re.fullmatch(expression, text)) == is_like(text, pattern)


@pytest.mark.parametrize("runs", range(1, 6))
def test_java_never_goes_back_but_over_the_last_run(runs):
    expression = in_java(pieces_of("a" + "%a" * runs))
    assert expression.count("(?>") == runs - 1
    assert len(re.findall(r"(?<!\(\?>)\.\*", expression)) == 1


def test_java_gives_up_in_time_where_going_back_would_take_hours():
    expression = in_python(in_java(pieces_of("%a" * 60 + "%b")))
    assert not re.fullmatch(expression, "a" * 256)


@pytest.mark.parametrize("pattern", ["a'; --", "$.*[](){}^|+?", 'a"b', "\\\\"])
def test_what_means_something_in_an_expression_is_itself(pattern):
    word = "".join(map("".join, pieces_of(pattern)))
    assert re.fullmatch(in_python(in_re2(pieces_of(pattern))), word)
    assert not set("'\"$") & set(in_re2(pieces_of(pattern)))


@pytest.mark.parametrize(
    ("pattern", "made"),
    [("ab%", function("FIRST", X, text("ab"))), ("%ab", function("LAST", X, text("ab"))),
     ("%ab%", function("SOMEWHERE", X, text("ab")))],
)  # fmt: skip
def test_a_word_in_one_place_is_looked_for(pattern, made):
    assert liked(X, pattern, finders=FINDERS, otherwise=lambda _x, _pieces: text("other")) == made


def test_anything_else_is_left_to_the_expression():
    assert liked(X, "a_", finders=FINDERS, otherwise=lambda _x, pieces: text(in_re2(pieces))) == text("(?s)a.")
