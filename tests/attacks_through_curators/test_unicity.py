"""Who knows four points of a trace asks a curator of phones how many people have all four."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.attacks.core.outcome import largest_advantage
from sfumato.datasets.pseudonyms import traces
from sfumato.numeric.binomial import lower_limit

POINTS = 4
CROWD = 3
WORLDS = 20_000 if FULL_SIZE else 2_000  # half of them with the person
SIGNIFICANCE = 5e-7
"""Of each of two limits, so that the type-I error of a test is 1e-6."""

SQL = (
    "SELECT world, COUNT(DISTINCT person) AS n FROM "
    "(SELECT person, world, COUNT(DISTINCT point) AS hits FROM sightings "
    f"WHERE point <= {POINTS} GROUP BY person, world) AS seen WHERE hits = {POINTS} GROUP BY world"
)


def worlds_of(there: np.ndarray) -> pa.Table:
    """Small cities, one a world: four sightings of each of a few people, and of the victim where he is there.

    The adversary numbers the victim's own points 1 to 4 and all others 5.
    """
    seen = traces(WORLDS * (CROWD + 1), days=7)
    table = np.stack([np.asarray(seen[name]) for name in ("person", "x", "y", "hour")], axis=1)
    starts = np.searchsorted(table[:, 0], np.arange(WORLDS * (CROWD + 1) + 1))
    rows = []
    for person, (start, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        world, place = divmod(person, CROWD + 1)
        points = list(dict.fromkeys(map(tuple, table[start:end, 1:].tolist())))[:POINTS]
        if place == 0:
            number = {point: label for label, point in enumerate(points, start=1)}
        if place > 0 or there[world]:
            rows += [(person, world, number.get(point, POINTS + 1)) for point in points]
    person, world, point = zip(*rows, strict=True)
    return pa.table({"person": person, "world": world, "point": point})


def rates(answer: Callable[[pa.Table], np.ndarray]) -> tuple[int, int]:
    """In how many worlds of each half the answer is at least 1: with the person, and without."""
    there = np.arange(WORLDS) < WORLDS // 2
    guesses = answer(worlds_of(there)) >= 1
    return int(guesses[there].sum()), int(guesses[~there].sum())


def exact(table: pa.Table) -> np.ndarray:
    """Without the curator: how many people of a world have all four points."""
    own: dict = {}
    for row in table.to_pylist():
        own.setdefault((row["world"], row["person"]), set()).add(row["point"])
    counts = np.zeros(WORLDS)
    for (world, _), points in own.items():
        counts[world] += set(range(1, POINTS + 1)) <= points
    return counts


def private(epsilon: str) -> Callable[[pa.Table], np.ndarray]:
    def answer(table: pa.Table) -> np.ndarray:
        columns = {"world": sf.integer(values=range(WORLDS)), "point": sf.integer(1, POINTS + 1)}
        limits = sf.Limits(max_rows_per_unit=POINTS, max_groups_per_unit=1)
        with sf.open(
            table, name="sightings", unit="person", limits=limits, columns=columns, budget=sf.PureDP(epsilon)
        ) as phones:
            records = phones.sql(SQL, epsilon=epsilon).records()
            assert phones.spent == phones.budget
        return np.array([record["n"] for record in sorted(records, key=lambda record: record["world"])])

    return answer


def surely_at_least(true: int, false: int) -> float:
    """What the advantage is at least, with confidence 1 − 1e-6."""
    half = WORLDS // 2
    tpr = lower_limit(true, half, significance=SIGNIFICANCE)
    fpr = 1 - lower_limit(half - false, half, significance=SIGNIFICANCE)
    return tpr - fpr


def test_exact_answers_tell_whether_somebody_with_these_four_points_is_there():
    assert rates(exact) == (WORLDS // 2, 0)


@pytest.mark.statistical
def test_through_a_curator_the_advantage_is_at_most_that_of_epsilon_one():
    """A sound curator fails with a chance of 1e-6."""
    assert surely_at_least(*rates(private("1"))) <= largest_advantage(epsilon=1)


@pytest.mark.statistical
def test_the_same_attack_passes_that_bound_where_less_is_promised():
    """Control: at ε = 3 its advantage is surely above what ε = 1 allows (type-I error 1e-6)."""
    assert surely_at_least(*rates(private("3"))) > largest_advantage(epsilon=1)
