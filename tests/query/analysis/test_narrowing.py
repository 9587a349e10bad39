"""What a condition says of values holds in every row of which it is true, and moves no value that was not moved."""

import time
from datetime import date, datetime
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expressions_of import COLUMNS, UNITS, cells, expressions, literals
from tests.sizes import FULL_SIZE

from sfumato.query.analysis.inference import MAX_NARROWED, KnownColumns, facts_of, narrowed_by
from sfumato.query.analysis.keys import listed_values
from sfumato.query.analysis.narrowing import NOT_TRUE, TRUE, Truth, narrowed
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import Interval, place_of
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import MAX_STEPS, PUBLIC, Table, boolean, integer, real, text, timestamp
from sfumato.query.model.schema import date as day
from sfumato.query.model.statement import LatticeValue
from sfumato.query.sql.questions import parse_view
from sfumato.query.values.evaluation import clamped_steps, evaluate

MANY = settings(max_examples=5_000 if FULL_SIZE else 400)
KNOWN = {
    "integer 1": Facts(kind=Kind.INTEGER, interval=Interval(Fraction(-3), Fraction(7)), nullable=False),
    "integer 2": Facts(kind=Kind.INTEGER, values=(2, 3, -7)),
    "float 1": Facts(
        kind=Kind.FLOAT, interval=Interval(Fraction(-5, 2), Fraction(3)), resolution=Fraction(1, 3), nullable=False
    ),
    "float 2": Facts(kind=Kind.FLOAT, resolution=None),
    "text 1": Facts(kind=Kind.TEXT),
    "text 2": Facts(kind=Kind.TEXT, values=("a", "A", "é")),
    "boolean 1": Facts(kind=Kind.BOOLEAN, values=(False, True), nullable=False),
    "boolean 2": Facts(kind=Kind.BOOLEAN, values=(False, True)),
    "date 1": Facts(kind=Kind.DATE),
    "date 2": Facts(kind=Kind.DATE, values=(date(2024, 2, 29), date(1969, 12, 31))),
    "timestamp 1": Facts(kind=Kind.TIMESTAMP),
    "timestamp 2": Facts(kind=Kind.TIMESTAMP, nullable=False),
}
"""What is presumed; rows hold anything, but NULL only where it may be."""

SOMETHING = {Kind.INTEGER: 8, Kind.FLOAT: 2.5, Kind.TEXT: "b", Kind.BOOLEAN: True, Kind.DATE: date(2026, 1, 31),
             Kind.TIMESTAMP: datetime(2026, 1, 31)}  # fmt: skip  # noqa: DTZ001 # UTC
NEAR = {
    Kind.INTEGER: (0, 1, 2, 3, 5, -3, -7, Fraction(5, 2), 7.0, 2**53),
    Kind.FLOAT: (0, Fraction(1, 3), Fraction(1, 2), Fraction(5, 2), -2, 3, Fraction(2999, 1000), Fraction(-1, 10)),
}
"""Constants that values are near to."""


@cache
def constants(kind):
    """Constants to compare with; numbers mixed, some of them written with a point."""
    if kind not in NUMBERS:
        return literals(kind)
    whole = st.sampled_from(NEAR[kind])
    as_float = st.integers(-8, 8).map(lambda n: Call(Function.TO_FLOAT, (Literal(Fraction(n)),)))
    return literals(Kind.INTEGER) | literals(Kind.FLOAT) | whole.map(Fraction).map(Literal) | as_float


@cache
def operands(kind):
    """Columns, and functions of them of which the argument is narrowed too."""
    own = [ColumnRef(name) for name, of in COLUMNS.items() if of is kind]
    made = {
        Kind.INTEGER: [Call(Function.YEAR, (ColumnRef(f"{one.value} 1"),)) for one in TIMES],
        Kind.FLOAT: [Call(Function.TO_FLOAT, (ColumnRef("integer 1"),)), Call(Function.ADD, (own[0], own[-1]))],
        Kind.DATE: [Call(Function.TO_DATE, (ColumnRef("timestamp 1"),)), *truncations("date 1")],
        Kind.TIMESTAMP: [Call(Function.TO_TIMESTAMP, (ColumnRef("date 1"),)), *truncations("timestamp 2")],
    }
    return st.sampled_from([*own, *made.get(kind, [])])


def truncations(name):
    return [Call(Function.TRUNCATE, (ColumnRef(name), Literal(unit))) for unit in UNITS]


@st.composite
def comparisons(draw):
    kind = draw(st.sampled_from(Kind))
    sides = [draw(operands(kind)), draw(constants(kind))]
    return Compare(draw(st.sampled_from(Comparison)), *(sides if draw(st.booleans()) else sides[::-1]))


@st.composite
def lists(draw):
    kind = draw(st.sampled_from(Kind))
    members = draw(st.lists(constants(kind).filter(lambda one: isinstance(one, Literal)), min_size=1, max_size=3))
    return IsIn(draw(operands(kind)), tuple(members))


ATOMS = (
    comparisons() | comparisons() | lists() | st.sampled_from(Kind).flatmap(operands).map(IsNull)
    | st.sampled_from(["boolean 1", "boolean 2"]).map(ColumnRef) | expressions(Kind.BOOLEAN, depth=2)
)  # fmt: skip
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: inner.map(Not) | st.lists(inner, max_size=3).map(tuple).flatmap(
        lambda several: st.sampled_from([And(several), Or(several)])
    ),
    max_leaves=6,
)  # fmt: skip


@cache
def near(kind):
    """Cells, of numbers such as are near to constants too."""
    if kind not in NUMBERS:
        return cells(kind)
    return cells(kind) | st.sampled_from([float(one) if kind is Kind.FLOAT else int(one) for one in NEAR[kind]])


@st.composite
def rows(draw):
    """Rows of anything, of which numbers are often near to what conditions compare them with."""
    row = {}
    for name, kind in COLUMNS.items():
        cell = draw(near(kind))
        row[name] = SOMETHING[kind] if cell is None and not KNOWN[name].nullable else cell
    return row


def steps(facts, resolution):
    """The lattice of a number between the ends that are known of it."""
    ends = [(facts.interval.lower, -MAX_STEPS), (facts.interval.upper, MAX_STEPS)]
    lower, upper = (
        far if end is None else max(-MAX_STEPS, min(MAX_STEPS, (end / resolution + Fraction(1, 2)).__floor__()))
        for end, far in ends
    )
    return LatticeValue(
        value=ColumnRef("x"), resolution=resolution, lower=lower, upper=upper, offset=0, nullable=True
    )  # fmt: skip


def assert_kept(before, after, value):
    """A value that passed is clamped and grouped as it would have been before."""
    assert after.kind is before.kind
    assert after.longest == before.longest
    assert value is not None or after.nullable
    if value is None:
        return
    if before.values is not None:
        assert set(after.values) <= set(before.values)
        assert (value in after.values) == (value in before.values)
    elif after.values is not None:
        place = place_of(value)
        is_inside = place is None or lies_in(place, before.interval)
        assert (value in after.values) == is_inside
    if before.kind in NUMBERS:
        resolution = before.resolution or Fraction(1, 10**6)
        assert clamped_steps(value, steps(after, resolution)) == clamped_steps(value, steps(before, resolution))
    if before.kind in TIMES:
        assert lies_in(place_of(value), after.interval)


def lies_in(place, interval):
    return (interval.lower is None or interval.lower <= place) and (interval.upper is None or place <= interval.upper)


def is_known(truth, value):
    return value is None if truth.or_null and value is None else value is truth.is_true


@given(CONDITIONS, st.lists(rows(), min_size=1, max_size=8))
@MANY
def test_no_value_of_a_row_that_passes_is_clamped_or_grouped_in_another_way(condition, some):
    for truth in (TRUE, NOT_TRUE, Truth(is_true=False), Truth(is_true=True, or_null=True)):
        found = narrowed(condition, truth, lambda one: facts_of(one, KNOWN))
        for row in some:
            if is_known(truth, evaluate(unmixed(condition, KNOWN), row)):
                for expression, facts in found.items():
                    value = evaluate(unmixed(expression, KNOWN), row)
                    assert_kept(facts_of(expression, KNOWN), facts, value)


@given(CONDITIONS)
@MANY
def test_no_interval_is_inverted_and_none_leaves_what_was_known(condition):
    for truth in (TRUE, NOT_TRUE):
        for expression, facts in narrowed(condition, truth, lambda one: facts_of(one, KNOWN)).items():
            before, after = facts_of(expression, KNOWN).interval, facts.interval
            assert not after.is_bounded or after.lower <= after.upper
            assert before | after == before


T = Source(
    Table(
        name="t", unit=PUBLIC, matches={("n",): 1},
        columns={
            "q": real(0, 50), "n": integer(0, 50), "x": real(), "y": real(), "m": text(values=["B", "A", "C"]),
            "c": text(), "d": day(), "at": timestamp(), "b": boolean(), "v": integer(0, 9, nullable=False),
        },
    )
)  # fmt: skip


def facts(select, column="z"):
    """The facts of a column of a SELECT from t."""
    return shape_of(parse_view(select, {"t": T})).columns[column]


def ends(found):
    return tuple(None if end is None else str(end) for end in (found.interval.lower, found.interval.upper))


@pytest.mark.parametrize(
    ("where", "column", "expected"),
    [
        ("q < 5", "q", ("0", "5")),  # what is less may be rounded to 5
        ("q < 4.992", "q", ("0", "5")),  # outward to the lattice: 1 / 100
        ("q < 4.985", "q", ("0", "499/100")),
        ("5 > q", "q", ("0", "5")),
        ("n < 5", "n", ("0", "4")),
        ("n < 4.5 AND n > 1.5", "n", ("2", "4")),
        ("n <= 5.0", "n", ("0", "5")),
        ("n = 7", "n", ("7", "7")),
        ("NOT (n >= 5 OR n < 2)", "n", ("2", "4")),
        ("NOT NOT n < 5", "n", ("0", "4")),
        ("x BETWEEN 0 AND 60", "x", ("0", "60")),
        ("x BETWEEN 0 AND 60 AND x < 2 * 3", "x", ("0", "6")),
        ("x IN (3, 1, 2.5)", "x", ("1", "3")),
        ("x < 5", "x", (None, "5")),
        ("x < 1 OR x > 5", "x", (None, None)),
        ("(x > 0 AND x < 1) OR (x > 5 AND x < 7)", "x", ("0", "7")),
        ("q < 5 OR n < 5", "q", ("0", "50")),
        ("q < 5 OR n < 5", "n", ("0", "50")),
        ("(q < 5 AND m = 'A') OR (q < 3 AND m = 'B')", "q", ("0", "5")),
        ("NOT (q < 5 AND m = 'A')", "q", ("0", "50")),
        ("q <> 5", "q", ("0", "50")),
        ("q < n", "q", ("0", "50")),
        ("q < y AND y < 5", "q", ("0", "50")),  # of columns, nothing is concluded
        ("y < 5", "x", (None, None)),  # nor of one column by another
        ("x < 1 AND x > 5", "x", ("1", "1")),  # of nothing: one point, and noise
        ("n > 90", "n", ("50", "50")),  # as values beyond the bounds are clamped
        ("d >= DATE '1994-01-01' AND d < DATE '1994-01-01' + INTERVAL '1' YEAR", "d", ("727929", "728293")),
        ("EXTRACT(YEAR FROM d) IN (1994, 1995)", "d", ("727929", "728658")),
        ("DATE_TRUNC('month', d) = '1994-01-01'", "d", ("727929", "727959")),
        ("DATE_TRUNC('year', d) < '1995-06-01'", "d", (None, "728658")),
        ("CAST(at AS DATE) = '0001-01-02'", "at", ("86400000000", "172799999999")),
        ("d < TIMESTAMP '0001-01-03 12:00:00'", "d", (None, "3")),
        ("d < TIMESTAMP '0001-01-03'", "d", (None, "2")),
    ],
)
def test_a_condition_narrows_the_range_of_what_it_compares(where, column, expected):
    assert ends(facts(f"SELECT {column} AS z FROM t WHERE {where}")) == expected


@pytest.mark.parametrize(
    ("where", "column", "expected"),
    [
        ("m IN ('C', 'A', 'Z')", "m", ("A", "C")),  # as they are declared: B, A, C
        ("m <> 'A'", "m", ("B", "C")),
        ("m NOT IN ('A', 'B')", "m", ("C",)),
        ("m < 'B'", "m", ("A",)),
        ("m = 'A' OR m = 'C'", "m", ("A", "C")),
        ("m = 'A' OR q < 5", "m", ("B", "A", "C")),
        ("NOT (m = 'A')", "m", ("B", "C")),
        ("m = 'A' AND m = 'B'", "m", ("B", "A", "C")),  # of nothing: what there was, and noise
        ("c IN ('y', 'x')", "c", ("x", "y")),
        ("c = 'y' OR c = 'x'", "c", ("x", "y")),
        ("c = 'y' OR c > 'x'", "c", None),
        ("c < 'y'", "c", None),
        ("n IN (7, 3, 99)", "n", (3, 7)),
        ("n IN (7, 2.5)", "n", (7,)),
        ("b", "b", (True,)),
        ("NOT b", "b", (False,)),
        ("b = FALSE", "b", (False,)),
        ("d IN (DATE '2026-01-31', DATE '2025-01-31')", "d", (date(2025, 1, 31), date(2026, 1, 31))),
        ("x IN (1, 2)", "x", None),
    ],
)
def test_a_condition_narrows_what_is_listed(where, column, expected):
    assert facts(f"SELECT {column} AS z FROM t WHERE {where}").values == expected


def test_whole_numbers_between_the_ends_of_a_condition_are_listed():
    assert listed_values(facts("SELECT v + 1000 AS z FROM t WHERE v + 1000 BETWEEN 1003 AND 1005")) == (
        1003,
        1004,
        1005,
    )


@pytest.mark.parametrize(
    ("where", "is_nullable"),
    [
        ("x < 5", False),
        ("NOT x < 5", False),
        ("x < y", False),
        ("x + 1 < y", False),
        ("x IS NOT NULL", False),
        ("x IS NULL", True),
        ("x IN (1)", False),
        ("x < 5 OR x > 7", False),
        ("x < 5 OR y > 7", True),
        ("x < 5 OR x IS NULL", True),
        ("COALESCE(x, 0) < 5", True),
        ("NOT (x IS NULL OR y IS NULL)", False),
    ],
)
def test_what_was_compared_is_not_null(where, is_nullable):
    assert facts(f"SELECT x AS z FROM t WHERE {where}").nullable is is_nullable


def test_an_expression_keeps_what_is_known_of_it_and_of_it_alone():
    assert ends(facts("SELECT x * y AS z FROM t WHERE x * y BETWEEN 1 AND 7")) == ("1", "7")
    assert ends(facts("SELECT x + y AS z FROM t WHERE x * y BETWEEN 1 AND 7")) == (None, None)
    renamed = "SELECT a * b AS z FROM (SELECT {columns} FROM t WHERE x * y BETWEEN 1 AND 7)"
    assert ends(facts(renamed.format(columns="x AS a, y AS b"))) == ("1", "7")
    assert ends(facts(renamed.format(columns="y AS a, x AS b"))) == (None, None)
    assert ends(facts(renamed.format(columns="x AS a, q AS b"))) == (None, None)
    assert ends(facts(renamed.format(columns="x + 1 AS a, y AS b"))) == (None, None)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("CASE WHEN x BETWEEN 0 AND 5 THEN x ELSE 9 END", ("0", "9")),
        ("CASE WHEN x < 0 THEN 0 WHEN x > 100 THEN 100 ELSE x END", ("0", "100")),
        ("CASE WHEN x < 0 THEN 0 WHEN y > 100 THEN 100 ELSE x END", ("0", None)),
        ("CASE WHEN x < 0 AND y < 0 THEN 0 ELSE x END", (None, None)),
        ("CASE WHEN NOT x >= 0 THEN 0 WHEN NOT x <= 100 THEN 100 ELSE x END", ("0", "100")),
        ("CASE WHEN n < 5 THEN n END", ("0", "4")),
    ],
)
def test_a_branch_knows_its_condition_and_that_those_before_were_not_true(expression, expected):
    assert ends(facts(f"SELECT {expression} AS z FROM t")) == expected


def test_a_condition_that_was_not_true_may_have_been_null():
    assert facts("SELECT CASE WHEN x < 0 THEN 0 ELSE x END AS z FROM t").nullable
    assert not facts("SELECT CASE WHEN x IS NULL THEN 0 ELSE n END AS z FROM t WHERE n > 1").nullable


def test_an_inner_join_keeps_what_is_known_of_both_sides():
    both = """
        SELECT a.q AS z, r.q AS w, {} AS s FROM (SELECT q, n, x FROM t WHERE q < 5 AND x + n < 9) AS a
        {} JOIN (SELECT n, q, x FROM t WHERE q < 3 AND x + n BETWEEN 1 AND 7) AS r ON a.n = r.n
    """
    inner = both.format("r.x + r.n", "")
    assert [ends(facts(inner, column)) for column in "zws"] == [("0", "5"), ("0", "3"), ("1", "7")]
    assert not facts(inner, "w").nullable
    outer = both.format("COALESCE(r.x + r.n, 100)", "LEFT")
    assert (ends(facts(outer)), facts(outer).nullable) == (("0", "5"), False)
    assert facts(outer, "w").nullable  # of a row without a partner, no condition was true
    assert ends(facts(both.format("a.x + a.n", "LEFT"), "s")) == (None, "9")
    assert ends(facts(both.format("r.x + r.n", "LEFT"), "s")) == (None, None)


def test_what_fills_the_place_of_a_missing_partner_is_not_narrowed():
    query = (
        "SELECT COALESCE(r.x, 100) AS z FROM t LEFT JOIN (SELECT n, x FROM t WHERE COALESCE(x, 100) BETWEEN 0 AND 7) "
        "AS r ON t.n = r.n"
    )
    assert ends(facts(query)) == (None, None)
    assert ends(facts(query.replace("LEFT JOIN", "JOIN"))) == ("0", "7")


def test_facts_pass_through_ctes_and_having_on_keys_and_unite_in_a_union():
    assert ends(facts("WITH few AS (SELECT n AS k FROM t WHERE n < 5) SELECT k AS z FROM few WHERE k > 1")) == (
        "2",
        "4",
    )
    groups = facts("SELECT m AS z, COUNT(*) AS k FROM t GROUP BY m HAVING m IN ('A', 'C') AND COUNT(*) < 9", "z")
    assert groups.values == ("A", "C")
    counts = facts("SELECT m, COUNT(*) AS z FROM t GROUP BY m HAVING COUNT(*) < 9")
    assert (counts.interval.upper, listed_values(counts)) == (8, tuple(range(1, 9)))
    union = facts("SELECT m AS z FROM t WHERE m = 'A' UNION ALL SELECT m FROM t WHERE m = 'C'")
    assert union.values == ("A", "C")


def test_a_sum_in_a_subquery_has_the_bounds_of_its_condition():
    assert ends(facts("SELECT n, AVG(x) AS z FROM t WHERE x BETWEEN 0 AND 60 GROUP BY n")) == ("0", "60")


def test_by_the_first_rules_conditions_say_nothing():
    view = parse_view("SELECT x AS z, CASE WHEN y > 0 THEN 1 ELSE y END AS w FROM t WHERE x BETWEEN 0 AND 60", {"t": T})
    shape = shape_of(view, Edition.FIRST)
    assert (ends(shape.columns["z"]), shape.columns["z"].nullable) == ((None, None), True)
    assert ends(shape.columns["w"]) == (None, None)
    groups = parse_view("SELECT n, AVG(x) AS z FROM t WHERE x BETWEEN 0 AND 60 GROUP BY n", {"t": T})
    assert ends(shape_of(groups, Edition.FIRST).columns["z"]) == (None, None)


def test_a_wide_or_a_deep_condition_is_read_in_little_time():
    x = ColumnRef("x")
    sums = [Call(Function.ADD, (x, Literal(Fraction(n)))) for n in range(3 * MAX_NARROWED)]
    columns = {"x": Facts(kind=Kind.FLOAT)}
    started = time.process_time()
    found = narrowed_by(columns, And(tuple(Compare(Comparison.LESS, one, Literal(Fraction(9))) for one in sums)))
    assert isinstance(found, KnownColumns)
    assert len(found.expressions) == MAX_NARROWED
    deep = x
    for _ in range(35):  # twice as long for each level would never end
        deep = Case(((Compare(Comparison.LESS, deep, Literal(Fraction(5))), Literal(Fraction(0))),), x)
    facts_of(deep, columns)
    assert time.process_time() - started < 10
