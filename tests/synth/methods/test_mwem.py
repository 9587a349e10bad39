"""MWEM: rounds that cost the same, on the groups of the workload that a model has room for."""

from fractions import Fraction

import pytest
from tests.synth.methods.small import measuring_of

from sfumato.synth.methods import mwem
from sfumato.synth.methods.mwem import measure_in_rounds
from sfumato.synth.methods.stated import Stated

NAMES = ("age", "ill", "sex")


def parts(measuring):
    return measuring.steps[:3], measuring.steps[3::2], measuring.steps[4::2]


def test_each_round_costs_the_same():
    measuring = measuring_of(rho=Fraction(9))
    measure_in_rounds(measuring, NAMES, Stated())
    columns, choices, tables = parts(measuring)
    assert [step.columns for step in columns] == [(name,) for name in NAMES]
    assert [step.columns for step in choices] == [step.columns for step in tables]
    assert len(choices) == 6
    assert [float(step.rho) for step in columns] == pytest.approx([1] * 3, rel=1e-6)
    assert [float(step.rho) for step in choices] == pytest.approx([0.1] * 6, rel=1e-6)
    assert [float(step.rho) for step in tables] == pytest.approx([0.9] * 6, rel=1e-6)
    assert 0 <= measuring.left < Fraction(1, 10**6)


def test_pairs_that_depend_on_each_other_are_measured():
    measuring = measuring_of(rho=Fraction(9))
    measure_in_rounds(measuring, NAMES, Stated())
    found = {step.columns for step in parts(measuring)[2]}
    assert len(found) >= 2
    assert all(len(own) == 2 for own in found)


def test_groups_are_those_of_the_workload():
    measuring = measuring_of(rho=Fraction(9))
    measure_in_rounds(measuring, NAMES, Stated(workload={("ill", "sex"): 1}))
    assert {step.columns for step in parts(measuring)[2]} == {("ill", "sex")}
    measuring = measuring_of(rho=Fraction(9))
    measure_in_rounds(measuring, NAMES, Stated(workload={("ill",): 1}))
    assert {step.columns for step in parts(measuring)[2]} == {("ill",)}


def test_a_heavy_group_is_chosen_first():
    measuring = measuring_of(rho=Fraction(9))
    measure_in_rounds(measuring, NAMES, Stated(workload={("age", "sex"): 1, ("ill", "sex"): 10**6}))
    assert parts(measuring)[1][0].columns == ("ill", "sex")


def test_a_model_stays_as_large_as_is_allowed(monkeypatch):
    monkeypatch.setattr(mwem, "LARGEST", 0)
    monkeypatch.setattr(mwem, "LEAST", 8 * 14)
    measuring = measuring_of(rho=Fraction(9))
    measure_in_rounds(measuring, NAMES, Stated(workload={NAMES: 1}))
    tables = {step.columns for step in parts(measuring)[2]}
    assert len(tables - {(name,) for name in NAMES}) == 1
    assert all(len(own) < 3 for own in tables)


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(10**9)])
def test_it_ends_whatever_it_may_spend(rho):
    measuring = measuring_of([], rho=rho)
    measure_in_rounds(measuring, NAMES, Stated())
    assert len(measuring.steps) == 3 + 2 * 6
    assert measuring.left >= 0


def test_one_column_is_measured_again():
    measuring = measuring_of(rho=Fraction(1))
    measure_in_rounds(measuring, ("age",), Stated())
    assert {step.columns for step in measuring.steps} == {("age",)}
