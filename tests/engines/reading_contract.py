"""What every engine reads, whatever is stored and wherever; an engine opts in by a fixture `engine`, its name."""

import datetime as dt
import math
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.running import ask, by_place, count_where, found, started, statement
from tests.engines.stored_values import (
    AMOUNTS_AS_READ,
    BOOLEANS_AS_READ,
    IDS_AS_READ,
    NUMBERS_AS_READ,
    TIMES_AS_READ,
    WHOLE_ID,
)

from sfumato.engines.sources.sources import open_source
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, boolean, date, integer, real, text, timestamp
from sfumato.query.values.cells import shortened

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
EVENTS = Table(name="events", columns={"day": date(), "at": timestamp()})
MOMENTS = [
    {"day": dt.date(2000, 2, 29), "at": dt.datetime.fromisoformat("2026-01-31 12:00")},
    {"day": dt.date(1, 1, 1), "at": dt.datetime.fromisoformat("9999-12-31 23:59:59.999999")},
    {"day": dt.date(9999, 12, 31), "at": dt.datetime.fromisoformat("0001-01-01")},
    {"day": None, "at": None},
]


def csv_file(folder, records):
    path = folder / "people [1].csv"
    pd.DataFrame.from_records(records).to_csv(path, index=False)
    return path


def parquet_file(folder, records):
    path = folder / "people*.parquet"
    pq.write_table(pa.Table.from_pylist(records), path)
    return path


SOURCES = {
    "CSV": csv_file,
    "Parquet": parquet_file,
    "Arrow": lambda _, records: pa.Table.from_pylist(records),
    "pandas": lambda _, records: pd.DataFrame.from_records(records),
    "pandas objects": lambda _, records: pd.DataFrame.from_records(records).astype(object),
    "pandas categories": lambda _, records: pd.DataFrame.from_records(records).astype("category"),
    "Polars": lambda _, records: pl.DataFrame(records),
    "Polars lazy": lambda _, records: pl.LazyFrame(records),
}


def csv_table(folder, data):
    path = folder / "t.csv"
    data.to_pandas().to_csv(path, index=False)
    return path


def parquet_table(folder, data):
    path = folder / "t.parquet"
    pq.write_table(data, path)
    return path


HOLDERS = {
    "CSV": csv_table, "Parquet": parquet_table,
    "Arrow": lambda _, data: data,
    "pandas": lambda _, data: data.to_pandas(),
    "pandas nullable": lambda _, data: data.to_pandas().astype("UInt64"),
    "pandas categories": lambda _, data: data.to_pandas().astype("category"),
    "Polars": lambda _, data: pl.from_arrow(data),
    "Polars lazy": lambda _, data: pl.from_arrow(data).lazy(),
}  # fmt: skip
"""What may hold whole numbers beyond 64 bits."""


def typed_table(column):
    return Table(name="t", columns={"v": column})


def values(*cells):
    """One column of cells; of NULL alone, text."""
    return pa.table({"v": pa.array(cells, pa.string() if cells == (None,) else None)})


class ReadingContract:
    @pytest.mark.parametrize("source", SOURCES)
    def test_every_kind_of_source_gives_the_same_integers(self, engine, source, tmp_path):
        assert ask(engine, QUESTION, PEOPLE, SOURCES[source](tmp_path, RECORDS)) == EXPECTED

    @pytest.mark.parametrize("holder", HOLDERS)
    def test_ids_beyond_64_bits_are_text_and_nobody_vanishes(self, engine, holder, tmp_path):
        ids = [*range(7), *range(2**63 - 2, 2**63 + 7), 2**64 - 1]
        data = HOLDERS[holder](tmp_path, pa.table({"u": pa.array(ids, pa.uint64())}))
        limits = Limits(max_rows_per_unit=1)
        table = Table(name="t", columns={"u": text()}, unit=UnitColumn("u"), limits=limits)
        assert ask(engine, "SELECT COUNT(*), COUNT(DISTINCT u) FROM t", table, data) == [[len(ids)] * 2]
        assert count_where(engine, f"u IN ('{2**63}', '{2**64 - 1}')", table, data) == 2

    @pytest.mark.parametrize("holder", sorted(HOLDERS.keys() - {"CSV"}))
    def test_whole_numbers_beyond_64_bits_are_refused_whatever_the_rows_hold(self, engine, holder, tmp_path):
        data = HOLDERS[holder](tmp_path, pa.table({"u": pa.array([1], pa.uint64())}))
        limits = Limits(max_rows_per_unit=1)
        by_unit = Table(name="t", columns={"u": integer()}, unit=UnitColumn("u"), limits=limits)
        for table in (by_unit, Table(name="t", columns={"u": integer(0, 9)})):
            with pytest.raises(ParameterError, match="uint64, which has whole numbers beyond 64 bits"):
                ask(engine, "SELECT COUNT(*) FROM t", table, data)

    def test_amounts_beyond_64_bits_are_clamped_as_floats(self, engine):
        wide = [pa.array([2**64 - 1, 3], pa.uint64()), pa.array([Decimal("9" * 30), Decimal(3)], pa.decimal128(30, 0))]
        for stored in wide:
            assert ask(engine, "SELECT SUM(v) FROM t", typed_table(real(0, 9)), pa.table({"v": stored})) == [[1200]]

    @pytest.mark.parametrize("source", SOURCES)
    @pytest.mark.parametrize(
        ("part", "counts"),
        [("YEAR FROM day", {1: 1, 2000: 1, 9999: 1}), ("MONTH FROM at", {1: 2, 12: 1}),
         ("SECOND FROM at", {0: 2, 59: 1})],
    )  # fmt: skip
    def test_days_and_times_are_read_from_every_kind_of_source(self, engine, source, part, counts, tmp_path):
        data = SOURCES[source](tmp_path, MOMENTS)
        for value, count in counts.items():
            assert count_where(engine, f"EXTRACT({part}) = {value}", EVENTS, data) == count

    @pytest.mark.parametrize(("stored", "whole", "number"), NUMBERS_AS_READ)
    def test_numbers_are_read_as_declared_or_are_null(self, engine, stored, whole, number):
        for column, meant in ((integer(), whole), (real(), number)):
            table = typed_table(column)
            assert ask(engine, "SELECT COUNT(v) FROM t", table, values(stored)) == [[0 if meant is None else 1]]
            if meant is not None:
                assert count_where(engine, f"v = {meant!r}", table, values(stored)) == 1

    @pytest.mark.parametrize(("stored", "meant"), IDS_AS_READ)
    def test_ids_that_are_whole_numbers_have_any_length_in_text(self, engine, stored, meant):
        table = typed_table(WHOLE_ID)
        assert ask(engine, "SELECT COUNT(v) FROM t", table, values(stored)) == [[0 if meant is None else 1]]
        if meant is not None:
            assert count_where(engine, f"v = '{meant}'", table, values(stored)) == 1

    @pytest.mark.parametrize(("stored", "whole"), AMOUNTS_AS_READ)
    def test_amounts_beyond_64_bits_are_clamped_and_never_missing(self, engine, stored, whole):
        table, data = typed_table(integer(-5, 7)), values(stored)
        clamped = 0 if whole is None else min(max(whole, -5), 7)
        expected = [[0 if whole is None else 1, clamped]]
        assert ask(engine, "SELECT COUNT(v), SUM(v) FROM t", table, data) == expected
        if whole is not None:
            least = -(2**63) + 1
            side = f"v = {whole}" if whole >= least else f"v < {least}"
            assert count_where(engine, side, table, data) == 1

    @pytest.mark.parametrize(("stored", "meant"), BOOLEANS_AS_READ)
    def test_booleans_are_read_as_declared_or_are_null(self, engine, stored, meant):
        conditions = ("v", "NOT v", "v IS NULL")
        counted = [
            count_where(engine, condition, typed_table(boolean()), values(stored)) for condition in conditions
        ]  # fmt: skip
        assert counted == [int(meant is True), int(meant is False), int(meant is None)]

    @pytest.mark.parametrize(("stored", "moment"), TIMES_AS_READ)
    def test_days_and_times_are_read_as_declared_or_are_null(self, engine, stored, moment):
        literal = "NULL" if moment is None else f"'{moment.isoformat(' ', 'microseconds')}'"
        meant = "v IS NULL" if moment is None else f"v = TIMESTAMP {literal}"
        assert count_where(engine, meant, typed_table(timestamp()), values(stored)) == 1
        meant = "v IS NULL" if moment is None else f"v = DATE '{moment.date().isoformat()}'"
        assert count_where(engine, meant, typed_table(date()), values(stored)) == 1

    @pytest.mark.parametrize("stored", ["1", 1, Decimal(1)])
    def test_text_is_what_is_stored(self, engine, stored):
        assert count_where(engine, "v = '1'", typed_table(text()), values(stored)) == 1

    @pytest.mark.parametrize("source", SOURCES)
    def test_text_is_cut_to_its_declared_length_by_characters(self, engine, source, tmp_path):
        cells = ["ab", "abc", "abcd", "abc" + "x" * 5_000, "é\U0001f600ß", "é\U0001f600ßx", None]
        data = SOURCES[source](tmp_path, [{"v": cell, "n": 1} for cell in cells])
        table = typed_table(text(max_length=3))
        assert count_where(engine, "v = 'abc'", table, data) == 3
        assert count_where(engine, "v = 'é\U0001f600ß'", table, data) == 2
        assert count_where(engine, "LENGTH(v) > 3", table, data) == 0
        assert count_where(engine, "v IS NULL", table, data) == 1
        asked = statement("SELECT COUNT(*) FROM t GROUP BY v", table)
        assert by_place(found(engine, asked, data)) == {("ab",): [1, 1], ("abc",): [3, 3], ("é\U0001f600ß",): [2, 2]}

    def test_text_is_cut_to_256_characters_where_nothing_is_declared(self, engine):
        data = values("a" * 255, "a" * 256, "a" * 257, "\U0001f600" * 60_000)
        assert count_where(engine, "LENGTH(v) = 256", typed_table(text()), data) == 3

    def test_a_text_that_is_too_long_is_none_of_the_public_keys(self, engine):
        table = typed_table(text(values=["abc", "ab"], max_length=3))
        data = values("abcd", "abc", "ab", "abc" * 30_000)
        assert ask(engine, "SELECT v, COUNT(*) FROM t GROUP BY v", table, data) == [[1], [1]]
        assert count_where(engine, "v LIKE 'abc_'", table, data) == 2

    def test_long_ids_are_never_cut(self, engine):
        limits = Limits(max_rows_per_unit=1)
        table = Table(name="t", columns={"u": text(max_length=1)}, unit=UnitColumn("u"), limits=limits)
        ids = ["é" * 256, "é" * 257, "é" * 257 + "a", "é" * 257 + "a", "é" * 256 + "b" * 9_000, "", "ab", "ac"]
        assert ask(engine, "SELECT COUNT(*) FROM t", table, pa.table({"u": ids})) == [[7]]
        assert count_where(engine, "LENGTH(u) > 256", table, pa.table({"u": ids})) == 3
        meant = shortened(ids[1], table.columns["u"])
        assert count_where(engine, f"u = '{meant}'", table, pa.table({"u": ids})) == 1

    def test_paths_and_declared_matches_tell_long_ids_apart(self, engine):
        ids = ["x" * 300 + end for end in "abc"]
        owner = {"who": text(max_length=1), "id": text(max_length=1)}
        limits = Limits(max_rows_per_unit=9)
        orders = Table(name="orders", columns=owner, unit=UnitColumn("who"), limits=limits)
        items = Table(name="items", columns={"at": text()}, unit=UnitPath("at", orders, "id"), limits=limits)
        stored = {"orders": pa.table({"who": ["a", "b", "c"], "id": ids}), "items": pa.table({"at": [*ids, ids[0]]})}
        asked = statement("SELECT COUNT(*) FROM items WHERE LENGTH(at) = 320", items)
        assert by_place(found(engine, asked, stored)) == {(): [4]}
        codes = Table(name="codes", columns={"code": text()}, unit=PUBLIC, matches={("code",): 1})
        assert ask(engine, "SELECT COUNT(*) FROM codes", codes, pa.table({"code": [*ids, ids[0]]})) == [[3]]

    @pytest.mark.parametrize("column", [integer(), real(), boolean(), date(), timestamp()])
    def test_of_long_text_little_is_looked_at_where_no_text_is_declared(self, engine, column):
        word = {date(): "2026-01-31", timestamp(): "2026-01-31"}.get(column, "1")
        for cells, count in ((word, 1), (" " * 256 + word, 0), (word + " " * 9_000 + "x", 1), (" " * 90_000, 0)):
            assert ask(engine, "SELECT COUNT(v) FROM t", typed_table(column), values(cells)) == [[count]]

    @pytest.mark.parametrize(
        ("stored", "steps"),
        [("-1e150", -40), (-41.0, -40), (-39.9, -40), (-0.3, -1), (-0.25, 0), (0.25, 1), (12.2, 24), (12.3, 25),
         (99.9, 50), (3e150, 50), ("inf", 0), ("1e151", 0), (math.nan, 0), (math.inf, 0), (-math.inf, 0), ("word", 0),
         (None, 0)],
    )  # fmt: skip
    def test_values_are_rounded_half_up_to_the_lattice_and_clamped(self, engine, stored, steps):
        table = typed_table(real(-20, 25, resolution="0.5"))
        assert ask(engine, "SELECT SUM(v) FROM t", table, values(stored)) == [[steps]]

    @pytest.mark.parametrize(("bounds", "bound"), [((3, 9), 3), ((-9, -3), -3), ((-9, 3), 0)])
    def test_null_is_the_bound_nearest_to_zero_where_a_column_is_not_nullable(self, engine, bounds, bound):
        table = typed_table(integer(*bounds, nullable=False))
        assert ask(engine, "SELECT SUM(v), COUNT(v) FROM t", table, values("word")) == [[bound, 1]]
        assert count_where(engine, f"v = {bound} AND v IS NOT NULL", table, values("word")) == 1

    def test_sums_are_wider_than_any_machine_integer(self, engine):
        data = pa.table({"v": pa.array([2**62] * 5_000, pa.int64())})
        most = 2**53 - 1
        assert ask(engine, "SELECT SUM(v) FROM t", typed_table(integer(0, most)), data) == [[5_000 * most]]

    @pytest.mark.parametrize("name", ["csv", "parquet"])
    def test_a_source_that_is_gone_is_an_error_without_its_text(self, engine, name, tmp_path):
        path = tmp_path / f"canary.{name}"
        pq.write_table(values(1), path) if name == "parquet" else path.write_text("v\n1\n")
        source, asked = open_source(path), statement("SELECT COUNT(*) FROM t", typed_table(integer()))
        path.unlink()
        with pytest.raises(EngineError) as caught:
            found(engine, asked, source)
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None

    @pytest.mark.parametrize(
        ("lines", "rows"),
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
    def test_csv_rows_are_cut_filled_or_left_out_and_never_an_error(self, engine, lines, rows, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
        table = Table(name="t", columns={"v": integer(), "w": integer()})
        present = [sum(cell is not None for cell in column) for column in zip(*rows, strict=True)] or [0, 0]
        assert ask(engine, "SELECT COUNT(*), COUNT(v), COUNT(w) FROM t", table, path) == [[len(rows), *present]]

    def test_a_csv_file_without_a_header_has_the_names_it_is_given(self, engine, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(b"\xef\xbb\xbf1,x\n2,y\n")
        source = open_source(path, names=("v", "w"))
        assert ask(engine, "SELECT COUNT(*), SUM(v) FROM t", typed_table(integer(0, 9)), source) == [[2, 3]]

    def test_text_that_is_not_utf_8_is_no_error_in_arrow_or_parquet(self, engine, tmp_path):
        broken = pa.array([b"1", b"\xff", b"2"]).cast(pa.large_binary()).view(pa.large_string())
        pq.write_table(pa.table({"v": broken}), tmp_path / "t.parquet")
        for data in (pa.table({"v": broken}), tmp_path / "t.parquet"):
            for column in (text(), integer(0, 9), real(0, 9), boolean(), date(), timestamp()):
                assert ask(engine, "SELECT COUNT(*) FROM t", typed_table(column), data) == [[3]]
            assert ask(engine, "SELECT COUNT(v), SUM(v) FROM t", typed_table(integer(0, 9)), data) == [[2, 3]]

    @pytest.mark.parametrize("cells", [[True] * 3, [1, 1, 1], [1.0, 1.0, 1.0], ["1", "1", "1"]])
    @pytest.mark.parametrize("column", [integer(0, 9), real(0, 9), boolean()])
    def test_one_missing_cell_does_not_change_how_the_others_are_read(self, engine, cells, column):
        for frame in (pd.DataFrame({"v": cells}), pd.DataFrame({"v": [*cells, None]})):
            assert ask(engine, "SELECT COUNT(v) FROM t", typed_table(column), frame) == [[3]]

    def test_whole_doubles_are_the_keys_that_integers_are(self, engine):
        table = typed_table(text(values=["1", "2"]))
        for frame in (pd.DataFrame({"v": [1, 2, 2]}), pd.DataFrame({"v": [1, 2, 2, None]})):
            assert ask(engine, "SELECT v, COUNT(*) FROM t GROUP BY v", table, frame) == [[1], [2]]

    def test_long_ids_in_text_are_told_apart(self, engine):
        limits = Limits(max_rows_per_unit=1)
        table = Table(name="t", columns={"u": integer()}, unit=UnitColumn("u"), limits=limits)
        data = pa.table({"u": ["1730000000000000001", "1730000000000000002", "1730000000000000002"]})
        assert ask(engine, "SELECT COUNT(*) FROM t", table, data) == [[2]]

    def test_tables_do_not_collide_with_what_they_are_made_of(self, engine):
        table = Table(name="raw 0", columns={"v": integer(0, 9)})
        assert ask(engine, 'SELECT SUM(v) FROM "raw 0"', table, pa.table({"v": [1, 2]})) == [[3]]

    def test_private_keys_have_the_type_of_their_kind(self, engine):
        kinds = {"k": pa.int64(), "b": pa.bool_(), "s": pa.string(), "d": pa.date32(), "t": pa.timestamp("us")}
        columns = {"k": integer(), "b": boolean(), "s": text(), "d": date(), "t": timestamp()}
        keys = (2**63 - 1, True, "é", dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 12))  # noqa: DTZ001 # has no zone
        data = pa.table({name: pa.array([key, None], kinds[name]) for name, key in zip(kinds, keys, strict=True)})
        asked = statement(f"SELECT COUNT(*) FROM t GROUP BY {', '.join(columns)}", Table(name="t", columns=columns))
        assert [[type(key) for key in place] for place in by_place(found(engine, asked, data))] == [
            [int, bool, str, dt.date, dt.datetime]
        ]
        assert by_place(found(engine, asked, data)) == {keys: [1, 1]}

    def test_an_engine_reads_nothing_before_it_is_asked(self, engine, tmp_path):
        path = csv_file(tmp_path, RECORDS)
        asked = statement(QUESTION, PEOPLE)
        running = started(engine, asked, path)
        path.write_text(path.read_text().replace("Ann,f", "Ann,m"))
        assert by_place(running.run(asked, salt="0" * 32).open_for_noise())["m",][0] == 3
        running.close()
