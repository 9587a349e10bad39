"""The block of [GAM19], reconstructed from its published table, and others that are not."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from sfumato.attacks.reconstruction.blocks import (
    Published,
    block_outcome,
    count_of,
    mean_of,
    median_of,
    reconstruct_block,
)
from sfumato.errors import ParameterError

AGES = range(100)
CELLS = list(product("FM", "BW", "SM", AGES))
SEVEN = [
    ("F", "B", "S", 8), ("M", "W", "S", 18), ("F", "W", "S", 24), ("M", "W", "M", 30), ("F", "B", "M", 36),
    ("F", "B", "M", 66), ("M", "B", "M", 84),
]  # fmt: skip


def everybody(_):
    return True


def age(cell):
    return cell[3]


def is_so(**wanted):
    places = {"sex": 0, "race": 1, "marital": 2}
    return lambda cell: all(cell[places[name]] == value for name, value in wanted.items())


def statistics(people, groups):
    """Count, median and mean to a tenth of each group, as the article's table has them."""
    for matches in groups:
        ages = [age(cell) for cell in people if matches(cell)]
        yield count_of(matches, len(ages))
        yield mean_of(age, matches, mean=round(float(np.mean(ages)), 1), count=len(ages), step=0.1)
        yield from median_of(age, matches, median=float(np.median(ages)), count=len(ages))


GROUPS = [
    everybody, is_so(sex="F"), is_so(sex="M"), is_so(race="B"), is_so(race="W"), is_so(marital="M"),
    is_so(sex="F", race="B"),
]  # fmt: skip


def misses(published, people):
    """How much people miss all numbers by."""
    sums = [sum(one.weigh(cell) for cell in people) for one in published]
    return sum(max(one.low - total, total - one.high, 0) for one, total in zip(published, sums, strict=True))


def test_the_block_of_the_article_fits_its_table_and_what_is_found_does_too():
    published = list(statistics(SEVEN, GROUPS))
    assert misses(published, SEVEN) == 0
    found = reconstruct_block(published, cells=CELLS, check_unique=False)
    assert found.misfit == 0
    assert misses(published, list(Counter(found.people).elements())) == 0
    assert sum(found.people.values()) == 7


def test_everybody_is_reconstructed_where_one_block_alone_fits():
    """Two tables, by age and by the rest, each of which hides who is of which age."""
    by_age = [count_of(lambda cell, years=years: age(cell) == years, 1) for years in map(age, SEVEN)]
    rest = [is_so(sex=sex, race=race, marital=marital) for sex, race, marital in {cell[:3] for cell in SEVEN}]
    published = [count_of(everybody, len(SEVEN)), *by_age, *statistics(SEVEN, rest)]
    found = reconstruct_block(published, cells=CELLS)
    outcome = block_outcome(found, SEVEN, cells=len(CELLS))
    assert found.is_unique
    assert outcome.success == 1
    assert outcome.baseline < 0.01
    assert reconstruct_block(published[: len(by_age) + 1], cells=CELLS).is_unique is False


def test_two_blocks_that_fit_are_not_one():
    cells = [(sex, years) for sex in "FM" for years in (1, 2)]
    published = [
        count_of(everybody, 2),
        count_of(lambda cell: cell[0] == "F", 1),
        count_of(lambda cell: cell[1] == 1, 1),
    ]
    found = reconstruct_block(published, cells=cells)
    assert found.is_unique is False
    sure = [*published, count_of(lambda cell: cell == ("F", 1), 1)]
    assert reconstruct_block(sure, cells=cells).is_unique is True


def test_several_people_of_one_cell_are_counted():
    found = reconstruct_block([count_of(everybody, 5), count_of(lambda cell: cell == "a", 4)], cells=["a", "b"])
    assert found.people == {"a": 4, "b": 1}
    assert found.is_unique
    assert block_outcome(found, ["a", "a", "b", "b"], cells=2).successes == 3


def test_numbers_that_contradict_each_other_are_missed_by_as_little_as_can_be():
    noisy = [count_of(everybody, 4.6), count_of(lambda cell: cell == "a", -1.3), count_of(lambda cell: cell == "b", 2)]
    found = reconstruct_block(noisy, cells=["a", "b", "c"], check_unique=False)
    assert found.people == {"b": 2, "c": 3}
    assert found.misfit == pytest.approx(0.4 + 1.3)
    assert found.is_unique is None


@pytest.mark.parametrize(("low", "high"), [(2, 1), (float("nan"), 1), (0, float("inf"))])
def test_limits_that_are_none_are_refused(low, high):
    with pytest.raises(ParameterError, match="low"):
        Published(weigh=age, low=low, high=high)


def test_nothing_published_is_refused():
    with pytest.raises(ParameterError, match="published"):
        reconstruct_block([], cells=CELLS)


@pytest.mark.parametrize("published", [None, [None], [3]])
def test_what_is_published_are_numbers_of_tables(published):
    with pytest.raises(ParameterError, match=r"^published = "):
        reconstruct_block(published, cells=CELLS)


@pytest.mark.parametrize("cells", [None, "abc", [["Ada", 36]]])
def test_cells_can_be_hashed_and_the_error_shows_none(cells):
    with pytest.raises(ParameterError, match=r"^cells = ") as refused:
        reconstruct_block([count_of(everybody, 3)], cells=cells)
    assert "Ada" not in str(refused.value)


@pytest.mark.parametrize("weigh", [None, lambda: 1, lambda _: "heavy", lambda _: float("nan")])
def test_a_person_weighs_a_finite_number(weigh):
    with pytest.raises(ParameterError, match=r"^weigh"):
        reconstruct_block([Published(weigh=weigh, low=0, high=1)], cells=CELLS)


@pytest.mark.parametrize(("name", "value"), [("mean", None), ("count", "abc"), ("step", 1j)])
def test_a_mean_is_of_numbers(name, value):
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        mean_of(age, everybody, **{"mean": 38.0, "count": 7, "step": 0.1, name: value})


def test_truths_weigh_as_ones_and_an_indicator_has_a_mean():
    is_ill = Published(weigh=lambda cell: cell == "ill", low=2, high=2)
    half = mean_of(lambda cell: cell == "ill", everybody, mean=0.5, count=4, step=0.1)
    assert reconstruct_block([is_ill, half, count_of(everybody, 4)], cells=["ill", "well"]).people == {
        "ill": 2,
        "well": 2,
    }


def test_a_share_of_no_cells_is_refused():
    found = reconstruct_block([count_of(everybody, 1)], cells=["a"])
    with pytest.raises(ParameterError, match=r"^cells = "):
        block_outcome(found, ["a"], cells=0)
