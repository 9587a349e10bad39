import pytest

import sfumato as sf
from examples import g05_ratings as example
from sfumato.datasets.pseudonyms import ratings

CERTAIN = 1 - 2e-6  # of an interval, so that each limit has a type-I error of 1e-6


@pytest.mark.statistical
def test_rows_are_found_by_eight_ratings_and_by_two_and_vague_dates_find_fewer():
    released = ratings(example.SUBSCRIBERS, example.MOVIES)
    eight, two, vague = (example.attack(released, case).interval(confidence=CERTAIN) for case in example.CASES)
    assert eight[0] > 0.95
    assert two[0] > 0.85
    assert vague[1] < two[0]


def test_the_curator_counts_a_subscriber_with_twenty_movies():
    with example.curator(ratings(100, example.MOVIES)) as session:
        sql = "SELECT movie, COUNT(*) AS n FROM ratings GROUP BY movie"
        assert len(session.sql(sql, epsilon=example.EPSILON).records()) == example.MOVIES
        assert session.spent == sf.PureDP(1)
