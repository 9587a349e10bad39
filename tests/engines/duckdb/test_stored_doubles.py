"""Doubles are read as they are stored where a question reads its table once, and mean what they mean everywhere.

Those beyond the range, infinite or NaN are NULL wherever a question reads them: in its conditions, keys and sums.
"""

import math
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.running import SALT, by_place, found, started, statement

from sfumato.engines.sampling import Sampling
from sfumato.engines.sources.sources import open_source
from sfumato.engines.sql.relations import lower_relation
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, IsNull, Literal, Not
from sfumato.query.model.relations import BoundRows, Distinct, Filter, Join, Select, Source, UnionAll
from sfumato.query.model.schema import Limits, Table, integer, real
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, Values

CELLS = [math.inf, -math.inf, math.nan, 1e200, -1e200, 1e150, None, 0.0, -0.0, 1.5, -2.5, 99.0]
DATA = pa.table({"u": range(len(CELLS)), "v": pa.array(CELLS, pa.float64()), "w": pa.array(CELLS[::-1], pa.float64())})
COLUMNS = {"u": integer(), "v": real(-10, 10), "w": real()}
ROWS = Table(name="t", columns=COLUMNS, unit=EACH_ROW)
OWNED = Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=2))
ASKED = [
    "SELECT COUNT(*), COUNT(v), SUM(v), COUNT(w) FROM t", "SELECT COUNT(*), SUM(v * v), SUM(v + 1) FROM t",
    "SELECT COUNT(*) FROM t WHERE v IS NULL", "SELECT COUNT(*), SUM(v) FROM t WHERE NOT v IS NULL",
    "SELECT SUM(v) FROM t WHERE w > 0", "SELECT SUM(v) FROM t WHERE w > 0 AND v < 50",
    "SELECT COUNT(*) FROM t WHERE v = w",    "SELECT COUNT(*) FROM t WHERE v IN (0, 1.5) OR w <> 0",
    "SELECT SUM(COALESCE(v, 7)) FROM t",
    "SELECT SUM(CASE WHEN v > 0 THEN 1 WHEN v IS NULL THEN 2 ELSE 3 END) FROM t", "SELECT SUM(ABS(v)), SUM(-v) FROM t",
    "SELECT COUNT(*) FROM t GROUP BY CAST(FLOOR((v + 10) * 3) AS INTEGER), CAST(w / 0.01 AS INTEGER)",
    "SELECT COUNT(*) FROM t WHERE w > 1 GROUP BY CAST(FLOOR(v - 1e150) AS INTEGER)",
    "SELECT COUNT(*), SUM(x) FROM (SELECT v * 2 AS x, CAST(v AS INTEGER) AS k FROM t) AS s WHERE x < 9 GROUP BY k",
    "SELECT SUM(FLOOR(v)), SUM(GREATEST(v, 0)) FROM t", "SELECT COUNT(*) FROM t WHERE w = 1e150 GROUP BY u",
]  # fmt: skip
V = ColumnRef("v")


def relations(table):
    rows = Source(table)
    yield Filter(Filter(rows, Not(IsNull(V))), Compare(Comparison.LESS, ColumnRef("w"), Literal(Fraction(50))))
    yield Select(rows, (("v", V), ("u", ColumnRef("u"))))
    yield UnionAll(rows, rows)
    if table.has_owners:
        yield Distinct(Select(rows, (("v", V),)))
        yield BoundRows(rows, 1)
        yield Join(left=rows, right=Select(rows, (("x", V),)), on=(("v", "x"),))


def asked_of(table):
    for rows in (Source(table), *relations(table)):
        keys = (KeyColumn(name="v", values=None),)
        limits = Limits(max_rows_per_unit=2) if table.has_owners else Limits()
        yield Statement(rows=rows, keys=keys, measures=(RowCount(),), limits=limits)
        yield Statement(
            rows=rows, keys=(), measures=(RowCount(),), limits=limits, cell=Values(value=V, values=None)
        )  # fmt: skip


@pytest.fixture(params=["arrow", "parquet"], scope="module")
def data(request, tmp_path_factory):
    if request.param == "arrow":
        return DATA
    path = tmp_path_factory.mktemp("stored") / "doubles.parquet"
    pq.write_table(DATA, path)
    return open_source(path)


@pytest.mark.parametrize("table", [ROWS, OWNED], ids=["rows", "owned"])
def test_questions_about_them_have_the_answers_of_the_reference(table, data):
    for asked in [*(statement(sql, table) for sql in ASKED), *asked_of(table)]:
        assert by_place(found("duckdb", asked, data)) == by_place(found("reference", asked, DATA)), asked


def test_they_are_read_so_by_a_question_that_reads_its_table_once_and_by_no_other(data):
    running = started("duckdb", statement(ASKED[0], OWNED), data)
    catalogue = running._prepared.catalogue(Source(OWNED))
    lowered = partial(lower_relation, catalogue=catalogue, salt=SALT, sampling=Sampling.MD5)
    once, *others = [lowered(rows).pending for rows in (Source(OWNED), *relations(OWNED))]
    assert once == others[0] == {"c1", "c2"}  # of the table, and below two conditions
    assert set(others[1:]) == {frozenset()}
    running.close()


def test_other_columns_and_sources_have_none(tmp_path):
    whole = Table(name="t", columns={"u": integer(), "v": real(0, 1, nullable=False)}, unit=EACH_ROW)
    running = started("duckdb", statement("SELECT SUM(v) FROM t", whole), pa.table({"u": [1], "v": [2.5]}))
    assert running._prepared.catalogue(Source(whole)).as_stored(whole) is None
    running.close()
    path = tmp_path / "rows.csv"
    path.write_text("u,v,w\n1,2.5,3\n")
    running = started("duckdb", statement(ASKED[0], ROWS), open_source(path))
    assert running._prepared.catalogue(Source(ROWS)).as_stored(ROWS) is None
    running.close()
