"""SELECTs say what they are put together from."""

import pyarrow as pa
import pytest
from sqlglot import exp
from tests.engines.in_sql import run

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.sql.expressions.terms import aliased, column, figure, function, operation
from sfumato.engines.sql.queries import gathered, joined, same, select, table, window

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
