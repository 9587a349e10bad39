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
