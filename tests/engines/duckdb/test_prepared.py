"""Preparing a table changes no answer: its units have numbers, and are hashed as what they are."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.running import SALT, by_place, found, started, statement
from tests.sizes import COSTLY
from tests.statements_of import statement as random_statement
from tests.strategies import chance, database, policy, stored

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sources.sources import ArrowData, open_source
from sfumato.errors import EngineError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.relations import Join, Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer, text
from sfumato.query.model.statement import KeyColumn, RowCount, Statement

COLUMNS = {"u": text(), "v": integer(0, 9)}
FIRST, SECOND = (
    Table(name=name, columns={f"{name}{own}": facts for own, facts in COLUMNS.items()}, unit=UnitColumn(f"{name}u"),
          limits=Limits(max_rows_per_unit=2))
    for name in "st"
)  # fmt: skip
CODES = Table(name="codes", columns=COLUMNS, unit=PUBLIC)
DATA = {
    "s": pa.table({"su": ["b", "a", None, "a"], "sv": [1, 2, 3, 4]}),
    "t": pa.table({"tu": ["c", "a", "b"], "tv": [5, 6, 7]}),
    "codes": pa.table({"u": ["x"], "v": [1]}),
}


def engine():
    return DuckDBEngine({name: open_source(data) for name, data in DATA.items()})


@given(st.randoms(use_true_random=False))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_prepared_tables_give_the_same_answers(random):
    own = policy(random)
    asked = random_statement(random, own, depth=3)
    rows = database(random, own)
    data = {name: ArrowData(stored(cells, own.storage[name]), tuple(own.storage[name])) for name, cells in rows.items()}
    expected = by_place(found("reference", asked, data))
    running = DuckDBEngine(data, sampling="md5")
    for table in own.private:
        if not chance(random, 8):
            running.prepare(table)
    assert by_place(running.run(asked, salt=SALT).open_for_noise()) == expected
    running.close()


def test_units_have_one_number_in_all_tables():
    running = engine()
    for table in (FIRST, SECOND, FIRST):
        running.prepare(table)
    units = running._database.execute('SELECT owner, number, encoding FROM typed."units text"').fetchall()
    assert sorted(number for _, number, _ in units) == [0, 1, 2]
    assert {(owner, encoding) for owner, _, encoding in units} == {("a", "V1:a"), ("b", "V1:b"), ("c", "V1:c")}
    assert running._database.execute("SELECT COUNT(*) FROM typed.p0 AS p JOIN typed.p1 AS q USING (u)").fetchall() == [
        (3,)
    ]
    running.close()


@pytest.mark.parametrize("sampling", ["md5", "native"])
@pytest.mark.parametrize("prepares", [False, True])
def test_a_new_unit_changes_nothing_of_the_others_whatever_their_numbers(sampling, prepares):
    counts = [_groups_of(range(first, 300), sampling, prepares=prepares) for first in range(5)]
    moved = [sum(abs(first[key] - second[key]) for key in first) for first, second in pairwise(counts)]
    assert moved == [1, 1, 1, 1]


def _groups_of(units, sampling, *, prepares):
    """How many units keep each of nine groups, if each of them keeps one of the four to nine that it is in."""
    rows = [(f"unit {unit}", value) for unit in units for value in range(1, 5 + unit % 6)]
    running = DuckDBEngine(
        {"s": open_source(pa.table(dict(zip(("su", "sv"), zip(*rows, strict=True), strict=True))))}, sampling=sampling
    )  # fmt: skip
    if prepares:
        running.prepare(FIRST)
    asked = Statement(
        rows=Source(FIRST), keys=(KeyColumn(name="sv", values=tuple(range(1, 10))),), measures=(RowCount(),),
        limits=Limits(max_groups_per_unit=1, max_rows_per_group_per_unit=1),
    )  # fmt: skip
    counts = {key: count for key, (count,) in by_place(running.run(asked, salt=SALT).open_for_noise()).items()}
    running.close()
    return counts


def test_rows_are_stored_by_unit():
    running = engine()
    running.prepare(FIRST)
    stored_units = [unit for (unit,) in running._database.execute("SELECT u FROM typed.p0").fetchall()]
    assert stored_units == sorted(stored_units)
    running.close()


def test_a_relation_is_read_from_prepared_tables_if_all_of_its_owners_are_in_them():
    running = engine()
    prepared = running._prepared
    both = Join(left=Source(FIRST), right=Source(SECOND), on=())
    running.prepare(FIRST)
    assert prepared.catalogue(both).units is None
    assert sql(prepared.catalogue(Source(FIRST)).named(FIRST)) == '"typed"."p0"'
    running.prepare(SECOND)
    found_units = prepared.catalogue(both).units
    assert found_units is not None
    assert sql(found_units) == '"typed"."units text"'
    assert prepared.catalogue(Source(CODES)).units is None
    running.close()


def test_public_tables_are_left_where_they_are():
    running = engine()
    running.prepare(CODES)
    assert running._database.execute("SELECT COUNT(*) FROM information_schema.tables").fetchall() == [(0,)]
    running.close()


def test_a_table_that_cannot_be_read_is_an_error_without_its_text(tmp_path):
    path = tmp_path / "canary.csv"
    path.write_text("su,sv\na,1\n")
    running = started("duckdb", statement("SELECT COUNT(*) FROM s", FIRST), {"s": open_source(path)})
    path.unlink()
    with pytest.raises(EngineError) as caught:
        running.prepare(FIRST)
    assert "canary" not in str(caught.value)
    running.close()
