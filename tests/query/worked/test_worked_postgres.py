"""Questions that are answered, on PostgreSQL: all of them, from tables that it holds."""

from dataclasses import replace
from functools import cache

import pytest
from tests.engines.postgres_tables import address, started
from tests.query.worked import oracles
from tests.query.worked.answers import ANSWERS
from tests.query.worked.answers_frames import FRAMES
from tests.query.worked.cases import shown
from tests.query.worked.schema import database
from tests.query.worked.test_worked_answers import TIGHT
from tests.query.worked.test_worked_answers import (
    test_where_limits_bind_the_answer_is_the_exact_bounded_one as check_answer,
)
from tests.query.worked.test_worked_frames import (
    test_where_no_limit_binds_the_answer_is_that_of_plain_sql as check_frame,
)

import sfumato as sf
from sfumato.engines.sources.sources import open_source, readable
from sfumato.query.policy.policy import SourceFacts

REFERENCE = oracles._reference


@pytest.fixture(scope="module", autouse=True)
def server():
    with started():
        yield


@cache
def session(name, _):
    policy, rows = database(name).policy, database(name).rows
    sources = {
        table: SourceFacts(
            source=address(policy.tables[table], readable(open_source(rows[table]), policy.tables[table]))
        )
        for table in policy.sources
    }
    return sf.Session(
        replace(policy, sources=sources), budget=sf.NO_GUARANTEE, engine="postgres", engine_options=oracles.MD5
    )


@pytest.fixture(autouse=True)
def asked_there(monkeypatch):
    monkeypatch.setattr(oracles, "session", session)


@pytest.mark.essential
@pytest.mark.parametrize("case", ANSWERS, ids=shown)
def test_on_postgres_the_answer_is_the_exact_bounded_one(case, monkeypatch):
    own = database(TIGHT.get(case.on, case.on)).policy
    monkeypatch.setattr(oracles, "_reference", lambda _: REFERENCE(own))
    check_answer(case, "postgres")


@pytest.mark.parametrize("asked", FRAMES, ids=lambda asked: asked.name)
def test_on_postgres_the_answer_is_that_of_plain_sql(asked):
    check_frame(asked, "postgres")
