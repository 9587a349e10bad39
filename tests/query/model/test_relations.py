from dataclasses import FrozenInstanceError

import pytest
from tests.query.frames import BILLS, PEOPLE, VISITS, WARDS

from sfumato.query.model.expressions import And, ColumnRef
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
    fresh,
    inputs,
    lineage,
    tables_of,
)
from sfumato.query.model.schema import Limits, Table, UnitPath, integer, text

SOURCE, OTHER = Source(VISITS), Source(BILLS)
PART = PeoplePart(child=SOURCE, by="day", values=(1,), value=1, max_parts_per_unit=1, salt="00")
ITEMS = Table(
    name="items",
    columns={"bill": text(), "price": integer(0, 9)},
    unit=UnitPath("bill", BILLS, "visitor"),
    limits=Limits(max_rows_per_unit=3),
)
X, Y = ColumnRef("x"), ColumnRef("y")


@pytest.mark.parametrize(
    ("relation", "made_of"),
    [
        (SOURCE, ()),
        (PART, (SOURCE,)),
        (Filter(PART, And(())), (PART,)),
        (Select(SOURCE, ()), (SOURCE,)),
        (Distinct(SOURCE), (SOURCE,)),
        (BoundRows(SOURCE, 1), (SOURCE,)),
        (Grouped(SOURCE, (), ()), (SOURCE,)),
        (RowWindow(child=SOURCE, name="k", function=RowFunction.ROW_NUMBER), (SOURCE,)),
        (SemiJoin(child=SOURCE, other=OTHER, on=()), (SOURCE, OTHER)),
        (Join(left=SOURCE, right=OTHER, on=()), (SOURCE, OTHER)),
        (UnionAll(SOURCE, OTHER), (SOURCE, OTHER)),
        (Intersect(SOURCE, OTHER), (SOURCE, OTHER)),
        (Except(SOURCE, OTHER), (SOURCE, OTHER)),
    ],
)
def test_a_relation_is_made_of_its_inputs(relation, made_of):
    assert inputs(relation) == made_of


def test_lineage_goes_from_the_outermost_to_the_sources():
    joined = Join(left=Filter(PART, And(())), right=OTHER, on=())
    assert [type(step) for step in lineage(joined)] == [Join, Filter, PeoplePart, Source, Source]


def test_tables_are_each_listed_once_with_those_that_own_their_rows():
    relation = UnionAll(SemiJoin(child=Source(ITEMS), other=Source(WARDS), on=()), Source(ITEMS))
    assert [table.name for table in tables_of(relation)] == ["items", "bills", "wards"]
    assert tables_of(Source(PEOPLE)) == (PEOPLE,)


def test_relations_are_frozen_values():
    assert Filter(SOURCE, And(())) == Filter(Source(VISITS), And(()))
    with pytest.raises(FrozenInstanceError):
        PART.salt = "11"


@pytest.mark.parametrize(
    ("base", "taken", "name"),
    [
        ("n", [], "n"),
        ("n", ["N"], "n_2"),
        ("n", ["n", "n_2"], "n_3"),
        ("n", ["N_low"], "n_2"),
        ("n", ["n_high"], "n_2"),
        ("DAY", ["day", "Day_2"], "DAY_3"),
    ],
)
def test_a_fresh_name_leaves_room_for_the_ends_of_its_interval(base, taken, name):
    assert fresh(base, taken) == name
