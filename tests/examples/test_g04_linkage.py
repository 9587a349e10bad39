import pytest

import sfumato as sf
from examples import g04_linkage as example
from sfumato.datasets.voters import hospital_and_voters


@pytest.mark.parametrize(("declared", "named"), [("0.87", 8_700), ("0.63", 6_300)])
def test_the_declared_share_is_named_and_coarser_columns_name_few(declared, named):
    two = hospital_and_voters(example.PEOPLE, uniqueness=declared)
    as_it_is, by_year, by_prefix = (example.attack(two, how) for how in example.COARSER)
    assert as_it_is.successes == named
    assert 0.08 > by_year.success > 0.06
    assert 0.01 > by_prefix.success > 0.005


def test_one_question_about_one_voter_spends_the_budget():
    two = hospital_and_voters(200, uniqueness="0.87")
    with example.curator(two) as hospital:
        answer = hospital.sql(example.question(two, voter=3), epsilon=example.EPSILON)["n"][0]
        assert hospital.spent == sf.PureDP(1)
    assert answer.half_width == 3


@pytest.mark.statistical
def test_the_question_counts_the_cell_of_the_voter():
    """At ε = 50 noise other than 0 has a chance below 1e-21."""
    two = hospital_and_voters(200, uniqueness=1)
    ill = [diagnosis == "HIV" for diagnosis in two.hospital["diagnosis"].to_pylist()]
    sick = {name for name, is_ill in zip(two.patients, ill, strict=True) if is_ill}
    names = two.voters["name"].to_pylist()
    voters = [next(i for i, name in enumerate(names) if (name in sick) is wanted) for wanted in (True, False)]
    columns = {"zip": sf.text(), "birth_date": sf.date(), "sex": sf.text(), "diagnosis": sf.text()}
    with sf.open(two.hospital, name="hospital", columns=columns, budget=sf.PureDP(100)) as hospital:
        counts = [hospital.sql(example.question(two, voter), epsilon=50)["n"][0].value for voter in voters]
    assert counts == [1, 0]
