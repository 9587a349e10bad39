"""Made-up rows of two tables: keys hold and are not those of the data, and children follow from their parents."""

import numpy as np
import pytest
from pyarrow import parquet
from tests.synth.relational.clinic import crowd, session_of

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.synth.relational.tables import fitting

RNG = np.random.default_rng(28)


@pytest.fixture(scope="module")
def made():
    with session_of(*crowd(3_000)) as session:
        return sf.synth.synthesize_tables(session, "people", "visits", epsilon=50, delta="1e-6", method="mst")


def test_keys_hold_and_each_parent_has_as_many_children_as_it_says(made):
    rows = made.rows(500, seed=3)
    people, visits = rows["people"].to_pandas(), rows["visits"].to_pandas()
    assert list(people) == ["who", "age", "ill"]
    assert list(visits) == ["guest", "ward", "id"]
    assert people["who"].tolist() == list(range(500))
    assert set(visits["guest"]) <= set(people["who"])
    assert visits["guest"].value_counts().max() <= 2
    drawn = made.parents.rows(500, seed=3)["number of visits"].to_numpy()
    assert np.bincount(visits["guest"], minlength=500).tolist() == drawn.tolist()


def test_children_follow_from_their_parents(made):
    rows = made.rows(seed=5)
    people, visits = rows["people"].to_pandas(), rows["visits"].to_pandas()
    assert abs(len(people) - 3_000) < 50
    both = visits.merge(people, left_on="guest", right_on="who")
    share = (both["ward"] == "A").groupby(both["age"]).mean()
    assert share.loc[1] == pytest.approx(0.5, abs=0.08)
    assert share.loc[2] == pytest.approx(0.9, abs=0.05)
    number = (
        visits.groupby("guest").size().reindex(people["who"], fill_value=0).groupby(people["age"].to_numpy()).mean()
    )
    assert number.loc[0] < 0.05
    assert number.loc[1] == pytest.approx(0.5, abs=0.08)
    assert number.loc[2] == pytest.approx(1, abs=0.08)


def test_rows_follow_from_the_seed_and_none_are_made_of_none(made):
    assert made.rows(50, seed=1)["visits"].equals(made.rows(50, seed=1)["visits"])
    assert not made.rows(400, seed=1)["people"].equals(made.rows(400, seed=2)["people"])
    assert [rows.num_rows for rows in made.rows(0, seed=1).values()] == [0, 0]
    assert made.rows(5)["people"].num_rows == 5


def test_many_children_are_numbers_in_bins_and_no_numbers_of_bins():
    people, visits = [(who, 1, True) for who in range(40)], [(who, "A", 0) for who in range(40) for _ in range(200)]
    budget = sf.ApproxDP(10**6, "1e-6")
    with session_of(people, visits, limits={"visits": 300}, budget=budget) as session:
        found = sf.synth.synthesize_tables(
            session, "people", "visits", epsilon=10**6, delta="1e-6", method="independent"
        )  # fmt: skip
    number = next(one for one in found.parents.attributes if one.name == "number of visits")
    assert number.size < 300
    rows = found.rows(40, seed=1)
    assert rows["visits"].num_rows == sum(found.parents.rows(40, seed=1)["number of visits"].to_pylist())
    assert abs(rows["visits"].num_rows / 40 - 200) < 12  # a bin is ten wide


def test_files_are_called_after_the_tables(made, tmp_path):
    paths = made.save(tmp_path, 20, seed=1)
    assert [path.name for path in paths] == ["people.parquet", "visits.parquet"]
    assert parquet.read_table(paths[1]).equals(made.rows(20, seed=1)["visits"])
    with pytest.raises(ParameterError, match="folder"):
        made.save(tmp_path / "none")


def test_parents_without_fitting_children_in_the_pool_get_some_all_the_same(made, monkeypatch):
    monkeypatch.setattr("sfumato.synth.relational.tables._POOL", 0)
    rows = made.rows(2_000, seed=5)
    both = rows["visits"].to_pandas().merge(rows["people"].to_pandas(), left_on="guest", right_on="who")
    share = (both["ward"] == "A").groupby(both["age"]).mean()
    assert share.loc[2] == pytest.approx(0.9, abs=0.06)


def test_rows_that_fit_are_taken_once_each():
    wanted, given = RNG.integers(4, size=(200, 2)), RNG.integers(4, size=(300, 2))
    found = fitting(wanted, given, RNG.random(300))
    taken = found[found >= 0]
    assert len(set(taken)) == len(taken)
    assert np.array_equal(given[taken], wanted[found >= 0])
    for kind in np.unique(wanted, axis=0):
        asked, there = ((rows == kind).all(axis=1).sum() for rows in (wanted, given))
        assert ((wanted == kind).all(axis=1) & (found >= 0)).sum() == min(asked, there)
