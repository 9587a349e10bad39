"""Moments are texts that sort, and the tables of a database are the declared ones."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select

from sfumato.errors import DatabaseError
from sfumato.server.identity.tables import APPROVALS, GRANTS, METADATA, PEOPLE, Moment

MOMENTS = st.builds(
    lambda microseconds, hours: (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).astimezone(
        timezone(timedelta(hours=hours))
    ),
    st.integers(0, 10**17),
    st.sampled_from([0, 5]),
)


@given(MOMENTS, MOMENTS)
def test_texts_of_moments_sort_as_moments_do(first, second):
    texts = Moment.written(first), Moment.written(second)
    assert (texts[0] < texts[1]) == (first < second)
    assert len(texts[0]) == len(texts[1]) == Moment.impl.length


@given(MOMENTS)
def test_a_moment_is_read_as_it_was(moment):
    assert Moment().process_result_value(Moment().process_bind_param(moment, None), None) == moment


def test_nothing_is_no_moment():
    assert Moment().process_bind_param(None, None) is Moment().process_result_value(None, None) is None


def test_every_subject_has_its_table():
    of_people = ["act", "api_key", "approval", "dataset_grant", "identity", "kept_release", "person", "question"]
    of_people += ["session", "sign_in_attempt"]
    of_reports = ["collection", "collection_batch", "collection_horizon"]
    of_federations = ["federation", "federation_message", "federation_result"]
    assert sorted(METADATA.tables) == sorted(of_people + of_reports + of_federations)


ANN = {"name": "ann", "display_name": "Ann", "is_platform_admin": False, "is_active": True}
ASKED = {
    "id": "a", "dataset": "d", "action": "change_budget", "change": "{}", "reason": "r", "state": "granted",
    "asked_by": "ann", "asked_at": datetime(2026, 11, 27, tzinfo=UTC), "decided_by": "ann",
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "row"),
    [
        (GRANTS, {"person": "bob", "dataset": "d", "role": "owner", "account": ""}),
        (GRANTS, {"person": "ann", "dataset": "d", "role": "boss", "account": ""}),
        (GRANTS, {"person": "ann", "dataset": "d", "role": "owner", "account": "d/ann"}),
        (GRANTS, {"person": "ann", "dataset": "d", "role": "analyst", "account": ""}),
        (APPROVALS, ASKED),
        (APPROVALS, ASKED | {"decided_by": None}),
    ],
    ids=["of nobody", "of no role", "an owner with an account", "an analyst without one", "by who asked", "by nobody"],
)
def test_the_database_itself_refuses_what_must_not_be(database, table, row):
    with database.writing() as connection:
        connection.execute(insert(PEOPLE).values(ANN))
    with pytest.raises(DatabaseError, match="could not be written"), database.writing() as connection:
        connection.execute(insert(table).values(row))
    with database.reading() as connection:
        assert connection.execute(select(table)).all() == []
