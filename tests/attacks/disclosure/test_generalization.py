import numpy as np
import pytest

from sfumato.attacks.disclosure.generalization import generalize, homogeneity, intersection
from sfumato.datasets import people
from sfumato.errors import ParameterError

COLUMNS = ["age", "education_num", "hours_per_week"]
SENSITIVE = "occupation"
K = 3


@pytest.fixture(scope="module")
def census():
    return people(8_000).select([*COLUMNS, SENSITIVE])


@pytest.fixture(scope="module")
def two(census):
    """The tables of two hospitals with 4,500 patients each, of whom 1,000 are those of both."""
    return tuple(
        generalize(part, columns=COLUMNS, sensitive=SENSITIVE, k=K)
        for part in (census.slice(0, 4_500), census.slice(3_500, 4_500))
    )


@pytest.fixture(scope="module")
def of_both(census):
    return census.slice(3_500, 1_000)


def test_every_class_has_at_least_k_people_and_everybody_is_in_one_class(census, two):
    for released in two:
        assert released.k >= K
        assert sum(map(len, released.sensitive)) == 4_500
    assert (two[0].fitting(census.slice(0, 4_500)).sum(axis=1) == 1).all()


def test_what_was_given_out_is_the_table_and_no_more(census, two):
    assert sorted(value for values in two[0].sensitive for value in values) == sorted(
        census.slice(0, 4_500)[SENSITIVE].to_pylist()
    )


def test_no_class_could_be_halved():
    even = {"age": list(range(8)), "ill": ["a"] * 8}
    assert [len(values) for values in generalize(even, columns=["age"], sensitive="ill", k=2).sensitive] == [2] * 4
    assert len(generalize({"age": [5] * 8, "ill": ["a"] * 8}, columns=["age"], sensitive="ill", k=2).sensitive) == 1


def test_many_equal_values_at_the_end_are_split_off():
    crowded = {"age": [1, 1, 9, 9, 9, 9], "ill": ["a"] * 6}
    assert generalize(crowded, columns=["age"], sensitive="ill", k=2).low.ravel().tolist() == [1, 9]


def test_a_class_where_all_have_the_same_tells_it():
    table = {"age": [20, 21, 40, 41], "ill": ["cold", "flu", "HIV", "HIV"]}
    found = homogeneity(generalize(table, columns=["age"], sensitive="ill", k=2), table, sensitive="ill")
    assert found.certain == 2
    assert "2-anonymous" in found.outcome.attack
    assert str(found).endswith("certain of 2 people")


def test_two_tables_tell_together_what_neither_tells_alone(two, of_both):
    """Deterministic: 8 people are certain by one table, 242 by both; guesses are right of 38.1% and of 57.0%."""
    alone, both = homogeneity(two[0], of_both, sensitive=SENSITIVE), intersection(*two, of_both, sensitive=SENSITIVE)
    assert (alone.certain, both.certain) == (8, 242)
    assert (alone.outcome.successes, both.outcome.successes) == (381, 570)
    assert both.outcome.baseline < 0.13


def test_the_intersection_agrees_with_sets_of_values(two, of_both):
    certain = 0
    fits = [released.fitting(of_both) for released in two]
    for row in range(of_both.num_rows):
        left = [set(released.sensitive[int(fit[row].argmax())]) for released, fit in zip(two, fits, strict=True)]
        certain += len(left[0] & left[1]) == 1
    assert intersection(*two, of_both, sensitive=SENSITIVE).certain == certain


def test_a_larger_k_tells_less_but_not_nothing(census, of_both):
    five = (
        generalize(part, columns=COLUMNS, sensitive=SENSITIVE, k=5)
        for part in (census.slice(0, 4_500), census.slice(3_500, 4_500))
    )
    assert intersection(*five, of_both, sensitive=SENSITIVE).certain == 35


def test_of_somebody_whom_the_table_does_not_hold_the_commonest_is_guessed():
    table = {"age": [20, 21, 22], "ill": ["a", "b", "b"]}
    released = generalize(table, columns=["age"], sensitive="ill", k=3)
    found = homogeneity(released, {"age": [90], "ill": ["b"]}, sensitive="ill")
    assert (found.outcome.successes, found.certain) == (1, 0)


def test_intervals_hold_their_ends():
    released = generalize({"age": [20, 30], "ill": ["a", "b"]}, columns=["age"], sensitive="ill", k=2)
    assert released.fitting({"age": [20, 30, 25, 19, 31]}).ravel().tolist() == [True, True, True, False, False]
    assert np.array_equal(released.low, [[20]])


@pytest.mark.parametrize("k", [0, 3, 1.5])
def test_k_is_a_whole_number_of_at_most_all_rows(k):
    with pytest.raises(ParameterError, match="k"):
        generalize({"age": [1, 2], "ill": ["a", "b"]}, columns=["age"], sensitive="ill", k=k)


def test_no_columns_and_nobody_are_refused():
    with pytest.raises(ParameterError, match="columns"):
        generalize({"ill": ["a"]}, columns=[], sensitive="ill", k=1)
    released = generalize({"age": [1], "ill": ["a"]}, columns=["age"], sensitive="ill", k=1)
    with pytest.raises(ParameterError, match="people"):
        homogeneity(released, {"age": [], "ill": []}, sensitive="ill")


@pytest.mark.parametrize(
    ("table", "match"),
    [
        ({"age": ["x", "y"], "ill": ["a", "b"]}, "numbers"),
        ({"age": [1, None], "ill": ["a", "b"]}, "a finite number in each row"),
        ({"age": [1, float("nan")], "ill": ["a", "b"]}, "a finite number in each row"),
        ({"age": [1, 2], "ill": ["a"]}, "values of ill"),
    ],
    ids=["text", "none", "nan", "ragged"],
)
def test_quasi_identifiers_are_numbers_and_each_row_has_a_sensitive_value(table, match):
    with pytest.raises(ParameterError, match=match):
        generalize(table, columns=["age"], sensitive="ill", k=1)


def test_each_person_who_is_attacked_has_a_sensitive_value():
    released = generalize({"age": [1], "ill": ["a"]}, columns=["age"], sensitive="ill", k=1)
    with pytest.raises(ParameterError, match="values of ill"):
        homogeneity(released, {"age": [1], "ill": ["a", "b"]}, sensitive="ill")


@pytest.mark.parametrize("released", [None, "abc", {"age": [1]}, 3])
def test_what_is_no_generalized_table_is_named(released):
    made = generalize({"age": [1, 2], "ill": ["a", "b"]}, columns=["age"], sensitive="ill", k=2)
    with pytest.raises(ParameterError, match=r"^second = .*: must be a table made by generalize$"):
        intersection(made, released, {"age": [1], "ill": ["a"]}, sensitive="ill")


@pytest.mark.parametrize("value", ["old", [1, 2], {}, 10**400], ids=repr)
def test_a_column_of_something_else_holds_no_numbers(value):
    with pytest.raises(ParameterError, match=r"^columns = .*: must have numbers$"):
        generalize({"age": [value, 1], "ill": ["a", "b"]}, columns=["age"], sensitive="ill", k=2)
