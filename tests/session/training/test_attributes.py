"""Columns as a few public values: what engines find is what the declaration says, whatever a row holds."""

import datetime as dt
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.query.model.expressions import Call, ColumnRef
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Select
from sfumato.query.sql.questions import parse_view
from sfumato.session.training.attributes import Attribute, attribute_of
from sfumato.session.training.marginals import Marginals, marginal_query

DAY, NOON = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12)  # noqa: DTZ001 # as in a table
COLUMNS = {
    "age": sf.integer(0, 99), "score": sf.integer(-5, 5), "pay": sf.real(0, 10),
    "sex": sf.text(values=["f", "missing"]),
    "floor": sf.integer(values=[3, -1, 7]), "born": sf.date("2023-12-30", "2024-03-02"), "ill": sf.boolean(),
    "at": sf.timestamp("2024-02-29 10:30:00", "2024-02-29 13:00:00"),
}  # fmt: skip
ROWS = {
    "age": [0, 33, 99, 200, None], "score": [-9, -5, 0, 5, None], "pay": [0.0, 2.5, 10.0, 11.0, float("nan")],
    "sex": ["f", "missing", "x", "missing_", None], "floor": [3, -1, 7, 8, None],
    "born": [dt.date(2020, 1, 1), DAY, dt.date(2024, 3, 2), dt.date(2025, 1, 1), None],
    "ill": [True, False, True, None, None],
    "at": [NOON, NOON.replace(minute=59), NOON.replace(hour=9), NOON.replace(hour=23), None],
}  # fmt: skip


TYPES = {
    "age": pa.int64(), "score": pa.int64(), "floor": pa.int64(), "sex": pa.string(), "born": pa.date32(),
    "ill": pa.bool_(), "at": pa.timestamp("us"), "pay": pa.float64(),
}  # fmt: skip


def found(name, binning=None, *, engine="duckdb"):
    """The attribute of a column, and the number of each row's value as engines find it."""
    data = {"who": pa.array(range(5))} | {key: pa.array(values, TYPES.get(key)) for key, values in ROWS.items()}
    columns = {"who": sf.integer(0, 4)} | COLUMNS
    with sf.open(pa.table(data), name="people", columns=columns, budget=sf.PureDP(1), engine=engine) as people:
        bins = None if binning is None else {name: binning}
        query = marginal_query(parse_view(f"SELECT who, {name} FROM people", people._tables), bins=bins)
        run = partial(people.desk.engine.run, salt="00" * 16)
        who, own = query.attributes
        counts = Marginals(query, run).counts(["who", name]).open_for_noise().reshape(who.size, own.size)
    people, places = counts.nonzero()
    assert people.tolist() == list(range(5))  # each once
    return own, places.tolist()


@pytest.mark.parametrize(
    ("name", "binning", "size", "expected"),
    [
        ("age", None, 101, [0, 33, 99, 99, 100]),
        ("age", 4, 5, [0, 1, 3, 3, 4]),
        ("age", 30, 26, [0, 8, 24, 24, 25]),  # of four values each
        ("age", [0, 18, 33, 99], 4, [0, 2, 2, 2, 3]),
        ("score", None, 12, [0, 0, 5, 10, 11]),
        ("pay", None, 33, [0, 8, 31, 31, 32]),
        ("pay", [0, 1, 2.5, 10], 4, [0, 2, 2, 2, 3]),
        ("sex", None, 3, [0, 1, 2, 2, 2]),
        ("floor", None, 4, [0, 1, 2, 3, 3]),
        ("born", None, 5, [0, 2, 3, 3, 4]),
        ("born", "year", 3, [0, 1, 1, 1, 2]),
        ("born", "week", 11, [0, 9, 9, 9, 10]),
        ("born", "day", 65, [0, 61, 63, 63, 64]),
        ("ill", None, 3, [1, 0, 1, 2, 2]),
        ("at", "hour", 5, [2, 2, 0, 3, 4]),
        ("at", None, 2, [0, 0, 0, 0, 1]),
    ],
)
@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_each_row_has_one_value(name, binning, size, expected, engine):
    """Numbers beyond their bounds, categories that are not listed, missing values and NaN included."""
    attribute, places = found(name, binning, engine=engine)
    assert (attribute.size, places) == (size, expected)


def test_what_stands_for_a_missing_value_is_no_value():
    for name in ("sex", "floor", "born", "at"):
        attribute, _ = found(name)
        assert attribute.missing not in attribute.values
        assert attribute.codes([attribute.missing, *attribute.values]).tolist() == [
            attribute.size - 1, *range(attribute.size - 1)
        ]  # fmt: skip
    last = Facts(kind=Kind.INTEGER, values=(0, 2**63 - 1))
    assert attribute_of("n", last)[0].missing == -1
    ends = Facts(kind=Kind.DATE, values=(dt.date(1999, 1, 1), dt.date.max))
    assert attribute_of("d", ends)[0].missing == dt.date(1998, 12, 31)


def test_truths_keep_their_order_and_one_that_is_not_listed_is_missing():
    table = pa.table({"ill": [True, True, False, None]})
    for values, expected in (((True, False), [2, 1, 1]), ((False, True), [1, 2, 1]), ((True,), [2, 2])):
        facts = Facts(kind=Kind.BOOLEAN, values=values)
        attribute, computed = attribute_of("ill", facts)
        with sf.open(table, name="p", columns={"ill": sf.boolean()}, budget=sf.PureDP(1)) as people:
            query = marginal_query(parse_view("SELECT ill FROM p", people._tables))
            read = Select(query.rows.child, (("ill", computed),))
            own = replace(query, rows=read, attributes=(attribute,))
            counts = Marginals(own, partial(people.desk.engine.run, salt="00" * 16)).counts(["ill"])
        assert counts.open_for_noise().tolist() == expected


def test_what_is_never_missing_has_no_value_for_it():
    facts = Facts(kind=Kind.INTEGER, interval=Interval(0, 3), nullable=False)
    attribute, computed = attribute_of("n", facts)
    assert (attribute.size, attribute.missing) == (4, None)
    assert isinstance(computed, Call)
    assert attribute_of("b", Facts(kind=Kind.BOOLEAN, values=(False, True), nullable=False))[1] == Call(
        Function.TO_INTEGER, (ColumnRef("b"),)
    )


@pytest.mark.parametrize(
    ("facts", "binning", "error"),
    [
        (Facts(kind=Kind.TEXT), None, UnboundedSensitivityError),
        (Facts(kind=Kind.FLOAT), None, UnboundedSensitivityError),
        (Facts(kind=Kind.INTEGER, interval=Interval(0, 9)), 0, ParameterError),
        (Facts(kind=Kind.INTEGER, interval=Interval(0, 9)), "month", ParameterError),
        (Facts(kind=Kind.INTEGER, interval=Interval(0, 9)), [0, 4.5, 9], ParameterError),
        (Facts(kind=Kind.INTEGER, interval=Interval(0, 9)), [3], ParameterError),
        (Facts(kind=Kind.FLOAT, interval=Interval(0, 9)), [0, 3, 3], ParameterError),
        (Facts(kind=Kind.FLOAT, interval=Interval(0, 9)), 1_001, ParameterError),
        (Facts(kind=Kind.FLOAT, interval=Interval(0, 9)), ["a", "b"], ParameterError),
        (Facts(kind=Kind.DATE, interval=Interval(1, 800)), 5, ParameterError),
        (Facts(kind=Kind.DATE, interval=Interval(1, 800)), "hour", ParameterError),
        (Facts(kind=Kind.DATE, interval=Interval(1, 3_000)), "day", ParameterError),
        (Facts(kind=Kind.TEXT, values=("a", "b")), 2, ParameterError),
        (Facts(kind=Kind.INTEGER, values=tuple(range(1_001))), None, ParameterError),
    ],
    ids=range(14),
)
def test_what_cannot_be_cut_so_is_said(facts, binning, error):
    with pytest.raises(error):
        attribute_of("n", facts, binning)


def test_only_what_is_declared_is_a_value():
    attribute = Attribute(name="sex", kind=Kind.TEXT, values=("f", "m"), missing="missing")
    assert attribute.codes(["m", "x", "missing", "f"]).tolist() == [1, -1, 2, 0]
