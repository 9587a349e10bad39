import pyarrow as pa
import pytest
from sqlglot import exp
from tests.engines.in_postgres import values_of

from sfumato.engines.sql.terms import case, column, function, negated, one_of, operation, present, text

WORDS = ["", "a", "a\x01", "a\x01b", "aa", "b", None]
CONSTANTS = ["a\0", "\0", "a\0b", "a\x01\0", "a"]
COMPARISONS = {
    exp.EQ: lambda x, y: x == y, exp.NEQ: lambda x, y: x != y, exp.LT: lambda x, y: x < y, exp.LTE: lambda x, y: x <= y,
    exp.GT: lambda x, y: x > y, exp.GTE: lambda x, y: x >= y,
}  # fmt: skip


def words_of(term):
    """What a term over `w` is of each word."""
    (found,) = values_of([under_c(term)], pa.table({"w": WORDS}))
    return found


def under_c(term):
    """Over text by code points, as tables are read."""
    stored = exp.Collate(this=column("w"), expression=exp.to_identifier("C", quoted=True))
    return term.transform(lambda node: stored.copy() if isinstance(node, exp.Column) else node)


def of_words(condition):
    return [None if word is None else condition(word) for word in WORDS]


@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("kind", COMPARISONS, ids=lambda kind: kind.__name__)
def test_a_constant_with_nul_compares_as_it_would_if_text_could_have_one(kind, constant):
    compare = COMPARISONS[kind]
    assert words_of(operation(kind, column("w"), text(constant))) == of_words(lambda word: compare(word, constant))
    assert words_of(operation(kind, text(constant), column("w"))) == of_words(lambda word: compare(constant, word))


@pytest.mark.parametrize("listed", [["a\0"], ["a\0", "a\x01"], ["a\0", "b", "\0"], ["a"]])
def test_a_list_has_no_text_with_nul(listed):
    assert words_of(one_of(column("w"), map(text, listed))) == of_words(listed.__contains__)
    assert words_of(negated(one_of(column("w"), map(text, listed)))) == of_words(lambda word: word not in listed)


@pytest.mark.parametrize(("pattern", "kept"), [("a\0", set()), ("a\0%", set()), ("a\x01%", {"a\x01", "a\x01b"})])
def test_no_text_is_like_a_pattern_with_nul(pattern, kept):
    like = exp.Escape(this=operation(exp.Like, column("w"), text(pattern)), expression=text("\\"))
    assert words_of(like) == of_words(kept.__contains__)


def test_two_constants_are_compared_as_they_are_written():
    same, other = (operation(exp.EQ, text("a\0"), text(other)) for other in ("a\0", "b\0"))
    is_word = present(column("w"))
    assert words_of(case([(is_word, same)])) == of_words(lambda _: True)
    assert words_of(case([(is_word, other)])) == of_words(lambda _: False)
    assert words_of(case([(is_word, one_of(text("a\0"), [text("a\0")]))])) == of_words(lambda _: True)
    joined = case([(is_word, function("LENGTH", text("a\0")))])
    assert words_of(joined) == [None if word is None else 2 for word in WORDS]
