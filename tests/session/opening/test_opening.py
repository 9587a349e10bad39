from dataclasses import replace

import polars as pl
import pyarrow as pa
import pytest
from tests.session.opened import ORDERS, SHOP, shop_policy

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.registry import open_engine
from sfumato.engines.sources.sources import ArrowData, LazyData, open_source, readable
from sfumato.errors import ParameterError, PolicyError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, date, integer, text
from sfumato.query.policy.policy import Place, Policy, SourceFacts
from sfumato.session.asking.view import relations_of
from sfumato.session.opening.opening import (
    as_stored,
    open_engines,
    open_sources,
    places_of,
    with_public_keys,
)


def opened(policy, engine="duckdb"):
    return open_sources(policy, places_of(policy, engine=engine))


def test_every_table_has_a_source_of_what_is_declared_of_it():
    sources = opened(shop_policy())
    assert list(sources) == ["lines", "orders", "customers", "nations"]
    assert sources["nations"].names == ("code", "region")


def test_a_source_without_a_declared_column_is_refused():
    broken = {name: SourceFacts(source=frame) for name, frame in SHOP.items()}
    broken["nations"] = SourceFacts(source=pa.table({"code": ["x"]}))
    with pytest.raises(ParameterError, match=r"region.*nations"):
        opened(shop_policy(sources=broken))


def test_tables_learn_from_their_sources_whether_records_are_rows():
    policy = shop_policy()
    sources = opened(policy)
    kept = as_stored(policy, sources, open_engine("duckdb", sources, options={}))
    assert all(table.keeps_rows for table in kept.tables.values())
    assert kept.tables["lines"].unit.table == replace(ORDERS, keeps_rows=True)


def test_polars_is_no_engine_any_more_and_the_error_names_the_one_that_reads_its_frames():
    for ask in (lambda: open_engine("polars", {}, options={}), lambda: places_of(shop_policy(), engine="polars")):
        with pytest.raises(ParameterError, match=r'DuckDB reads Polars frames\. Use engine="duckdb", the default'):
            ask()


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_a_lazy_frame_is_opened_as_a_query_and_a_frame_as_a_table(engine):
    facts = {name: SourceFacts(source=frame) for name, frame in SHOP.items()}
    facts["nations"] = SourceFacts(source=pl.from_arrow(SHOP["nations"]).lazy())
    facts["orders"] = SourceFacts(source=pl.from_arrow(SHOP["orders"]))
    sources = opened(shop_policy(sources=facts), engine)
    assert isinstance(sources["nations"], LazyData)
    assert isinstance(sources["orders"], ArrowData)


def test_engines_take_their_own_options():
    policy = shop_policy()
    places = places_of(policy, engine="duckdb")
    assert set(places.values()) == {"duckdb"}
    options = {"threads": 1, "spark": {"nosuch": 1}}  # no table is in Spark
    open_engines(opened(policy), engine="duckdb", places=places, options=options).close()
    with pytest.raises(ParameterError, match="nosuch"):
        open_engines(opened(policy), engine="duckdb", places=places, options={"duckdb": {"nosuch": 1}})


@pytest.mark.parametrize("options", [5, "threads", ["threads"], {"duckdb": 5}, {"postgres": 5}])
def test_options_that_are_no_mapping_are_refused(options):
    policy = shop_policy()
    places = places_of(policy, engine="duckdb")
    with pytest.raises(ParameterError, match="must be a mapping"):
        open_engines(opened(policy), engine="duckdb", places=places, options=options)


def test_an_option_of_a_session_whose_tables_are_all_elsewhere_is_refused_rather_than_ignored():
    with pytest.raises(ParameterError, match=r"statement_timeout.*duckdb, which has no table"):
        open_engines({}, engine="duckdb", places={"visits": "postgres"}, options={"statement_timeout": 60})
    open_engines({}, engine="duckdb", places={"visits": "duckdb"}, options={"threads": 1})


@pytest.mark.parametrize("engine", ["nosuch", None, 5, ["duckdb"]])
def test_a_session_of_no_known_engine_is_refused(engine):
    with pytest.raises(ParameterError, match="duckdb, reference"):
        places_of(shop_policy(), engine=engine)


def test_an_address_of_no_engine_is_refused_without_what_follows_its_scheme():
    broken = {name: SourceFacts(source=frame) for name, frame in SHOP.items()}
    broken["nations"] = SourceFacts(source="mysql://root:canary@host/db")
    with pytest.raises(ParameterError, match="mysql:") as caught:
        places_of(shop_policy(sources=broken), engine="duckdb")
    assert "canary" not in str(caught.value)


def test_tables_and_views_are_relations_and_a_view_may_read_those_before_it():
    views = {
        "dated": "SELECT id, customer, day FROM orders WHERE day IS NOT NULL",
        "days": "SELECT day FROM dated",
    }
    relations = relations_of(shop_policy(views=views))
    assert list(relations) == ["lines", "orders", "customers", "nations", "dated", "days"]
    assert relations["orders"] == Source(ORDERS)
    assert list(shape_of(relations["days"]).columns) == ["day"]
    assert shape_of(relations["days"]).metric is Metric.UNITS


@pytest.mark.parametrize("sql", ["SELEKT", "SELECT nosuch FROM orders", "SELECT day FROM later", "DROP TABLE orders"])
def test_a_view_that_means_nothing_is_refused_with_its_place(sql):
    views = {"broken": sql, "later": "SELECT day FROM orders"}
    with pytest.raises(PolicyError, match=r"views\.broken") as caught:
        relations_of(shop_policy(views=views))
    assert caught.value.path == "views.broken"


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
