import hashlib
from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest

from sfumato.datasets.pseudonyms import COMMON_QUERIES, DAYS, HOURS_A_DAY, ratings, search_log, traces
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def table():
    return ratings()


def test_nobody_rates_a_movie_twice(table):
    pairs = set(zip(table["subscriber"].to_pylist(), table["movie"].to_pylist(), strict=True))
    assert len(pairs) == table.num_rows


def test_everybody_rates_and_all_ratings_are_one_to_five_within_the_time(table):
    assert len(pc.unique(table["subscriber"])) == 3_000
    assert pc.min_max(table["rating"]).as_py() == {"min": 1, "max": 5}
    days = pc.min_max(table["day"]).as_py()
    assert 0 <= days["min"] < days["max"] < DAYS


def test_popularity_has_a_long_tail(table):
    raters = np.sort(np.bincount(table["movie"]))[::-1]
    assert len(raters) == 800
    assert raters[0] > 5 * np.median(raters)
    assert raters[:80].sum() > 0.3 * raters.sum()


def test_half_rate_sixty_movies_or_fewer(table):
    assert 55 <= np.median(np.bincount(table["subscriber"])) <= 60


def test_nobody_rates_more_than_half_of_all_movies():
    assert np.bincount(ratings(200, 40)["subscriber"]).max() <= 20
    assert ratings(3, 1).num_rows == 3


def test_the_seed_decides_the_ratings_on_every_platform():
    text = repr(ratings(50, 60).to_pydict())
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "a5e0f49f8a228ad9aaba9890b24c00c9a41f2b227ebfdac320ff95c435e291fd"
    )
    assert not ratings(5, 20, seed=1).equals(ratings(5, 20, seed=2))


@pytest.mark.parametrize("size", [(0, 10), (10, 0), (1.5, 10), (100_000, 1_000)])
def test_sizes_are_whole_numbers_in_range(size):
    with pytest.raises(ParameterError):
        ratings(*size)


@pytest.fixture(scope="module")
def made():
    return search_log()


def test_everybody_searches_under_a_pseudonym_and_no_two_have_one_name(made):
    assert set(made.log["user"].to_pylist()) == set(made.names)
    assert len(set(made.names.values())) == len(made.directory) == 1_000


def test_a_name_is_searched_for_mostly_by_its_owner(made):
    own = others = 0
    names = set(made.directory)
    for row in made.log.to_pylist():
        if row["query"] in names:
            own += made.names[row["user"]] == row["query"]
            others += made.names[row["user"]] != row["query"]
    assert 0.01 < own / made.log.num_rows < 0.06
    assert 0.03 < others / made.log.num_rows < 0.05


def test_common_queries_fall_as_their_rank(made):
    counts = Counter(made.log["query"].to_pylist())
    first, second, tenth = (counts[COMMON_QUERIES[place]] for place in (0, 1, 9))
    assert first / second == pytest.approx(2, rel=0.1)
    assert first / tenth == pytest.approx(10, rel=0.15)


def test_trades_are_of_one_town_for_each_person(made):
    towns = {}
    for row in made.log.to_pylist():
        if row["query"].startswith("dentist "):
            towns.setdefault(row["user"], set()).add(row["query"])
    assert len(towns) > 100
    assert all(len(own) == 1 for own in towns.values())


def test_the_seed_decides_the_log_on_every_platform():
    text = repr(search_log(50).log.to_pydict())
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "2c1078a99ca26ee4803133748c4b4f767ab499787be208219cf198deff5e9d83"
    )
    assert not search_log(20, seed=1).log.equals(search_log(20, seed=2).log)


@pytest.mark.parametrize("arguments", [{"users": 0}, {"users": 3_901}, {"users": 2.5}, {"vanity": 2}], ids=str)
def test_arguments_out_of_range_are_refused(arguments):
    with pytest.raises(ParameterError):
        search_log(**arguments)


@pytest.fixture(scope="module")
def sightings():
    return traces(2_000)


def test_everybody_is_seen_within_the_city_and_the_time(sightings):
    assert len(pc.unique(sightings["person"])) == 2_000
    for axis in ("x", "y"):
        assert pc.min_max(sightings[axis]).as_py() == {"min": 0, "max": 29}
    assert pc.min(sightings["hour"]).as_py() >= 0
    assert pc.max(sightings["hour"]).as_py() < 28 * HOURS_A_DAY


def test_nobody_is_seen_at_night(sightings):
    assert sorted(set((np.asarray(sightings["hour"]) % HOURS_A_DAY).tolist())) == list(range(7, 24))


def test_half_are_seen_up_to_98_times_in_four_weeks(sightings):
    assert np.median(np.bincount(sightings["person"])) == pytest.approx(98, abs=5)


def test_people_are_mostly_at_home_and_at_work(sightings):
    """Seven sightings in ten are at one of two places, and others may fall there too."""
    person, x, y = (np.asarray(sightings[name]) for name in ("person", "x", "y"))
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
def test_sizes_of_traces_are_whole_numbers_in_range(sizes):
    with pytest.raises(ParameterError):
        traces(**({"people": 5} | sizes))
