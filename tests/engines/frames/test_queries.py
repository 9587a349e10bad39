"""Lazy frames stay queries, if their columns can be read whatever they hold."""

import polars as pl
import pytest

from sfumato.engines.frames.queries import open_in_place
from sfumato.engines.sources import ArrowData, LazyData, keeps_rows
from sfumato.errors import ParameterError
from sfumato.query.schema import Table, date, integer, text

TABLE = Table(name="t", columns={"v": integer(), "w": text()})
FRAME = pl.DataFrame({"v": [1], "w": ["canary"], "other": [1.5]})


def test_a_query_is_not_run():
    def failing(_):
        raise AssertionError

    query = FRAME.lazy().map_batches(failing, schema=FRAME.schema)
    source = open_in_place(query, TABLE)
    assert isinstance(source, LazyData)
    assert source.frame is query
    assert "canary" not in repr(source)
    assert not keeps_rows(source)


def test_a_frame_in_memory_is_a_table_as_to_every_engine():
    assert isinstance(open_in_place(FRAME, TABLE), ArrowData)


@pytest.mark.parametrize(
    ("query", "table"),
    [
        (FRAME.lazy().drop("w"), TABLE),
        (FRAME.lazy().rename({"other": "V"}), TABLE),
        (FRAME.lazy().with_columns(pl.lit(1, pl.Int128).alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.concat_list("v").alias("v")), TABLE),
        (FRAME.lazy().with_columns(pl.lit(1).cast(pl.Date).alias("v")), TABLE),
        (FRAME.lazy().select(pl.col("nosuch")), TABLE),
        (FRAME.lazy(), Table(name="t", columns={"d": date()})),
    ],
)
def test_a_query_without_a_declared_column_or_of_types_that_cannot_be_read_is_refused(query, table):
    with pytest.raises(ParameterError):
        open_in_place(query, table)


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(["canary"]), pl.String(), pl.Datetime("ns", "UTC")])
def test_types_that_can_be_read_are(kind):
    stored = FRAME.lazy().with_columns(pl.lit(None, kind).alias("w"))
    declared = date() if isinstance(kind, pl.Datetime) else text()
    assert open_in_place(stored, Table(name="t", columns={"w": declared})).names == ("v", "w", "other")
