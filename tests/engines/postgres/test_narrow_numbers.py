"""Whole numbers of 16 and 32 bits are read as they are stored, so that the planner knows them, and never overflow."""

import json

import pyarrow as pa
import pytest
from tests.engines import postgres_tables
from tests.engines.postgres.test_engine import another, own_engine
from tests.engines.postgres_server import READER, server
from tests.engines.running import SALT, by_place, found, statement

from sfumato.engines.postgres.dialect import POSTGRES
from sfumato.engines.sql.lowering import lower, presented
from sfumato.engines.sql.relations import Catalogue
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.relations import BoundRows, Source
from sfumato.query.model.schema import Limits, Table, integer
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, UnitCount

KEY = integer(values=range(10))
SPREAD = Table(name="narrow", columns={"s": integer(), "i": integer(), "k": KEY}, unit=EACH_ROW)
WIDE = Table(name="narrow", columns=dict.fromkeys("sikw", integer()), unit=EACH_ROW)
OWNED = Table(
    name="narrow", columns={"s": integer(), "i": integer(), "k": integer()}, unit=UnitColumn("s"),
    limits=Limits(max_rows_per_unit=1),
)  # fmt: skip
ENDS = [(2**15 - 1, 2**31 - 1, 2**62), (-(2**15), -(2**31), -(2**62)), (0, 1, 2), (-1, 2**31 - 1, 0), (7, -3, 5)]
EXTREMES = [{"s": s, "i": i, "k": k, "w": w} for k, (s, i, w) in enumerate(ENDS)]
COMPUTED = [
    "s + s", "i + i", "i - s * i", "s * s", "i * i", "i * i * i", "-i", "-s", "ABS(i)", "ABS(s)", "i / s", "s % 7",
    "i % s", "SIGN(s) * i", "COALESCE(s, i)", "GREATEST(s, i)", "LEAST(i, w)", "NULLIF(s, 7)", "ROUND(i / 3)",
    "CASE WHEN s > 0 THEN s ELSE i END", "CASE WHEN s IN (7, 0, 100000) THEN 1 ELSE 0 END", "i * w", "s * w",
    "CAST(FLOOR(i + 0.25) AS INTEGER)", "CASE WHEN i = w THEN 1 WHEN s < i THEN 2 ELSE 3 END",
    "CAST(CAST(s AS TEXT) AS INTEGER)", "LENGTH(CAST(i AS TEXT))", "CAST(CAST(s AS BOOLEAN) AS INTEGER)",
    "CAST(FLOOR(s * 0.5) AS INTEGER)", "CAST(FLOOR(POWER(s, 2)) AS INTEGER)",
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def server_of_all():
    with postgres_tables.started():
        yield


@pytest.fixture(scope="module")
def addresses():
    """Two tables: one of which each column has its own spread, and one of numbers at the ends of their types."""
    columns = "(s smallint, i integer, k smallint, w bigint)"
    rows = ", ".join("({s}, {i}, {k}, {w})".format(**row) for row in EXTREMES)
    server().execute(
        f"CREATE TABLE spread {columns}", f"CREATE TABLE extremes {columns}", f"INSERT INTO extremes VALUES {rows}",
        "INSERT INTO spread SELECT g % 10, g, g % 10, g FROM generate_series(1, 20000) AS r(g)", "ANALYZE spread",
        f"GRANT SELECT ON spread, extremes TO {READER}",
    )  # fmt: skip
    yield {name: server().url(table=f"public.{name}") for name in ("spread", "extremes")}
    server().execute("DROP TABLE spread, extremes")


@pytest.mark.parametrize("term", COMPUTED)
def test_they_are_computed_with_as_if_they_were_wide(addresses, term):
    """Keys are what is computed, to the last digit."""
    asked = statement(f"SELECT COUNT(*) FROM narrow GROUP BY {term}", WIDE)
    with own_engine((WIDE, addresses["extremes"])) as engine:
        answer = by_place(engine.run(asked, salt=SALT).open_for_noise())
    assert answer == by_place(found("reference", asked, pa.Table.from_pylist(EXTREMES)))


@pytest.mark.parametrize("sampling", ["native", "md5"])
def test_they_are_keys_and_units(addresses, sampling):
    asked = Statement(
        rows=BoundRows(Source(OWNED), 1), keys=tuple(KeyColumn(name=name, values=None) for name in "ki"),
        measures=(RowCount(), UnitCount()), limits=Limits(max_groups_per_unit=1),
    )  # fmt: skip
    with own_engine((OWNED, addresses["extremes"]), sampling=sampling) as engine:
        answer = by_place(engine.run(asked, salt=SALT).open_for_noise())
    assert answer == {(row["k"], row["i"]): [1, 1] for row in EXTREMES}


def test_the_planner_knows_how_they_spread(addresses):
    asked = statement("SELECT COUNT(*) FROM narrow WHERE i > 5000 AND s < 5 GROUP BY k", SPREAD)
    with own_engine((SPREAD, addresses["spread"])) as engine:
        lowered = lower(asked, Catalogue(named=engine._tables.named), dialect=POSTGRES, salt=SALT)
    query = POSTGRES.sql(presented(lowered, lowered.totals))
    with another() as connection:
        ((plan,),) = connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchall()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    node = plan[0]["Plan"]
    while "Plans" in node:
        (node,) = node["Plans"]
    assert 5_000 <= node["Plan Rows"] <= 10_000  # 7,500 of 20,000 pass; of terms it knows nothing, and guesses 33
