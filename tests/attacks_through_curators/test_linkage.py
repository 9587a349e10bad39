"""Who knows a patient's ZIP code, birth date and sex asks a hospital about exactly that cell."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome, largest_success
from sfumato.datasets.voters import QUASI_IDENTIFIERS, hospital_and_voters

WORLDS = 20_000 if FULL_SIZE else 2_000
CROWD = 3
CERTAIN = 1 - 2e-6
"""Of an interval: a limit fails with a chance of 1e-6, which is the type-I error of each test."""

SQL = {
    "membership": "SELECT world, COUNT(*) AS n FROM hospital WHERE {cell} GROUP BY world",
    "diagnosis": "SELECT world, COUNT(*) AS n FROM hospital WHERE {cell} AND diagnosis = 'HIV' GROUP BY world",
    "misspelt": "SELECT world, COUNT(*) AS n FROM hospital WHERE {near} AND diagnosis = 'HIV' GROUP BY world",
}
"""About the victim's cell; or, of records that may have a typo, about whoever agrees in two of the three."""
AGREE = " + ".join(f"CASE WHEN {name} = victim_{name} THEN 1 ELSE 0 END" for name in QUASI_IDENTIFIERS)
CELL = "zip = victim_zip AND birth_date = victim_birth_date AND sex = victim_sex"


def worlds_of(asked: str, truth: np.ndarray) -> pa.Table:
    """Hospitals of a few patients each; in some the victim is a patient, or has HIV, and in the others not.

    Each row carries what the adversary knows of the victim of its world, from the voter roll, so that one question can
    ask each hospital about another cell. Everybody's cell is his own.
    """
    people = hospital_and_voters(WORLDS * (CROWD + 1), uniqueness=1).hospital.to_pylist()
    rows = []
    for world, (patients, bit) in enumerate(zip(batched(people, CROWD + 1), truth.tolist(), strict=True)):
        victim, *others = patients
        known = {f"victim_{name}": victim[name] for name in QUASI_IDENTIFIERS}
        ill = {"diagnosis": "HIV" if bit or asked == "membership" else "gastritis"}
        typo = {"zip": f"{victim['zip'][1:]}{victim['zip'][0]}"} if asked == "misspelt" else {}
        there = [victim | ill | typo] if bit or asked != "membership" else []
        well = {"diagnosis": "gastritis"} if asked == "misspelt" else {}  # of whom some agree in two by chance
        rows += [row | known | {"world": world} for row in (*there, *(other | well for other in others))]
    return pa.Table.from_pylist(rows)


def batched(values: list, size: int) -> Iterator[list]:
    left = iter(values)
    while part := list(islice(left, size)):
        yield part


@contextmanager
def curator(table: pa.Table, budget: str) -> Iterator[sf.Session]:
    columns = {
        "world": sf.integer(values=range(WORLDS)),
        "diagnosis": sf.text(),
        **{f"{whose}{name}": sf.text() for whose in ("", "victim_") for name in ("zip", "sex")},
        **{f"{whose}birth_date": sf.date() for whose in ("", "victim_")},
    }
    with sf.open(table, name="hospital", columns=columns, budget=sf.PureDP(budget)) as session:
        yield session


def attack(asked: str, answer: Callable[[pa.Table, str], np.ndarray]) -> Outcome:
    """Guess of each hospital whether it counts the victim: whether its answer is at least 1."""
    truth = np.random.default_rng().random(WORLDS) < 1 / 2
    guesses = answer(worlds_of(asked, truth), SQL[asked].format(cell=CELL, near=f"{AGREE} >= 2")) >= 1
    return Outcome(
        attack=f"{asked} by a cell of quasi-identifiers",
        successes=int((guesses == truth).sum()),
        trials=WORLDS,
        baseline=1 / 2,
        allowed=largest_success(epsilon=1),
    )


def private(epsilon: str) -> Callable[[pa.Table, str], np.ndarray]:
    def answer(table: pa.Table, sql: str) -> np.ndarray:
        with curator(table, epsilon) as hospital:
            records = hospital.sql(sql, epsilon=epsilon).records()
            assert hospital.spent == hospital.budget == sf.PureDP(epsilon)
        return np.array([record["n"] for record in sorted(records, key=lambda record: record["world"])])

    return answer


def exact(table: pa.Table, sql: str) -> np.ndarray:
    """What a hospital without noise would say, computed without the curator."""
    counts = np.zeros(WORLDS)
    for row in table.to_pylist():
        agreeing = sum(row[name] == row[f"victim_{name}"] for name in QUASI_IDENTIFIERS)
        is_victim = agreeing >= (2 if ">= 2" in sql else 3)
        counts[row["world"]] += is_victim and ("HIV" not in sql or row["diagnosis"] == "HIV")
    return counts


@pytest.mark.parametrize("asked", SQL)
def test_exact_answers_about_a_cell_give_the_victim_away(asked):
    assert attack(asked, exact).success == 1


@pytest.mark.statistical
@pytest.mark.parametrize("asked", SQL)
def test_through_a_curator_nobody_is_right_more_often_than_epsilon_one_allows(asked):
    """The lower limit of the measured success is above the bound with a chance of 1e-6.

    A victim with another diagnosis is not counted, so that the answers of both worlds are those of neighbors.
    """
    found = attack(asked, private("1"))
    assert found.interval(confidence=CERTAIN)[0] <= found.allowed


@pytest.mark.statistical
def test_the_same_attack_passes_that_bound_where_less_is_promised():
    """Control: at ε = 3 it is right 95 times in 100, far above what ε = 1 allows (type-I error 1e-6)."""
    found = attack("membership", private("3"))
    assert found.interval(confidence=CERTAIN)[0] > found.allowed


@pytest.mark.statistical
def test_a_curator_that_halves_its_noise_would_be_seen():
    """Control of power: at ε = 2 the attack's limit lies above the bound of ε = 1 (type-I error 1e-6)."""
    found = attack("membership", private("2"))
    assert found.interval(confidence=CERTAIN)[0] > found.allowed
