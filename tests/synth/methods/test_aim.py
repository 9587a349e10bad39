"""AIM: what it measures follows what the model lacks; it ends, and spends what it has."""

from fractions import Fraction

import numpy as np
import pytest
from tests.synth.methods.small import ROWS, measuring_of

from sfumato.synth.methods import aim
from sfumato.synth.methods.aim import measure_adaptively
from sfumato.synth.methods.stated import Stated

NAMES = ("age", "ill", "sex")


def groups(measuring):
    return [step.columns for step in measuring.steps if step.stddev is not None]


def test_columns_that_depend_on_each_other_are_measured_together():
    measuring = measuring_of(rho=Fraction(3))
    measure_adaptively(measuring, NAMES, Stated())
    found = groups(measuring)
    assert found[:3] == [(name,) for name in NAMES]
    assert {name for own in found[3:] if len(own) > 1 for name in own} == set(NAMES)
    assert measuring.left < Fraction(3, 10**5)
    chosen = [step.columns for step in measuring.steps[3:] if step.stddev is None]
    assert chosen == found[3:]


def test_noise_becomes_less_where_it_hides_all():
    """Columns that are independent: after a few rounds a measurement moves the model by no more than noise."""
    rows = [(age, ill, sex) for age in range(3) for ill in (True, False) for sex in "fm"] * 4
    measuring = measuring_of(rows, rho=Fraction(1, 10))
    measure_adaptively(measuring, NAMES, Stated())
    noise = [float(step.stddev) for step in measuring.steps if step.stddev is not None]
    assert noise[-1] < noise[0] * 0.75
    assert len(measuring.steps) < 3 + 2 * 4 * 3


def test_a_model_stays_as_large_as_is_allowed(monkeypatch):
    monkeypatch.setattr(aim, "LARGEST", 0)
    monkeypatch.setattr(aim, "LEAST", 8 * 18)  # of age with ill, 4 × 3 cells, and sex with as many
    measuring = measuring_of(rho=Fraction(3))
    measure_adaptively(measuring, NAMES, Stated())
    assert max(len(own) for own in groups(measuring)) <= 2


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(10**9)])
def test_it_ends_whatever_it_may_spend(rho):
    measuring = measuring_of(ROWS[:20], rho=rho)
    measure_adaptively(measuring, NAMES, Stated())
    assert len(measuring.steps) <= 3 + 2 * 16 * 3
    assert measuring.left >= 0


def test_one_column_is_measured_again():
    measuring = measuring_of(rho=Fraction(1))
    measure_adaptively(measuring, ("age",), Stated())
    assert set(groups(measuring)) == {("age",)}
    assert np.isclose(float(measuring.left), 0, atol=1e-5)
