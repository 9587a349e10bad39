import hashlib

import numpy as np
import pyarrow.compute as pc
import pytest

from sfumato.datasets.ratings import DAYS, ratings
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
