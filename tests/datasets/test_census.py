import hashlib

import pyarrow.compute as pc
import pytest

from sfumato.datasets import ADULT_NAMES, people
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def table():
    return people()


def share(table, column, value):
    return pc.mean(pc.cast(pc.equal(table[column], value), "float64")).as_py()


def test_people_have_the_size_and_the_columns_of_adult(table):
    assert table.num_rows == 32_561
    assert tuple(table.column_names) == ADULT_NAMES


def test_ages_lie_between_17_and_90(table):
    assert pc.min_max(table["age"]).as_py() == {"min": 17, "max": 90}


def test_a_fifth_is_over_fifty_and_a_quarter_earns_much(table):
    assert pc.mean(pc.cast(pc.greater(table["age"], 50), "float64")).as_py() == pytest.approx(0.2, abs=0.03)
    assert share(table, "income", ">50K") == pytest.approx(0.24, abs=0.03)


def test_every_age_has_somebody(table):
    assert len(pc.unique(table["age"])) == 74


def test_the_married_are_husbands_and_wives_by_their_sex(table):
    rows = table.select(["marital_status", "relationship", "sex"]).to_pylist()
    for row in rows:
        married = row["marital_status"] in {"Married-civ-spouse", "Married-AF-spouse"}
        assert (row["relationship"] == ("Husband" if row["sex"] == "Male" else "Wife")) == married


def test_education_and_its_number_agree_one_to_one(table):
    pairs = set(zip(table["education"].to_pylist(), table["education_num"].to_pylist(), strict=True))
    assert sorted(number for _, number in pairs) == list(range(1, 17))


def test_whoever_has_no_known_work_class_has_no_known_occupation(table):
    unknown = table.filter(pc.equal(table["workclass"], "?"))
    assert pc.unique(unknown["occupation"]).to_pylist() == ["?"]


def test_nobody_gains_and_loses_capital_in_one_year(table):
    assert pc.max(pc.multiply(table["capital_gain"], table["capital_loss"])).as_py() == 0


def test_whole_columns_have_no_missing_values(table):
    assert all(table[name].null_count == 0 for name in ADULT_NAMES)


def test_the_seed_decides_the_people_on_every_platform(table):
    text = "\n".join(",".join(map(str, row.values())) for row in table.to_pylist())
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "8187b7ee76ad9cbf7d48579d90194100dcf20903399830f3c2a42fbbe6040421"
    )
    assert not people(20, seed=2).equals(people(20, seed=1))


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_number_of_people_is_a_whole_number(n):
    with pytest.raises(ParameterError):
        people(n)
