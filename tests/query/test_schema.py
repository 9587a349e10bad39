from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.schema import Column, Kind, Limits, Table, boolean, integer, real, text, unicode_text

WRONG_COLUMNS = [
    (lambda: integer(9, 1), "below the upper"),
    (lambda: integer(1, 1), "below the upper"),
    (lambda: integer(1), "both a lower and an upper"),
    (lambda: integer(upper=1), "both a lower and an upper"),
    (lambda: integer("a", 1), "finite"),
    (lambda: integer(0, float("inf")), "finite"),
    (lambda: integer(True, 2), "number"),
    (lambda: integer(0, 2**54), "2\\^53"),
    (lambda: real(0, 1, resolution="1e-17"), "2\\^53"),
    (lambda: real(0, 1, resolution=0), "above 0"),
    (lambda: real(0, 1, resolution=-1), "above 0"),
    (lambda: real(0, "1e-390", resolution="1e-400"), "1e-100"),
    (lambda: real(0, "1e399", resolution="1e399"), "1e100"),
    (lambda: real(nullable=False), "bounds"),
    (lambda: integer(values=[1, True]), "no key"),
    (lambda: integer(values=[1.0]), "no key"),
    (lambda: text(values=[1]), "no key"),
    (lambda: text(values=["\ud800"]), "Unicode"),
    (lambda: text(values=[]), "at least one"),
    (lambda: text(values=["a", "a"]), "once"),
    (lambda: Column(kind=Kind.FLOAT, values=(1,)), "no key"),
    (lambda: Column(kind=Kind.TEXT, lower=Fraction(0), upper=Fraction(1)), "belong to a number"),
    (lambda: Column(kind=Kind.INTEGER, resolution=Fraction(1, 2)), "unless the column is a float"),
    (lambda: Limits(max_rows_per_unit=0), "at least 1"),
    (lambda: Limits(max_groups_per_unit=True), "at least 1"),
    (lambda: Limits(max_rows_per_group_per_unit=1.5), "at least 1"),
]


@pytest.mark.parametrize(("declared", "message"), WRONG_COLUMNS)
def test_a_declaration_that_makes_no_sense_is_refused(declared, message):
    with pytest.raises(ParameterError, match=message):
        declared()


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


@given(st.fractions(-(10**6), 10**6), st.sampled_from(["0.01", "1/3", "7"]))
def test_the_lattice_point_of_a_value_is_the_nearest_one_half_up(value, resolution):
    column = real(resolution=resolution)
    distance = column.steps(value) * column.resolution - value
    assert -column.resolution / 2 < distance <= column.resolution / 2


def test_text_that_cannot_be_stored_is_refused_without_being_shown_raw():
    assert unicode_text("é ✓", "name") == "é ✓"
    with pytest.raises(ParameterError, match=r"\\udfff"):
        unicode_text("\udfff", "name")


@pytest.mark.parametrize("key", [2**63, -(2**63), -(2**70)])
def test_keys_that_no_column_can_hold_are_refused_because_engines_would_round_them(key):
    with pytest.raises(ParameterError, match="64 bits"):
        integer(values=[key])
