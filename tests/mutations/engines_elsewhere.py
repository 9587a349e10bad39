"""Seeded bugs of the engines where the data is, of LazyFrames and of CSV files."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="Spark cuts a long text to fewer bytes than its characters may have",
        edits=(("engines/spark/tables.py", "_BYTES: Final = 4", "_BYTES: Final = 3"),),
        tests=("tests/engines/spark/test_tables.py::test_of_a_long_text_all_is_there_that_is_used",),
    ),
    Mutant(
        name="Spark cuts ids, so that two long ones become one",
        edits=(
            (
                "engines/spark/tables.py",
                "if used is not None and not (declared.is_id or declared.is_whole):",
                "if used is not None:",
            ),
        ),
        tests=("tests/engines/spark/test_tables.py::test_ids_are_read_whole",),
    ),
    Mutant(
        name="the batches of a LazyFrame are not repaired",
        edits=(("engines/sources/lazy_frames.py", "        take(repaired(data))\n", "        take(data)\n"),),
        tests=("tests/engines/sources/test_lazy_frames.py",),
    ),
    Mutant(
        name="a LazyFrame that panics has just fewer rows",
        edits=(
            (
                "engines/sources/lazy_frames.py",
                "    except KeyboardInterrupt:\n        raise\n",
                "    except (KeyboardInterrupt, pl.exceptions.PanicException):\n        return\n",
            ),
        ),
        tests=("tests/engines/sources/test_lazy_frames.py",),
    ),
    Mutant(
        name="of the batches of a LazyFrame the last one counts",
        edits=(
            (
                "engines/duckdb/tables.py",
                'CREATE TABLE {sql(target)} AS"], repeat(f"INSERT INTO {sql(target)}")',
                'CREATE TABLE {sql(target)} AS"], repeat(f"CREATE OR REPLACE TABLE {sql(target)} AS")',
            ),
        ),
        tests=("tests/engines/duckdb/test_tables.py",),
    ),
    Mutant(
        name="in PostgreSQL a question may write",
        edits=(("engines/postgres/connection.py", "REPEATABLE READ READ ONLY", "REPEATABLE READ"),),
        tests=("tests/engines/postgres/test_connection.py",),
    ),
    Mutant(
        name="in PostgreSQL a question reads several moments",
        edits=(("engines/postgres/connection.py", "REPEATABLE READ READ ONLY", "READ COMMITTED READ ONLY"),),
        tests=("tests/engines/postgres/test_connection.py",),
    ),
    Mutant(
        name="in PostgreSQL a role that could change tables is taken",
        edits=(("engines/postgres/catalogue.py", "if writes and not may_write:", "if False:"),),
        tests=("tests/engines/postgres/test_catalogue.py",),
    ),
    Mutant(
        name="in PostgreSQL rows may be hidden without a word",
        edits=(("engines/postgres/connection.py", '"row_security": "off",', '"row_security": "on",'),),
        tests=("tests/engines/postgres/test_catalogue.py",),
    ),
    Mutant(
        name="in PostgreSQL rows of all tables may be hidden if those of one may be",
        edits=(("engines/postgres/engine.py", "for name in names - self._filtered:", "for name in ():"),),
        tests=(
            "tests/engines/postgres/test_engine.py::test_rows_that_the_server_hides_are_missing_only_where_the_owner_accepts_it",
        ),
    ),
    Mutant(
        name="in PostgreSQL ids with a fraction are whole numbers",
        edits=(("engines/postgres/catalogue.py", "_scale(modifier) <= 0", "True"),),
        tests=("tests/engines/postgres/test_catalogue.py",),
    ),
    Mutant(
        name="in PostgreSQL long ids are rounded",
        edits=(("engines/postgres/catalogue.py", 'replace(found, storage="HUGEINT")', "found"),),
        tests=("tests/engines/postgres/test_engine.py::test_ids_that_are_numerics_of_any_length_are_told_apart",),
    ),
    Mutant(
        name="in PostgreSQL a view may fail on a row",
        edits=(("engines/postgres/catalogue.py", "    if may_fail is not None:\n", "    if False:\n"),),
        tests=(
            "tests/engines/postgres/test_engine.py::test_a_view_that_may_fail_on_a_row_is_refused_with_three_ways_out",
        ),
    ),
    Mutant(
        name="in PostgreSQL a definition is proved once and may then be another one",
        edits=(("engines/postgres/catalogue.py", "if relations != self.relations and", "if False and"),),
        tests=(
            "tests/engines/postgres/test_engine.py::test_a_view_that_comes_to_fail_while_a_session_is_open_is_not_read",
        ),
    ),
    Mutant(
        name="in PostgreSQL a cast that fails is proved",
        edits=(
            (
                "engines/postgres/totality.py",
                "target not in _TEXTS and target != stored and target not in",
                "False and target not in",
            ),
        ),
        tests=("tests/engines/postgres/test_totality.py",),
    ),
    Mutant(
        name="in PostgreSQL an operator of a user is proved",
        edits=(("engines/postgres/definitions.py", "    if computed.has_foreign_parts:\n", "    if False:\n"),),
        tests=("tests/engines/postgres/test_totality.py",),
    ),
    Mutant(
        name="in Spark a cast that fails is proved",
        edits=(
            ("engines/spark/identities.py", '_class(one) == "Cast" and _loses_nothing(one)', '_class(one) == "Cast"'),
        ),
        tests=("tests/engines/spark/test_identities.py",),
    ),
    Mutant(
        name="in PostgreSQL what fails on a row is an outage",
        edits=(("engines/postgres/connection.py", '_OUTAGES: Final = ("08",', '_OUTAGES: Final = ("22", "08",'),),
        tests=("tests/engines/postgres/test_connection.py",),
    ),
    Mutant(
        name="in PostgreSQL factors are not rounded",
        edits=(
            (
                "engines/postgres/dialect.py",
                "case([*branches, (small, ",
                "case([*branches, (small, x), (small, ",
            ),
        ),
        tests=("tests/engines/postgres/test_doubles.py",),
    ),
    Mutant(
        name="in PostgreSQL all levels of a query are merged",
        edits=(("engines/postgres/names.py", "if levels[id(select)] > 1:", "if False:"),),
        tests=(("tests/engines/postgres/test_names.py::test_levels_of_what_is_joined_or_combined_are_kept_apart_too"),),
    ),
    Mutant(
        name="in PostgreSQL a role is not asked what else it can become",
        edits=(
            (
                "engines/postgres/catalogue.py",
                "ON pg_has_role(session_user, r.oid, 'MEMBER')",
                "ON r.rolname = session_user",
            ),
        ),
        tests=("tests/engines/postgres/test_catalogue.py",),
    ),
    Mutant(
        name="tables of several engines are joined by the first of them",
        edits=(("engines/base.py", "if len(names) > 1:", "if False:"),),
        tests=("tests/engines/test_registry.py",),
    ),
    Mutant(
        name="a bare CR in a cell of a CSV file makes a row",
        edits=(("engines/sources/csv_files.py", " or has_bare_cr", ""),),
        tests=("tests/engines/sources/test_csv_files.py",),
    ),
    Mutant(
        name="a line of a CSV file with a field too many is dropped",
        edits=(
            (
                "engines/sources/csv_files.py",
                "ignore_empty_lines=len(names) > 1,",
                'ignore_empty_lines=len(names) > 1, invalid_row_handler=lambda _: "skip",',
            ),
        ),
        tests=("tests/engines/sources/test_csv_files.py",),
    ),
    Mutant(
        name="the first cell of a block of a CSV file loses a mark",
        edits=(("engines/sources/csv_files.py", "    if block.startswith(MARK):", "    if False:"),),
        tests=("tests/engines/sources/test_csv_files.py",),
    ),
    Mutant(
        name="lines after a quoted field of a CSV file are lost with its block",
        edits=(("engines/sources/csv_files.py", "        if left:\n            return left\n", ""),),
        tests=("tests/engines/sources/test_csv_files.py",),
    ),
    Mutant(
        name="a byte that is no text fails the read of a CSV file",
        edits=(("engines/sources/csv_text.py", '"utf-16-le")("replace")', '"utf-16-le")("strict")'),),
        tests=("tests/engines/sources/test_csv_text.py",),
    ),
    Mutant(
        name="what a CSV file holds says whether it is packed",
        edits=(
            (
                "engines/sources/csv_text.py",
                "    packing = PACKED.get(path.suffix.lower())\n",
                '    packing = "gzip" if path.read_bytes()[:2] == b"\\x1f\\x8b" else PACKED.get(path.suffix.lower())\n',
            ),
        ),
        tests=("tests/engines/sources/test_csv_text.py",),
    ),
    Mutant(
        name="a number of a CSV file may have either decimal point",
        edits=(("engines/sources/csv_files.py", "pc.if_else(is_known, texts, pa.scalar(None, TEXT))", "texts"),),
        tests=("tests/engines/sources/test_csv_cells.py",),
    ),
    Mutant(
        name="a row in place of the header of a CSV file is told of",
        edits=(("engines/sources/csv_text.py", "set(wanted) <= set(", "set(wanted) & set("),),
        tests=("tests/engines/sources/test_csv_text.py",),
    ),
    Mutant(
        name="a stored answer is given though a CSV file is read otherwise",
        edits=(("session/asking/answer_key.py", "if csv != DEFAULT_FORMAT}", "if csv is None}"),),
        tests=("tests/session/asking/test_planning.py",),
    ),
)
