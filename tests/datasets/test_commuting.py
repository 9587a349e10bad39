"""The made-up commuting census: the same on every platform, and shaped by density and distance."""

import hashlib

import numpy as np
import pytest

from sfumato.datasets.commuting import commuters
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def made():
    return commuters(60_000)


def flows(made):
    place = {name: at for at, name in enumerate(made.names)}
    found = np.zeros((len(place), len(place)), dtype=np.int64)
    home, work = ([place[one] for one in made.workers[name].to_pylist()] for name in ("home", "work"))
    np.add.at(found, (work, home), 1)
    return found


def test_the_seed_decides_the_workers_on_every_platform(made):
    text = ",".join(made.workers["home"].to_pylist() + made.workers["work"].to_pylist())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "4facefabac9b32dd"
    assert not commuters(100, seed=1).workers.equals(commuters(100, seed=2).workers)
    assert commuters(100).workers["work"].to_pylist() == made.workers["work"].to_pylist()[:100]


def test_jobs_are_in_the_center_and_at_the_harbor_and_nobody_lives_in_the_lake(made):
    names = set(made.workers["home"].to_pylist()) | set(made.workers["work"].to_pylist())
    assert names <= set(made.names)
    assert not names & {"F4", "F5", "G4", "G5", "G6"}
    assert len(made.names) == 75
    by_work = dict(zip(made.names, flows(made).sum(axis=1), strict=True))
    assert by_work["B9"] > 3 * by_work["E2"]
    assert max(by_work, key=by_work.get) in {"C5", "C6", "D5", "D6", "B9", "A9"}


def test_workers_live_near_where_they_work(made):
    """Shares of homes near a place of work, beside those of all workers."""
    found = flows(made)
    apart = np.outer(found.sum(axis=1), found.sum(axis=0)) / found.sum()
    near = made.kilometers <= 2
    assert found[near].sum() > 1.5 * apart[near].sum()
    far = made.kilometers >= 6
    assert found[far].sum() < 0.8 * apart[far].sum()


def test_blocks_are_squares_of_a_kilometer(made):
    features = made.blocks["features"]
    assert tuple(one["properties"]["name"] for one in features) == made.names
    west, east = features[0]["geometry"]["coordinates"][0][:2]
    assert (east[0] - west[0]) * 80_178 == pytest.approx(1_000, abs=1)
    assert made.kilometers[0, 1] == 1
    assert np.array_equal(made.kilometers, made.kilometers.T)


@pytest.mark.parametrize("n", [0, -1, 2_000_001, "many"])
def test_other_numbers_are_refused(n):
    with pytest.raises(ParameterError):
        commuters(n)
