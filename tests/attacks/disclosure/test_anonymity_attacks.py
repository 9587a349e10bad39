"""Tables that are ℓ-diverse, and what they tell all the same."""

from dataclasses import replace

import numpy as np
import pytest

from sfumato.attacks.disclosure.anonymity_attacks import (
    Predicate,
    downcoding,
    predicates,
    similarity,
    singling_out,
    skewness,
)
from sfumato.attacks.disclosure.generalization import Generalized, generalize, homogeneity
from sfumato.errors import ParameterError

STOMACH, LUNG = ("gastritis", "ulcer", "stomach cancer"), ("flu", "asthma", "bronchitis")


def released(ill):
    """A table of classes of three, one for each decade of age, and the people in it."""
    starts = np.arange(20.0, 20 + 10 * len(ill) / 3, 10)
    made = Generalized(
        columns=("age",),
        low=starts[:, None],
        high=starts[:, None] + 2,
        sensitive=tuple(tuple(ill[at : at + 3]) for at in range(0, len(ill), 3)),
    )
    return made, {"age": np.add.outer(starts, np.arange(3)).ravel(), "ill": ill}


def test_a_rare_value_that_crowds_in_a_diverse_class_is_far_likelier_there():
    made, table = released(["HIV", "HIV", "flu"] + ["flu", "asthma", "ulcer"] * 4)
    assert made.diversity == 2
    found = skewness(made, table, sensitive="ill", value="HIV")
    assert (found.successes, found.trials) == (2, 3)
    assert found.baseline == pytest.approx(2 / 15)


def test_a_value_that_is_spread_evenly_tells_nothing_more():
    made, table = released(["HIV", "flu", "asthma"] * 5)
    found = skewness(made, table, sensitive="ill", value="HIV")
    assert found.success == found.baseline == pytest.approx(1 / 3)


def test_a_value_that_nobody_has_is_refused():
    made, table = released(["flu"] * 15)
    with pytest.raises(ParameterError, match="value"):
        skewness(made, table, sensitive="ill", value="HIV")


def test_people_who_are_not_in_that_class_are_refused():
    made, _ = released(["HIV"] * 3 + ["flu"] * 12)
    with pytest.raises(ParameterError, match="people"):
        skewness(made, {"age": [90], "ill": ["flu"]}, sensitive="ill", value="HIV")


def test_three_illnesses_of_the_stomach_are_one_of_a_kind():
    made, table = released([*STOMACH, *LUNG, *(("flu", "ulcer", "asthma") * 3)])
    assert made.diversity == 3
    assert homogeneity(made, table, sensitive="ill").certain == 0
    found = similarity(made, table, sensitive="ill", alike=lambda ill: ill in STOMACH)
    assert found.certain == 6
    assert found.outcome.attack == "similarity in a 3-diverse table"
    assert found.outcome.success > found.outcome.baseline


def test_values_that_are_alike_only_to_themselves_are_those_of_homogeneity():
    made, table = released(list(np.random.default_rng(3).choice([*STOMACH, *LUNG], 15)))
    found = similarity(made, table, sensitive="ill", alike=lambda ill: ill)
    assert found.certain == homogeneity(made, table, sensitive="ill").certain


RNG = np.random.default_rng(77)
TABLE = {"age": RNG.integers(18, 90, 300), "zip": RNG.integers(0, 1000, 300), "ill": [0] * 300}
MADE = generalize(TABLE, columns=["age", "zip"], sensitive="ill", k=3)


def test_every_end_of_the_narrowest_intervals_is_somebodys_value():
    found = downcoding(MADE, TABLE)
    assert found.successes == found.trials == 4 * len(MADE.sensitive)
    assert found.baseline < 0.5


def test_wider_intervals_give_no_more_than_blind_claims_do():
    """Ends moved outward by up to 300 hit a value of the class as often as any number does."""
    wider = replace(MADE, low=MADE.low - RNG.integers(1, 300, MADE.low.shape), high=MADE.high + 150)
    found = downcoding(wider, TABLE)
    assert found.success < 0.2
    assert found.baseline < 0.2


def test_people_of_another_table_are_refused():
    with pytest.raises(ParameterError, match="people"):
        downcoding(MADE, {"age": [200], "zip": [5000]})


NAMES = tuple("abcdefghij")
WIDE_RNG = np.random.default_rng(1984)


def people(count):
    return {name: WIDE_RNG.integers(0, 10**6, count) for name in NAMES} | {"ill": np.zeros(count, dtype=int)}


WIDE_TABLE, OTHERS = people(600), people(20_000)
WIDE_MADE = generalize(WIDE_TABLE, columns=NAMES, sensitive="ill", k=4)


def box(low, high, share=1.0, salt=b"salt"):
    return Predicate(columns=("a",), low=np.array([low]), high=np.array([high]), share=share, salt=salt)


@pytest.mark.statistical
def test_a_third_of_the_classes_of_a_k_anonymous_table_is_singled_out():
    """(1 − 1/m)^(m−1) > 1/e of classes of m: 100 classes stay below a fifth three times with a chance of 1e-10."""
    found = [singling_out(predicates(WIDE_MADE), WIDE_TABLE, population=OTHERS) for _ in range(3)]
    assert max(outcome.success for outcome in found) > 0.2
    assert max(outcome.baseline for outcome in found) < 0.05


def test_predicates_that_fit_as_few_of_the_population_elsewhere_single_out_nobody():
    elsewhere = generalize(people(600), columns=NAMES, sensitive="ill", k=4)
    found = singling_out(predicates(elsewhere), WIDE_TABLE, population=OTHERS)
    assert found.success < 0.1


def test_the_baseline_is_the_chance_of_a_predicate_made_without_the_table():
    tried = [box(0, 10**6 / 600)] * 5
    found = singling_out(tried, WIDE_TABLE, population=OTHERS)
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
    with pytest.raises(ParameterError, match="predicate"):
        singling_out([], WIDE_TABLE, population=OTHERS)


@pytest.mark.parametrize("tried", [None, 1, "abc", [1], [None]])
def test_what_is_no_list_of_predicates_is_refused(tried):
    with pytest.raises(ParameterError, match=r"^tried = .*: must be a list of "):
        singling_out(tried, WIDE_TABLE, population=OTHERS)


def test_somebody_whose_number_is_missing_fits_no_predicate():
    box = Predicate(columns=("age",), low=np.array([0.0]), high=np.array([9.0]), share=1, salt=b"0")
    assert box.fits({"age": [5, None, float("nan"), 10]}).tolist() == [True, False, False, False]
