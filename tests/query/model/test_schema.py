import pytest

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import MAX_LIMIT, PUBLIC, Limits, Table, UnitPath, boolean, integer, real, text

LIMITS = Limits(max_rows_per_unit=3)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_rows_per_unit": 0}, "at least 1"),
        ({"max_groups_per_unit": True}, "at least 1"),
        ({"max_rows_per_group_per_unit": 1.5}, "at least 1"),
        ({"max_rows_per_unit": MAX_LIMIT + 1}, "at most 1,000,000,000"),
    ],
)
def test_a_limit_is_a_whole_number_between_1_and_a_billion(limits, message):
    with pytest.raises(ParameterError, match=message):
        Limits(**limits)
    assert Limits(max_rows_per_unit=MAX_LIMIT).bound_rows


def table(columns=None, **facts):
    return Table(name="t", columns={"u": text(), "v": real(), "b": boolean()} if columns is None else columns, **facts)


def test_a_unit_needs_a_limit_on_rows():
    with pytest.raises(UnboundedSensitivityError, match=r"t\.u.*max_rows_per_unit"):
        table(unit=UnitColumn("u"))
    with pytest.raises(UnboundedSensitivityError):
        table(unit=UnitColumn("u"), limits=Limits(max_groups_per_unit=3))
    assert table(unit=UnitColumn("u"), limits=Limits(max_rows_per_group_per_unit=3)).limits.bound_rows


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"unit": UnitColumn("v"), "limits": Limits(max_rows_per_unit=1)}, "equal floats"),
        ({"unit": UnitColumn("w"), "limits": Limits(max_rows_per_unit=1)}, "u, v, b"),
        ({"limits": Limits(max_rows_per_unit=1)}, "unit column"),
        ({"columns": {"a": text(), "A": text()}}, "case"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(facts, message):
    with pytest.raises(ParameterError, match=message):
        table(**facts)


def test_an_unknown_column_is_refused_with_those_that_are_there():
    with pytest.raises(ParameterError, match="u, v, b"):
        table().column("w")


def test_a_table_is_not_changed_from_outside():
    columns = {"v": real()}
    made = table(columns)
    columns.clear()
    assert list(made.columns) == ["v"]


ORDERS = Table(
    name="orders", columns={"id": integer(), "who": text(), "score": real()}, unit=UnitColumn("who"), limits=LIMITS
)


def line(unit, **facts):
    return table({"order": integer(), "note": text(), "score": real()}, **({"unit": unit, "limits": LIMITS} | facts))


def test_whose_rows_a_table_holds():
    lines = line(UnitPath("order", ORDERS, "id"))
    parcels = table({"t": integer()}, unit=UnitPath("t", lines, "order"), limits=LIMITS)
    assert [t.has_owners for t in (table(), ORDERS, lines, parcels, table(unit=PUBLIC))] == [
        False, True, True, True, False,
    ]  # fmt: skip
    assert {t.unit_kind for t in (ORDERS, lines, parcels)} == {Kind.TEXT}
    assert (table().is_public, table(unit=PUBLIC).is_public, str(PUBLIC)) == (False, True, "public")
    assert str(parcels.unit) == "t -> t(order).order -> orders(id).who"
    for ownerless in (table(), table(unit=PUBLIC)):
        with pytest.raises(ParameterError, match="who owns the rows of t"):
            _ = ownerless.unit_kind


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (UnitPath("nosuch", ORDERS, "id"), "order, note, score"),
        (UnitPath("order", ORDERS, "nosuch"), "id, who, score"),
        (UnitPath("order", ORDERS, "who"), "the same kind; integer is not text"),
        (UnitPath("score", ORDERS, "score"), "equal floats"),
        (UnitPath("order", table(), "u"), "t has none"),
        (UnitPath("order", table(unit=PUBLIC), "u"), "t has none"),
    ],
)
def test_a_path_leads_from_ids_to_ids_of_one_kind_in_a_table_with_owners(unit, message):
    with pytest.raises(ParameterError, match=message):
        line(unit)


def test_ids_are_nullable_because_a_null_that_counts_as_a_number_would_be_a_person():
    ids = integer(1, 9, nullable=False)
    with pytest.raises(ParameterError, match="must be nullable"):
        table({"u": ids}, unit=UnitColumn("u"), limits=LIMITS)
    with pytest.raises(ParameterError, match="must be nullable"):
        line(UnitPath("order", table({"u": text(), "k": ids}, unit=UnitColumn("u"), limits=LIMITS), "k"))


def test_a_path_needs_limits_of_its_own():
    with pytest.raises(UnboundedSensitivityError, match=r"t\.order.*max_rows_per_unit"):
        line(UnitPath("order", ORDERS, "id"), limits=Limits())


def test_matches_are_kept_in_their_order_and_not_changed_from_outside():
    matches = {("v", "b"): 2, ("u",): 1}
    made = table(unit=PUBLIC, matches=matches)
    matches.clear()
    assert list(made.matches) == [("v", "b"), ("u",)]


@pytest.mark.parametrize(
    ("matches", "message"),
    [
        ({"ub": 1}, "such as"),
        ({(): 1}, "one or more"),
        ({("u", "u"): 1}, "each once"),
        ({("w",): 1}, "u, v, b"),
        ({("u",): 0}, "at least 1"),
        ({("u",): True}, "at least 1"),
        ({("u",): MAX_LIMIT + 1}, "at most"),
        ({("u", "v"): 1, ("v", "u"): 2}, "each set of columns once"),
    ],
)
def test_matches_that_make_no_sense_are_refused(matches, message):
    with pytest.raises(ParameterError, match=message):
        table(unit=PUBLIC, matches=matches)


def test_where_each_row_is_a_unit_a_match_would_be_decided_by_the_rows_of_others():
    with pytest.raises(ParameterError, match="public table"):
        table(matches={("u",): 1})
    assert table(unit=UnitColumn("u"), limits=LIMITS, matches={("v",): 1}).matches
