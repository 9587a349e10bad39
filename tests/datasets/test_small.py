import itertools

import pytest

from sfumato.datasets import SYMPTOMS, company, diseases, medical_table, survey, symptoms, votes
from sfumato.errors import ParameterError


def counts(column):
    return {entry["values"]: entry["counts"] for entry in column.value_counts().to_pylist()}


def test_prefix_sums_of_the_english_medical_table_give_chandler_away():
    table = medical_table()
    prefixes = list(itertools.accumulate(table["diabetes"].to_pylist()))
    assert table["name"].to_pylist() == ["Ross", "Monica", "Joey", "Phoebe", "Chandler"]
    assert prefixes[4] - prefixes[3] == 1


def test_prefix_sums_of_the_russian_medical_table_give_mikhail_away():
    table = medical_table("ru")
    prefixes = list(itertools.accumulate(table["gastritis"].to_pylist()))
    assert dict(zip(table["name"].to_pylist(), table["gastritis"].to_pylist(), strict=True))["Михаил"] == 1
    assert prefixes[3] - prefixes[2] == 1


def test_the_company_has_the_averages_of_the_texts_exactly():
    january, february = (company(month)["salary"].to_pylist() for month in ("january", "february"))
    assert (len(january), sum(january)) == (100, 100 * 55_000)
    assert (len(february), sum(february)) == (101, 101 * 56_000)
    assert max(january) == max(february) == 290_000


def test_the_payrolls_differ_by_mallory_alone():
    january, february = company("january").to_pylist(), company("february").to_pylist()
    assert february[:100] == january
    assert february[100] == {"id": 101, "name": "Mallory", "salary": 156_000}


def test_salaries_are_distinct_and_in_no_order():
    salaries = company()["salary"].to_pylist()
    assert len(set(salaries)) == 100
    assert salaries not in (sorted(salaries), sorted(salaries, reverse=True))


def test_somebody_earns_above_150_000_and_somebody_below_20_000():
    salaries = company()["salary"].to_pylist()
    assert sum(salary > 150_000 for salary in salaries) == 5
    assert sum(salary < 20_000 for salary in salaries) == 16


def test_the_city_votes_as_in_the_texts():
    assert counts(votes()["sport"]) == {"Football": 49, "Volleyball": 25, "Basketball": 6, "Swimming": 2}


def test_influenza_is_the_most_common_of_three_diseases():
    assert counts(diseases()["disease"]) == {"influenza": 40, "bronchitis": 35, "measles": 25}


def test_forty_of_a_hundred_say_yes():
    assert counts(survey()["smoked_marijuana"]) == {True: 40, False: 60}


def test_patients_have_several_symptoms_with_their_stated_chances():
    table = symptoms(20_000)
    assert table.column_names == ["patient", *SYMPTOMS]
    for symptom, chance in SYMPTOMS.items():
        assert sum(table[symptom].to_pylist()) / 20_000 == pytest.approx(chance, abs=0.02)


def test_a_patient_may_have_all_symptoms_or_none():
    totals = {sum(row[symptom] for symptom in SYMPTOMS) for row in symptoms(20_000).to_pylist()}
    assert totals == set(range(8))


def test_the_seed_decides_the_patients():
    assert symptoms(50).equals(symptoms(50))
    assert not symptoms(50).equals(symptoms(50, seed=8))


@pytest.mark.parametrize(
    "call", [lambda: medical_table("de"), lambda: company("march"), lambda: symptoms(0), lambda: symptoms(True)]
)
def test_a_value_that_cannot_be_used_is_named(call):
    with pytest.raises(ParameterError):
        call()
