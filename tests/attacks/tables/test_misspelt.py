"""Typos that a join does not bear hide hardly anybody from who weighs what agrees."""

import pytest

from sfumato.attacks.linking.linkage import linkage
from sfumato.attacks.tables.misspelt import edits, misspelt, misspelt_linkage
from sfumato.datasets.voters import hospital_and_voters
from sfumato.errors import ParameterError

TWO = hospital_and_voters(400, uniqueness="0.87")
ASKED = {"columns": ["zip", "birth_date", "sex"], "name": "name", "truth": TWO.patients}
VOTERS = {name: [str(value) for value in TWO.voters[name].to_pylist()] for name in TWO.voters.column_names}


def hospital(share):
    columns = {name: [str(value) for value in TWO.hospital[name].to_pylist()] for name in ASKED["columns"]}
    return columns | {name: misspelt(columns[name], share=share) for name in ("zip", "birth_date")}


def test_without_typos_it_names_those_whom_a_join_names():
    found = misspelt_linkage(hospital(0), VOTERS, **ASKED)
    assert linkage(hospital(0), VOTERS, **ASKED).successes == 348
    assert 320 <= found.successes <= 348
    assert found.notes[0].endswith("0 of them wrongly")


def test_with_typos_in_half_of_the_fields_a_join_fails_and_weights_do_not():
    typed = hospital(0.5)
    joined, weighed = linkage(typed, VOTERS, **ASKED), misspelt_linkage(typed, VOTERS, typos=0.3, **ASKED)
    assert joined.success < 0.35
    assert weighed.success > 2 * joined.success


def test_a_larger_margin_claims_less():
    typed = hospital(0.3)
    bold, careful = (misspelt_linkage(typed, VOTERS, margin=margin, **ASKED) for margin in (0, 12))
    assert careful.successes < bold.successes


def test_who_is_not_known_is_hardly_ever_claimed():
    strangers = hospital_and_voters(400, uniqueness="0.87", seed=5)
    typed = {name: [str(value) for value in strangers.hospital[name].to_pylist()] for name in ASKED["columns"]}
    found = misspelt_linkage(typed, VOTERS, **(ASKED | {"truth": strangers.patients}), margin=8)
    assert int(found.notes[0].split()[0]) < 80


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ("", "", 0),
        ("", "ab", 2),
        ("ca", "ac", 1),
        ("ca", "abc", 3),
        ("02138", "02138", 0),
        ("12", "21", 1),
        ("a", "b", 1),
    ],
)
def test_edits_are_counted(first, second, apart):
    assert edits(first, second) == edits(second, first) == apart


def test_a_typo_is_one_edit():
    texts = [f"{number:05}" for number in range(0, 90_000, 700)]
    typed = misspelt(texts, share=1)
    assert {edits(*pair) for pair in zip(texts, typed, strict=True)} == {1}
    assert misspelt(texts, share=0) == texts


@pytest.mark.parametrize(("texts", "share"), [(["a"], 0.5), (["ab"], -1), (["ab"], 2)])
def test_what_cannot_be_misspelt_is_refused(texts, share):
    with pytest.raises(ParameterError, match="texts"):
        misspelt(texts, share=share)


@pytest.mark.parametrize(
    "wrong", [{"typos": 0}, {"typos": 0.5}, {"margin": -1}, {"columns": []}, {"truth": ["Ann"]}, {"name": "nobody"}]
)
def test_wrong_questions_are_refused(wrong):
    with pytest.raises(ParameterError):
        misspelt_linkage(hospital(0), VOTERS, **(ASKED | wrong))
