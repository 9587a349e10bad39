"""The owner hears in exact numbers what of the data does not count, the same from every engine; nobody else does."""

import datetime as dt
import math
from contextlib import closing
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.postgres_server import server
from tests.engines.spark_application import application
from tests.meta.repository import ROOT
from tests.session.opened import CANARY, CUSTOMERS, LINES, NATIONS, ORDERS, SHOP, opened, shop

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.sources.sources import open_source
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Limits, Table, UnitPath, integer
from sfumato.session.opening.examination import BindingLimit, ColumnLosses, violations

ENGINES = pytest.mark.parametrize("engine", ["duckdb", "reference"])
VISITS = """\
patient_id,hours,ward,day,note
p1,1.5,A,2026-11-01,
p1,2.5,B,2026-11-01,
p1,200,C,2026-11-02,a long remark
p1,-3,D,2026-11-02,
p2,some,A,03.11.2026,short
p2,,A,04.11.2026,
p2,4,A,2026-11-05,
,8,B,2026-11-05,
p3,9,,2026-11-06,
p3,10,b,2026-11-06,
"""
POLICY = """
version = "1"
dataset = "hospital"
[unit]
name = "patient"
[tables.visits]
source = "visits.csv"
unit = "patient_id"
max_rows_per_unit = 3
max_groups_per_unit = 2
max_rows_per_group_per_unit = 2
[tables.visits.columns]
hours = {type = "float", bounds = [0, 100]}
ward = {values = ["A", "B", "C"]}
day = {type = "date"}
note = {type = "text", max_length = 8}
"""


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "visits.csv").write_text(VISITS, "utf-8")
    (tmp_path / "hospital.toml").write_text(POLICY, "utf-8")
    return tmp_path / "hospital.toml"


def checked(policy, table=None, **options):
    with sf.Session(policy, budget=sf.PureDP(1), **options) as session:
        report = session.check(table)
        assert session.spent == sf.PureDP(0)
        return report


def losses(column, engine="duckdb", **stored):
    """What a table of one column loses; without what is 0."""
    ((name, cells),) = stored.items()
    with opened(pa.table({name: cells}), columns={name: column}, engine=engine) as session:
        (found,) = session.check().examinations["people"].columns
    names = ("missing", "unparsed", "below", "above", "unlisted", "cut")
    return {name: getattr(found, name) for name in names if getattr(found, name)}


@ENGINES
def test_what_each_column_loses_is_counted(policy, engine):
    found = checked(policy, engine=engine).examinations["visits"]
    assert (found.rows, found.units) == (10, 3)
    assert found.columns == (
        ColumnLosses(column="hours", present=8, missing=1, unparsed=1, below=1, above=1),
        ColumnLosses(column="ward", present=9, missing=1, unparsed=0, unlisted=2, cut=0),
        ColumnLosses(column="day", present=8, missing=0, unparsed=2),
        ColumnLosses(column="note", present=2, missing=8, unparsed=0, cut=1),
        ColumnLosses(column="patient_id", present=9, missing=1, unparsed=0),
    )


@ENGINES
def test_limits_are_held_against_the_rows_that_have_an_owner(policy, engine):
    assert checked(policy, engine=engine).examinations["visits"].limits == (
        BindingLimit(limit="max_rows_per_unit", most=3, what="rows", units=1, beyond=1),
        BindingLimit(
            limit="max_rows_per_group_per_unit", most=2, what="rows of a group", by="ward", units=1, beyond=1
        ),
        BindingLimit(limit="max_groups_per_unit", most=2, what="groups", by="ward", units=1, beyond=1),
    )  # fmt: skip


@ENGINES
@pytest.mark.parametrize(
    ("column", "cells", "expected"),
    [
        (sf.integer(0, 9), pa.array([1, 12, -1, None, 9, 0]), {"missing": 1, "below": 1, "above": 1}),
        (sf.integer(0, 9, nullable=False), pa.array(["1", "word", None]), {"missing": 1, "unparsed": 1}),
        (sf.integer(), pa.array([1e19, 3.0, math.nan, math.inf]), {"missing": 2, "unparsed": 1}),
        (sf.real(0, 1), pa.array([0.5, 1.5, math.nan, -math.inf, None]), {"missing": 3, "above": 1}),
        (sf.real(0, 1), pa.array([Decimal("0.50"), Decimal("2.00")]), {"above": 1}),
        (sf.text(values=["a"]), pa.array(["a", "ab", "A", None]), {"missing": 1, "unlisted": 2}),
        (sf.text(max_length=2), pa.array(["ab", "abc", "é\U0001f600", "é\U0001f600x"]), {"cut": 2}),
        (sf.integer(values=[1, 2]), pa.array([1, 2, 3, None]), {"missing": 1, "unlisted": 1}),
        (sf.boolean(), pa.array(["yes", "maybe", None]), {"missing": 1, "unparsed": 1}),
        (sf.date(), pa.array([dt.date(2026, 1, 31), None]), {"missing": 1}),
        (sf.date(), pa.array(["2026-01-31", "31.01.2026", ""]), {"unparsed": 2}),
        (sf.timestamp(), pa.array([dt.datetime(2026, 1, 31, 12)]), {}),  # noqa: DTZ001 # has no zone
        (sf.date(values=[dt.date(2026, 1, 31)]), pa.array([dt.date(2026, 1, 30)]), {"unlisted": 1}),
        (
            sf.date("2026-01-01", "2026-01-31"),
            pa.array([dt.date(2025, 12, 31), dt.date(2026, 1, 1), dt.date(2026, 1, 31), dt.date(2026, 2, 1), None]),
            {"missing": 1, "below": 1, "above": 1},
        ),
        (
            sf.timestamp("2026-01-01 00:00", "2026-01-01 12:00"),
            pa.array(["2025-12-31 23:59:59", "2026-01-01 12:00", "2026-01-01 12:00:00.000001"]),
            {"below": 1, "above": 1},
        ),
    ],
)
def test_cells_of_every_kind_are_told_from_those_that_count(engine, column, cells, expected):
    assert losses(column, engine, x=cells) == expected


def test_of_an_integer_in_a_csv_file_what_64_bits_do_not_hold_is_not_read(tmp_path):
    (tmp_path / "p.csv").write_text("u,n\n" + "".join(f"{n},{n}\n" for n in (2**63 - 1, 2**63, 2**64)), "utf-8")
    facts = {"columns": {"u": sf.integer(), "n": sf.integer()}, "unit": "u", "limits": sf.Limits(max_rows_per_unit=1)}
    with sf.open(tmp_path / "p.csv", budget=sf.PureDP(1), **facts) as session:
        report = session.check()
    assert [column.unparsed for column in report.examinations["p"].columns] == [0, 2]  # ids have any length
    assert list(report.violations["p"].values()) == [0]
    assert "2 rows not of the declared type" in str(report)


def test_many_columns_are_counted_in_several_statements():
    names = [f"c{place}" for place in range(130)]
    data = pa.table({name: ["1", "word", None, "1"][: place % 4 + 1] + [None] * (3 - place % 4)
                     for place, name in enumerate(names)})  # fmt: skip
    with opened(data, columns=dict.fromkeys(names, sf.integer())) as session:
        columns = session.check().examinations["people"].columns
    assert [column.column for column in columns] == names
    assert [column.unparsed for column in columns] == [int(place % 4 > 0) for place in range(130)]
    assert [column.missing for column in columns] == [[3, 2, 2, 1][place % 4] for place in range(130)]


@ENGINES
def test_every_table_of_a_policy_is_examined_public_ones_too(engine):
    with shop(engine=engine) as session:
        report = session.check()
    assert list(report.examinations) == ["lines", "orders", "customers", "nations"]
    assert report.examinations["customers"].units == 3
    assert report.examinations["nations"].units is None
    assert report.errors["nations"] == ()
    assert [limit.limit for limit in report.examinations["orders"].limits] == ["max_rows_per_unit"]


def test_one_table_is_examined_by_its_name(policy):
    assert list(checked(policy, "visits").examinations) == ["visits"]
    with pytest.raises(sf.errors.ParameterError, match="visits"):
        checked(policy, "nosuch")


def test_preparing_tells_the_same(policy):
    with sf.Session(policy, budget=sf.PureDP(1)) as session:
        assert str(session.prepare()) == str(session.check())


def test_no_number_is_shown_until_it_is_printed(policy):
    report = checked(policy)
    for shown in (repr(report), repr(report.examinations), repr(report.errors)):
        assert "beyond=" not in shown
        assert "missing=" not in shown
        assert "8 values" not in shown
    assert "for the owner" in repr(report)
    assert str(report).startswith("Exact numbers of private rows, for the owner only")


def test_no_cell_is_quoted():
    data = pa.table({"name": [CANARY] * 3, "sex": [CANARY] * 3, "age": [CANARY] * 3, "pay": [CANARY] * 3,
                     "free": [CANARY] * 3})  # fmt: skip
    with opened(data) as session:
        assert CANARY not in str(session.check())


def test_the_page_shows_what_the_owner_hears(policy):
    page = (ROOT / "docs/how-to/policy.md").read_text("utf-8")
    assert f"```\n{checked(policy)}\n```\n" in page


ANYWHERE = pa.table(
    {
        "who": pa.array([1, 1, 1, 2, None]), "age": pa.array([30, -1, 130, None, 5]),
        "ward": pa.array(["a", "b", "c", None, "a" * 9]), "day": pa.array([dt.date(2026, 1, 31), None] * 2 + [None]),
    }
)  # fmt: skip
COLUMNS = """
[tables.t]
source = '{source}'
unit = "who"
max_rows_per_unit = 2
[tables.t.columns]
who.type = "integer"
age = {{ type = "integer", bounds = [0, 120] }}
ward = {{ values = ["a", "b"], max_length = 8 }}
day.type = "date"
"""


def anywhere(folder, source, **options):
    source = str(source).replace("'", "%27")
    (folder / "p.toml").write_text(f'version = "1"\n[unit]\nname = "person"\n{COLUMNS.format(source=source)}')
    return checked(folder / "p.toml", **options).examinations["t"]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_postgres_and_spark_tell_what_files_do(tmp_path):
    pq.write_table(ANYWHERE, tmp_path / "t.parquet")
    expected = anywhere(tmp_path, "t.parquet")
    assert [column.missing for column in expected.columns] == [1, 1, 1, 3]
    assert anywhere(tmp_path, server().url(table=server().load(ANYWHERE))) == expected
    application().createDataFrame(ANYWHERE).createOrReplaceTempView("anywhere")
    found = anywhere(tmp_path, "spark:anywhere", engine_options={"spark": {"session": application()}})
    application().catalog.dropTempView("anywhere")
    untold = ColumnLosses(column="day", present=2, missing=3)  # Spark has days that are no text
    columns = tuple(untold if column.column == "day" else column for column in expected.columns)
    assert (found.rows, found.units, found.limits) == (expected.rows, expected.units, expected.limits)
    assert found.columns == columns


LIMITS = Limits(max_rows_per_unit=9)
SOURCES = {name: open_source(frame) for name, frame in SHOP.items()}


def broken(table, sources=SOURCES, start=ReferenceEngine):
    """How often each claim is broken, in the order of the claims."""
    with closing(start(sources)) as engine:
        return list(violations(table, engine).values())


@pytest.mark.parametrize(("table", "counts"), [(LINES, [1]), (ORDERS, [0, 1]), (CUSTOMERS, [1]), (NATIONS, [1])])
def test_rows_that_break_a_claim_are_counted(table, counts):
    assert broken(table) == counts


def test_where_rows_have_no_owners_nothing_is_claimed_and_nothing_is_read():
    assert broken(Table(name="gone", columns={"id": integer()}), sources={"gone": None}) == []


def rows(**columns):
    return open_source(pa.table({name: pa.array(cells, pa.int64()) for name, cells in columns.items()}))


def table(name, *columns, **facts):
    return Table(name=name, columns=dict.fromkeys(columns, integer()), limits=LIMITS, **facts)


def test_a_path_of_several_steps_leads_to_nobody_if_any_of_them_does():
    a = table("a", "k", "who", unit=UnitColumn("who"))
    b = table("b", "k", "m", unit=UnitPath("k", a, "k"))
    c = table("c", "m", unit=UnitPath("m", b, "m"))
    sources = {
        "a": rows(k=[1, 2, None], who=[7, None, 7]),
        "b": rows(k=[1, 2, 3, None], m=[10, 20, 30, 40]),
        "c": rows(m=[10, 10, 20, 30, 40, 50, None]),
    }
    assert [broken(one, sources) for one in (a, b, c)] == [[1], [3], [5]]


def test_tables_may_be_called_anything():
    owners = table("t (all)", "k", "who", unit=UnitColumn("who"))
    made = table("t", "k", "m", unit=UnitPath("k", owners, "k"), matches={("m",): 1})
    sources = {"t (all)": rows(k=[1, 2], who=[7, 8]), "t": rows(k=[1, 1, 2, 3], m=[5, 5, 5, 5])}
    assert broken(made, sources) == [1, 1]


@pytest.mark.parametrize("start", [ReferenceEngine, DuckDBEngine])
def test_each_claim_is_counted_by_itself_within_the_rows_of_one_unit(start):
    matches = {("x",): 1, ("x", "y"): 1, ("y",): 2}
    made = table("t", "u", "x", "y", unit=UnitColumn("u"), matches=matches)
    source = rows(u=[1, 1, 1, 1, 2, None, 1], x=[5, 5, 5, 6, 5, 5, None], y=[1, 1, 2, 1, 1, 1, 1])
    assert broken(made, {"t": source}, start) == [1, 2, 1, 2]  # the owner is missing once; of y = 1 are there four
