"""Columns made of whole batches are those that are made row by row."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.releases.test_streaming import VISITS

from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Source
from sfumato.query.planning.plan import compile_plan
from sfumato.query.sql.questions import parse_question
from sfumato.query.statistics.estimates import NOTHING, AnswerValue
from sfumato.session.releases.columns import AnswerColumns, answer_columns, answer_schema, answer_table, figures
from sfumato.session.releases.presenting import present
from sfumato.session.releases.releasing import ReleasedBatch

QUESTIONS = [
    "SELECT k, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS m FROM visits GROUP BY k",
    "SELECT COUNT(*) AS n, k AS key, SUM(v / 7.0) AS s FROM visits GROUP BY k",
    "SELECT k, COUNT(*) AS n, VAR_POP(v) AS w FROM visits GROUP BY k",
    "SELECT k, COUNT(*) AS n, 2 * COUNT(*) AS m FROM visits GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM visits GROUP BY k HAVING COUNT(*) > 3",
    "SELECT k, COUNT(*) AS n FROM visits GROUP BY ROLLUP (k)",
]
CONFIDENCE = Fraction(95, 100)


@pytest.mark.parametrize("sql", QUESTIONS)
@given(st.lists(st.integers(-(10**18), 10**18) | st.integers(-5, 5), min_size=8, max_size=8), st.booleans())
def test_columns_are_what_rows_would_be(sql, numbers, as_objects):
    question = parse_question(sql, {"visits": Source(VISITS)})
    plan = compile_plan(question.child, guarantee(1, "1e-3"), neighboring_relation=ADD_OR_REMOVE_ONE)
    for place, section in enumerate(plan.sections):
        count = 2 if section.keys else 1
        keys = (["a", "b"],) if section.keys else ()
        kind = object if as_objects else np.int64
        drawn = [np.array([numbers[own : own + 1]] * count, dtype=kind) for own in range(len(section.measurements))]
        batch = ReleasedBatch(keys=keys, measured=tuple(drawn))
        columns = AnswerColumns(question, plan, section, CONFIDENCE)
        alone = type(plan)(question=plan.question, sections=(section,), charge=plan.charge)
        shown = present(question, alone, [batch.released], CONFIDENCE)
        expected = answer_table(answer_columns(shown.groups, shown.estimates, columns.schema), columns.schema)
        assert columns.table(batch).equals(expected), place


def test_types_do_not_depend_on_what_was_released():
    question = parse_question(QUESTIONS[0], {"visits": Source(VISITS)})
    plan = compile_plan(question.child, guarantee(0, "1e-3"), neighboring_relation=ADD_OR_REMOVE_ONE)
    columns = AnswerColumns(question, plan, plan.sections[0], CONFIDENCE)
    batch = ReleasedBatch(keys=(["a"],), measured=tuple(np.array([[0]]) for _ in plan.sections[0].measurements))
    assert columns.table(batch).schema == columns.schema
    assert columns.table(batch)["n"].to_pylist() == [None]


KINDS = (Kind.TEXT, Kind.INTEGER, Kind.FLOAT)
SCHEMA = answer_schema(("k",), ("n", "m"), KINDS)


def test_each_statistic_has_the_two_ends_of_its_interval():
    assert SCHEMA.names == ["k", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert SCHEMA.types == [pa.string(), *[pa.int64()] * 3, *[pa.float64()] * 3]


def test_rows_become_columns_also_if_there_are_none():
    one = (AnswerValue(value=1, low=0, high=2), NOTHING)
    table = answer_table(answer_columns([("a",)], [one], SCHEMA), SCHEMA)
    assert table.to_pylist() == [
        {"k": "a", "n": 1, "n_low": 0, "n_high": 2, "m": None, "m_low": None, "m_high": None}
    ]  # fmt: skip
    assert answer_table(answer_columns([], [], SCHEMA), SCHEMA).num_rows == 0
    assert figures(NOTHING) == (None, None, None)
