"""Seeded bugs of the engine that runs SQL: the same ones, and those of what is only there."""

from tests.mutations.mutants import Mutant

DUCKDB = "tests/engines/duckdb/test_engine.py::TestDuckDBEngine::"
READING = "tests/engines/duckdb/test_engine.py::TestReadingByDuckDB::"
IN_DOUBLES = "tests/engines/duckdb/test_sums_in_doubles.py::"
BY_ROWS = "tests/engines/sql/test_units_by_rows.py::"

MUTANTS = (
    Mutant(
        name="in SQL rows that are alike count as one",
        edits=(
            (
                "engines/sql/lowering.py",
                'aliased(function("SUM", column(ROWS))',
                'aliased(function("COUNT", column(ROWS))',
            ),
        ),
        tests=(f"{DUCKDB}test_marginals_count_all_rows_whether_their_values_are_listed_or_not",),
    ),
    Mutant(
        name="in SQL values are not clamped",
        edits=(
            (
                "engines/sql/expressions/kinds.py",
                "return clamped(x, whole(steps.lower), whole(steps.upper))",
                "return x",
            ),
        ),
        tests=("tests/engines/sql/expressions/test_steps.py",),
    ),
    Mutant(
        name="in SQL a window goes over the rows of all units",
        edits=(
            ("engines/sql/relations.py", "within = [*rows.unit, *(column(rows.names", "within = [*(column(rows.names"),
        ),
        tests=("tests/engines/sql/test_relations.py::test_windows_are_over_the_rows_of_one_unit",),
    ),
    Mutant(
        name="in SQL a unit keeps all of its groups",
        edits=(
            (
                "engines/sql/bounding.py",
                "return case([(operation(exp.LTE, column(_PLACE), figure(most)), allowed)], figure(0))",
                "return allowed",
            ),
        ),
        tests=(f"{DUCKDB}test_a_heavy_unit_has_its_limit_of_groups_and_rows_in_them",),
    ),
    Mutant(
        name="in SQL nobody is above a limit of rows over all groups",
        edits=(
            (
                "engines/sql/bounding.py",
                'yield operation(exp.GT, function("SUM", _at_most(column(ROWS), per_group)), figure(most))',
                'yield operation(exp.GT, function("MAX", _at_most(column(ROWS), per_group)), figure(most))',
            ),
        ),
        tests=("tests/engines/sql/test_bounding.py::test_units_within_all_limits_are_not_above",),
    ),
    Mutant(
        name="in SQL limits are used up in the order of the keys",
        edits=(
            (
                "engines/sql/bounding.py",
                "return [*map(column, self._ranks(hashed)), *(group.column for group in by)]",
                "return [group.column for group in by]",
            ),
        ),
        tests=(f"{DUCKDB}test_the_limit_of_rows_goes_to_groups_in_the_order_of_their_hashes",),
    ),
    Mutant(
        name="in SQL limits are used up by the entries with the fewest rows first",
        edits=(
            (
                "engines/sql/bounding.py",
                "return [*map(column, self._ranks(hashed)), *(group.column for group in by)]",
                "return [column(ROWS), *map(column, self._ranks(hashed)), *(group.column for group in by)]",
            ),
        ),
        tests=("tests/engines/sql/test_bounding.py",),
    ),
    Mutant(
        name="in SQL rows above a limit are left out by their values",
        edits=(
            (
                "engines/sql/rows.py",
                'place = window(function("ROW_NUMBER"), within, [column(_HASH), *ties])',
                'place = window(function("ROW_NUMBER"), within, own)',
            ),
        ),
        tests=("tests/engines/sql/test_rows.py",),
    ),
    Mutant(
        name="in SQL each cell of a group counts as a group",
        edits=(("engines/sql/bounding.py", '_place("DENSE_RANK"', '_place("ROW_NUMBER"'),),
        tests=("tests/engines/sql/test_bounding.py::test_all_cells_of_a_group_stay_with_it",),
    ),
    Mutant(
        name="in SQL a limit of groups is taken for one that cannot bind",
        edits=(("engines/sql/bounding.py", "if count is not None and most_groups == count:", "if count is not None:"),),
        tests=("tests/engines/sql/test_bounding.py",),
    ),
    Mutant(
        name="in SQL a limit of rows is taken for one that cannot bind",
        edits=(
            (
                "engines/sql/bounding.py",
                "if most_groups is not None and rows >= most_groups * per_group:",
                "if most_groups is not None:",
            ),
        ),
        tests=("tests/engines/sql/test_bounding.py",),
    ),
    Mutant(
        name="in SQL a unit in several cells is several units",
        edits=(
            (
                "engines/sql/lowering.py",
                "total: Sql = different(column(UNIT)) if has_cells else one_an_entry",
                "total: Sql = one_an_entry",
            ),
        ),
        tests=("tests/engines/sql/test_lowering.py",),
    ),
    Mutant(
        name="in SQL groups of which nothing is kept are shown",
        edits=(
            (
                "engines/sql/lowering.py",
                "select(columns, totals, where=[operation(exp.GT, column(KEPT), figure(0))])",
                "select(columns, totals)",
            ),
        ),
        tests=("tests/engines/sql/test_lowering.py::test_a_group_of_which_no_entry_is_kept_is_not_shown",),
    ),
    Mutant(
        name="in SQL a running sum takes rows that tie at once",
        edits=(("engines/sql/expressions/terms.py", 'exp.WindowSpec(kind="ROWS"', 'exp.WindowSpec(kind="RANGE"'),),
        tests=("tests/engines/sql/expressions/test_terms.py",),
    ),
    Mutant(
        name="in SQL a total is rounded twice",
        edits=(("engines/duckdb/dialect.py", 'cast(cast(total, "VARCHAR"), "DOUBLE")', 'cast(total, "DOUBLE")'),),
        tests=("tests/engines/sql/test_folds.py::test_a_total_is_rounded_to_the_nearest_double_once",),
    ),
    Mutant(
        name="in SQL every entry has the limit of all of them",
        edits=(
            (
                "engines/sql/bounding.py",
                "    before = operation(exp.Sub, column(_SUM), allowed)\n",
                "    before = figure(0)\n",
            ),
        ),
        tests=(f"{DUCKDB}test_the_limit_of_rows_goes_to_groups_in_the_order_of_their_hashes",),
    ),
    Mutant(
        name="in SQL sums are scaled in 64 bits",
        edits=(
            (
                "engines/sql/entries.py",
                "return case([all_of_it, (between(total, *ends), narrow)], wide)",
                "return case([all_of_it], narrow)",
            ),
        ),
        tests=(f"{DUCKDB}test_sums_beyond_any_machine_integer_are_scaled_exactly",),
    ),
    Mutant(
        name="in SQL rows of two people meet in a join",
        edits=(
            (
                "engines/sql/relations.py",
                "on=_meeting(join.on, left, right), how=how)",
                "on=all_of([_equal(one, two, left, right) for one, two in join.on]), how=how)",
            ),
        ),
        tests=("tests/engines/sql/test_relations.py",),
    ),
    Mutant(
        name="in SQL whoever has a partner decides over the rows of others",
        edits=(
            (
                "engines/sql/relations.py",
                "on=_meeting(join.on, child, other), how=how)",
                "on=all_of([_equal(one, two, child, other) for one, two in join.on]), how=how)",
            ),
        ),
        tests=("tests/engines/sql/test_relations.py",),
    ),
    Mutant(
        name="in SQL a row is owned as often as rows lead to its owner",
        edits=(
            (
                "engines/sql/sources.py",
                "aliased(owner, _OWNED)], named(other)).distinct(copy=False)",
                "aliased(owner, _OWNED)], named(other))",
            ),
        ),
        tests=("tests/engines/sql/test_sources.py",),
    ),
    Mutant(
        name="in SQL more rows match than are declared",
        edits=(("engines/sql/sources.py", "rows = _truncated(rows, names, most)", "pass"),),
        tests=("tests/engines/sql/test_sources.py",),
    ),
    Mutant(
        name="in SQL a unit lies in every part",
        edits=(
            (
                "engines/sql/relations.py",
                "where=[kept, operation(exp.EQ, column(_PART), constant(part.value))]",
                "where=[operation(exp.EQ, column(_PART), constant(part.value))]",
            ),
        ),
        tests=(f"{DUCKDB}test_a_unit_lies_in_at_most_so_many_parts_also_if_a_column_is_called_rank",),
    ),
    Mutant(
        name="in SQL texts grow without an end",
        edits=(("engines/duckdb/dialect.py", "all_of([present, short])", "present"),),
        tests=("tests/engines/sql/expressions/test_scalars.py::test_functions_have_their_meaning_at_their_edges",),
    ),
    Mutant(
        name="in SQL a double beyond the range is a value",
        edits=(("engines/sql/expressions/kinds.py", "return guarded(value, within_range)", "return value"),),
        tests=("tests/engines/sql/expressions/test_kinds.py", "tests/engines/sql/expressions/test_casts.py"),
    ),
    Mutant(
        name="in SQL a computed column has doubles as they are stored",
        edits=(
            (
                "engines/sql/relations.py",
                'values = [aliased(inner.value(value), f"c{place}")',
                'values = [aliased(inner.term(value).sql, f"c{place}")',
            ),
        ),
        tests=("tests/engines/duckdb/test_stored_doubles.py",),
    ),
    Mutant(
        name="in SQL a whole number is the floor of a double",
        edits=(
            (
                "engines/sql/expressions/casts.py",
                'function("FLOOR", operation(exp.Add, value, double(0.5)))',
                'function("FLOOR", value)',
            ),
        ),
        tests=("tests/engines/duckdb/test_stored_doubles.py",),
    ),
    Mutant(
        name="in SQL what goes beyond the range may come back",
        edits=(
            (
                "engines/sql/expressions/kinds.py",
                'return function("operand", self.sql) if self.pending',
                "return self.sql if self.pending",
            ),
        ),
        tests=(
            "tests/engines/sql/expressions/test_scalars.py::test_what_is_beyond_the_range_is_null_wherever_it_is_read",
        ),
    ),
    Mutant(
        name="in SQL factors are not rounded",
        edits=(
            (
                "engines/duckdb/dialect.py",
                '"factor": lambda value: scaled_by(value, BELOW)',
                '"factor": lambda value: value',
            ),
        ),
        tests=("tests/engines/sql/expressions/test_kinds.py::test_factors_and_divisors_are_multiples",),
    ),
    Mutant(
        name="in SQL a text is read whole",
        edits=(
            (
                "engines/sql/expressions/casts.py",
                "return value if declared.longest is None else beginning(value, declared.longest)",
                "return value",
            ),
        ),
        tests=(f"{READING}test_text_is_cut_to_256_characters_where_nothing_is_declared",),
    ),
    Mutant(
        name="in SQL a long id is known by its beginning",
        edits=(("engines/sql/expressions/casts.py", 'function("sha256_text", x)', 'function("sha256_text", first)'),),
        tests=(f"{READING}test_long_ids_are_never_cut",),
    ),
    Mutant(
        name="in SQL whoever has an id of more than 64 bits vanishes",
        edits=(
            ("engines/sql/expressions/casts.py", "(_matches(stored, DIGITS_PATTERN), exact)", "(exp.false(), exact)"),
        ),
        tests=(f"{READING}test_ids_that_are_whole_numbers_have_any_length_in_text",),
    ),
    Mutant(
        name="in SQL an amount of more than 64 bits is missing",
        edits=(
            (
                "engines/sql/expressions/casts.py",
                "if declared.saturates and (not is_whole(storage) or storage in _BEYOND_64_BITS):",
                "if False:",
            ),
        ),
        tests=(f"{READING}test_amounts_beyond_64_bits_are_clamped_and_never_missing",),
    ),
    Mutant(
        name="in SQL a number is looked for in a text of any length",
        edits=(
            (
                "engines/sql/expressions/casts.py",
                'beginning(written, LONGEST_STORED), "VARCHAR"\n',
                "written, storage\n",
            ),
        ),
        tests=(f"{READING}test_of_long_text_little_is_looked_at_where_no_text_is_declared",),
    ),
    Mutant(
        name="the regular expression of a pattern goes back",
        edits=(("engines/sql/expressions/texts.py", 'f"(?>.*?{piece})"', 'f"(?:.*?{piece})"'),),
        tests=("tests/engines/sql/expressions/test_patterns.py::test_java_never_goes_back_but_over_the_last_run",),
    ),
    Mutant(
        name="on DuckDB an escaped percent sign of a pattern is any run of characters",
        edits=(("engines/duckdb/dialect.py", "character not in _SPECIAL", 'character not in "_"'),),
        tests=("tests/engines/duckdb/test_dialect.py::test_the_engines_own_like_is_taken_for_words_alone",),
    ),
    Mutant(
        name="an unsigned number beyond 64 bits is NULL",
        edits=(("engines/sql/expressions/casts.py", " or storage in _BEYOND_64_BITS", ""),),
        tests=(
            "tests/engines/sql/expressions/test_casts.py::test_an_unsigned_number_beyond_64_bits_counts_as_the_bound_it_lies_beyond",
        ),
    ),
    Mutant(
        name="on DuckDB stored doubles beyond the range count",
        edits=(("engines/sql/rows.py", "pending=self.names[name] in self.pending", "pending=False"),),
        tests=("tests/engines/duckdb/test_stored_doubles.py",),
    ),
    Mutant(
        name="on DuckDB stored doubles beyond the range count below a condition",
        edits=(
            (
                "engines/sql/relations.py",
                "where=[inner.value(condition)]), inner.pending",
                "where=[inner.value(condition)]), pending",
            ),
        ),
        tests=("tests/engines/duckdb/test_stored_doubles.py",),
    ),
    Mutant(
        name="on DuckDB stored doubles beyond the range are keys",
        edits=(
            (
                "engines/sql/entries.py",
                "stored[group] = rows.value(ColumnRef(key.name))",
                "stored[group] = column(rows.names[key.name])",
            ),
        ),
        tests=("tests/engines/duckdb/test_stored_doubles.py",),
    ),
    Mutant(
        name="on DuckDB doubles are taken to hold sums that they do not hold",
        edits=(("query/model/statement.py", "* FEW_ROWS <= MAX_STEPS", "* FEW_ROWS <= MAX_KEY"),),
        tests=(f"{IN_DOUBLES}test_doubles_count_one_by_one_as_far_as_the_sums_that_are_made_of_them",),
    ),
    Mutant(
        name="on DuckDB a join is taken to have as few rows as a table",
        edits=(
            (
                "engines/sql/relations.py",
                "case Join() | UnionAll() | Intersect() | Except():\n            return False",
                "case Join() | UnionAll() | Intersect() | Except():\n            return True",
            ),
        ),
        tests=(f"{IN_DOUBLES}test_only_one_table_alone_is_known_to_have_few_rows",),
    ),
    Mutant(
        name="a unit of one row more than its limit is taken to be within it",
        edits=(
            (
                "engines/sql/bounding.py",
                "figure(bounding.limits.max_rows_per_unit or 0)",
                "figure((bounding.limits.max_rows_per_unit or 0) + 1)",
            ),
        ),
        tests=(f"{BY_ROWS}test_they_are_those_of_the_reference",),
    ),
    Mutant(
        name="all rows of a unit above its limit count where it is told from rows",
        edits=(("engines/sql/lowering.py", '= ("anti", "semi")', '= ("semi", "semi")'),),
        tests=(f"{BY_ROWS}test_answers_are_the_same",),
    ),
    Mutant(
        name="on PostgreSQL a view is read several times, which may say something else each time",
        edits=(("engines/postgres/catalogue.py", "return are_stored(relations)", "return True"),),
        tests=("tests/engines/postgres/test_engine.py::test_only_what_is_stored_is_read_several_times",),
    ),
)
