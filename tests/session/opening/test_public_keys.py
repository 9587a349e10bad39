import pyarrow as pa
import pytest

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import open_source, readable
from sfumato.errors import PolicyError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, date, integer, text
from sfumato.query.policy.policy import Place, Policy, SourceFacts
from sfumato.session.opening.public_keys import with_public_keys

LIMITS = Limits(max_rows_per_unit=3)
WARDS = Table(name="wards", columns={"code": text(), "floor": integer(), "opened": date()}, unit=PUBLIC)
STAYS = Table(name="stays", columns={"who": text(), "ward": text()}, unit=UnitColumn("who"), limits=LIMITS)
MEALS = Table(name="meals", columns={"guest": text()}, unit=UnitPath("guest", STAYS, "who"), limits=LIMITS)
ROWS = [
    {"code": "b", "floor": 10, "opened": None},
    {"code": "a", "floor": 9, "opened": None},
    {"code": "b", "floor": None, "opened": None},
]


class Recording(ReferenceEngine):
    """Notes which tables are read."""

    def run(self, statement, *, salt):
        self.asked = [*getattr(self, "asked", []), statement.rows.table.name]
        return super().run(statement, salt=salt)


def keyed(values_from, rows=ROWS):
    tables = {table.name: table for table in (MEALS, STAYS, WARDS)}
    places = {Place(*place.split(".")): Place(*origin.split(".")) for place, origin in values_from.items()}
    policy = Policy(
        dataset="d", version="1", data_version="1", unit_name="guest", tables=tables, values_from=places,
        sources=dict.fromkeys(tables, SourceFacts(source=None)),
    )  # fmt: skip
    schema = pa.schema({"code": pa.string(), "floor": pa.int64(), "opened": pa.string()})
    engine = Recording({"wards": readable(open_source(pa.Table.from_pylist(rows, schema=schema)), WARDS)})
    return with_public_keys(policy, engine), getattr(engine, "asked", [])


def test_all_values_of_a_public_column_are_keys_sorted_and_each_once():
    policy, _ = keyed({"stays.ward": "wards.code", "wards.floor": "wards.floor"})
    assert policy.tables["stays"].columns["ward"].values == ("a", "b")
    assert policy.tables["wards"].columns["floor"].values == (9, 10)
    assert policy.tables["wards"].columns["code"].values is None


def test_tables_at_the_end_of_paths_have_the_keys_too():
    policy, _ = keyed({"stays.ward": "wards.code"})
    assert policy.tables["meals"].unit.table == policy.tables["stays"]


def test_a_column_is_read_once_and_nothing_that_is_private():
    assert keyed({"stays.ward": "wards.code", "stays.who": "wards.code"})[1] == ["wards"]
    assert keyed({})[1] == []


def test_a_public_column_without_values_gives_no_keys():
    with pytest.raises(PolicyError, match=r"wards\.opened: .*at least one key") as caught:
        keyed({"wards.opened": "wards.opened"})
    assert caught.value.path == "tables.wards.columns.opened.values_from"
