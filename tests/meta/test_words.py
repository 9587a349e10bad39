"""The project speaks plainly, and of itself alone.

Pages use short sentences, American spelling and one word for each thing. No file names a path of the machine it was
written on, and nothing is left for later.
"""

import re

import pytest
from tests.meta.repository import ROOT, SOURCE, documents, name, offenders, texts

MACHINE_PATH = re.compile(r"(?<![\w.~$}])/(root|home|work|tmp/w)/")
UNFINISHED = re.compile(r"\braise NotImplementedError\b|\bTODO\b|\bFIXME\b")  # the system's own may be caught

MAX_WORDS_OF_A_SENTENCE = 25
LONG_SENTENCES = 1
"""The most long sentences of a page that `MORE_LONG_SENTENCES` does not name."""
MORE_LONG_SENTENCES = {
    "CHANGELOG.md": 13,  # lists of what was added
    "docs/benchmarks.md": 26,  # conditions of runs, with their figures
}
UNCHECKED = {
    "docs/bibliography.md": "titles and notes of other people's work",
    "docs/decisions/": "records of decisions, in the words of their day; only their spelling is checked",
}
SPELLED_AS_WRITTEN = {"docs/bibliography.md": "titles of other people's work"}

AVOIDED = {
    r"she|her|hers|he|him": "they, their",
    r"accounts? (?:above|below)": "a parent or a child account",
    r"chances?": "probability",
    r"laws?": "distribution",
    r"by lot": "random",
    r"payments?": "charge",
    r"pric(?:e|es|ed|ing)": "cost",
    r"questions?": "query",
    r"signatures?": "seal",
    r"(?:tells?|told|telling) of": "release, reveal",
}
"""Words with the one that the glossary has instead; those whose other senses are common in pages are not in it."""
ALLOWED = {
    ("docs/benchmarks.md", "signatures"): "signatures of functions",
    ("docs/explanation/attacks.md", "payments"): "payments by credit card, in a study",
    ("docs/tutorials/examples.md", "price"): "the price at an auction",
}
"""A word of a page that is meant, with its reason."""
BRITISH = re.compile(
    r"\b(?:\w*(?:neighbour|colour|behaviour|favour|honour|labour|flavour)\w*|grey|cent(?:re|red|res)|licence|defence|catalogues?|analys(?:e|es|ed|ing)"
    r"|acknowledgements?|judgements?|whilst|amongst|misspelt|modell(?:ed|ing|er)|labell(?:ed|ing)|cancell(?:ed|ing)|travell(?:ed|ing)"
    r"|\w+(?:al|er|om|im|an|in|or|ar|at|it|gn)is(?:e|es|ed|ing|ation|ations))\b",
    re.IGNORECASE,
)
SPELLED_SO_EVERYWHERE = {
    "promise",
    "promises",
    "promised",
    "promising",
    "premise",
    "premises",
    "compromise",
    "expertise",
}

FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINKED = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CITED = re.compile(r"\[[A-Z][A-Za-z]*\d\d[a-z]?\]")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.|>) ")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\**\s+(?=[^a-z0-9])|(?<=:)\s+(?=[A-Z])")


def prose(page):
    """A page without code, addresses and citations, which hold words of others."""
    return CITED.sub("", LINKED.sub(r"\1", CODE.sub("Code", FENCED.sub("", page))))


def sentences(page):
    """The sentences of paragraphs and of items of lists; headings, tables and pictures have none."""
    lines = []
    for line in prose(page).splitlines():
        is_text = not line.lstrip().startswith(("|", "#"))
        lines.append(("\n" if ITEM.match(line) else "") + ITEM.sub("", line) if is_text else "")
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", "\n".join(lines)))
    return [sentence for paragraph in paragraphs for sentence in END_OF_SENTENCE.split(paragraph) if sentence]


def long_sentences(page):
    return [
        sentence for sentence in sentences(page) if len(re.findall(r"\S*\w\S*", sentence)) > MAX_WORDS_OF_A_SENTENCE
    ]


def avoided(page):
    """Each word that the glossary avoids, with what it has instead."""
    found = ((instead, match[0].lower()) for words, instead in AVOIDED.items() for match in matches(words, page))
    return sorted({f"{word} ({instead})" for instead, word in found})


def matches(words, page):
    return re.finditer(rf"\b(?:{words})\b", prose(page), re.IGNORECASE)


def british(page):
    return sorted({match[0].lower() for match in BRITISH.finditer(prose(page))} - SPELLED_SO_EVERYWHERE)


def is_in(path, listed):
    return any(name(path).startswith(place) for place in listed)


def pages(*, besides):
    """The pages for readers, without those that are listed."""
    folders = (ROOT / "docs", ROOT)
    return {
        path: page
        for path, page in documents().items()
        if (path.is_relative_to(folders[0]) or path.parent == folders[1]) and not is_in(path, besides)
    }


def test_sentences_of_pages_are_short():
    counted = {path: long_sentences(page) for path, page in pages(besides=UNCHECKED).items()}
    assert len(counted) > 30
    too_many = {
        path: [f"{len(found)} sentences of more than {MAX_WORDS_OF_A_SENTENCE} words, such as {found[0]!r}"]
        for path, found in counted.items()
        if len(found) > MORE_LONG_SENTENCES.get(name(path), LONG_SENTENCES)
    }
    assert offenders(too_many.items()) == []


def test_pages_have_the_words_of_the_glossary():
    found = {
        path: [word for word in avoided(page) if (name(path), word.partition(" (")[0]) not in ALLOWED]
        for path, page in pages(besides=UNCHECKED).items()
    }
    assert offenders(found.items()) == []


def test_pages_are_in_american_spelling():
    assert offenders((path, british(page)) for path, page in pages(besides=SPELLED_AS_WRITTEN).items()) == []


def test_each_exception_is_needed():
    """An exception that nothing uses hides the next mistake."""
    by_name = {name(path): page for path, page in pages(besides=()).items()}
    assert [
        place for place in {*UNCHECKED, *SPELLED_AS_WRITTEN} if not any(at.startswith(place) for at in by_name)
    ] == []
    unused = [
        (at, word) for at, word in ALLOWED if word not in {found.partition(" (")[0] for found in avoided(by_name[at])}
    ]
    assert unused == []


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("A dog. A cat! Is it? Yes: It is.", 5),
        ("- one\n- two\n\n1. three\n", 3),
        ("# Heading\n\n| a | b |\n|---|---|\n\nText that `is. Code` has\nno end", 1),
        ("See [a page. Or two](x.md), at 0.5 of it. `code` begins.", 3),
        ("```\nNot. Text.\n```\n", 0),
    ],
)
def test_sentences_are_counted(page, count):
    assert len(sentences(page)) == count


def test_a_long_sentence_is_seen():
    of_25 = "word " * 24 + "end."
    assert long_sentences(of_25) == []
    assert long_sentences(f"One more {of_25} Short.") == [f"One more {of_25}"]


def test_avoided_words_are_seen():
    assert avoided("Her price, by lot.") == ["by lot (random)", "her (they, their)", "price (cost)"]
    assert avoided("`price` and [here](question.md), lawful priceless others") == []


def test_british_spelling_is_seen():
    words = "neighbouring colours behaviour normalised randomising analysed centre grey"
    assert british(words) == sorted(words.split())
    assert (
        british("promised noise precise otherwise raised neighboring colors center analysis randomized exercise rising")
        == []
    )


def test_no_file_names_a_path_of_one_machine():
    assert offenders((path, MACHINE_PATH.findall(text)) for path, text in texts().items()) == []


def test_no_source_is_unfinished():
    sources = {path: text for path, text in texts().items() if path.is_relative_to(SOURCE)}
    assert offenders((path, UNFINISHED.findall(text)) for path, text in sources.items()) == []


def test_a_path_of_a_machine_is_seen():
    for folder in ("root", "home", "work", "tmp/w"):
        assert MACHINE_PATH.search(f"open('/{folder}/x.csv')"), folder
        assert not MACHINE_PATH.search(f"https://example.org/{folder}/x.csv"), folder


def test_only_what_is_raised_is_unfinished():
    assert UNFINISHED.search("raise NotImplementedError")
    assert not UNFINISHED.search("except NotImplementedError:")
