"""Seeded bugs of the engines' own hashes, by which rows above a limit are sampled."""

from tests.mutations.mutants import Mutant

BOUNDING = "tests/engines/sql/test_bounding.py::"
THRESHOLDS = "tests/engines/sql/test_thresholds.py::"
OWN_HASH = "tests/engines/duckdb/test_engine.py::TestDuckDBsOwnHash::"
DIALECT = "tests/engines/duckdb/test_dialect.py::TestDuckDBHash::"
POSTGRES = "tests/engines/postgres/test_dialect.py::TestPostgresHash::"

MUTANTS = (
    Mutant(
        name="entries of one hash are kept in any order",
        edits=(
            (
                "engines/sql/bounding.py",
                "return [*map(column, self._ranks(hashed)), *(group.column for group in by)]",
                "return [*map(column, self._ranks(hashed))]",
            ),
        ),
        tests=(f"{BOUNDING}test_entries_of_one_hash_are_kept_in_the_order_of_their_keys",),
    ),
    Mutant(
        name="rows of one hash are kept in any order below a join",
        edits=(("engines/sql/rows.py", "return [rank, *(value for value, _ in self._columns)]", "return [rank]"),),
        tests=("tests/engines/sql/test_rows.py::test_rows_of_one_hash_are_kept_in_the_order_of_their_columns",),
    ),
    Mutant(
        name="groups of one hash have one rank",
        edits=(
            (
                "engines/duckdb/dialect.py",
                "return cast(operation(exp.BitwiseOr, operation(exp.BitwiseLeftShift, shortened, bits), number), ",
                "return cast(operation(exp.BitwiseLeftShift, shortened, bits), ",
            ),
        ),
        tests=(f"{THRESHOLDS}test_groups_of_one_hash_are_kept_in_the_order_of_their_keys",),
    ),
    Mutant(
        name="places of two keys are added up as they are",
        edits=(
            (
                "engines/sql/bounding.py",
                "operation(exp.Mul, place, whole(group.count or 0))",
                "operation(exp.Mul, place, whole(1))",
            ),
        ),
        tests=(f"{THRESHOLDS}test_groups_of_one_hash_are_kept_in_the_order_of_their_keys",),
    ),
    Mutant(
        name="a unit keeps one group more than it may",
        edits=(
            (
                "engines/sql/bounding.py",
                'last = aliased(function("nth_least", column(_RANK), most), LAST)',
                'last = aliased(function("nth_least", column(_RANK), operation(exp.Add, most, whole(1))), LAST)',
            ),
        ),
        tests=(f"{THRESHOLDS}test_a_unit_keeps_as_many_groups_as_it_may",),
    ),
    Mutant(
        name="the engine's own hash has no salt",
        edits=(
            ("engines/sql/hashes.py", 'function("native_hash", text(salt), ', 'function("native_hash", text(""), '),
        ),
        tests=(
            f"{BOUNDING}test_salts_choose_which_groups_stay",
            f"{THRESHOLDS}test_salts_choose_which_groups_stay",
        ),
    ),
    Mutant(
        name="the engine's own hash reads the first key alone",
        edits=(
            (
                "engines/sql/bounding.py",
                "*rows.unit_hashed, *(group.hashed for group in by)",
                "*rows.unit_hashed, *(group.hashed for group in by[:1])",
            ),
        ),
        tests=(f"{OWN_HASH}test_a_unit_keeps_what_it_may_and_of_no_group_more_often",),
    ),
    Mutant(
        name="the engine's own hash orders the groups of all units alike",
        edits=(
            (
                "engines/sql/bounding.py",
                "*rows.unit_hashed, *(group.hashed for group in by)",
                "*(group.hashed for group in by)",
            ),
        ),
        tests=(f"{OWN_HASH}test_a_unit_keeps_what_it_may_and_of_no_group_more_often",),
    ),
    Mutant(
        name="the engine's own hash passes over NULL",
        edits=(
            (
                "engines/sql/hashes.py",
                'return (function("hashed_boolean", is_null(value)), function(f"hashed_{kind}", known))',
                'return (function(f"hashed_{kind}", known),)',
            ),
        ),
        tests=(f"{DIALECT}test_its_own_hash_tells_null_from_what_stands_for_it_and_which_value_it_is",),
    ),
    Mutant(
        name="the engine's own hash reads the number of a unit, in which others have a say",
        edits=(
            (
                "engines/sql/rows.py",
                "return [] if kind is None else [hashed(owner, kind, nullable=False)]",
                "return [] if kind is None else [hashed(column(UNIT), kind, nullable=False)]",
            ),
        ),
        tests=(
            "tests/engines/duckdb/test_prepared.py::test_a_new_unit_changes_nothing_of_the_others_whatever_their_numbers",
        ),
    ),
    Mutant(
        name="in PostgreSQL the engine's own hash prefers some groups",
        edits=(("engines/postgres/dialect.py", "    for value in values:\n", "    for value in values[:1]:\n"),),
        tests=(f"{POSTGRES}test_its_own_hash_prefers_no_group_of_any_unit_under_any_salt",),
    ),
    Mutant(
        name="in PostgreSQL the engine's own hash folds both halves of a number",
        edits=(
            (
                "engines/postgres/dialect.py",
                'return native("HASHINT8EXTENDED", lower, native("HASHINT8EXTENDED", upper, before))',
                'return native("HASHINT8EXTENDED", number, before)',
            ),
        ),
        tests=(f"{POSTGRES}test_its_own_hash_ties_no_whole_numbers",),
    ),
    Mutant(
        name="in PostgreSQL the engine's own hash ignores the upper half of a number",
        edits=(
            (
                "engines/postgres/dialect.py",
                'return native("HASHINT8EXTENDED", lower, native("HASHINT8EXTENDED", upper, before))',
                'return native("HASHINT8EXTENDED", lower, before)',
            ),
        ),
        tests=(f"{POSTGRES}test_its_own_hash_ties_no_whole_numbers",),
    ),
    Mutant(
        name="in PostgreSQL whole numbers are cast, so that its planner knows nothing of them",
        edits=(
            (
                "engines/postgres/catalogue.py",
                'ReadColumn(storage="BIGINT", read=lambda value: value)',
                '_as("BIGINT")',
            ),
        ),
        tests=("tests/engines/postgres/test_narrow_numbers.py::test_the_planner_knows_how_they_spread",),
    ),
    Mutant(
        name="which rows match depends on the engine's own hash",
        edits=(
            (
                "engines/sql/sources.py",
                "order=[rank_text(_NO_SALT, rows.encodings)],",
                "order=rows.order(_NO_SALT, Sampling.NATIVE),",
            ),
            (
                "engines/sql/sources.py",
                "from sfumato.engines.sql.hashes import rank_text",
                "from sfumato.engines.sampling import Sampling",
            ),
        ),
        tests=("tests/engines/sql/test_sources.py",),
    ),
    Mutant(
        name="the receipt names no hash",
        edits=(("session/asking/execution.py", "        sampling=desk.engine.sampling,\n", ""),),
        tests=("tests/session/releases/test_receipt.py",),
    ),
)
