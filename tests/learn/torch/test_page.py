"""The page about networks says what is so, and its examples run."""

from tests.meta.test_docs import ROOT, left_by_examples, text, without_row

import sfumato as sf

PAGE = ROOT / "docs" / "reference" / "networks.md"


def test_its_examples_run_and_give_what_they_say():
    names = left_by_examples(PAGE)
    assert (names["trained"].updates, str(names["trained"].guarantee)) == (18, "ε 8, δ 1e-05")
    assert repr(names["examples"]) == "Examples(of 3 rows a unit)"


def test_every_public_name_is_explained_and_on_a_page():
    pages = "".join(text(page) for page in sorted(PAGE.parent.glob("*.md")))
    names = sf.learn.torch.__all__
    assert [name for name in names if not getattr(sf.learn.torch, name).__doc__] == []
    assert without_row(pages, [name for name in names if name[0].islower()], r"`?{}`?") == []


def test_digits_are_read_as_the_tutorial_says(capsys):
    """About 90% with a spread of 2%; a guess reads 10%."""
    left_by_examples(PAGE.parents[1] / "tutorials" / "digits.md")
    said = capsys.readouterr().out
    assert "noise       2.8" in said
    assert int(said.rpartition("\n")[0].rpartition("\n")[2].partition("%")[0]) > 60
