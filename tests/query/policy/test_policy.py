from dataclasses import replace

import pytest

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, real, text
from sfumato.query.policy.policy import AtMost, HasOwner, Place, Policy, SourceFacts, claims_of

PEOPLE = Table(name="people", columns={"age": integer(0, 100)})
WARDS = Table(name="wards", columns={"code": text(), "beds": integer(), "cost": real()}, unit=PUBLIC)
LIMITS = Limits(max_rows_per_unit=3)
ORDERS = Table(
    name="orders", columns={"id": integer(), "who": text(), "ward": text()}, unit=UnitColumn("who"), limits=LIMITS
)
ITEMS = Table(
    name="items", columns={"order": integer(), "n": integer()}, unit=UnitPath("order", ORDERS, "id"), limits=LIMITS
)


def policy(*tables, **facts):
    named = {table.name: table for table in tables}
    sources = {name: SourceFacts(source="x.csv") for name in named}
    declared = {"dataset": "d", "version": "1", "data_version": "1", "unit_name": "patient"}
    return Policy(**(declared | {"tables": named, "sources": sources} | facts))


@pytest.mark.parametrize("sources", [{}, {"pets": SourceFacts(source="x.csv")}])
def test_every_table_has_its_source(sources):
    with pytest.raises(ParameterError, match="each with a source"):
        policy(PEOPLE, sources=sources)


@pytest.mark.parametrize("facts", [{"views": {"PEOPLE": "SELECT 1"}}, {"views": {"a": "", "A": ""}}])
def test_names_of_tables_and_views_differ_in_more_than_case(facts):
    with pytest.raises(ParameterError, match="case"):
        policy(PEOPLE, **facts)
    with pytest.raises(ParameterError, match="case"):
        policy(PEOPLE, replace(PEOPLE, name="People"))


def test_a_table_is_called_by_its_own_name():
    with pytest.raises(ParameterError, match=r"tables\.pets"):
        policy(PEOPLE, tables={"pets": PEOPLE}, sources={"pets": SourceFacts(source="x.csv")})


def test_a_policy_is_not_changed_from_outside():
    tables, views = {"people": PEOPLE}, {"old": "SELECT age FROM people"}
    made = policy(PEOPLE, tables=tables, views=views)
    tables.clear()
    views.clear()
    assert (dict(made.tables), list(made.views)) == ({"people": PEOPLE}, ["old"])
    with pytest.raises(TypeError):
        made.tables["pets"] = PEOPLE


def test_a_policy_does_not_show_what_a_frame_holds():
    assert "canary" not in repr(policy(PEOPLE, sources={"people": SourceFacts(source=["canary"])}))


def test_a_path_leads_to_a_table_of_the_same_policy():
    assert policy(ITEMS, ORDERS).tables["items"].unit.table == ORDERS
    for others in ([], [replace(ORDERS, limits=Limits(max_rows_per_unit=4))]):
        with pytest.raises(ParameterError, match=r"tables\.items\.unit.*of this policy"):
            policy(ITEMS, *others)


def test_a_change_of_tables_reaches_those_at_the_end_of_paths():
    asked = []

    def keeping(table):
        asked.append(table.name)
        return {"keeps_rows": True}

    changed = policy(ITEMS, ORDERS, PEOPLE).with_tables(keeping)
    assert list(changed.tables) == ["items", "orders", "people"]
    assert sorted(asked) == ["items", "orders", "people"]
    assert changed.tables["items"].unit.table == changed.tables["orders"] == replace(ORDERS, keeps_rows=True)


NUMBERED = replace(ORDERS, columns={**ORDERS.columns, "who": integer()})
BOUGHT = Table(name="bought", columns={"at": integer()}, unit=UnitPath("at", NUMBERED, "id"), limits=LIMITS)
SENT = Table(name="sent", columns={"at": integer(), "n": integer()}, unit=UnitPath("at", NUMBERED, "id"), limits=LIMITS)


@pytest.mark.parametrize(
    ("held", "changed"),
    [("orders.who", {"orders.who"}), ("orders.id", {"orders.id", "bought.at", "sent.at"}),
     ("bought.at", {"orders.id", "bought.at", "sent.at"}), ("sent.n", set()), ("orders.ward", set())],
)  # fmt: skip
def test_integers_that_are_ids_in_text_are_text_and_so_are_all_columns_of_the_same_ids(held, changed):
    declared = policy(NUMBERED, BOUGHT, SENT)
    found = declared.with_text_ids([Place(*held.split("."))])
    texts = {
        f"{name}.{one}" for name, t in found.tables.items() for one, column in t.columns.items() if column.is_whole
    }
    assert texts == changed
    for name, table in found.tables.items():
        assert table.owner_text == declared.tables[name].owner_text
        assert {one: column.as_declared for one, column in table.columns.items()} == dict(declared.tables[name].columns)


@pytest.mark.parametrize("limited", [integer(0, 10**9), integer(values=[1, 2])])
def test_ids_that_are_said_to_be_small_stay_integers_in_every_table(limited):
    for table in (replace(BOUGHT, columns={"at": limited}), replace(SENT, columns={**SENT.columns, "at": limited})):
        others = [one for one in (NUMBERED, BOUGHT, SENT) if one.name != table.name]
        declared = policy(*others, table)
        assert declared.with_text_ids([Place("orders", "id"), Place("bought", "at")]) is declared


def test_ids_that_are_keys_of_a_public_table_stay_integers():
    rooms = Table(name="rooms", columns={"floor": integer()}, unit=PUBLIC)
    declared = policy(NUMBERED, rooms, values_from={Place("orders", "who"): Place("rooms", "floor")})
    assert declared.with_text_ids([Place("orders", "who")]) is declared


def test_all_people_are_told_apart_by_ids_of_one_kind():
    numbered = replace(ORDERS, name="old_orders", columns={**ORDERS.columns, "who": integer()})
    with pytest.raises(ParameterError, match=r"orders: text, old_orders: integer.*every patient"):
        policy(ORDERS, numbered, PEOPLE)
    assert policy(ORDERS, replace(ORDERS, name="old_orders"), ITEMS, PEOPLE, WARDS)


def keys_from(place, origin):
    return policy(ORDERS, WARDS, values_from={Place(*place): Place(*origin)})


def test_keys_may_come_from_a_column_of_a_public_table():
    assert keys_from(("orders", "ward"), ("wards", "code")).values_from == {
        Place("orders", "ward"): Place("wards", "code")
    }
    assert str(Place("wards", "code")) == "wards.code"


@pytest.mark.parametrize(
    ("place", "origin", "message"),
    [
        (("orders", "ward"), ("nosuch", "code"), "column of a public table"),
        (("orders", "ward"), ("wards", "nosuch"), "column of a public table"),
        (("orders", "nosuch"), ("wards", "code"), "column of a public table"),
        (("orders", "ward"), ("orders", "ward"), '"public"'),
        (("orders", "ward"), ("wards", "beds"), "one kind"),
        (("wards", "cost"), ("wards", "cost"), "no float"),
    ],
)
def test_keys_come_from_nowhere_else(place, origin, message):
    with pytest.raises(ParameterError, match=message) as caught:
        keys_from(place, origin)
    assert caught.value.name == f"tables.{place[0]}.columns.{place[1]}.values_from"


def test_every_path_makes_an_id_of_the_column_that_it_leads_to():
    """Two paths lead to two columns of one table, which every table then has as ids."""
    orders = Table(
        name="orders", columns={"a": text(), "b": text(), "c": text()}, unit=UnitColumn("c"), limits=LIMITS
    )  # fmt: skip
    first, second = (
        Table(name=key * 3, columns={"at": text()}, unit=UnitPath("at", orders, key), limits=LIMITS) for key in "ab"
    )
    made = policy(orders, first, second)
    assert all(column.is_id for column in made.tables["orders"].columns.values())
    assert made.tables["aaa"].unit.table == made.tables["bbb"].unit.table == made.tables["orders"]


COLUMNS = {"id": integer(), "who": integer(), "day": integer()}
OWN_LIMITS = Limits(max_rows_per_unit=3)
OWNED_ORDERS = Table(name="orders", columns=COLUMNS, unit=UnitColumn("who"), limits=OWN_LIMITS)


def test_a_table_of_rows_or_of_public_facts_claims_nothing_but_its_matches():
    assert claims_of(Table(name="t", columns=COLUMNS)) == ()
    matches = {("day", "who"): 2, ("id",): 1}
    assert claims_of(Table(name="t", columns=COLUMNS, unit=PUBLIC, matches=matches)) == (
        AtMost(("day", "who"), 2), AtMost(("id",), 1),
    )  # fmt: skip


def test_owners_come_before_matches_as_engines_enforce_them():
    path = UnitPath("id", OWNED_ORDERS, "id")
    items = Table(name="items", columns=COLUMNS, unit=path, limits=OWN_LIMITS, matches={("day",): 1})
    assert claims_of(items) == (HasOwner(str(path)), AtMost(("day",), 1))
    assert claims_of(OWNED_ORDERS) == (HasOwner("who"),)


def test_claims_read_as_sentences():
    path = HasOwner(str(UnitPath("id", OWNED_ORDERS, "id")))
    assert [str(claim) for claim in (path, AtMost(("id",), 1), AtMost(("day", "who"), 2))] == [
        "each row has an owner: id -> orders(id).who",
        "at most one row for each id",
        "at most 2 rows for each day, who",
    ]
