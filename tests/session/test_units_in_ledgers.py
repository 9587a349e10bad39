"""An account has one unit for each table and its data, however often it is opened, whatever the tables are called."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.session.opened import LINES, ORDERS, shop_policy

import sfumato as sf
from sfumato.errors import LedgerError, ParameterError, UnitChangedError
from sfumato.ledger.labels import label_of
from sfumato.privacy.neighbors import EACH_ROW, REPLACE_ONE, UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, text
from sfumato.query.policy.policy import Policy, SourceFacts

VISITS = pa.table({"pid": ["a", "a", "b"], "visit": ["1", "2", "3"], "hours": [5, 7, 9]})
MORE = pa.table({"pid": ["a", "a", "b", "c"], "visit": ["1", "2", "3", "4"], "hours": [5, 7, 9, 1]})
BY_PERSON, BY_VISIT = UnitColumn("pid"), UnitColumn("visit")
COUNT = "SELECT COUNT(*) AS n FROM {} WHERE hours > 4"


def table(name="visits", unit=BY_PERSON, **columns):
    """The visits of a hospital."""
    limits = Limits(max_rows_per_unit=2) if isinstance(unit, UnitColumn | UnitPath) else Limits()
    facts = {"pid": text(), "visit": text(), "hours": integer(0, 24)}
    return Table(name=name, columns=facts | columns, unit=unit, limits=limits)


def hospital(*tables, data=VISITS, sources=None, budget=None, ledger=None, **changes):
    """A session on the visits of a hospital."""
    tables = tables or (table(),)
    facts = {
        "dataset": "hospital", "version": "1", "data_version": "1", "unit_name": "patient",
        "tables": {one.name: one for one in tables},
        "sources": {one.name: SourceFacts(source=(sources or {}).get(one.name, data)) for one in tables},
    }  # fmt: skip
    return sf.Session(Policy(**(facts | changes)), budget=budget or sf.PureDP(1), ledger=ledger, engine="reference")


@pytest.fixture
def where(tmp_path):
    """A ledger that lasts."""
    return {"ledger": tmp_path / "ledger.db"}


def test_a_policy_that_protects_rows_where_people_were_is_refused_before_anything_is_spent(where):
    with hospital(**where) as first:
        first.sql(COUNT.format("visits"), epsilon="0.3")
        with pytest.raises(UnitChangedError) as caught:
            hospital(table(unit=EACH_ROW), version="2", data_version="2", **where)
        assert first.spent == sf.PureDP("0.3")
    error = caught.value
    assert (error.account, error.table, error.was, error.is_now) == ("hospital", "visits", "pid (text)", "each row")
    assert "Restore the old unit" in str(error)


@pytest.mark.parametrize("unit", [EACH_ROW, BY_VISIT, PUBLIC], ids=str)
def test_no_other_unit_follows_the_first_one_nor_the_first_one_another(where, unit):
    for first, second in ((BY_PERSON, unit), (unit, BY_PERSON)):
        named = {"dataset": f"{first} first", "data": pa.table(VISITS.to_pydict() | {"hours": [len(str(first))] * 3})}
        hospital(table(unit=first), **named, **where).close()
        with pytest.raises(UnitChangedError):
            hospital(table(unit=second), **named, **where)
        hospital(table(unit=first), **named, **where).close()


def test_ids_of_another_kind_are_another_unit(where):
    hospital(table(unit=BY_VISIT), **where).close()
    with pytest.raises(UnitChangedError, match=r"visit \(text\).*visit \(integer\)"):
        hospital(table(unit=BY_VISIT, visit=integer()), **where)


def test_a_table_has_one_unit_however_its_name_is_written(where):
    hospital(**where).close()
    with pytest.raises(UnitChangedError):
        hospital(table("Visits", EACH_ROW), data=MORE, **where)


RENAMED = {
    "a frame": VISITS,
    "in another order": VISITS.take([2, 0, 1]),
    "in Polars": pl.from_arrow(VISITS),
    "a query": pl.from_arrow(VISITS).lazy(),
}


@pytest.mark.parametrize("shape", RENAMED)
@pytest.mark.parametrize("unit", [EACH_ROW, PUBLIC], ids=str)
def test_a_table_by_another_name_has_the_unit_of_its_data(where, shape, unit):
    hospital(**where).close()
    with pytest.raises(UnitChangedError, match="'stays'"):
        hospital(table("stays", unit), data=RENAMED[shape], version="2", **where)


def test_a_table_by_another_name_has_the_unit_of_its_data_to_the_letter(where):
    hospital(**where).close()
    with pytest.raises(UnitChangedError, match="'stays'"):
        hospital(table("stays", BY_VISIT), **where)
    hospital(table("stays"), **where).close()


def test_a_file_at_the_same_place_has_the_unit_that_it_had_though_its_rows_and_its_table_are_others(tmp_path, where):
    path = tmp_path / "visits.parquet"
    pq.write_table(VISITS, path)
    hospital(data=path, **where).close()
    pq.write_table(MORE, path)
    for unit in (EACH_ROW, BY_VISIT, PUBLIC):
        with pytest.raises(UnitChangedError):
            hospital(table("stays", unit), data=str(path), data_version="2", **where)
    hospital(table("stays"), data=path, data_version="2", **where).close()


def test_one_policy_says_one_unit_of_one_table_of_data(where):
    for unit in (EACH_ROW, BY_VISIT, PUBLIC):
        for tables in ((table(), table("again", unit)), (table("again", unit), table())):
            with pytest.raises(UnitChangedError):
                hospital(*tables, **where)
    with hospital(table(), table("again"), **where) as session:
        assert session._desk.ledger.units("hospital") == {"visits": "pid (text)", "again": "pid (text)"}


def test_a_query_may_call_the_ids_otherwise(where):
    called = pl.from_arrow(VISITS).lazy().rename({"pid": "person"})
    seen = table("seen", UnitColumn("person"), person=text())
    seen = replace(seen, columns={name: column for name, column in seen.columns.items() if name != "pid"})
    hospital(table(), seen, sources={"seen": called}, **where).close()


# Paths


def shop(*, ledger, **changes):
    """A session on customers, orders and lines."""
    return sf.Session(shop_policy(**changes), budget=sf.PureDP(1), ledger=ledger, engine="reference")


def lines(orders=ORDERS, unit=None):
    """The tables of a shop with other lines."""
    policy = shop_policy()
    made = replace(LINES, unit=unit or UnitPath("order", orders, "id"))
    return dict(policy.tables) | {"orders": orders, "lines": made}


def test_a_path_to_the_unit_is_bound_with_all_of_its_steps(where):
    with shop(**where) as session:
        assert session._desk.ledger.units("shop") == {
            "lines": "order (integer) -> orders(id), customer (integer)",
            "orders": "customer (integer)",
            "customers": "customer (integer)",
            "nations": "public",
        }
    for changed in (
        lines(unit=UnitColumn("order")),
        lines(unit=UnitPath("order", ORDERS, "customer")),
        lines(replace(ORDERS, unit=UnitColumn("id"))),
    ):
        with pytest.raises(UnitChangedError):
            shop(tables=changed, **where)
    shop(**where).close()


def test_the_texts_of_two_units_are_two_whatever_columns_are_called():
    named = [
        table(unit=UnitColumn("a (text) -> t(b), c"), **{"a (text) -> t(b), c": text()}),
        table(unit=UnitPath("pid", table("t", c=text(), b=text()), "b")),
        table(unit=UnitPath("pid", table("t", UnitColumn("c"), c=text(), b=text()), "b")),
        table(unit=UnitPath("visit", table("t", UnitColumn("c"), c=text()), "visit")),
        table(unit=UnitPath("visit", table("t", UnitPath("c", table("u"), "pid"), c=text()), "visit")),
        table(unit=UnitColumn("public"), public=text()),
        table(unit=PUBLIC),
        table(unit=EACH_ROW),
        table(unit=UnitColumn("each row"), **{"each row": text()}),
        table(unit=BY_VISIT),
        table(unit=BY_VISIT, visit=integer()),
    ]
    assert len({one.owner_text for one in named}) == len(named)


# What else an account promises


@pytest.mark.parametrize("change", [{"neighboring_relation": REPLACE_ONE}, {"unit_name": "visit"}], ids=str)
def test_the_relation_and_the_name_of_the_unit_stay_too(where, change):
    hospital(**where).close()
    with pytest.raises(LedgerError, match=f"was opened with {next(iter(change)).removeprefix('unit_name')}"):
        hospital(version="2", **change, **where)


def test_limits_bounds_keys_and_columns_may_change(where):
    hospital(**where).close()
    wider = replace(table(hours=integer(0, 99), new=text(values=["x"])), limits=Limits(max_rows_per_unit=9))
    hospital(wider, data=VISITS.append_column("new", [["x", "x", "x"]]), version="2", **where).close()


# At once, and later


def test_of_two_who_open_an_account_at_once_one_says_what_it_protects(where):
    def opened(unit):
        try:
            hospital(table(unit=unit), **where).close()
        except UnitChangedError as error:
            return error.was
        return unit

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(opened, [BY_PERSON, BY_VISIT] * 4))
    assert len({str(one).partition(" ")[0] for one in found}) == 1


def test_what_is_bound_is_bound_in_a_copy_and_after_all_is_followed_anew(tmp_path, where):
    hospital(**where).close()
    from sfumato.ledger.locations import open_ledger
    from sfumato.ledger.migration import migrate

    migrate(where["ledger"], tmp_path / "new.db")
    with open_ledger(tmp_path / "new.db") as moved:
        moved.verify()
        assert moved.units("hospital") == {"visits": "pid (text)"}
    with pytest.raises(UnitChangedError):
        hospital(table(unit=EACH_ROW), ledger=tmp_path / "new.db")


def test_a_session_without_a_ledger_that_lasts_binds_its_tables_too():
    with hospital() as session:
        assert session._desk.ledger.units("hospital") == {"visits": "pid (text)"}


# Another account for another unit


def test_another_dataset_with_the_same_data_has_no_other_unit_by_itself(where):
    hospital(**where).close()
    for unit in (EACH_ROW, BY_VISIT):
        with pytest.raises(UnitChangedError, match=r"beside = \['hospital'\]") as caught:
            hospital(table(unit=unit), dataset="visits", unit_name="visit", **where)
        assert (caught.value.account, caught.value.holder) == ("visits", "hospital")
    with hospital(**where) as session:
        assert session._desk.ledger.accounts() == ("hospital",)


def beside(unit=BY_VISIT, **changes):
    return hospital(
        table(unit=unit), **({"dataset": "visits", "unit_name": "visit", "beside": ("hospital",)} | changes)
    )


def test_an_account_beside_another_has_its_own_budget_and_both_labels_say_so(where):
    with hospital(**where) as people, beside(**where) as visits:
        ledger = people._desk.ledger
        visits.sql(COUNT.format("visits"), epsilon="0.7")
        assert (people.spent, visits.spent) == (sf.PureDP(0), sf.PureDP("0.7"))
        ann = visits.open_account("ann", budget=sf.PureDP("0.1"))
        for name, other in (("hospital", "visits"), ("visits", "hospital"), (ann.account_name, "hospital")):
            assert label_of(ledger, name).beside == (other,)
            assert f"the same data with other units, under account {other}" in str(label_of(ledger, name))
        ledger.verify()


def test_accounts_beside_each_other_stay_so_while_their_data_refresh(where):
    days = [pa.concat_tables([VISITS, VISITS.slice(0, day)]) for day in range(4)]
    for number, data in enumerate(days):
        for opened in (hospital, beside) if number % 2 == 0 else (beside, hospital):
            opened(data=data, data_version=str(number), **where).close()
    with hospital(**where) as session:
        assert session._desk.ledger.path("visits") == ("visits",)


def test_an_account_beside_another_protects_other_units_in_all_that_both_have(where):
    staff = {"staff": pa.table({"pid": ["x", "y"], "visit": ["8", "9"], "hours": [1, 1]})}
    hospital(table(), table("staff"), sources=staff, **where).close()
    with pytest.raises(LedgerError, match="may protect the same unit in table 'staff'"):
        hospital(table(unit=BY_VISIT), table("staff"), sources=staff, dataset="b", beside=("hospital",), **where)
    with pytest.raises(LedgerError, match="may protect the same unit in table 'visits'"):
        beside(BY_PERSON, **where)


def test_nobody_is_beside_an_account_that_is_not_open_or_pays_too(where):
    with pytest.raises(ParameterError, match="must be open"):
        beside(**where)
    hospital(**where).close()
    with pytest.raises(ParameterError, match="leave it out"):
        beside(BY_PERSON, data=MORE, unit_name="patient", derived_from=("hospital",), **where)


def test_nothing_of_people_is_public_beside_them(where):
    hospital(**where).close()
    with pytest.raises(UnitChangedError, match="its own source"):
        beside(PUBLIC, **where)


def test_a_renamed_column_of_ids_goes_on_below_the_account_that_had_it(where):
    renamed = VISITS.rename_columns(["patient", "visit", "hours"])
    columns = {name: column for name, column in table(patient=text(), unit=BY_VISIT).columns.items() if name != "pid"}
    later = replace(table(unit=BY_VISIT), columns=columns, unit=UnitColumn("patient"))
    with hospital(**where) as first:
        first.sql(COUNT.format("visits"), epsilon="0.3")
        with pytest.raises(UnitChangedError, match=r"derived_from = \['hospital'\]"):
            hospital(later, data=renamed, version="2", **where)
        for _ in range(2):
            with hospital(later, data=renamed, dataset="hospital-2", derived_from=("hospital",), **where) as second:
                second.sql(COUNT.format("visits"), epsilon="0.5")
        assert first.spent == sf.PureDP("0.8")
        with pytest.raises(UnitChangedError):
            hospital(table(unit=EACH_ROW), dataset="hospital-3", derived_from=("hospital",), **where)
    hospital(**where).close()


POLICY = """
version = "{version}"
dataset = "{dataset}"
beside = {beside}

[unit]
name = "patient"

[tables.visits]
source = "visits.parquet"
unit = "{unit}"
{limit}

[tables.visits.columns.hours]
type = "integer"
"""


def test_a_policy_file_is_held_to_its_unit_too(tmp_path, where):
    pq.write_table(VISITS, tmp_path / "visits.parquet")

    def session(unit, *, dataset="hospital", version="1", beside=()):
        limit = "" if unit == "row" else "max_rows_per_unit = 2"
        text = POLICY.format(version=version, dataset=dataset, beside=list(beside), unit=unit, limit=limit)
        (tmp_path / "hospital.toml").write_text(text)
        return sf.Session(tmp_path / "hospital.toml", budget=sf.PureDP(1), engine="reference", **where)

    session("pid").close()
    with pytest.raises(UnitChangedError):
        session("row", version="2")
    with session("row", dataset="visits", beside=["hospital"]) as visits:
        assert visits._desk.ledger.beside("visits") == ("hospital",)
    session("pid", version="3").close()


def test_a_table_that_was_away_has_the_unit_that_it_had(where):
    staff = {"staff": pa.table({"pid": ["x", "y"], "visit": ["8", "9"], "hours": [1, 1]})}
    hospital(table(), table("staff"), sources=staff, **where).close()
    hospital(table("staff"), sources=staff, **where).close()
    with pytest.raises(UnitChangedError):
        hospital(table(unit=EACH_ROW), data=MORE, data_version="2", **where)
