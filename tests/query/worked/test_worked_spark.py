"""Questions that are answered, on Spark: some of them, or with SFUMATO_FULL_SIZE all."""

from functools import cache

import pytest
from tests.engines.spark_application import application
from tests.query.worked import oracles
from tests.query.worked.answers import ANSWERS
from tests.query.worked.answers_frames import FRAMES
from tests.query.worked.cases import shown
from tests.query.worked.oracles import MD5
from tests.query.worked.schema import database
from tests.query.worked.test_worked_answers import (
    test_where_limits_bind_the_answer_is_the_exact_bounded_one as check_answer,
)
from tests.query.worked.test_worked_frames import (
    test_where_no_limit_binds_the_answer_is_that_of_plain_sql as check_frame,
)
from tests.sizes import FULL_SIZE

import sfumato as sf

EACH = 1 if FULL_SIZE else 16


@cache
def session(name, _):
    options = {"session": application(), **MD5}
    return sf.Session(database(name).policy, budget=sf.NO_GUARANTEE, engine="spark", engine_options=options)


@pytest.fixture(autouse=True)
def asked_there(monkeypatch):
    monkeypatch.setattr(oracles, "session", session)


@pytest.mark.parametrize("case", ANSWERS[::EACH], ids=shown)
def test_on_spark_the_answer_is_the_exact_bounded_one(case):
    check_answer(case, "spark")


@pytest.mark.parametrize("asked", FRAMES[::EACH], ids=lambda asked: asked.name)
def test_on_spark_the_answer_is_that_of_plain_sql(asked):
    check_frame(asked, "spark")
