import pytest
from tests.query.frames import PEOPLE, VISITS, WARDS, frame

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.planning.statistic_checks import check_statistic
from sfumato.query.python import statistics as sf

people, visits, wards = (frame(table).shape for table in (PEOPLE, VISITS, WARDS))

SOUND = [
    sf.count(), sf.count("born"), sf.count_units(), sf.count_distinct("seen"),
    sf.count_distinct("age", max_values_per_unit=2), sf.sum("age"), sf.sum("pay", bounds=(0, 5)),
    sf.mean("age", bounds="auto"), sf.variance("pay"), sf.stddev("pay", bounds=(0, 1)), sf.quantile("age", 0),
    sf.quantile("age", 1, bounds=(1, 2)), sf.histogram("age", edges=[0, 0.5]), sf.mode("sex"), sf.top_k("sex", 2),
    sf.covariance("age", "pay"), sf.vector_sum("age", "pay"),
]  # fmt: skip


@pytest.mark.parametrize("statistic", SOUND)
def test_a_statistic_that_means_something_passes(statistic):
    check_statistic("x", statistic, people)


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        (sf.count("nosuch"), "nosuch"),
        (sf.sum("sex"), "x = 'Sum of a text'"),
        (sf.mean("smoker"), "of numbers"),
        (sf.variance("born"), "of numbers"),
        (sf.median("seen"), "of numbers"),
        (sf.histogram("sex", edges=[0, 1]), "of numbers"),
        (sf.covariance("age", "sex"), "of numbers"),
        (sf.vector_sum("age", "sex"), "of numbers"),
        (sf.vector_sum(), "at least one"),
        (sf.sum("age", bounds=(1, 1)), "lower end below"),
        (sf.mean("age", bounds=(2, 1)), "bounds of x"),
        (sf.variance("age", bounds=(2, 1)), "bounds of x"),
        (sf.median("age", bounds=(2, 1)), "bounds of x"),
        (sf.quantile("age", "1.01"), "between 0 and 1"),
        (sf.quantile("age", -1), "between 0 and 1"),
        (sf.histogram("age", edges=[0]), "at least two"),
        (sf.histogram("age", edges=[0, 2, 2]), "above the one before"),
        (sf.top_k("sex", 0), "at least 1"),
        (sf.top_k("sex", 3), "number of public values"),
        (sf.count_distinct("age", max_values_per_unit=0), "at least 1"),
    ],
)
def test_one_that_does_not_is_refused(statistic, message):
    with pytest.raises(ParameterError, match=message):
        check_statistic("x", statistic, people)


def test_what_nobody_listed_has_no_most_frequent():
    check_statistic("x", sf.mode("age"), people)  # whole numbers between bounds are listed
    with pytest.raises(NotPrivateError, match="the most frequent of x"):
        check_statistic("x", sf.mode("born"), people)


def test_units_are_counted_where_there_are_any():
    check_statistic("x", sf.count_units(), visits)
    with pytest.raises(ParameterError, match="public"):
        check_statistic("x", sf.count_units(), wards)
