"""PrivBayes: a network of columns that depend on each other, of tables that are worth their noise."""

from fractions import Fraction

import numpy as np
import pytest
from tests.synth.methods.small import ROWS, measuring_of

from sfumato.synth.methods import privbayes
from sfumato.synth.methods.privbayes import _largest, measure_network, shares_of
from sfumato.synth.methods.stated import Stated
from sfumato.synth.models.shape import TableShape

NAMES = ("age", "ill", "sex")


def network(measuring):
    chosen = [step for step in measuring.steps[3:] if step.stddev is None]
    return measuring.steps[:3], chosen, measuring.steps[3 + len(chosen) :]


def test_a_network_joins_all_columns():
    measuring = measuring_of(ROWS * 9, rho=Fraction(10))
    measure_network(measuring, NAMES, Stated())
    columns, chosen, tables = network(measuring)
    assert [step.columns for step in columns] == [(name,) for name in NAMES]
    assert [len(step.columns) for step in chosen] == [2, 3]
    assert {tuple(sorted(step.columns)) for step in chosen} == {step.columns for step in tables}
    assert [float(sum(step.rho for step in part)) for part in (columns, chosen, tables)] == pytest.approx(
        [2, 3, 5], rel=1e-6
    )
    assert 0 <= measuring.left < Fraction(1, 10**6)


def test_tables_that_noise_would_hide_are_not_measured(monkeypatch):
    monkeypatch.setattr(privbayes, "_USEFUL", 10**6)
    measuring = measuring_of(rho=Fraction(1))
    measure_network(measuring, NAMES, Stated())
    _, chosen, tables = network(measuring)
    assert not chosen
    assert [step.columns for step in tables] == [(name,) for name in NAMES]
    assert measuring.left < Fraction(1, 10**8)


def test_tables_have_no_more_cells_than_are_useful(monkeypatch):
    asked = []
    monkeypatch.setattr(privbayes, "_families", lambda _shape, _joined, most: asked.append(most) or ())
    measure_network(measuring_of(ROWS * 10, rho=Fraction(1)), NAMES, Stated())
    noise = np.sqrt(2 / np.pi) / np.sqrt(2 * 0.25)
    assert asked[0] == pytest.approx(920 / (4 * noise), abs=3)


def test_a_model_stays_as_large_as_is_allowed(monkeypatch):
    monkeypatch.setattr(privbayes, "LARGEST", 8 * 24)
    measuring = measuring_of(ROWS * 9, rho=Fraction(10))
    measure_network(measuring, NAMES, Stated())
    assert [len(step.columns) for step in network(measuring)[2]] == [2, 2]


@pytest.mark.parametrize("rows", [[], ROWS[:1]])
def test_next_to_no_rows_are_measured_too(rows):
    measuring = measuring_of(rows, rho=Fraction(1, 10))
    measure_network(measuring, NAMES, Stated())
    assert len(measuring.steps) >= 6
    single = measuring_of(rows, rho=Fraction(1, 10))
    measure_network(single, ("age",), Stated())
    assert [step.columns for step in single.steps] == [("age",)] * 2


@pytest.mark.parametrize("counts", [[30, 10, -2], [0, 0, 0], [-1, -5, 0], [1e9, 1, 1], [5]])
def test_shares_add_up(counts):
    shares = shares_of(np.array(counts, dtype=float))
    assert shares.sum() == 2**16
    assert (shares >= 0).all()
    kept = np.maximum(counts, 0)
    if kept.sum():
        assert np.abs(shares / 2**16 - kept / kept.sum()).max() < 2**-16


def test_families_are_the_largest_that_are_allowed():
    shape = TableShape({"a": 2, "b": 3, "c": 4, "d": 50})
    found = list(privbayes._families(shape, {"a", "b", "c"}, 400))
    assert set(found) == {("d", "a"), ("d", "b"), ("d", "c"), ("d", "a", "b"), ("d", "a", "c")}
    assert set(_largest(found)) == {("d", "a", "b"), ("d", "a", "c")}
    assert set(privbayes._families(shape, set(), 10)) == {
        ("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"),
    }  # fmt: skip
