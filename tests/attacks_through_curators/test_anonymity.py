"""A patient of two hospitals: k-anonymous tables say together what he has, and two curators do not."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome, largest_success
from sfumato.attacks.disclosure.generalization import generalize, intersection

WORLDS = 20_000 if FULL_SIZE else 2_000
K = 4
ILLNESSES = ("gastritis", "HIV")
FILLERS = ("asthma", "bronchitis", "arthritis", "migraine", "epilepsy", "depression")
CERTAIN = 1 - 2e-6
"""Of an interval: a limit fails with a chance of 1e-6, which is the type-I error of each test."""


def hospital(ill: np.ndarray, others: tuple[str, ...]) -> pa.Table:
    """In each world one class of four patients of one age: the victim of both hospitals, and three others."""
    rows = [
        {"world": world, "age": world, "diagnosis": diagnosis}
        for world, illness in enumerate(ill.tolist())
        for diagnosis in (ILLNESSES[illness], *others)
    ]
    return pa.Table.from_pylist(rows)


def both(ill: np.ndarray) -> tuple[pa.Table, pa.Table]:
    return hospital(ill, FILLERS[: K - 1]), hospital(ill, FILLERS[K - 1 :])


def private(epsilon: str) -> Callable[[pa.Table], np.ndarray]:
    """One curator's count of each illness in question, in each world."""

    def answer(table: pa.Table) -> np.ndarray:
        columns = {
            "world": sf.integer(values=range(WORLDS)),
            "diagnosis": sf.text(values=ILLNESSES),
        }
        sql = "SELECT world, diagnosis, COUNT(*) AS n FROM hospital GROUP BY world, diagnosis"
        with sf.open(table, name="hospital", columns=columns, budget=sf.PureDP(epsilon)) as patients:
            records = patients.sql(sql, epsilon=epsilon).records()
            assert patients.spent == patients.budget
        counts = np.zeros((WORLDS, len(ILLNESSES)))
        for record in records:
            counts[record["world"], ILLNESSES.index(record["diagnosis"])] = record["n"]
        return counts

    return answer


def attack(answer: Callable[[pa.Table], np.ndarray]) -> Outcome:
    """Guess the illness with the larger sum of both hospitals' counts, and toss a coin where they are equal.

    It does not reach the limit, and so is no audit: half of the noise would pass it.

    A victim with the other illness is one row less and one more in each hospital, so that the limit is that of 2ε,
    where ε is what both curators spend on a row together.
    """
    draw = np.random.default_rng()
    ill = draw.integers(0, 2, WORLDS)
    counts = sum(answer(table) for table in both(ill))
    margin = counts[:, 1] - counts[:, 0]
    guesses = np.where(margin == 0, draw.integers(0, 2, WORLDS), margin > 0)
    return Outcome(
        attack="intersection of two curators",
        successes=int((guesses == ill).sum()),
        trials=WORLDS,
        baseline=1 / 2,
        allowed=largest_success(epsilon=2),
    )


def test_two_four_anonymous_tables_give_the_patient_of_both_away():
    ill = np.random.default_rng().integers(0, 2, 200)
    released = [generalize(table, columns=["age"], sensitive="diagnosis", k=K) for table in both(ill)]
    victims = {"age": range(200), "diagnosis": [ILLNESSES[illness] for illness in ill.tolist()]}
    found = intersection(*released, victims, sensitive="diagnosis")
    assert [table.k for table in released] == [K, K]
    assert found.certain == found.outcome.successes == 200


def test_exact_counts_give_him_away_as_well():
    def exact(table: pa.Table) -> np.ndarray:
        counts = np.zeros((WORLDS, len(ILLNESSES)))
        for row in table.to_pylist():
            if row["diagnosis"] in ILLNESSES:
                counts[row["world"], ILLNESSES.index(row["diagnosis"])] += 1
        return counts

    assert attack(exact).success == 1


@pytest.mark.statistical
def test_two_curators_that_spend_half_each_give_away_no_more_than_epsilon_one():
    """The lower limit of the measured success is above the bound with a chance of 1e-6."""
    found = attack(private("0.5"))
    assert found.interval(confidence=CERTAIN)[0] <= found.allowed


@pytest.mark.statistical
def test_the_same_attack_passes_that_bound_where_less_is_promised():
    """Control: two curators at ε = 3 each give him away more often than ε = 1 allows (type-I error 1e-6)."""
    found = attack(private("3"))
    assert found.interval(confidence=CERTAIN)[0] > found.allowed
