import re
from fractions import Fraction

import pytest
from tests.meta.repository import ROOT

import sfumato as sf
from sfumato.errors import ParameterError, PolicyError
from sfumato.privacy.neighbors import EACH_ROW, REPLACE_ONE, UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import PUBLIC, Limits, UnitPath
from sfumato.query.policy.document import TableEntry
from sfumato.query.policy.file import load_policy, policy_tables
from sfumato.query.policy.policy import Place, Risk

HOSPITAL = """
version = "2026-11"

[unit]
name = "patient"
neighboring_relation = "add_or_remove_one"

[tables.visits]
source = "visits.parquet"
unit = "patient_id"
max_groups_per_unit = 3
max_rows_per_unit = 10

[tables.visits.columns.hours]
type = "float"
bounds = [0, 100]
resolution = 0.01

[tables.visits.columns.day]
values = [1, 2, 3, 4, 5, 6, 7]

[tables.visits.columns.emergency]
type = "boolean"
"""


def loaded(text, folder):
    path = folder / "hospital.toml"
    path.write_text(text, "utf-8")
    return load_policy(path)


def test_the_risks_that_an_owner_accepts_are_named_at_the_table(tmp_path):
    accepting = HOSPITAL.replace('unit = "patient_id"', 'unit = "patient_id"\naccepted_risks = ["row_security"]')
    assert loaded(accepting, tmp_path).sources["visits"].accepted == {Risk.ROW_SECURITY}
    assert loaded(HOSPITAL, tmp_path).sources["visits"].accepted == frozenset()
    with pytest.raises(PolicyError, match="must be a list of: row_security, failing_rows"):
        loaded(accepting.replace("row_security", "all"), tmp_path)


def test_a_policy_is_read_as_it_is_written(tmp_path):
    policy = loaded(HOSPITAL, tmp_path)
    visits = policy.tables["visits"]
    assert (policy.dataset, policy.version, policy.data_version, policy.unit_name) == (
        "hospital", "2026-11", "2026-11", "patient",
    )  # fmt: skip
    assert (visits.unit, visits.limits) == (
        UnitColumn("patient_id"), Limits(max_groups_per_unit=3, max_rows_per_unit=10),
    )  # fmt: skip
    assert (visits.columns["hours"].resolution, visits.columns["hours"].bounded_steps) == (
        Fraction(1, 100), (0, 10_000),
    )  # fmt: skip
    assert (visits.columns["day"].kind, visits.columns["day"].values) == (Kind.INTEGER, (1, 2, 3, 4, 5, 6, 7))
    assert visits.columns["emergency"].values == (False, True)
    assert visits.columns["patient_id"].kind is Kind.TEXT
    assert policy.sources["visits"].source == tmp_path / "visits.parquet"


def test_a_session_is_opened_on_a_policy_file(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = {"patient_id": ["a", "a", "b"], "hours": [1.5, 2.5, 3.0], "day": [1, 1, 2], "emergency": [True, False, None]}
    pq.write_table(pa.table(rows), tmp_path / "visits.parquet")
    loaded(HOSPITAL, tmp_path)
    with sf.Session(tmp_path / "hospital.toml", budget=sf.ApproxDP(3, "1e-6")) as session:
        release = session.sql("SELECT day, COUNT(*) AS n, AVG(hours) AS h FROM visits GROUP BY day", epsilon=1)
        assert (len(release), session.spent) == (7, sf.PureDP(1))


def test_what_is_left_out_has_the_plain_meaning(tmp_path):
    policy = loaded(
        'version = "1"\ndata_version = "7"\ndataset = "d"\n[unit]\nname = "row"\nneighboring_relation = "replace_one"\n'
        '[tables.t]\nsource = "t.csv"\nunit = "row"\nnames = ["a", "b"]\n[tables.t.columns.a]\n'
        'type = "float"\nnullable = false\nbounds = ["0.5", 1.5]\n[tables.t.columns.b]\nvalues = ["x"]\n',
        tmp_path,
    )
    table = policy.tables["t"]
    assert (table.unit, policy.neighboring_relation, policy.data_version, policy.dataset) == (
        EACH_ROW, REPLACE_ONE, "7", "d",
    )  # fmt: skip
    assert (table.columns["a"].resolution, table.columns["a"].nullable, table.columns["b"].values) == (
        Fraction(1, 100), False, ("x",),
    )  # fmt: skip
    assert policy.sources["t"].names == ("a", "b")


CSV = """
[tables.visits.csv]
delimiter = ";"
encoding = "latin-1"
decimal = ","
dates = "%d.%m.%Y"
null = ["", "NA"]
"""


def test_how_a_csv_file_is_written_is_said_at_its_table(tmp_path):
    assert loaded(HOSPITAL, tmp_path).sources["visits"].csv is None
    assert loaded(HOSPITAL + CSV, tmp_path).sources["visits"].csv == sf.CsvFormat(
        delimiter=";", encoding="latin-1", decimal=",", dates="%d.%m.%Y", null=["", "NA"]
    )
    for before, after, place in [('";"', '";;"', "delimiter"), ("%d.", "%e.", "dates"), ("null", "nil", "nil")]:
        with pytest.raises(PolicyError) as caught:
            loaded(HOSPITAL + CSV.replace(before, after), tmp_path)
        assert caught.value.path == f"tables.visits.csv.{place}"


BROKEN = [
    # what is replaced, by what, the path in the error, the requirement
    ('version = "2026-11"', "", "version", "required"),
    ('version = "2026-11"', "version = 3", "version", "string"),
    ('name = "patient"', "", "unit.name", "required"),
    ('"add_or_remove_one"', '"add_or_remove_two"', "unit.neighboring_relation", "replace_one"),
    ("max_rows_per_unit = 10", "max_rows = 10", "tables.visits.max_rows", "not permitted"),
    ("max_rows_per_unit = 10", "", "tables.visits", "max_rows_per_unit"),
    ("max_rows_per_unit = 10", "max_rows_per_unit = 0", "tables.visits", "at least 1"),
    ("max_rows_per_unit = 10", 'max_rows_per_unit = "10"', "tables.visits.max_rows_per_unit", "integer"),
    ('unit = "patient_id"', "", "tables.visits.unit", "required"),
    ('unit = "patient_id"', 'unit = "row"', "tables.visits", "unit column"),
    ("bounds = [0, 100]", "bounds = [100, 0]", "tables.visits.columns.hours", "below the upper"),
    ("bounds = [0, 100]", "bounds = [5, 5]", "tables.visits.columns.hours", "below the upper"),
    ("bounds = [0, 100]", "bounds = [0]", "tables.visits.columns.hours.bounds", "at least 2"),
    ("bounds = [0, 100]", 'bounds = ["zero", 1]', "tables.visits.columns.hours", "finite"),
    ("bounds = [0, 100]", "bounds = [0, inf]", "tables.visits.columns.hours", "finite"),
    ("bounds = [0, 100]", "nullable = false", "tables.visits.columns.hours", "bounds"),
    ("resolution = 0.01", "resolution = 0", "tables.visits.columns.hours", "above 0"),
    ("resolution = 0.01", "resolution = -1", "tables.visits.columns.hours", "above 0"),
    ("resolution = 0.01", 'resolution = "1e-300"', "tables.visits.columns.hours", "1e-100"),
    ('type = "float"', 'type = "double"', "tables.visits.columns.hours.type", "float"),
    ('type = "boolean"', 'type = "boolean"\nbounds = [0, 1]', "tables.visits.columns.emergency", "number"),
    ('type = "boolean"', "", "tables.visits.columns.emergency", "needs a type"),
    ("values = [1, 2, 3, 4, 5, 6, 7]", "values = []", "tables.visits.columns.day", "needs a type"),
    ("values = [1, 2, 3, 4, 5, 6, 7]", 'values = [1, "2"]', "tables.visits.columns.day", "of one type"),
    ("values = [1, 2, 3, 4, 5, 6, 7]", "values = [1, 1]", "tables.visits.columns.day", "once"),
    ("values = [1, 2, 3, 4, 5, 6, 7]", "values = [1, 2.5]", "tables.visits.columns.day", "valid"),
    ("values = [1, 2, 3, 4, 5, 6, 7]", 'values = [1]\ntype = "text"', "tables.visits.columns.day", "cannot be a key"),
    ("[unit]", "secret = 1\n[unit]", "secret", "not permitted"),
    ("[unit]", "[views.old]\n[unit]", "views.old.sql", "required"),
    ("[unit]", '[views.VISITS]\nsql = "SELECT 1"\n[unit]', "tables", "case"),
    ("values = [1, 2, 3, 4, 5, 6, 7]", 'values_from = "visits.day"', "tables.visits.columns.day", "needs a type"),
    ('type = "boolean"', 'type = "text"\nvalues_from = "visits.patient_id"',
     "tables.visits.columns.emergency.values_from", '"public"'),
    ('type = "boolean"', 'type = "text"\nvalues_from = "wards"', "tables.visits.columns.emergency.values_from",
     "wards.code"),
    ("[tables.visits]", "[tables.visits", "hospital.toml", "not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "path", "requirement"), BROKEN)
def test_what_is_impossible_is_refused_with_its_place(tmp_path, before, after, path, requirement):
    assert before in HOSPITAL
    with pytest.raises(PolicyError, match=rf"(?s)at {path}.*{requirement}") as caught:
        loaded(HOSPITAL.replace(before, after, 1), tmp_path)
    assert caught.value.path.startswith(path)


def test_a_policy_without_tables_is_refused(tmp_path):
    with pytest.raises(PolicyError, match="tables"):
        loaded('version = "1"\n[unit]\nname = "p"\n[tables]\n', tmp_path)


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="TOML"):
        load_policy(tmp_path / "nowhere.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match=r"binary\.toml.*not TOML"):
        load_policy(tmp_path / "binary.toml")


@pytest.mark.parametrize(
    ("value", "words"), [("[" * 100_000, "nested more than"), ("1" * 100_000, "more than 4,300 digits")]
)
def test_a_policy_beyond_the_stated_limits_is_refused_at_its_file(value, words, tmp_path):
    (tmp_path / "large.toml").write_text(f'version = "1"\nunit = {value}\n', "utf-8")
    with pytest.raises(PolicyError, match=rf"large\.toml.*{words}"):
        load_policy(tmp_path / "large.toml")


WARDS = """
[tables.wards]
source = "wards.csv"
unit = "public"
unique = ["code"]
columns.code.type = "text"
columns.floor = {type = "integer", values_from = "wards.floor"}

[tables.visits.columns.ward]
values_from = "wards.code"

[views.nights]
sql = "SELECT patient_id, ward FROM visits WHERE hours > 12"
"""


def test_public_tables_views_and_keys_from_elsewhere_are_read(tmp_path):
    policy = loaded(HOSPITAL + WARDS, tmp_path)
    assert (policy.tables["wards"].unit, dict(policy.tables["wards"].matches)) == (PUBLIC, {("code",): 1})
    assert policy.sources["wards"].source == tmp_path / "wards.csv"
    assert policy.tables["visits"].columns["ward"].kind is Kind.TEXT
    assert policy.values_from == {
        Place("wards", "floor"): Place("wards", "floor"), Place("visits", "ward"): Place("wards", "code"),
    }  # fmt: skip
    assert policy.views == {"nights": "SELECT patient_id, ward FROM visits WHERE hours > 12"}


def test_people_of_two_tables_are_told_apart_by_ids_of_one_kind(tmp_path):
    numbered = """
[tables.bills]
source = "bills.csv"
unit = "patient"
max_rows_per_unit = 1
columns.patient.type = "integer"
"""
    with pytest.raises(PolicyError, match=r"visits: text, bills: integer.*every patient") as caught:
        loaded(HOSPITAL + numbered, tmp_path)
    assert caught.value.path == "tables"


def test_the_policies_of_the_page_about_them_are_policies(tmp_path):
    page = (ROOT / "docs" / "how-to" / "policy.md").read_text("utf-8")
    first, second, written = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    hospital, shop = (loaded(block, tmp_path) for block in (first, second))
    assert loaded(first + written, tmp_path).sources["visits"].csv.dates == ("%d.%m.%Y", "%d.%m.%Y %H:%M")
    assert list(hospital.tables) == ["visits"]
    assert str(shop.tables["lineitem"].unit) == "order_id -> orders(order_id).customer_id"
    assert shop.tables["lineitem"].matches == {("order_id",): 7}
    assert shop.values_from[Place("customers", "nation")] == Place("nations", "code")


INTEGER = {"type": "integer"}
SCORE = {"score": {"type": "float"}}


def entry(unit="row", columns=("id", "order_id", "line_id"), **facts):
    limits = {} if unit in {"row", "public"} else {"max_rows_per_unit": 5}
    declared = {"source": "t.csv", "unit": unit, "columns": dict.fromkeys(columns, INTEGER) | SCORE}
    return TableEntry.model_validate(declared | limits | facts)


CUSTOMERS = entry("customer_id", ["customer_id"])
ORDERS = entry("customer_id", ["id", "order_id", "customer_id"])


def tables(**entries):
    return policy_tables({"customers": CUSTOMERS, "orders": ORDERS} | entries)


def test_a_unit_is_a_row_nobody_a_column_or_a_path():
    made = tables(a=entry(), b=entry("public"))
    assert [made[name].unit for name in ("a", "b", "orders")] == [EACH_ROW, PUBLIC, UnitColumn("customer_id")]


@pytest.mark.parametrize(
    ("unit", "column", "key"),
    [
        ("order_id -> orders", "order_id", "order_id"),
        ("order_id -> orders.customer_id", "order_id", "order_id"),
        ("order_id -> orders(id)", "order_id", "id"),
        ("order_id -> orders(id).customer_id", "order_id", "id"),
        ("  order_id->orders ( id ) . customer_id ", "order_id", "id"),
        ("id -> orders", "id", "id"),
    ],
)
def test_a_path_leads_to_the_column_of_the_same_name_or_to_the_one_it_states(unit, column, key):
    made = tables(lines=entry(unit))
    assert made["lines"].unit == UnitPath(column, made["orders"], key)


def test_tables_may_be_written_in_any_order_and_paths_have_several_hops():
    made = tables(parcels=entry("line_id -> lines"), lines=entry("order_id -> orders"))
    assert list(made) == ["customers", "orders", "parcels", "lines"]
    assert made["parcels"].unit.table is made["lines"]
    assert made["lines"].unit.table is made["orders"]
    assert str(made["parcels"].unit) == "line_id -> lines(line_id).order_id -> orders(order_id).customer_id"


def test_ids_that_are_not_declared_are_text_or_what_their_path_leads_to():
    made = tables(lines=entry("order_id -> orders", ["id"]), pets=entry("customer_id", ["id"], max_rows_per_unit=1))
    assert made["lines"].columns["order_id"].kind is Kind.INTEGER
    assert made["pets"].columns["customer_id"].kind is Kind.TEXT


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("order_id -> nosuch", "no table nosuch; there are customers, orders, lines"),
        ("order_id -> lines", "in a circle: lines -> lines"),
        ("order_id -> parcels", "no table parcels"),
        ("order_id -> orders.id", "id is not the unit of orders, which is customer_id"),
        ("order_id -> orders(nosuch)", "nosuch"),
        ("nosuch -> orders", "column of orders"),
        ("order_id -> orders(id).customer_id -> customers", "one foreign key"),
        ("order_id -> ", "one foreign key"), ("-> orders", "one foreign key"),
        ("order_id -> orders.id.x", "one foreign key"),
        ("order_id -> orders()", "one foreign key"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused_with_its_place(unit, message):
    with pytest.raises(PolicyError, match=message) as caught:
        tables(lines=entry(unit))
    assert caught.value.path.startswith("tables.lines")


def test_paths_in_a_circle_are_refused_with_all_that_lie_on_it():
    with pytest.raises(PolicyError, match=r"circle: a -> b -> c -> a") as caught:
        tables(a=entry("id -> b"), b=entry("id -> c"), c=entry("id -> a"))
    assert caught.value.path == "tables.c.unit"


@pytest.mark.parametrize("unit", ["row", "public"])
def test_a_path_leads_to_a_table_of_which_rows_have_owners(unit):
    with pytest.raises(PolicyError, match="must lead to a table with owners; ends has none") as caught:
        tables(lines=entry("id -> ends"), ends=entry(unit))
    assert caught.value.path == "tables.lines"


def test_an_owner_behind_a_path_is_not_named_as_a_column():
    with pytest.raises(PolicyError, match="order_id is not the unit of lines, which is order_id -> orders"):
        tables(lines=entry("order_id -> orders"), parcels=entry("line_id -> lines.order_id"))


def test_what_is_unique_comes_before_what_may_match_more_often():
    matching = entry(
        "public",
        ["code", "ward", "day"],
        unique=["code", ["ward", "day"]],
        max_matches=[{"columns": ["ward"], "rows": 3}],
    )
    assert list(tables(beds=matching)["beds"].matches.items()) == [(("code",), 1), (("ward", "day"), 1), (("ward",), 3)]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"unique": ["nosuch"]}, "column of beds"),
        ({"unique": ["id", "id"]}, "once"),
        ({"unique": [["id", "order_id"], ["order_id", "id"]]}, "once"),
        ({"unique": [[]]}, "one or more"),
        ({"unique": [["id", "id"]]}, "each once"),
        ({"unique": ["id"], "max_matches": [{"columns": ["id"], "rows": 2}]}, "once"),
        ({"max_matches": [{"columns": ["id"], "rows": 0}]}, "at least 1"),
        ({"max_matches": [{"columns": ["id"], "rows": 10**9 + 1}]}, "at most"),
        ({"unit": "row", "unique": ["id"]}, "public table"),
        ({"unit": "public", "max_rows_per_unit": 3}, "unit column"),
        ({"unit": "id", "max_rows_per_unit": None}, "max_rows_per_unit"),
        ({"unit": "score"}, "whole numbers"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_with_its_place(facts, message):
    with pytest.raises(PolicyError, match=message) as caught:
        tables(beds=entry(**({"unit": "public"} | facts)))
    assert caught.value.path == "tables.beds"
