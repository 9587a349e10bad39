"""Of each group of rows the least by hash are kept, as `sampling.least` has it."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import run

from sfumato.engines.sampling import least, rank_hash
from sfumato.engines.sql.queries import select, table
from sfumato.engines.sql.ranking import least_ranked
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.terms import column, is_null
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.relations import Source
from sfumato.query.schema import Limits, Table, integer, text
from sfumato.query.shape import shape_of

SALT = "00112233445566778899aabbccddeeff"
TABLE = Table(name="t", columns={"u": text(), "v": integer()}, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9))
ROWS = Rows(query=select([], table("cells")), shape=shape_of(Source(TABLE)))
CELLS = st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 5)), max_size=20)


def kept(rows, most, **asked):
    cells = {"u": [u for u, _ in rows], "c0": [u for u, _ in rows], "c1": pa.array([v for _, v in rows], pa.int64())}
    query = least_ranked(ROWS, most, salt=SALT, encodings=[*ROWS.unit_encoding, *ROWS.encodings], **asked)
    return sorted(run(query, cells=pa.table(cells)), key=repr)


@pytest.mark.parametrize("most", [1, 2, 5])
@given(CELLS)
def test_the_rows_of_least_hash_are_kept_of_each_unit(most, rows):
    ranked = least(rows, most, within=lambda row: row[0], rank=lambda row: rank_hash(SALT, (row[0], row[0], row[1])))
    assert kept(rows, most, within=ROWS.unit) == sorted([(u, u, v) for u, v in ranked], key=repr)


@given(CELLS)
def test_some_rows_are_kept_in_any_case(rows):
    v = column("c1")
    found = kept(rows, 1, within=[*ROWS.unit, v], kept=[is_null(v)])
    once = [row for row in dict.fromkeys(rows) if row[1] is not None]
    assert found == sorted([(u, u, v) for u, v in once + [row for row in rows if row[1] is None]], key=repr)
