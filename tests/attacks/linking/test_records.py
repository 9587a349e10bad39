import pytest

from sfumato.attacks.disclosure.anonymity import uniqueness
from sfumato.attacks.linking.records import edits, linkage, misspelt, misspelt_linkage
from sfumato.datasets.voters import QUASI_IDENTIFIERS, hospital_and_voters
from sfumato.errors import ParameterError

COARSER = {"birth_date": lambda day: day.year, "zip": lambda code: code[:3]}


def joined(two, **more):
    return linkage(
        two.hospital, two.voters, columns=QUASI_IDENTIFIERS, name="name", truth=two.patients, **more
    )  # fmt: skip


@pytest.mark.parametrize(("declared", "named"), [("0.87", 8_700), ("0.63", 6_300), (0, 0), (1, 10_000)])
def test_linkage_names_exactly_the_declared_share_of_patients(declared, named):
    found = joined(hospital_and_voters(10_000, uniqueness=declared))
    assert (found.successes, found.trials) == (named, 10_000)
    assert found.notes == (f"{named:,} names were claimed, 0 of them wrongly",)


def test_linkage_of_one_population_is_the_uniqueness_of_its_table():
    two = hospital_and_voters(2_000, uniqueness="0.5")
    for coarsen in ({}, {"birth_date": COARSER["birth_date"]}, COARSER):
        measured = uniqueness(two.hospital, columns=QUASI_IDENTIFIERS, coarsen=coarsen)
        assert joined(two, coarsen=coarsen).success == measured


def test_each_coarser_quasi_identifier_names_fewer():
    two = hospital_and_voters(10_000)
    by_year = joined(two, coarsen={"birth_date": COARSER["birth_date"]}).success
    by_year_and_prefix = joined(two, coarsen=COARSER).success
    assert 0.87 > by_year > by_year_and_prefix > 0
    assert by_year < 0.1


def test_a_match_with_the_wrong_person_is_no_success():
    roll = {"name": ["Ann"], "zip": [1]}
    found = linkage({"zip": [1, 1]}, roll, columns=["zip"], name="name", truth=["Ann", "Eve, who does not vote"])
    assert (found.successes, found.trials) == (1, 2)
    assert "2 names were claimed, 1 of them wrongly" in found.notes[0]


def test_who_is_on_no_roll_is_not_named():
    found = linkage({"zip": [1, 2]}, {"name": ["Ann"], "zip": [1]}, columns=["zip"], name="name", truth=["Ann", "Bob"])
    assert found.notes == ("1 names were claimed, 0 of them wrongly",)


@pytest.mark.parametrize("truth", [[], ["Ann", "Bob"]])
def test_the_truth_has_one_name_for_each_record(truth):
    with pytest.raises(ParameterError, match="truth"):
        linkage({"zip": [1]}, {"name": ["Ann"], "zip": [1]}, columns=["zip"], name="name", truth=truth)


def test_an_empty_roll_is_refused():
    with pytest.raises(ParameterError, match="truth"):
        linkage({"zip": [1]}, {"name": [], "zip": []}, columns=["zip"], name="name", truth=["Ann"])


def test_everybody_who_is_known_has_a_name():
    with pytest.raises(ParameterError, match="values of name"):
        linkage({"zip": [1]}, {"name": ["Ann"], "zip": [1, 2]}, columns=["zip"], name="name", truth=["Ann"])


@pytest.mark.parametrize("parameter", ["released", "known", "columns", "name", "truth", "coarsen"])
def test_the_parameter_that_is_wrong_is_named(parameter):
    right = {"released": {"zip": [1]}, "known": {"zip": [1], "name": ["Ann"]}, "columns": ["zip"], "name": "name"}
    right |= {"truth": ["Ann"], "coarsen": None}
    wrong = right | {parameter: 3}
    with pytest.raises(ParameterError, match=f"^{parameter} = 3: must be "):
        linkage(wrong.pop("released"), wrong.pop("known"), **wrong)


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
