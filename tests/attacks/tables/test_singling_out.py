"""k-anonymous classes are isolated more often than one in three times, and random boxes hardly ever."""

import numpy as np
import pytest

from sfumato.attacks.disclosure.generalization import generalize
from sfumato.attacks.tables.singling_out import Predicate, predicates, singling_out
from sfumato.errors import ParameterError

NAMES = tuple("abcdefghij")
RNG = np.random.default_rng(1984)


def people(count):
    return {name: RNG.integers(0, 10**6, count) for name in NAMES} | {"ill": np.zeros(count, dtype=int)}


TABLE, OTHERS = people(600), people(20_000)
MADE = generalize(TABLE, columns=NAMES, sensitive="ill", k=4)


def box(low, high, share=1.0, salt=b"salt"):
    return Predicate(columns=("a",), low=np.array([low]), high=np.array([high]), share=share, salt=salt)


@pytest.mark.statistical
def test_a_third_of_the_classes_of_a_k_anonymous_table_is_singled_out():
    """(1 − 1/m)^(m−1) > 1/e of classes of m: 100 classes stay below a fifth three times with a chance of 1e-10."""
    found = [singling_out(predicates(MADE), TABLE, population=OTHERS) for _ in range(3)]
    assert max(outcome.success for outcome in found) > 0.2
    assert max(outcome.baseline for outcome in found) < 0.05


def test_predicates_that_fit_as_few_of_the_population_elsewhere_single_out_nobody():
    elsewhere = generalize(people(600), columns=NAMES, sensitive="ill", k=4)
    found = singling_out(predicates(elsewhere), TABLE, population=OTHERS)
    assert found.success < 0.1


def test_the_baseline_is_the_chance_of_a_predicate_made_without_the_table():
    tried = [box(0, 10**6 / 600)] * 5
    found = singling_out(tried, TABLE, population=OTHERS)
    assert found.trials == 5
    assert found.baseline == pytest.approx(np.exp(-1), abs=0.12)


def test_a_share_of_hashes_picks_that_share_of_people_and_another_salt_others():
    table = {"a": np.arange(20_000)}
    first, second = (box(0, 20_000, share=0.25, salt=salt).fits(table) for salt in (b"one", b"two"))
    assert 0.23 < first.mean() < 0.27
    assert 0.04 < (first & second).mean() < 0.085
    assert np.array_equal(first, box(0, 20_000, share=0.25, salt=b"one").fits(table))


def test_equal_values_fit_together_and_a_whole_share_is_the_box():
    table = {"a": [5, 5, 5, 9]}
    assert box(5, 6).fits(table).tolist() == [True, True, True, False]
    assert len(set(box(5, 6, share=0.5).fits(table)[:3].tolist())) == 1


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ParameterError, match="share"):
        box(0, 1, share=share)


def test_no_predicates_are_refused():
    with pytest.raises(ParameterError, match="predicates"):
        singling_out([], TABLE, population=OTHERS)


@pytest.mark.parametrize("tried", [None, 1, "abc", [1], [None]])
def test_what_is_no_list_of_predicates_is_refused(tried):
    with pytest.raises(ParameterError, match=r"^tried = .*: must be a list of "):
        singling_out(tried, TABLE, population=OTHERS)


def test_somebody_whose_number_is_missing_fits_no_predicate():
    box = Predicate(columns=("age",), low=np.array([0.0]), high=np.array([9.0]), share=1, salt=b"0")
    assert box.fits({"age": [5, None, float("nan"), 10]}).tolist() == [True, False, False, False]
