import pytest

import sfumato as sf
from examples import g07_anonymity as example
from sfumato.attacks.disclosure.generalization import homogeneity, intersection


@pytest.fixture(scope="module")
def hospitals():
    return example.hospitals()


def test_a_thousand_are_patients_of_both(hospitals):
    first, second, both = hospitals
    assert (first.num_rows, second.num_rows, both.num_rows) == (4_500, 4_500, 1_000)
    assert first.slice(3_500).equals(both) is second.slice(0, 1_000).equals(both) is True


@pytest.mark.parametrize(("k", "alone", "joined"), [(3, 8, 242), (5, 0, 35), (10, 0, 0)])
def test_two_tables_make_certain_whom_one_does_not(hospitals, k, alone, joined):
    first, second, both = hospitals
    one, two = example.released(first, k), example.released(second, k)
    assert homogeneity(one, both, sensitive=example.SENSITIVE).certain == alone
    assert intersection(one, two, both, sensitive=example.SENSITIVE).certain == joined


def test_a_curator_spends_half(hospitals):
    with example.curator(hospitals[0]) as hospital:
        hospital.sql("SELECT COUNT(*) AS n FROM hospital WHERE age = 30", epsilon=example.EPSILON)
        assert hospital.spent == hospital.budget == sf.PureDP("0.5")
