"""The types of an answer follow from the question."""

import pyarrow as pa

from sfumato.query.model.kinds import Kind
from sfumato.query.statistics.estimates import NOTHING, Estimate
from sfumato.session.releases.arrow_answers import answer_columns, answer_schema, answer_table, figures

KINDS = (Kind.TEXT, Kind.INTEGER, Kind.FLOAT)
SCHEMA = answer_schema(("k",), ("n", "m"), KINDS)


def test_each_statistic_has_the_two_ends_of_its_interval():
    assert SCHEMA.names == ["k", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert SCHEMA.types == [pa.string(), *[pa.int64()] * 3, *[pa.float64()] * 3]


def test_rows_become_columns_also_if_there_are_none():
    one = (Estimate(value=1, low=0, high=2), NOTHING)
    table = answer_table(answer_columns([("a",)], [one], SCHEMA), SCHEMA)
    assert table.to_pylist() == [
        {"k": "a", "n": 1, "n_low": 0, "n_high": 2, "m": None, "m_low": None, "m_high": None}
    ]  # fmt: skip
    assert answer_table(answer_columns([], [], SCHEMA), SCHEMA).num_rows == 0
    assert figures(NOTHING) == (None, None, None)
