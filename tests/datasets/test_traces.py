import hashlib

import numpy as np
import pyarrow.compute as pc
import pytest

from sfumato.datasets.traces import HOURS_A_DAY, traces
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def table():
    return traces(2_000)


def test_everybody_is_seen_within_the_city_and_the_time(table):
    assert len(pc.unique(table["person"])) == 2_000
    for axis in ("x", "y"):
        assert pc.min_max(table[axis]).as_py() == {"min": 0, "max": 29}
    assert pc.min(table["hour"]).as_py() >= 0
    assert pc.max(table["hour"]).as_py() < 28 * HOURS_A_DAY


def test_nobody_is_seen_at_night(table):
    assert sorted(set((np.asarray(table["hour"]) % HOURS_A_DAY).tolist())) == list(range(7, 24))


def test_half_are_seen_up_to_98_times_in_four_weeks(table):
    assert np.median(np.bincount(table["person"])) == pytest.approx(98, abs=5)


def test_people_are_mostly_at_home_and_at_work(table):
    """Seven sightings in ten are at one of two places, and others may fall there too."""
    person, x, y = (np.asarray(table[name]) for name in ("person", "x", "y"))
    for one in range(20):
        places = np.unique(x[person == one] * 30 + y[person == one], return_counts=True)[1]
        assert np.sort(places)[-2:].sum() > 0.5 * places.sum()


def test_the_seed_decides_the_traces_on_every_platform():
    text = repr(traces(50, days=3).to_pydict())
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "8f41c7d8525b511eb9432195d52a0d3687041dbf1f5e49570ac9752792b15754"
    )
    assert not traces(5, seed=1).equals(traces(5, seed=2))


@pytest.mark.parametrize("sizes", [{"people": 0}, {"people": 10**6}, {"days": 366}, {"antennas": 1.5}], ids=str)
def test_sizes_are_whole_numbers_in_range(sizes):
    with pytest.raises(ParameterError):
        traces(**({"people": 5} | sizes))
