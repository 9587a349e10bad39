from collections import Counter

import pytest

import sfumato as sf
from examples import d10_parallel_composition as example
from sfumato.errors import BudgetExceededError

COUNT = "SELECT COUNT(*) AS n FROM company"


def test_bands_are_cut_above_150000_and_below_20000_dollars():
    assert [example.band(salary) for salary in (19_999, 20_000, 150_000, 150_001)] == [
        "low",
        "middle",
        "middle",
        "high",
    ]
    assert Counter(example.bands()) == {"high": 6, "low": 16, "middle": 79}


def test_one_tenth_and_two_tenths_cost_two_tenths_in_all():
    with example.curator() as company, company.partition("company", by="band") as parts:
        parts["high"].sql(COUNT, epsilon="0.1")
        assert company.spent == sf.PureDP("0.1")
        parts["low"].sql(COUNT, epsilon="0.2")
        assert company.spent == sf.PureDP("0.2")


def test_the_same_questions_to_the_whole_table_cost_three_tenths():
    with example.curator() as company:
        for name, epsilon in example.COSTS.items():
            company.sql(f"{COUNT} WHERE band = '{name}'", epsilon=epsilon)
        assert company.spent == sf.PureDP("0.3")


def test_a_part_is_still_refused_what_the_budget_does_not_hold():
    with example.curator() as company, company.partition("company", by="band") as parts:
        parts["high"].sql(COUNT, epsilon="0.9")
        parts["low"].sql(COUNT, epsilon="0.9")
        with pytest.raises(BudgetExceededError):
            parts["low"].sql(COUNT, epsilon="0.2")


@pytest.mark.statistical
def test_each_part_counts_its_own_people():
    with example.curator() as company, company.partition("company", by="band") as parts:
        answers = {name: parts[name].sql(COUNT, epsilon=1)["n"][0].value for name in example.COSTS}
    # at ε = 1 either of two noises is 16 or more with probability 3.3e-7, the type-I error
    assert abs(answers["high"] - 6) < 16
    assert abs(answers["low"] - 16) < 16
