"""Pieces of SQL mean what they say, whatever is in them."""

import math
from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from tests.engines.in_sql import run, value_of, values_of
from tests.expressions_of import DAYS, DOUBLES, INTEGERS, TIMESTAMPS, WORDS

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.sql.expressions.terms import (
    TYPES,
    aliased,
    all_of,
    any_of,
    between,
    case,
    clamped,
    column,
    constant,
    double,
    figure,
    function,
    gathered,
    guarded,
    is_null,
    joined,
    named,
    negated,
    null,
    one_of,
    operation,
    present,
    same,
    select,
    stripped,
    table,
    text,
    try_cast,
    whole,
    window,
)
from sfumato.query.model.kinds import Kind

HOSTILE = ("a", '"', "'", "a\"; DROP TABLE cells; --'", "u", "rank", "SELECT", "c:x", "é", "\\", "a b")
LARGE = function("GREATEST", *[operation(exp.Sub, column("i"), figure(7))] * 5)
"""The column less 7, in more nodes than are written twice."""


@pytest.mark.parametrize("value", [*INTEGERS, *DOUBLES, *WORDS, *DAYS, *TIMESTAMPS, True, False, *HOSTILE], ids=repr)
def test_a_constant_comes_back_as_it_is(value):
    found = value_of(constant(value))
    assert type(found) is type(value)
    assert found == value


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_comes_back_as_it_is(value):
    assert value_of(text(value)) == value


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_name_however_hostile(name):
    assert values_of(column(name), {name: [1, 2]}) == [1, 2]
    assert values_of(column(name, "cells"), {name: [1, 2]}) == [1, 2]


@pytest.mark.parametrize("kind", Kind)
def test_null_has_a_kind(kind):
    assert value_of(function("TYPEOF", null(kind))) == TYPES[kind]
    assert value_of(is_null(null(kind))) is True


def test_operands_are_in_parentheses_of_their_own():
    difference = operation(exp.Sub, figure(1), operation(exp.Sub, figure(2), figure(3)))
    assert value_of(difference) == 2
    assert value_of(operation(exp.Sub, figure(1), figure(-1))) == 2
    assert value_of(one_of(operation(exp.LT, figure(1), figure(2)), [exp.true()])) is True
    assert value_of(negated(operation(exp.EQ, figure(1), figure(1)))) is False
    assert value_of(is_null(operation(exp.EQ, figure(1), exp.Null()))) is True


def test_of_no_conditions_all_hold_and_none_does():
    assert value_of(all_of([])) is True
    assert value_of(any_of([])) is False
    assert value_of(all_of([exp.true(), any_of([exp.false(), exp.true()])])) is True


def test_a_case_takes_the_first_branch_that_is_true():
    branches = [(exp.Null(), figure(1)), (exp.true(), figure(2)), (exp.true(), figure(3))]
    assert value_of(case(branches, figure(4))) == 2
    assert value_of(case(branches[:1], figure(4))) == 4
    assert value_of(case(branches[:1])) is None


def test_values_are_clamped_and_kept_between_ends():
    assert values_of(clamped(column("i"), whole(-2), whole(3)), {"i": [-9, 0, 9]}) == [-2, 0, 3]
    assert values_of(between(column("i"), whole(-2), whole(3)), {"i": [-3, -2, 3, 4]}) == [False, True, True, False]


def test_what_does_not_fit_is_null():
    numbers = pa.array([1.0, 1e19, math.inf, math.nan, None])
    assert values_of(try_cast(column("f"), "BIGINT"), {"f": numbers}) == [1, None, None, None, None]
    assert value_of(present(double(math.inf))) is True


def test_only_spaces_are_stripped():
    assert value_of(stripped(text(" \t a\u00a0 "))) == "\t a\u00a0"


@pytest.mark.parametrize("value", [column("i"), LARGE])
def test_a_guard_lets_through_what_it_is_true_of(value):
    guard = guarded(value, lambda x: operation(exp.GT, x, figure(1)))
    expected = [8, None, None] if value is LARGE else [15, 8, None]
    assert values_of(guard, {"i": pa.array([15, 8, None], pa.int64())}) == expected


def test_a_large_value_is_computed_once_and_a_small_one_is_repeated():
    assert sql(guarded(column("i"), present)).count('"i"') == 2
    assert sql(guarded(LARGE, present)).count('"i"') == 5


def test_terms_do_not_grow_with_the_power_of_their_depth():
    term = column("i")
    for _ in range(40):
        term = named(term, lambda x: operation(exp.Sub, operation(exp.Add, x, x), x))
    assert len(sql(term)) < 20_000
    assert values_of(term, {"i": [5]}) == [5]


def test_names_that_hide_each_other_are_the_same():
    both = named(LARGE, lambda x: named(LARGE, lambda y: operation(exp.Sub, x, y)))
    other = function("GREATEST", LARGE, LARGE)
    mixed = named(LARGE, lambda x: named(other, lambda y: operation(exp.Sub, y, x)))
    assert values_of(both, {"i": [3]}) == [0]
    assert values_of(mixed, {"i": [30]}) == [0]


def test_days_and_times_are_constants_of_their_own_kinds():
    assert value_of(function("TYPEOF", constant(date(1, 1, 1)))) == "DATE"
    assert value_of(function("TYPEOF", constant(datetime.fromisoformat("2026-01-31")))) == "TIMESTAMP"


CELLS = pa.table({"u": [1, 1, 2, 3], "v": [5, 7, 5, None]})
OTHERS = pa.table({"u": [1, 2, 2], "w": [10, 20, 21]})
ABOVE_5 = operation(exp.GT, column("v"), figure(5))


def test_everything_is_selected_if_nothing_is_said():
    assert len(run(select([], table("cells")), cells=CELLS)) == 4
    assert run(select([column("v")], select([], table("cells")), where=[ABOVE_5]), cells=CELLS) == [(7,)]


def test_rows_are_grouped_and_groups_chosen():
    count = function("COUNT", exp.Star())
    several = operation(exp.GT, count, figure(1))
    query = select([column("u"), aliased(count, "n")], table("cells"), group_by=[column("u")], having=several)
    assert run(query, cells=CELLS) == [(1, 2)]


def test_rows_are_gathered_by_a_value_where_there_are_several_places():
    assert gathered(table("cells"), column("u")).sql("spark") == "SELECT * FROM `cells` AS `r` DISTRIBUTE BY `u`"


def test_windows_run_up_to_a_row_or_over_all_of_them():
    total, so_far = function("SUM", column("v")), [column("v")]
    running = window(total, [column("u")], so_far, running=True)
    query = select(
        [running, window(total, [column("u")])], table("cells"), where=[operation(exp.EQ, column("u"), figure(1))]
    )
    assert sorted(run(query, cells=CELLS)) == [(5, 12), (12, 12)]
    placed = select([column("v"), aliased(window(function("ROW_NUMBER"), [column("u")], so_far), "p")], table("cells"))
    assert run(select([column("v")], placed, where=[operation(exp.EQ, column("p"), figure(2))]), cells=CELLS) == [(7,)]


def test_a_running_window_takes_rows_that_tie_one_by_one():
    tied = pa.table({"u": [1, 1, 1], "v": [5, 5, 7]})
    running = window(function("SUM", column("v")), [column("u")], [column("v")], running=True)
    assert sorted(run(select([running], table("tied")), tied=tied)) == [(5,), (10,), (17,)]


@pytest.mark.parametrize(("how", "rows"), [("inner", 4), ("left", 5), ("semi", 3), ("anti", 1)])
def test_joins_keep_the_rows_they_are_named_for(how, rows):
    query = joined(select([column("v", "r")], table("cells")), table("others"), "o", on=same("u", "r", "o"), how=how)
    assert len(run(query, cells=CELLS, others=OTHERS)) == rows


def test_names_of_tables_are_quoted_however_hostile():
    hostile = 'x"; DROP TABLE y; --'
    assert sql(select([], table(hostile, "typed"))) == 'SELECT * FROM "typed"."x""; DROP TABLE y; --" AS "r"'
    assert len(run(select([], table(hostile)), **{hostile: CELLS})) == 4
