"""Where a table has few rows, whole numbers of steps are summed as doubles, which hold such sums to the last digit."""

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.running import SALT, by_place, found, started, statement

from sfumato.engines.duckdb import tables
from sfumato.engines.duckdb.dialect import DUCKDB, sql
from sfumato.engines.sampling import Sampling
from sfumato.engines.sources.sources import open_source
from sfumato.engines.sql.lowering import lower
from sfumato.engines.sql.relations import lower_relation
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import BoundRows, Distinct, Join, Select, Source, UnionAll
from sfumato.query.model.schema import Limits, Table, integer, real
from sfumato.query.model.statement import FEW_ROWS, StepSum, fits_doubles

WIDEST = 2**20
"""The most steps of a value whose sums doubles hold."""

SIZE = 3_000
NUMBERS = np.random.default_rng(5).uniform(-30_000, 30_000, SIZE)
VALUES = pa.array([None if place % 7 == 0 else value for place, value in enumerate(NUMBERS.tolist())], pa.float64())
DATA = pa.table({"u": np.arange(SIZE) % 700, "g": np.arange(SIZE) % 3, "v": VALUES})
COLUMNS = {
    "u": integer(), "g": integer(values=[0, 1, 2]), "v": real(-10_485.76, 10_485.76, resolution="0.01"),
}  # fmt: skip
ROWS = Table(name="t", columns=COLUMNS, unit=EACH_ROW)
OWNED = Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=4))
ASKED = "SELECT g, COUNT(*), COUNT(v), SUM(v), SUM(v * 0.5), AVG(v) FROM t GROUP BY g"


def measures(asked, table):
    return [one for one in statement(asked, table).measures if isinstance(one, StepSum)]


def test_doubles_count_one_by_one_as_far_as_the_sums_that_are_made_of_them():
    for most, holds in ((WIDEST, True), (WIDEST + 1, False)):
        table = Table(name="t", columns={"v": real(0, most, resolution="1")}, unit=EACH_ROW)
        (one,) = measures("SELECT SUM(v) FROM t", table)
        assert fits_doubles(one) is holds
    most = float(WIDEST * FEW_ROWS)
    assert [most - 1, most - 2] == [int(most) - 1, int(most) - 2]
    assert most + 1 == most  # beyond, they do not


@pytest.mark.parametrize("kind", ["arrow", "parquet", "csv"])
@pytest.mark.parametrize("table", [ROWS, OWNED], ids=["rows", "owned"])
def test_answers_are_those_of_the_reference(table, kind, tmp_path):
    data = DATA
    if kind == "parquet":
        pq.write_table(DATA, tmp_path / "t.parquet")
        data = open_source(tmp_path / "t.parquet")
    elif kind == "csv":
        DATA.to_pandas().to_csv(tmp_path / "t.csv", index=False)
        data = open_source(tmp_path / "t.csv")
    asked = statement(ASKED, table)
    running = started("duckdb", asked, data)
    catalogue = running._prepared.catalogue(asked.rows)
    written = sql(lower(asked, catalogue, dialect=DUCKDB, salt=SALT).totals)
    running.close()
    assert written.count('THEN FLOOR((LEAST(GREATEST("c2"') >= 1
    assert by_place(found("duckdb", asked, data)) == by_place(found("reference", asked, DATA))


def test_only_one_table_alone_is_known_to_have_few_rows():
    running = started("duckdb", statement(ASKED, OWNED), DATA)
    lowered = partial(
        lower_relation, catalogue=running._prepared.catalogue(Source(OWNED)), salt=SALT, sampling=Sampling.MD5
    )
    rows, columns = Source(OWNED), (("v", ColumnRef("v")),)
    few = [rows, Select(rows, columns), Distinct(Select(rows, columns)), BoundRows(rows, 2)]
    many = [UnionAll(rows, rows), Join(left=rows, right=Select(rows, (("w", ColumnRef("v")),)), on=(("v", "w"),))]
    assert [lowered(one).has_few_rows for one in few] == [True] * len(few)
    assert [lowered(one).has_few_rows for one in [*many, Select(many[0], columns)]] == [False] * 3
    running.close()


@pytest.mark.parametrize("prepared", [False, True])
def test_sums_over_more_rows_are_of_whole_numbers(monkeypatch, prepared):
    monkeypatch.setattr(tables, "FEW_ROWS", SIZE - 1)
    asked = statement(ASKED, OWNED)
    running = started("duckdb", asked, DATA)
    if prepared:
        running.prepare(OWNED)
    catalogue = running._prepared.catalogue(asked.rows)
    assert not catalogue.has_few_rows(OWNED)
    assert "THEN FLOOR(" not in sql(lower(asked, catalogue, dialect=DUCKDB, salt=SALT).totals)
    monkeypatch.setattr(tables, "FEW_ROWS", SIZE)
    again = started("duckdb", asked, DATA)
    assert again._prepared.catalogue(asked.rows).has_few_rows(OWNED)
    running.close()
    again.close()
