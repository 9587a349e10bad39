import hashlib

import pyarrow.compute as pc
import pytest

from sfumato.datasets.voters import QUASI_IDENTIFIERS, hospital_and_voters
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def two():
    return hospital_and_voters()


def sizes(table):
    return table.group_by(list(QUASI_IDENTIFIERS)).aggregate([([], "count_all")])["count_all"].to_pylist()


@pytest.mark.parametrize(("n", "declared", "alone"), [(10_000, "0.87", 8_700), (10_000, "0.63", 6_300), (7, 0, 0)])
def test_the_declared_share_is_alone_with_the_three_exactly(n, declared, alone):
    assert sizes(hospital_and_voters(n, uniqueness=declared).voters).count(1) == alone


def test_who_is_not_alone_shares_with_one_or_two():
    assert set(sizes(hospital_and_voters(101, uniqueness=0).voters)) == {2, 3}


def test_both_tables_are_about_the_same_people_in_another_order(two):
    named = zip(two.patients, *(two.hospital[column].to_pylist() for column in QUASI_IDENTIFIERS), strict=True)
    on_the_roll = [tuple(row.values()) for row in two.voters.to_pylist()]
    assert sorted(named) == sorted(on_the_roll)
    assert list(two.patients) != two.voters["name"].to_pylist()


def test_the_hospital_gives_no_names_and_the_roll_no_diagnoses(two):
    assert two.hospital.column_names == [*QUASI_IDENTIFIERS, "diagnosis"]
    assert two.voters.column_names == ["name", *QUASI_IDENTIFIERS]


def test_no_two_people_have_one_name():
    assert len(set(hospital_and_voters(50_000).patients)) == 50_000


def test_people_are_adults_of_either_sex(two):
    born = pc.year(two.voters["birth_date"])
    assert pc.min(born).as_py() >= 1900
    assert pc.max(born).as_py() <= 1979
    assert sorted(pc.unique(two.voters["sex"]).to_pylist()) == ["F", "M"]
    women = pc.sum(pc.equal(two.voters["sex"], "F")).as_py()
    assert 4_500 < women < 5_500


def test_the_seed_decides_the_people_on_every_platform(two):
    text = "\n".join(",".join(map(str, row.values())) for row in two.hospital.to_pylist() + two.voters.to_pylist())
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "fbc63d28694df6ec557ec345838088685a2ed92a14fc563d01dfd3afb825970a"
    )
    assert not hospital_and_voters(20, uniqueness="0.5", seed=2).voters.equals(
        hospital_and_voters(20, uniqueness="0.5", seed=1).voters
    )


@pytest.mark.parametrize(("n", "uniqueness"), [(100, "0.875"), (100, "0.99"), (100, 2), (100, "-0.1"), (1, 0)])
def test_a_share_that_cannot_be_had_exactly_is_refused(n, uniqueness):
    with pytest.raises(ParameterError, match="uniqueness"):
        hospital_and_voters(n, uniqueness=uniqueness)


@pytest.mark.parametrize("n", [0, 1.5, 100_001])
def test_a_number_of_people_is_a_whole_number_in_range(n):
    with pytest.raises(ParameterError, match="n"):
        hospital_and_voters(n)
