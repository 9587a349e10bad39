"""Distances of tables: against values by hand, and against enumeration of all combinations."""

from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from scipy.stats import contingency

from sfumato.synth.reports.exact import distances as module
from sfumato.synth.reports.exact.distances import (
    association,
    bootstrap,
    contest_score,
    distances,
    groups_of,
    independent,
    total_variation,
)

SIZES = {"age": 4, "sex": 2, "ill": 3}
NAMES = tuple(SIZES)


def rows_of(seed, n):
    random = np.random.default_rng(seed)
    return {name: random.integers(0, size, n) for name, size in SIZES.items()}


def by_enumeration(one, other, columns):
    total = 0
    for values in product(*(range(SIZES[name]) for name in columns)):
        shares = []
        for rows in (one, other):
            alike = np.all([rows[name] == value for name, value in zip(columns, values, strict=True)], axis=0)
            shares.append(alike.mean())
        total += abs(shares[0] - shares[1])
    return total / 2


@pytest.mark.parametrize("dense", [1, 1 << 22])
def test_distances_are_those_of_all_combinations(dense, monkeypatch):
    monkeypatch.setattr(module, "_DENSE", dense)
    one, other = rows_of(1, 40), rows_of(2, 25)
    for size in (1, 2, 3):
        groups = groups_of(NAMES, size, seed=0)
        assert groups == tuple(combinations(NAMES, size))
        for columns, found in distances(one, other, SIZES, groups).items():
            assert found == pytest.approx(by_enumeration(one, other, columns), abs=1e-12)


def test_equal_tables_are_0_apart_and_tables_without_a_common_value_1():
    rows = rows_of(3, 30)
    assert all(found == 0 for found in distances(rows, rows, SIZES, groups_of(NAMES, 2, seed=0)).values())
    twice = {name: np.concatenate([column, column]) for name, column in rows.items()}
    assert total_variation(rows, twice, SIZES, NAMES) == pytest.approx(0, abs=1e-12)
    assert total_variation({"sex": np.zeros(5, int)}, {"sex": np.ones(9, int)}, SIZES, ["sex"]) == 1


def test_a_hundred_groups_of_three_are_drawn_by_the_seed():
    names = [str(number) for number in range(11)]
    one, other = groups_of(names, 3, seed=1), groups_of(names, 3, seed=2)
    assert len(set(one)) == len(one) == 100
    assert one == groups_of(names, 3, seed=1) != other
    assert len(groups_of(names, 2, seed=1)) == 55
    assert len(groups_of(names[:9], 3, seed=1)) == 84


def test_the_score_of_the_contest_is_a_million_less_half_of_the_mean_difference():
    assert contest_score({("a", "b", "c"): 0.0}) == 1_000_000
    assert contest_score({("a", "b", "c"): 1.0, ("a", "b", "d"): 0.5}) == 250_000
    assert contest_score({}) is None


def test_association_is_cramers_v():
    rows = rows_of(4, 200)
    rows["age"] = (rows["sex"] + rows["age"] % 2) % 4  # which leaves values out
    for pair in combinations(NAMES, 2):
        table = contingency.crosstab(rows[pair[0]], rows[pair[1]]).count
        assert association(rows, SIZES, pair) == pytest.approx(contingency.association(table, method="cramer"))
    one = {"sex": np.array([0, 0, 1, 1]), "ill": np.array([0, 0, 2, 2])}
    assert association(one, SIZES, ["sex", "ill"]) == pytest.approx(1)
    assert association({**one, "ill": np.array([0, 2, 0, 2])}, SIZES, ["sex", "ill"]) == pytest.approx(0, abs=1e-9)
    assert association({**one, "ill": np.array([1, 1, 1, 1])}, SIZES, ["sex", "ill"]) == 0


def test_a_bootstrap_draws_whole_rows_with_replacement():
    n = 5_000
    rows = {"row": np.arange(n), "twice": 2 * np.arange(n)}
    drawn = bootstrap(rows, seed=1)
    assert (drawn["twice"] == 2 * drawn["row"]).all()
    assert len(drawn["row"]) == n
    assert 0.6 < len(set(drawn["row"].tolist())) / n < 0.66  # 1 − 1/e of them
    assert bootstrap({"row": np.array([3])}, seed=0)["row"].tolist() == [3]


def test_shuffled_columns_keep_their_values_and_lose_each_other():
    n = 4_000
    column = np.arange(n) % 2
    found = independent({"sex": column, "ill": column}, seed=1)
    assert np.bincount(found["sex"]).tolist() == np.bincount(found["ill"]).tolist() == [n // 2, n // 2]
    assert association(found, SIZES, ["sex", "ill"]) < 6 / sqrt(n)
