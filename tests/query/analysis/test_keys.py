"""Keys: which are public, of columns and as images of expressions, of the policy and the question alone."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.query.planned import PEOPLE, VISITS, question, ref, relation_of

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.keys import (
    MAX_IMAGE,
    MAX_LISTED,
    candidates,
    grouping_sets,
    key_columns,
    listed_values,
    public_values,
)
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, IsNull, Literal, Null
from sfumato.query.model.facts import Edition, of_column
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import (
    PUBLIC,
    Table,
    boolean,
    date,
    integer,
    real,
    text,
    timestamp,
)
from sfumato.query.sql.questions import parse_question
from sfumato.query.values.evaluation import evaluate

TABLE = Table(
    name="t",
    columns={
        "age": integer(0, 120), "few": integer(values=[1, 2, 16]), "many": integer(0, 10_000), "free": integer(),
        "sex": text(values=["m", "f"]), "income": text(values=["<=50K", ">50K"]), "town": text(), "b": boolean(),
        "x": real(0, 10_000), "d": date("2025-11-15", "2026-02-10"), "anyday": date(),
        "t": timestamp("2026-01-31 22:30", "2026-02-01 01:10"),
        "long": timestamp("1900-01-01 00:00", "2026-12-31 23:59"),
    },
)  # fmt: skip


def asked(key, *, where="TRUE", table=TABLE):
    """The rows of a question that groups by an expression in SQL, and the name of that key."""
    group_by = parse_question(f"SELECT {key} AS k, COUNT(*) AS n FROM t WHERE {where} GROUP BY 1", {"t": Source(table)})
    return group_by.child.child.child, group_by.child.child.keys[0]


def image(key, *, where="TRUE", table=TABLE):
    """The public values of an expression in SQL."""
    return public_values(*asked(key, where=where, table=table))


def day(written):
    return dt.date.fromisoformat(written)


def time(written):
    return dt.datetime.fromisoformat(written)


IMAGES = {
    "age / 10 * 10": tuple(range(0, 121, 10)),
    "few + 0": (1, 2, 16),
    "few * few": (1, 4, 256),
    "UPPER(sex)": ("M", "F"),
    "sex || '/' || income": ("m/<=50K", "f/<=50K", "m/>50K", "f/>50K"),
    "LEFT(income, 1)": ("<", ">"),
    "LENGTH(income)": (4, 5),
    "COALESCE(sex, '?') || '!'": ("m!", "f!", "?!"),
    "CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END": ("child", "adult", "old"),
    "UPPER(CASE WHEN x > 5 THEN 'a' ELSE 'b' END)": ("B", "A"),
    "CAST(FLOOR(x / 100) AS integer) * 100": tuple(range(0, 10_001, 100)),
    "FLOOR(many / 100) * 100": tuple(range(0, 10_001, 100)),
    "many % 7 * 3": tuple(range(0, 19, 3)),
    "CAST(b AS text)": ("false", "true"),
    "CAST(LN(few) AS integer)": (0, 1, 3),
    "age % 2 + few": (1, 2, 3, 16, 17),
    "15 + 15": (30,),
    "EXTRACT(YEAR FROM d)": (2025, 2026),
    "EXTRACT(MONTH FROM d)": (1, 2, 11, 12),
    "DATE_TRUNC('month', d)": tuple(map(day, ("2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"))),
    "DATE_TRUNC('quarter', d)": (day("2025-10-01"), day("2026-01-01")),
    "DATE_TRUNC('week', d)": tuple(day("2025-11-10") + dt.timedelta(weeks=week) for week in range(14)),
    "DATE_TRUNC('month', d + 1)": tuple(map(day, ("2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"))),
    "LEFT(CAST(d AS text), 7)": ("2025-11", "2025-12", "2026-01", "2026-02"),
    "DATE_TRUNC('hour', t)": tuple(
        map(time, ("2026-01-31 22:00", "2026-01-31 23:00", "2026-02-01 00:00", "2026-02-01 01:00"))
    ),
    "CAST(t AS date)": (day("2026-01-31"), day("2026-02-01")),
    "EXTRACT(HOUR FROM t)": (0, 1, 22, 23),
    "EXTRACT(YEAR FROM long) / 100": (19, 20),
}
STATIC = {
    "EXTRACT(MONTH FROM anyday)": tuple(range(1, 13)),
    "CASE WHEN age > 150 THEN 'beyond' ELSE 'within' END": ("beyond", "within"),
    "age > 150": (False, True),
    "sex": ("m", "f"),
    "age": tuple(range(121)),
}
PRIVATE = ("town", "UPPER(town)", "many", "many + 0", "free / 2", "t", "long", "DATE_TRUNC('day', long)", "anyday + 1")


@pytest.mark.parametrize("key", IMAGES)
def test_an_expression_has_the_values_that_it_has_of_public_values(key):
    assert image(key) == IMAGES[key]


@pytest.mark.parametrize("key", STATIC)
def test_what_is_listed_without_columns_stays_listed_though_no_public_value_leads_to_it(key):
    """A person of 151 is in no column's bounds, and is counted as the query says."""
    assert image(key) == STATIC[key]


@pytest.mark.parametrize("key", PRIVATE)
def test_what_has_no_public_values_or_too_many_has_no_image(key):
    table = replace(TABLE, columns={**TABLE.columns, "town": text(max_length=9)})
    assert image(key, table=table) is None


def test_the_first_rules_know_no_images():
    rows, name = asked("age / 10 * 10")
    assert public_values(rows, name, Edition.FIRST) == tuple(range(121))
    assert public_values(*asked("UPPER(sex)"), Edition.FIRST) is None


def test_days_between_bounds_are_public_and_so_many_whole_numbers():
    assert image("d") == tuple(day("2025-11-15") + dt.timedelta(days=number) for number in range(88))
    first = day("2000-01-01")
    for most, make in (
        (MAX_LISTED, lambda count: integer(1, count)),
        (MAX_IMAGE, lambda count: date(first, first + dt.timedelta(days=count - 1))),
    ):
        assert len(listed_values(of_column(make(most)))) == most
        assert listed_values(of_column(make(most + 1))) is None


def test_an_image_of_more_values_or_of_more_work_than_is_allowed_is_none():
    assert image("age * 1000 + few") is not None
    assert image("age * 1000 + age % 2 + few * 100000 + EXTRACT(DOY FROM d)") is None
    assert image(f"LEAST({', '.join(['age'] * 500)}) % 10 * 2") == tuple(range(0, 19, 2))
    assert image(f"LEAST({', '.join(['age'] * 999)}) % 10 * 2") == tuple(range(19))  # by its bounds alone


def test_equal_constants_of_two_kinds_are_told_apart():
    assert set(image("UPPER(CASE WHEN x > 5 THEN CAST(TRUE AS text) ELSE CAST(1 AS text) END)")) == {"TRUE", "1"}


def through(relation):
    """The public values of `k`, which is age / 10, in a relation that is made of it."""
    return public_values(relation, "k")


def test_values_go_through_operators_that_leave_rows_out_or_tell_them_apart():
    rows, name = asked("age / 10")
    decades = Select(rows, (("k", ColumnRef(name)), ("s", ColumnRef("sex"))))
    codes = Source(Table(name="p", columns={"code": integer(0, 3)}, unit=PUBLIC, matches={("code",): 1}))
    own = tuple(range(13))
    for relation in (
        Filter(decades, IsNull(ColumnRef("s"))), Distinct(decades), Grouped(decades, ("k",), ()),
        Join(left=decades, right=codes, on=(("k", "code"),), kind=JoinKind.LEFT), UnionAll(decades, decades),
        Intersect(decades, decades), SemiJoin(child=decades, other=codes, on=(("k", "code"),)),
    ):  # fmt: skip
        assert through(relation) == own
    visits = Select(relation_of(VISITS), (("k", ColumnRef("ward")),))
    assert through(BoundRows(visits, 2)) == ("A", "B", "C")
    assert public_values(Join(left=decades, right=codes, on=(("k", "code"),)), "code") == (0, 1, 2, 3)


def test_a_union_has_the_values_of_both_sides_if_both_have_some():
    low, high, free = (
        Select(asked(key)[0], (("k", ColumnRef(asked(key)[1])),)) for key in ("age / 40", "age / 40 * 5", "free / 2")
    )
    assert through(UnionAll(low, high)) == (0, 1, 2, 3, 5, 10, 15)
    assert through(UnionAll(low, free)) is None


def test_folds_have_no_image_but_what_is_known_of_them():
    rows, name = asked("age / 10")
    grouped = Grouped(rows, (name,), (Folded("n", Fold.COUNT_ROWS), Folded("s", Fold.MIN, ColumnRef("sex"))))
    assert public_values(grouped, "n") is None
    assert public_values(grouped, "s") == ("m", "f")


@pytest.mark.parametrize(
    ("key", "where", "values"),
    [
        ("age / 10 * 10", "age < 45", (0, 10, 20, 30, 40)),
        ("age / 10 * 10", "age / 10 * 10 < 50", (0, 10, 20, 30, 40)),
        ("few * 2", "few > 1", (4, 32)),
        ("UPPER(sex)", "sex = 'm'", ("M",)),
        ("UPPER(sex)", "UPPER(sex) IN ('F', 'X')", ("F", "X")),
        ("town || '!'", "town IN ('a', 'b')", ("a!", "b!")),
        ("free / 10", "free BETWEEN 5 AND 35", (0, 1, 2, 3)),
        ("EXTRACT(MONTH FROM anyday)", "anyday >= '2024-01-15' AND anyday < '2024-04-01'", (1, 2, 3)),
        (
            "DATE_TRUNC('month', anyday)",
            "anyday >= '2024-01-15' AND anyday < '2024-04-01'",
            tuple(map(day, ("2024-01-01", "2024-02-01", "2024-03-01"))),
        ),
    ],
)
def test_an_image_is_of_the_rows_that_a_condition_leaves(key, where, values):
    assert image(key, where=where) == values


def test_a_condition_on_a_computed_column_leaves_values_of_its_image():
    below = Compare(Comparison.LESS, ColumnRef("k"), Literal(Fraction(50)))
    rows, name = asked("age / 10 * 10")
    decades = Select(rows, (("k", ColumnRef(name)),))
    assert through(Filter(decades, below)) == (0, 10, 20, 30, 40)


KEYS = (*IMAGES, *STATIC)
CELLS = {
    "age": st.integers(0, 120), "few": st.sampled_from([1, 2, 16]), "many": st.integers(0, 10_000),
    "sex": st.sampled_from(["m", "f"]), "income": st.sampled_from(["<=50K", ">50K"]), "b": st.booleans(),
    "x": st.floats(0, 10_000), "d": st.dates(day("2025-11-15"), day("2026-02-10")),
    "t": st.datetimes(time("2026-01-31 22:30"), time("2026-02-01 01:10")),
    "long": st.datetimes(time("1900-01-01 00:00"), time("2026-12-31 23:59")), "anyday": st.dates(),
    "free": st.integers(-(2**63), 2**63 - 1), "town": st.text(max_size=5),
}  # fmt: skip


@given(st.sampled_from(KEYS), st.fixed_dictionaries({name: st.none() | cells for name, cells in CELLS.items()}))
def test_no_row_within_what_is_declared_has_a_key_that_is_not_listed(key, row):
    rows, name = asked(key)
    while not isinstance(rows, Select):
        rows = rows.child
    expression = unmixed(dict(rows.columns)[name], shape_of(rows.child).columns)
    assert evaluate(expression, row) in {None, *image(key)}


def test_people_keep_their_private_keys():
    assert public_values(relation_of(PEOPLE), "town") is None
    assert public_values(relation_of(PEOPLE), "sex") == ("f", "m")


def listed(child, name):
    """The public keys of a column."""
    (column,) = key_columns(relation_of(child), (name,))
    return column.values


def computed(expression):
    return Select(relation_of(PEOPLE), (("key", expression),))


def whole(number):
    return Literal(Fraction(number))


def test_declared_values_are_keys_in_their_order():
    days = (dt.date(2026, 2, 1), dt.date(2026, 1, 1))
    table = Table(name="t", columns={"sex": text(values=["m", "f"]), "day": date(values=days)})
    assert (listed(table, "sex"), listed(table, "day")) == (("m", "f"), days)


def test_truths_and_bounded_whole_numbers_are_keys():
    assert listed(PEOPLE, "smokes") == (False, True)
    assert listed(PEOPLE, "kids") == tuple(range(10))


def test_so_many_whole_numbers_are_listed_and_no_more():
    fits, too_many = (Table(name="t", columns={"k": integer(1, most)}) for most in (MAX_LISTED, MAX_LISTED + 1))
    assert (len(listed(fits, "k")), listed(too_many, "k")) == (MAX_LISTED, None)


@pytest.mark.parametrize("name", ["town", "born", "free"])
def test_columns_without_listed_values_have_private_keys(name):
    assert listed(PEOPLE, name) is None


def test_computed_columns_have_the_values_that_they_can_have():
    month = Call(Function.MONTH, (ref("born"),))
    decade = Call(Function.DIVIDE, (ref("age"), Literal(Fraction(10))))
    assert listed(computed(month), "key") == tuple(range(1, 13))
    assert listed(computed(decade), "key") == tuple(range(11))
    assert listed(computed(Null(Kind.TEXT)), "key") == ()


def test_fractions_are_no_keys():
    with pytest.raises(NotPrivateError, match="FLOOR"):
        listed(PEOPLE, "pay")


def test_more_public_groups_than_an_answer_can_hold_are_refused():
    table = Table(name="t", columns={name: integer(1, 1000) for name in "abc"})
    assert len(key_columns(relation_of(table), ("a", "b"))) == 2
    with pytest.raises(ParameterError, match="1,000,000,000 groups"):
        key_columns(relation_of(table), ("a", "b", "c"))


def test_a_question_groups_by_all_its_keys_or_by_its_grouping_sets():
    assert grouping_sets(question(VISITS, keys=("ward", "ill")).child) == (("ward", "ill"),)
    assert grouping_sets(question(VISITS).child) == ((),)
    sets = (("ward", "ill"), ("ill",), ())
    assert grouping_sets(question(VISITS, keys=("ward", "ill"), sets=sets).child) == sets


def test_what_only_limits_of_a_unit_bound_lists_no_keys_until_it_is_clamped():
    visits = Grouped(relation_of(VISITS), (), (Folded("n", Fold.COUNT_ROWS),))
    assert listed(visits, "n") is None
    more = Select(visits, (("key", Call(Function.ADD, (ref("n"), Literal(Fraction(1))))),))
    assert listed(more, "key") is None
    clamped = Select(visits, (("key", Call(Function.LEAST, (ref("n"), Literal(Fraction(3))))),))
    assert listed(clamped, "key") == (1, 2, 3)


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        (Call(Function.LEAST, (ref("n"), whole(20))), tuple(range(1, 21))),
        (Call(Function.LEAST, (Call(Function.DIVIDE, (ref("n"), whole(2))), whole(5))), tuple(range(6))),
        (Call(Function.LEAST, (Call(Function.SUBTRACT, (whole(10), ref("n"))), whole(7))), None),
        (Call(Function.LEAST, (ref("s"), whole(3))), None),
        (Call(Function.GREATEST, (Call(Function.LEAST, (ref("s"), whole(3))), whole(-2))), tuple(range(-2, 4))),
        (Call(Function.LEAST, (Call(Function.COALESCE, (ref("s"), ref("n"))), whole(2))), None),
    ],
)
def test_keys_hold_those_who_have_more_than_limits_of_a_unit_would_leave(key, keys):
    folds = (Folded("n", Fold.COUNT_ROWS), Folded("s", Fold.SUM, Call(Function.SUBTRACT, (ref("beds"), whole(5)))))
    visits = Grouped(relation_of(VISITS), (), folds)
    assert listed(Select(visits, (("key", key),)), "key") == keys


def test_the_most_frequent_are_chosen_from_as_many_values_as_there_are():
    sex, town = (shape_of(relation_of(PEOPLE)).column(name) for name in ("sex", "town"))
    assert len(candidates("x", sex, 2)) == 2
    with pytest.raises(ParameterError, match="number of public values"):
        candidates("x", sex, 3)
    with pytest.raises(NotPrivateError, match="the most frequent of x"):
        candidates("x", town, 1)
