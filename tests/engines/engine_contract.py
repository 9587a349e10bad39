"""What every engine does; an engine opts in by a fixture `engine`, its name."""

import math
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.running import ENGINES, SALT, ask, count_where, exact, question

from sfumato.engines.sources import open_source
from sfumato.errors import EngineError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.privacy.secret import Secret
from sfumato.query.bounding import enforce_limits
from sfumato.query.compile import exact_half
from sfumato.query.relations import Part, Source
from sfumato.query.schema import Limits, Table, boolean, integer, real, text

PEOPLE = Table(
    name="people",
    columns={"name": text(), "sex": text(values=["m", "f", "d"]), "age": integer(0, 100), "pay": real(0, 10)},
)
RECORDS = [
    {"name": "Ann", "sex": "f", "age": 30, "pay": 2.5},
    {"name": "Bob, Jr.", "sex": "m", "age": 50, "pay": None},
    {"name": None, "sex": "m", "age": None, "pay": 9.99},
    {"name": "Cy", "sex": None, "age": 120, "pay": 20.0},
    {"name": "Dé", "sex": "?", "age": -5, "pay": -1.0},
]
QUESTION = "SELECT sex, COUNT(*), COUNT(age), SUM(age), SUM(pay), AVG(pay) FROM people GROUP BY sex"
EXPECTED = [[2, 1, 50, 999, 1, 499], [1, 1, 30, 250, 1, -250], [0, 0, 0, 0, 0, 0]]


def csv_file(folder):
    path = folder / "people [1].csv"
    path.write_text('name,sex,age,pay\nAnn,f,30,2.5\n"Bob, Jr.",m,50,\n,m,,9.99\nCy,,120,20\nDé,?,-5,-1\n', "utf-8")
    return path


def parquet_file(folder):
    path = folder / "people*.parquet"
    pq.write_table(pa.Table.from_pylist(RECORDS), path)
    return path


SOURCES = {
    "CSV": csv_file,
    "Parquet": parquet_file,
    "Arrow": lambda _: pa.Table.from_pylist(RECORDS),
    "pandas": lambda _: pd.DataFrame.from_records(RECORDS),
    "pandas objects": lambda _: pd.DataFrame.from_records(RECORDS).astype(object),
    "pandas categories": lambda _: pd.DataFrame.from_records(RECORDS).astype({"sex": "category"}),
    "Polars": lambda _: pl.DataFrame(RECORDS),
    "Polars lazy": lambda _: pl.LazyFrame(RECORDS),
}

NUMBERS_AS_READ = [
    # stored, as a whole number, as a float; None is NULL
    ("39", 39, 39), (" 39 ", 39, 39), ("+7", 7, 7), ("-2", -2, -2), ("2.5", 3, 2.5), ("-2.5", -2, -2.5), (".5", 1, 0.5),
    ("5.", 5, 5), ("1e2", 100, 100), ("1_000", None, None), ("1,5", None, None), ("0x10", None, None), ("", None, None),
    (" ", None, None), ("word", None, None), ("NaN", None, None), ("inf", None, None), ("-Infinity", None, None),
    ("１２", None, None), ("\u00a01", None, None), ("1\n", None, None), ("\x001", None, None),
    ("1e400", None, math.inf), ("-1e400", None, -math.inf), ("1e-400", 0, 0),
    ("9223372036854775808", None, 2.0**63), ("-9223372036854775808", -(2**63), -(2.0**63)), ("9" * 400, None, math.inf),
    (3, 3, 3), (2**63 - 1, 2**63 - 1, 2.0**63), (-(2**63), -(2**63), -(2.0**63)),
    (2.5, 3, 2.5), (-2.5, -2, -2.5), (0.49999999999999994, 1, 0.49999999999999994), (-0.0, 0, 0),
    (math.nan, None, None), (math.inf, None, math.inf), (-math.inf, None, -math.inf), (1e19, None, 1e19),
    (True, 1, 1), (False, 0, 0),
    (Decimal("1.50"), 2, 1.5), (Decimal("-0.50"), 0, -0.5), (Decimal("9" * 30), None, 1e30),
    (None, None, None),
]  # fmt: skip

BOOLEANS_AS_READ = [
    ("true", True), ("T", True), (" Yes ", True), ("y", True), ("1", True), ("False", False), ("f", False),
    ("NO", False), ("n", False), ("0", False), ("on", None), ("2", None), ("", None), ("ｙ", None), (True, True),
    (False, False), (2, True), (0, False), (0.5, True), (-0.0, False), (math.nan, None), (Decimal("0.0"), False),
    (None, None),
]  # fmt: skip

CONDITIONS_ON_NULL = [
    # condition on a row of which v is NULL and w is 1, and whether the row is kept
    ("v = 1", False), ("NOT v = 1", False), ("v <> 1", False), ("v = v", False), ("NOT v = v", False),
    ("v IN (1, 2)", False), ("v NOT IN (1, 2)", False), ("v BETWEEN 0 AND 2", False), ("NOT v BETWEEN 0 AND 2", False),
    ("v IS NULL", True), ("v IS NOT NULL", False), ("v = 1 OR w = 1", True), ("v = 1 AND w = 2", False),
    ("NOT (v = 1 AND w = 2)", True), ("NOT (v = 1 AND w = 1)", False), ("NOT (v = 1 OR w = 2)", False), ("b", False),
    ("NOT b", False), ("b IS NULL", True), ("b = TRUE OR NOT b", False), ("v < w", False), ("w = 1", True),
    ("w <> 2", True), ("w > 0.5", True), ("w >= 1 AND w <= 1", True), ("1 < w", False), ("TRUE", True),
    ("FALSE OR NOT TRUE", False), ("w < 1e400", True), ("w > -1e400", True), ("w IN (0.5, 1)", True),
]  # fmt: skip


def typed_table(column):
    return Table(name="t", columns={"v": column})


def values(*cells):
    return pa.table({"v": pa.array(cells)})


def visits(**limits):
    columns = {"u": text(), "k": text(values=["x", "y", "z"]), "v": integer(0, 9), "rank": integer(0, 9)}
    return Table(name="visits", columns=columns, unit=UnitColumn("u"), limits=Limits(**limits))


def visited(*rows):
    names = ("u", "k", "v")
    columns = {name: [row[index] for row in rows] for index, name in enumerate(names)}
    return pa.table(columns | {"rank": [0] * len(rows)})


BUSY = visited(*(("a", key, 9) for key in "xyz" for _ in range(40)), ("b", "x", 1), (None, "x", 5), ("", "y", 2))


class EngineContract:
    @pytest.mark.parametrize("source", SOURCES)
    def test_every_kind_of_source_gives_the_same_integers(self, engine, source, tmp_path):
        assert ask(engine, QUESTION, PEOPLE, SOURCES[source](tmp_path)) == EXPECTED

    def test_groups_come_in_the_order_of_the_public_keys_whatever_the_order_of_rows(self, engine):
        for records in (RECORDS, RECORDS[::-1]):
            assert ask(engine, QUESTION, PEOPLE, pa.Table.from_pylist(records)) == EXPECTED

    def test_several_keys_give_every_combination_the_last_one_fastest(self, engine):
        table = Table(name="t", columns={"k": text(values=["y", "x"]), "b": boolean()})
        data = pa.table({"k": ["x", "y", "x", None], "b": [True, False, True, True]})
        counts = ask(engine, "SELECT COUNT(*) FROM t GROUP BY k, b", table, data)
        assert counts == [[1], [0], [0], [2]]  # (y, false), (y, true), (x, false), (x, true)

    def test_an_empty_table_has_all_its_groups(self, engine):
        empty = pa.Table.from_pylist([], schema=pa.Table.from_pylist(RECORDS).schema)
        assert ask(engine, QUESTION, PEOPLE, empty) == [[0] * 6] * 3
        assert ask(engine, "SELECT COUNT(*), SUM(age), AVG(pay) FROM people", PEOPLE, empty) == [[0] * 4]

    def test_keys_are_compared_exactly(self, engine):
        data = pa.table({"k": ["a", "A", "a ", "é", "e\u0301", "a\x00"]})
        table = Table(name="t", columns={"k": text(values=["a", "é", "a\x00"])})
        assert ask(engine, "SELECT COUNT(*) FROM t GROUP BY k", table, data) == [[1], [1], [1]]

    @pytest.mark.parametrize(("stored", "whole", "number"), NUMBERS_AS_READ)
    def test_numbers_are_read_as_declared_or_are_null(self, engine, stored, whole, number):
        data = values(stored) if stored is not None else pa.table({"v": pa.array([None], pa.string())})
        for column, meant in ((integer(), whole), (real(), number)):
            table = typed_table(column)
            assert ask(engine, "SELECT COUNT(v) FROM t", table, data) == [[0 if meant is None else 1]]
            if meant is not None:
                literal = {math.inf: "1e400", -math.inf: "-1e400"}.get(meant, repr(meant))
                assert count_where(engine, f"v = {literal}", table, data) == 1

    @pytest.mark.parametrize(("stored", "meant"), BOOLEANS_AS_READ)
    def test_booleans_are_read_as_declared_or_are_null(self, engine, stored, meant):
        data = values(stored) if stored is not None else pa.table({"v": pa.array([None], pa.string())})
        table = typed_table(boolean())
        found = [count_where(engine, condition, table, data) for condition in ("v", "NOT v", "v IS NULL")]
        assert found == [int(meant is True), int(meant is False), int(meant is None)]

    @pytest.mark.parametrize("stored", ["1", 1, Decimal(1)])
    def test_text_is_what_is_stored(self, engine, stored):
        assert count_where(engine, "v = '1'", typed_table(text()), values(stored)) == 1

    @pytest.mark.parametrize(
        ("stored", "steps"),
        [("-1e400", -40), (-41.0, -40), (-39.9, -40), (-0.3, -1), (-0.25, 0), (0.25, 1), (12.2, 24), (12.3, 25),
         (99.9, 50), ("inf", 0), ("1e400", 50), (math.nan, 0), (math.inf, 50), (-math.inf, -40), ("word", 0),
         (None, 0)],
    )  # fmt: skip
    def test_values_are_rounded_half_up_to_the_lattice_and_clamped(self, engine, stored, steps):
        data = values(stored) if stored is not None else pa.table({"v": pa.array([None], pa.float64())})
        assert ask(engine, "SELECT SUM(v) FROM t", typed_table(real(-20, 25, resolution="0.5")), data) == [[steps]]

    @pytest.mark.parametrize(("bounds", "steps"), [((3, 9), 3), ((-9, -3), -3), ((-9, 3), 0)])
    def test_null_counts_as_the_bound_nearest_to_zero_where_a_column_is_not_nullable(self, engine, bounds, steps):
        table = typed_table(integer(*bounds, nullable=False))
        data = pa.table({"v": pa.array(["word"])})
        assert ask(engine, "SELECT SUM(v), COUNT(v) FROM t", table, data) == [[steps, 1]]

    def test_sums_are_wider_than_any_machine_integer(self, engine):
        table = Table(name="t", columns={"v": integer(0, 2**53)})
        data = pa.table({"v": pa.array([2**62] * 5_000, pa.int64())})
        assert ask(engine, "SELECT SUM(v) FROM t", table, data) == [[5_000 * 2**53]]

    @pytest.mark.parametrize(("condition", "kept"), CONDITIONS_ON_NULL)
    def test_conditions_have_the_three_values_of_sql(self, engine, condition, kept):
        table = Table(name="t", columns={"v": integer(), "w": integer(), "b": boolean()})
        data = pa.table({"v": pa.array([None], pa.int64()), "w": [1], "b": pa.array([None], pa.bool_())})
        assert count_where(engine, condition, table, data) == int(kept)

    def test_whole_numbers_and_floats_are_compared_as_doubles(self, engine):
        table = Table(name="t", columns={"i": integer(), "f": real()})
        data = pa.table({"i": [2**53 + 1], "f": [float(2**53)]})
        held = ("i = f", "f = 9007199254740993", "i = 9007199254740993", "i IN (0.5, 9007199254740993)")
        assert [count_where(engine, condition, table, data) for condition in held] == [1, 1, 1, 1]
        assert count_where(engine, "i IN (0.5, 9007199254740992)", table, data) == 0

    def test_a_hostile_literal_is_only_text(self, engine):
        table, data = typed_table(text()), values("a", "'; DROP TABLE t; --", "\x00")
        assert count_where(engine, "v = '''; DROP TABLE t; --'", table, data) == 1
        assert count_where(engine, "v = '\x00'", table, data) == 1

    def test_rows_without_a_unit_are_left_out(self, engine):
        sql = "SELECT k, COUNT(*), SUM(v) FROM visits GROUP BY k"
        assert ask(engine, sql, visits(max_rows_per_unit=1), visited((None, "x", 5))) == [[0, 0]] * 3
        assert ask(engine, sql, visits(max_rows_per_unit=1), visited(("", "x", 5))) == [[1, 5], [0, 0], [0, 0]]

    def test_a_heavy_unit_has_its_limit_of_rows(self, engine):
        assert ask(engine, "SELECT COUNT(*) FROM visits", visits(max_rows_per_unit=7), BUSY) == [[7 + 1 + 1]]

    def test_a_heavy_unit_has_its_limit_of_groups_and_rows_in_them(self, engine):
        table = visits(max_groups_per_unit=2, max_rows_per_group_per_unit=3)
        heavy = visited(*(("a", key, 1) for key in "xyz" for _ in range(40)))
        counts = [count for (count,) in ask(engine, "SELECT COUNT(*) FROM visits GROUP BY k", table, heavy)]
        assert sorted(counts) == [0, 3, 3]

    def test_without_groups_the_limit_of_rows_in_a_group_is_on_all_rows(self, engine):
        table = visits(max_groups_per_unit=2, max_rows_per_group_per_unit=3)
        assert ask(engine, "SELECT COUNT(*) FROM visits", table, BUSY) == [[3 + 1 + 1]]

    def test_only_listed_groups_use_up_the_limit_of_groups(self, engine):
        data = visited(*(("a", f"unlisted {n}", 1) for n in range(50)), ("a", "x", 1), ("a", None, 1))
        counts = ask(engine, "SELECT COUNT(*) FROM visits GROUP BY k", visits(max_rows_per_unit=1), data)
        assert counts == [[1], [0], [0]]

    def test_limits_are_enforced_after_filters(self, engine):
        data = visited(*(("a", "x", 0) for _ in range(50)), ("a", "x", 9))
        assert ask(engine, "SELECT SUM(v) FROM visits WHERE v > 5", visits(max_rows_per_unit=1), data) == [[9]]

    def test_the_salt_chooses_which_rows_stay_and_nothing_else_does(self, engine):
        data = visited(*(("a", "x", value) for value in range(10)))
        table = visits(max_rows_per_unit=1)
        sums = [ask(engine, "SELECT SUM(v) FROM visits", table, data, salt=f"{salt:032x}") for salt in range(30)]
        assert len({total for ((total,),) in sums}) > 3
        assert sums[0] == ask(engine, "SELECT SUM(v) FROM visits", table, data, salt=f"{0:032x}")

    def test_what_is_kept_of_a_unit_does_not_depend_on_the_others(self, engine):
        own = [("a", key, value) for key in "xyz" for value in range(5)]
        table = visits(max_rows_per_unit=4, max_groups_per_unit=2)
        sql = "SELECT COUNT(*), SUM(v) FROM visits GROUP BY k"
        alone, others = ask(engine, sql, table, visited(*own)), [("b", "x", 3), ("", "z", 7)]
        together = ask(engine, sql, table, visited(*others, *own[::-1]))
        rest = ask(engine, sql, table, visited(*others))
        assert together == [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(alone, rest, strict=True)]

    @pytest.mark.parametrize("most", [1, 2, 3])
    def test_a_unit_lies_in_at_most_so_many_parts_also_if_a_column_is_called_rank(self, engine, most):
        table = visits(max_rows_per_unit=1)
        counts = [self._part_count(engine, table, value, most) for value in "xyz"]
        assert sum(counts) == most

    def _part_count(self, engine, table, value, most):
        part = Part(
            child=Source(table), by="k", values=("x", "y", "z"), value=value, max_parts_per_unit=most, salt=SALT
        )  # fmt: skip
        data = visited(*(("a", key, 1) for key in "xxyzz"), ("a", "unlisted", 1), (None, "x", 1))
        return ask(engine, "SELECT COUNT(*) FROM visits", part, data)[0][0]

    def test_exact_answers_are_secret(self, engine):
        statement, _, _ = exact_half(enforce_limits(question(QUESTION, PEOPLE)))
        answer = ENGINES[engine]({"people": open_source(pa.Table.from_pylist(RECORDS))}).run(statement, salt=SALT)
        assert isinstance(answer, Secret)

    @pytest.mark.parametrize("name", ["csv", "parquet"])
    def test_a_source_that_is_gone_is_an_error_without_its_text(self, engine, name, tmp_path):
        path = tmp_path / f"canary.{name}"
        pq.write_table(values(1), path) if name == "parquet" else path.write_text("v\n1\n")
        source = open_source(path)
        path.unlink()
        with pytest.raises(EngineError) as caught:
            exact(engine, question("SELECT COUNT(*) FROM t", typed_table(integer())), source)
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None

    @pytest.mark.parametrize(
        ("lines", "found"),
        [
            ("v,w\n1,2\n\n3,4\n", [(1, 2), (3, 4)]),
            ("v,w\r\n1,2\r\n3,4", [(1, 2), (3, 4)]),
            ('v,w\n"1","2"\n"3 ", 4 \n', [(1, 2), (3, 4)]),
            ("v,w\n1,2,9\n3\n", [(1, 2), (3, None)]),
            ("\ufeffv,w\n1,2\n", [(1, 2)]),
            (b"v,w\n1,\xff\n3,4\n", [(1, None), (3, 4)]),
            (b"v,w\n1,2\r3\r4\n", [(1, None)]),
            ("v,w\n1," + "2" * 200_000 + "\n3,4\n", [(1, None), (3, 4)]),
            ("v,w\n", []),
        ],
    )
    def test_csv_rows_are_cut_filled_or_left_out_and_never_an_error(self, engine, lines, found, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
        table = Table(name="t", columns={"v": integer(), "w": integer()})
        assert count_where(engine, "TRUE", table, path) == len(found)
        assert ask(engine, "SELECT COUNT(v), COUNT(w) FROM t", table, path) == [
            [sum(1 for v, _ in found if v is not None), sum(1 for _, w in found if w is not None)]
        ]

    def test_a_csv_file_without_a_header_has_the_names_it_is_given(self, engine, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(b"\xef\xbb\xbf1,x\n2,y\n")
        table = typed_table(integer(0, 9))
        assert exact(
            engine, question("SELECT COUNT(*), SUM(v) FROM t", table), open_source(path, names=("v", "w"))
        ) == [[2, 3]]

    def test_text_that_is_not_utf_8_is_no_error_in_arrow_or_parquet(self, engine, tmp_path):
        broken = pa.array([b"1", b"\xff", b"2"]).cast(pa.large_binary()).view(pa.large_string())
        pq.write_table(pa.table({"v": broken}), tmp_path / "t.parquet")
        for data in (pa.table({"v": broken}), tmp_path / "t.parquet"):
            for column in (text(), integer(0, 9), real(0, 9), boolean()):
                assert ask(engine, "SELECT COUNT(*) FROM t", Table(name="t", columns={"v": column}), data) == [[3]]
            numbers = Table(name="t", columns={"v": integer(0, 9)})
            assert ask(engine, "SELECT COUNT(v), SUM(v) FROM t", numbers, data) == [[2, 3]]

    @pytest.mark.parametrize("cells", [[True] * 3, [1, 1, 1], [1.0, 1.0, 1.0], ["1", "1", "1"]])
    @pytest.mark.parametrize("column", [integer(0, 9), real(0, 9), boolean()])
    def test_one_missing_cell_does_not_change_how_the_others_are_read(self, engine, cells, column):
        table = Table(name="t", columns={"v": column})
        for frame in (pd.DataFrame({"v": cells}), pd.DataFrame({"v": [*cells, None]})):
            assert ask(engine, "SELECT COUNT(v) FROM t", table, frame) == [[3]]

    def test_whole_doubles_are_the_keys_that_integers_are(self, engine):
        table = Table(name="t", columns={"v": text(values=["1", "2"])})
        for frame in (pd.DataFrame({"v": [1, 2, 2]}), pd.DataFrame({"v": [1, 2, 2, None]})):
            assert ask(engine, "SELECT v, COUNT(*) FROM t GROUP BY v", table, frame) == [[1], [2]]

    def test_long_ids_in_text_are_told_apart(self, engine):
        columns = {"u": integer()}
        table = Table(name="t", columns=columns, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=1))
        data = pa.table({"u": ["1730000000000000001", "1730000000000000002", "1730000000000000002"]})
        assert ask(engine, "SELECT COUNT(*) FROM t", table, data) == [[2]]

    def test_tables_do_not_collide_with_what_they_are_made_of(self, engine):
        table = Table(name="raw 0", columns={"v": integer(0, 9)})
        assert ask(engine, 'SELECT SUM(v) FROM "raw 0"', table, pa.table({"v": [1, 2]})) == [[3]]
