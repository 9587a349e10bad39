from math import sqrt

import numpy as np
import pytest

import sfumato as sf
from examples import d04_age_histogram as example
from sfumato.numeric.distributions import discrete_laplace_variance

QUESTION = "SELECT age_band, COUNT(*) AS n FROM adult GROUP BY age_band"


def test_bins_are_the_ten_equal_ones_of_the_declared_range():
    ages = sf.datasets.load_adult()["age"].to_numpy()
    assert example.exact_counts() == np.histogram(ages, bins=10, range=(17, 90))[0].tolist()


def test_every_person_is_in_one_bin():
    counts = example.exact_counts()
    assert counts == [5_570, 5_890, 6_048, 6_163, 3_967, 2_591, 1_595, 496, 174, 67]
    assert sum(counts) == 32_561


def test_the_noise_of_a_bar_has_standard_deviation_141():
    with example.curator() as adult:
        release = adult.sql(QUESTION, epsilon=example.EPSILON)
        assert adult.spent == sf.PureDP("0.01")
    (event,) = release.receipt.event.events
    assert sqrt(discrete_laplace_variance(event.scale)) == pytest.approx(141, abs=0.5)


def test_the_two_oldest_bins_are_smaller_than_the_error():
    with example.curator() as adult:
        half_width = adult.query(QUESTION).error(epsilon=example.EPSILON)[0].half_width
    assert [count for count in example.exact_counts() if count < half_width] == [174, 67]


@pytest.mark.statistical
def test_private_bars_stand_beside_their_true_ones():
    with example.curator() as adult:
        release = adult.query(QUESTION).release(epsilon=example.EPSILON, confidence=1 - 1e-7)
    assert [group[0] for group in release.groups] == example.labels()
    hits = [bar.low <= count <= bar.high for bar, count in zip(release["n"], example.exact_counts(), strict=True)]
    assert all(hits), "type-I error 1e-6 for ten bars of 1e-7 each"
