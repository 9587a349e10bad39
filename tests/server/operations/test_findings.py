"""Findings have levels; what cannot be examined is a failure that says why."""

import json

from sfumato.errors import LedgerError
from sfumato.server.operations.findings import Level, advice, examined, failure, fine, warning


def test_each_kind_has_its_level_and_only_what_is_fine_needs_nothing():
    made = [fine("a", "b"), advice("a", "b", "c"), warning("a", "b", "c"), failure("a", "b", "c")]
    assert [one.level for one in made] == list(Level)
    assert [one.fix for one in made] == ["", "c", "c", "c"]


def test_a_finding_is_json():
    found = failure("ledger", "is gone", "restore it")
    document = {"level": "failure", "subject": "ledger", "seen": "is gone", "fix": "restore it"}
    assert json.loads(json.dumps(found.document())) == document


def test_what_was_found_before_an_error_counts_and_the_error_is_a_failure():
    def broken(error):
        yield fine("first", "seen")
        raise error

    for error, seen in (
        (LedgerError("x", "is damaged"), "ledger x: is damaged"),
        (OSError(13, "not allowed"), "not allowed"),
    ):
        found = list(examined("the ledger", lambda error=error: broken(error)))
        assert [(one.level, one.subject) for one in found] == [(Level.FINE, "first"), (Level.FAILURE, "the ledger")]
        assert found[1].seen == seen
