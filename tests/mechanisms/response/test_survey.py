"""From randomized answers back to fractions."""

from math import inf, log, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from sfumato.errors import ParameterError
from sfumato.mechanisms import KaryRandomizedResponse, RandomizedResponse
from sfumato.mechanisms.response.survey import Randomization, answers_of

MISSING = [
    None, nan, pd.NA, np.ma.masked, np.float64(1), 1.0, "1", np.timedelta64("NaT", "s"),
]  # fmt: skip
QUARTER = Randomization(when_false=0.25, gain=0.5)


@pytest.mark.parametrize("truth", [0.0, 0.3, 1.0])
def test_the_estimate_inverts_the_expected_fraction(truth):
    assert QUARTER.estimate(round(1000 * (0.25 + truth / 2)), 1000, "0.9").fraction == pytest.approx(truth)


def test_the_standard_error_is_that_of_the_answers_over_the_gain():
    assert QUARTER.estimate(40, 100, "0.9").standard_error == pytest.approx(2 * sqrt(0.4 * 0.6 / 100))


@pytest.mark.parametrize("said", [0, 1, 50, 99, 100])
def test_the_interval_is_that_of_clopper_and_pearson(said):
    estimate = QUARTER.estimate(said, 100, 0.9)
    interval = binomtest(said, 100).proportion_ci(0.9, method="exact")
    ends = [min(1, max(0, (end - 0.25) / 0.5)) for end in (interval.low, interval.high)]
    assert [estimate.low, estimate.high] == pytest.approx(ends)
    assert 0 <= estimate.low <= estimate.high <= 1


def test_the_accuracy_is_hoeffdings():
    assert QUARTER.accuracy(200, 0.95) == pytest.approx(sqrt(log(40) / 400) / 0.5)
    assert QUARTER.accuracy(200, 0.95, fractions=3) == pytest.approx(sqrt(log(120) / 400) / 0.5)


def test_mere_noise_allows_no_estimate():
    noise = Randomization(when_false=0.5, gain=0.0)
    assert noise.accuracy(10, 0.95) == inf
    with pytest.raises(ParameterError, match="reveals nothing"):
        noise.estimate(1, 2, 0.95)


@pytest.mark.parametrize(("count", "confidence", "name"), [(0, 0.9, "answers"), (1, 1, "confidence")])
def test_parameters_outside_are_refused_by_name(count, confidence, name):
    with pytest.raises(ParameterError, match=name):
        QUARTER.estimate(0, count, confidence)


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_an_answer_that_nobody_gave_is_not_counted_as_no(missing):
    for survey in (RandomizedResponse(), KaryRandomizedResponse(categories=2, epsilon=1)):
        for answers in ([1, missing], [missing], np.array([1, missing], dtype=object)):
            with pytest.raises(ParameterError, match="leave out missing ones"):
                survey.estimate(answers)


@pytest.mark.parametrize(
    "answers",
    [
        np.array([1.0, nan]),
        np.ma.masked_array([1, 0], mask=[False, True]),
        pd.Series([True, None]),
        pd.array([1, None], dtype="Int64"),
        np.array(["NaT"], dtype="timedelta64[s]"),
        np.array([[1, 0]]),
    ],
    ids=lambda answers: type(answers).__name__,
)
def test_containers_of_missing_answers_are_refused(answers):
    with pytest.raises(ParameterError, match="leave out missing ones"):
        answers_of(answers, categories=2)


@pytest.mark.parametrize(
    "answers",
    [[True, False, 1], np.array([1, 0, 1], dtype=np.uint8), pd.Series([True, False, True]), (1, 0, np.int8(1))],
)
def test_answers_are_counted_whatever_holds_them(answers):
    assert answers_of(answers, categories=2).tolist() == [1, 0, 1]
    assert RandomizedResponse().estimate(answers).fraction == pytest.approx(2 * (2 / 3) - 0.5)
