"""Which stored answers are used: those about the same data, of the same account, that are small enough to be kept."""

import pytest
from tests.session.asking.town import BY_AGE, COLUMNS, MARGINALS, count, town

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.planning import batch, linear


@pytest.mark.parametrize(("limit", "most"), [("MOST_NUMBERS", 9), ("MOST_TEXT", 99)])
def test_a_workload_that_is_too_large_to_be_kept_is_answered_all_the_same(limit, most, monkeypatch):
    monkeypatch.setattr(batch, "WORTH", 10**9)
    monkeypatch.setattr(linear, limit, most)
    session = town()
    session.queries(MARGINALS).release(epsilon=1, delta="1e-6", mechanism="gaussian")
    with pytest.raises(ParameterError, match="has no count or sum"):
        session.query(MARGINALS[0]).from_releases()


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "2"},
        {"columns": COLUMNS | {"kids": sf.integer(0, 8)}},
        {"columns": COLUMNS | {"age": sf.integer(1, 5)}},
    ],
    ids=["another version", "other bounds of what is summed", "other bounds of a key"],
)
def test_answers_about_other_data_or_declarations_are_not_used(tmp_path, changes):
    ledger = tmp_path / "ledger.db"
    with town(ledger=ledger) as first:
        first.sql(BY_AGE, epsilon=1)
    with town(ledger=ledger, **changes) as second, pytest.raises(ParameterError, match="has no count or sum"):
        second.query(count(where="age BETWEEN 2 AND 3")).from_releases()


def test_answers_of_other_accounts_are_not_used():
    session = town(budget=sf.PureDP(9))
    ann = session.open_account("ann", budget=sf.PureDP(3))
    ann.sql(BY_AGE, epsilon=1)
    for other in (session, session.open_account("bea", budget=sf.PureDP(3))):
        with pytest.raises(ParameterError, match="has no count or sum"):
            other.query(BY_AGE).from_releases()
    ann.query(BY_AGE).from_releases()


def test_a_part_of_a_partition_is_not_the_whole():
    session = town()
    with session.partition("town", by="sex") as parts:
        parts["f"].sql(count(), epsilon=1)
        for other in (session, parts["m"]):
            with pytest.raises(ParameterError, match="has no count or sum"):
                other.query(count()).from_releases()
        parts["f"].query(count()).from_releases()


def test_answers_of_earlier_versions_do_not_say_what_they_are_and_are_not_used():
    session = town()
    session.sql(BY_AGE, epsilon=1)
    ledger = session._desk.ledger
    plain = [entry for entry in ledger.entries() if type(entry).__name__ == "Committed"]
    for entry in plain:
        for part in ("linear", "workloads", "tables"):
            entry.answer.pop(part)
    ledger.__class__ = type("Old", (ledger.__class__,), {"entries": lambda _: iter(plain)})
    with pytest.raises(ParameterError, match="has no count or sum"):
        session.query(BY_AGE).from_releases()


def test_answers_of_versions_without_workloads_are_used():
    session = town()
    session.sql(BY_AGE, epsilon=1)
    ledger = session._desk.ledger
    plain = [entry for entry in ledger.entries() if type(entry).__name__ == "Committed"]
    for entry in plain:
        entry.answer.pop("workloads")
    ledger.__class__ = type("Old", (ledger.__class__,), {"entries": lambda _: iter(plain)})
    session.query(BY_AGE).from_releases()
