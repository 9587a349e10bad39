import pytest

from sfumato.cli.demo.people import BINS, age_bin, load_people, true_counts


@pytest.mark.parametrize(
    ("age", "index"),
    [(17, 0), (24, 0), (25, 1), (31, 1), (53, 4), (54, 5), (82, 8), (83, 9), (90, 9), (0, 0), (120, 9)],
)
def test_ages_fall_into_ten_equal_bins_of_the_declared_range(age, index):
    assert age_bin(age) == index


def test_the_census_is_both_files_and_its_bins_are_a_column(people):
    assert (people.dataset, people.table.num_rows, people.everyone.num_rows) == ("adult", 32_561, 48_842)
    assert sum(true_counts(people.table["age_bin"].to_pylist(), range(BINS))) == 32_561


@pytest.mark.usefixtures("no_adult")
def test_without_the_census_the_people_are_made_up_and_pay_from_another_account():
    made_up = load_people()
    assert (made_up.dataset, made_up.table.num_rows) == ("made-up people", 32_561)
    assert "made-up" in made_up.origin
    assert made_up.everyone.num_rows == made_up.table.num_rows


def test_counts_are_of_each_key_in_turn():
    assert true_counts(["a", "b", "a"], ["b", "a", "c"]) == [1, 2, 0]
