"""Documented deployments: the published numbers, and what they come to."""

import pytest
from tests.meta.repository import ROOT

from sfumato.errors import ParameterError
from sfumato.local import DEPLOYMENTS, MEASURED, DeviceBudget, spent_by


def test_the_published_numbers():
    assert {use.name: (use.epsilon, use.reports_per_day) for use in DEPLOYMENTS}["Emoji"] == (4, 1)
    assert [use.per_day for use in DEPLOYMENTS] == [2, 4, 8, 8, 16, 16]
    assert {use.name: use.per_day for use in MEASURED} == {"iOS 10, all uses": 14, "macOS 10.12, all uses": 16}


def test_every_source_is_in_the_bibliography():
    text = (ROOT / "docs" / "bibliography.md").read_text("utf-8")
    for use in (*DEPLOYMENTS, *MEASURED):
        assert f"**[{use.source}]**" in text


def test_without_a_limit_a_lifetime_is_all_its_days():
    assert spent_by(16, [1, 10, 3650]) == [16, 160, 58_400]


def test_with_a_budget_it_ends():
    budget = DeviceBudget(per_use=1, per_day=2, lifetime=20)
    assert spent_by(1, [1, 10, 100], budget=budget) == [1, 10, 20]
    assert spent_by(9, [1, 10, 100], budget=budget) == [2, 20, 20]


def test_wrong_numbers_are_refused():
    for per_day, days in ((0, [1]), (-1, [1]), (1, [0]), (1, [1.5]), (float("nan"), [1])):
        with pytest.raises(ParameterError):
            spent_by(per_day, days)
