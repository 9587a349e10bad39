"""Findings have levels, by which they are sorted, and what is not fine says what to do."""

import json

from sfumato.server.operations.findings import Level, advice, failure, fine, has_failed, warning, worst_first


def test_each_kind_has_its_level_and_only_what_is_fine_needs_nothing():
    made = [fine("a", "b"), advice("a", "b", "c"), warning("a", "b", "c"), failure("a", "b", "c")]
    assert [one.level for one in made] == list(Level)
    assert [one.fix for one in made] == ["", "c", "c", "c"]


def test_a_finding_is_json():
    found = failure("ledger", "is gone", "restore it")
    document = {"level": "failure", "subject": "ledger", "seen": "is gone", "fix": "restore it"}
    assert json.loads(json.dumps(found.document())) == document


def test_the_worst_comes_first_and_only_failures_fail():
    made = [warning("w", "b", "c"), fine("f", "b"), failure("x", "b", "c"), advice("a", "b", "c"), fine("g", "b")]
    assert [one.subject for one in worst_first(made)] == ["x", "w", "a", "f", "g"]
    assert has_failed(made)
    assert not has_failed([fine("a", "b"), warning("a", "b", "c")])
    assert not has_failed([])
