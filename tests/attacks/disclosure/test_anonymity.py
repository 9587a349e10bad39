from math import exp, log

import pytest

from sfumato.attacks.disclosure.anonymity import (
    distinct_diversity,
    entropy_diversity,
    k_anonymity,
    t_closeness,
    uniqueness,
)
from sfumato.errors import ParameterError

PATIENTS = {
    "zip": ["13053"] * 4 + ["14850"] * 4,
    "age": [28, 29, 21, 23, 50, 55, 47, 49],
    "ill": ["heart", "heart", "viral", "viral", "cancer", "heart", "viral", "viral"],
}
MEASURES = (distinct_diversity, entropy_diversity, t_closeness)


def test_uniqueness_counts_rows_that_are_alone():
    assert uniqueness(PATIENTS, columns=["zip", "age"]) == 1
    assert uniqueness(PATIENTS, columns=["zip"]) == 0
    assert uniqueness({"zip": [1, 2, 2, 3, 3, 3]}, columns=["zip"]) == pytest.approx(1 / 6)


def test_k_is_the_size_of_the_smallest_class():
    assert k_anonymity(PATIENTS, columns=["zip"]) == 4
    assert k_anonymity(PATIENTS, columns=["zip", "age"]) == 1
    assert k_anonymity(PATIENTS, columns=["zip", "age"], coarsen={"age": lambda age: age // 30}) == 4


def test_distinct_diversity_is_that_of_the_poorest_class():
    assert distinct_diversity(PATIENTS, columns=["zip"], sensitive="ill") == 2
    assert distinct_diversity(PATIENTS, columns=["ill"], sensitive="ill") == 1


def test_entropy_diversity_is_at_most_the_distinct_one_and_equal_where_shares_are_even():
    assert entropy_diversity(PATIENTS, columns=["zip"], sensitive="ill") == pytest.approx(2)
    uneven = {"zip": [1] * 4, "ill": ["a", "a", "a", "b"]}
    entropy = -(0.75 * log(0.75) + 0.25 * log(0.25))
    assert entropy_diversity(uneven, columns=["zip"], sensitive="ill") == pytest.approx(exp(entropy))


def test_closeness_is_the_distance_from_the_whole_table():
    """Overall heart 3/8, viral 4/8, cancer 1/8; in one class 1/2, 1/2, 0 and in the other 1/4, 1/2, 1/4."""
    assert t_closeness(PATIENTS, columns=["zip"], sensitive="ill") == pytest.approx(1 / 8)
    one_class = {"zip": [1, 1], "ill": ["a", "b"]}
    assert t_closeness(one_class, columns=["zip"], sensitive="ill") == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_takes_coarser_columns(measure):
    coarse = {"age": lambda age: age // 30}
    by_class = measure(PATIENTS, columns=["age"], sensitive="ill", coarsen=coarse)
    assert by_class == pytest.approx(measure(PATIENTS, columns=["zip"], sensitive="ill"))


@pytest.mark.parametrize("measure", MEASURES)
def test_there_is_no_measure_of_an_empty_table(measure):
    with pytest.raises(ParameterError, match="row"):
        measure({"zip": [], "ill": []}, columns=["zip"], sensitive="ill")


@pytest.mark.parametrize("measure", [uniqueness, k_anonymity])
def test_there_is_no_anonymity_of_nobody(measure):
    with pytest.raises(ParameterError, match="row"):
        measure({"zip": []}, columns=["zip"])


@pytest.mark.parametrize("measure", MEASURES)
def test_each_row_has_a_sensitive_value(measure):
    with pytest.raises(ParameterError, match="values of ill"):
        measure({"zip": [1, 1], "ill": ["a"]}, columns=["zip"], sensitive="ill")
