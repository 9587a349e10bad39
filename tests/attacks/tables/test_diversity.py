"""Tables that are ℓ-diverse, and what they tell all the same."""

import numpy as np
import pytest

from sfumato.attacks.disclosure.generalization import Generalized, homogeneity
from sfumato.attacks.tables.diversity import similarity, skewness
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
