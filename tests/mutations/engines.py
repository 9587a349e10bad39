"""Seeded bugs of the plain engine: who owns what, what is left out, what is kept, and what it adds."""

from tests.mutations.mutants import Mutant

READING = "tests/engines/reference/test_engine.py::TestReadingByReference::"

MUTANTS = (
    Mutant(
        name="people whose ids 64 bits do not hold vanish",
        edits=(("query/values/cells.py", "digits > FITTING_DIGITS", "digits > 2 * FITTING_DIGITS"),),
        tests=(
            "tests/engines/sources/test_arrow_tables.py::test_whole_numbers_beyond_64_bits_are_refused_by_the_type_alone",
        ),
    ),
    Mutant(
        name="one person with two ways to write an id is two",
        edits=(("query/values/cells.py", "size = text.lstrip(NOUGHTS)", 'size = text.lstrip("+-")'),),
        tests=("tests/query/values/test_cells.py::test_an_id_is_the_number_however_it_is_written",),
    ),
    Mutant(
        name="whoever has an id with thousands vanishes",
        edits=(
            ("engines/sources/csv_files.py", "column.kind in NUMBERS or column.is_whole", "column.kind in NUMBERS"),
        ),
        tests=("tests/session/test_long_ids.py::test_nobody_vanishes_whatever_holds_the_ids",),
    ),
    Mutant(
        name="ids in text are whatever is written",
        edits=(("query/values/cells.py", "if column.is_whole else _READERS", "if False else _READERS"),),
        tests=("tests/query/values/test_cells.py::test_ids_are_read_as_the_contract_says",),
    ),
    Mutant(
        name="amounts that 64 bits do not hold are missing",
        edits=(("query/values/cells.py", "    if cell is None and column.saturates:\n", "    if False:\n"),),
        tests=("tests/query/values/test_cells.py::test_amounts_are_read_as_the_contract_says",),
    ),
    Mutant(
        name="values not clamped",
        edits=(
            (
                "query/values/evaluation.py",
                (
                    "    if quotient >= steps.upper:\n        return steps.upper\n"
                    "    if quotient <= steps.lower:\n        return steps.lower\n"
                    "    return min(max(math.floor(quotient + 0.5), steps.lower), steps.upper)"
                ),
                "    return math.floor(quotient + 0.5)",
            ),
        ),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="a unit keeps all of its groups",
        edits=(("engines/reference/groups.py", "    if most is None:\n", "    if most is None or found:\n"),),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="a unit keeps all of its rows",
        edits=(
            (
                "engines/reference/groups.py",
                "return wanted if limit is None else min(wanted, limit - taken)",
                "return wanted",
            ),
        ),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="each entry has the limit of all of them",
        edits=(("engines/reference/groups.py", "        in_all[entry.unit] += rows\n", ""),),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="sums are not scaled, only rows",
        edits=(("engines/reference/groups.py", "    if counted <= allowed:\n", "    if counted or not counted:\n"),),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="scaled sums are rounded away from 0",
        edits=(
            (
                "engines/reference/groups.py",
                "magnitude = abs(total) * allowed // counted",
                "magnitude = -(-abs(total) * allowed // counted)",
            ),
        ),
        tests=("tests/engines/reference/test_groups.py",),
    ),
    Mutant(
        name="groups above a limit are kept in the order of their names",
        edits=(("engines/reference/groups.py", "rank=lambda g: (rank_hash(salt, g), *g[1:])", "rank=lambda g: g[1:]"),),
        tests=("tests/engines/reference/test_groups.py",),
    ),
    Mutant(
        name="the groups with the most rows are kept",
        edits=(
            (
                "engines/reference/groups.py",
                "    groups = {(entry.unit, *entry.place[:key_count]): None for entry in found}\n",
                "    groups = {(entry.unit, *entry.place[:key_count]): -entry.rows for entry in found}\n",
            ),
            (
                "engines/reference/groups.py",
                "rank=lambda g: (rank_hash(salt, g), *g[1:])",
                "rank=lambda g: (groups[g], *g[1:])",
            ),
        ),
        tests=("tests/engines/reference/test_groups.py",),
    ),
    Mutant(
        name="limits are used up in the order of the values",
        edits=(
            (
                "engines/reference/groups.py",
                "key=lambda e: (rank_hash(salt, (e.unit, *e.place)), e.place)",
                "key=lambda e: (e.sums, e.place)",
            ),
        ),
        tests=("tests/engines/reference/test_groups.py",),
    ),
    Mutant(
        name="units are counted by their rows",
        edits=(
            (
                "engines/reference/groups.py",
                "return len({entry.unit for entry, _ in group})",
                "return sum(rows for _, rows in group)",
            ),
        ),
        tests=("tests/query/test_tiny_databases.py",),
    ),
    Mutant(
        name="rows of no listed group are in some",
        edits=(
            (
                "engines/reference/groups.py",
                "value is None or (listed is not None and value not in listed)",
                "value is None",
            ),
        ),
        tests=("tests/engines/reference/test_groups.py",),
    ),
    Mutant(
        name="a double beyond the range is a value",
        edits=(
            ("query/values/numbers.py", "return value + 0.0 if abs(value) < LIMIT else None", "return value + 0.0"),
        ),
        tests=("tests/query/values/test_numbers.py",),
    ),
    Mutant(
        name="factors are not rounded",
        edits=(
            (
                "query/values/numbers.py",
                "return value * 2.0 ** (LAST_BIT - FINEST) * 2.0 ** (FINEST - LAST_BIT)",
                "return value",
            ),
        ),
        tests=("tests/query/values/test_numbers.py::test_a_factor_is_the_nearest_multiple_half_to_even",),
    ),
    Mutant(
        name="NULL is a bound where a column may hold it",
        edits=(
            (
                "query/values/cells.py",
                "if column.nullable or column.lower is None or column.upper is None:",
                "if column.lower is None or column.upper is None:",
            ),
        ),
        tests=("tests/query/values/test_cells.py",),
    ),
    Mutant(
        name="rows of two people meet in a join",
        edits=(
            (
                "engines/reference/relations.py",
                "within_units = shapes[1].metric is Metric.UNITS",
                "within_units = False",
            ),
        ),
        tests=("tests/query/test_tiny_databases.py::test_all_tiny_chains_are_within_the_claim",),
    ),
    Mutant(
        name="whoever has a partner decides over the rows of others",
        edits=(
            (
                "engines/reference/relations.py",
                "    partners = {key: [row] for key, row in ((key_other(owned), owned[1]) for owned in other)}\n",
                (
                    "    units = {unit for unit, _ in child}\n"
                    "    partners = {key_other((unit, row)): [row] for _, row in other for unit in units}\n"
                ),
            ),
        ),
        tests=("tests/engines/reference/test_relations.py",),
    ),
    Mutant(
        name="only one of several owners owns what they share",
        edits=(
            (
                "engines/reference/relations.py",
                "            owners[row[path.key]][unit] = None\n",
                "            owners[row[path.key]] = {unit: None}\n",
            ),
        ),
        tests=("tests/query/test_tiny_databases.py::test_all_tiny_chains_are_within_the_claim",),
    ),
    Mutant(
        name="more rows match than are declared",
        edits=(("engines/reference/relations.py", "rows = _truncated(rows, columns, most)", "pass"),),
        tests=("tests/engines/reference/test_sources.py",),
    ),
    Mutant(
        name="which rows match depends on how they are stored",
        edits=(
            (
                "engines/reference/relations.py",
                "rank=lambda owned: rank_hash(_NO_SALT, tuple(owned[1].values())),",
                "rank=lambda _: 0,",
            ),
        ),
        tests=("tests/engines/reference/test_sources.py",),
    ),
    Mutant(
        name="nothing bounds the rows of a relation",
        edits=(
            (
                "engines/reference/relations.py",
                "    return least(\n        rows, relation.max_rows_per_unit,",
                "    return least(\n        rows, len(rows),",
            ),
        ),
        tests=("tests/engines/reference/test_relations.py",),
    ),
    Mutant(
        name="a unit lies in every part",
        edits=(
            (
                "engines/reference/relations.py",
                "listed = [(unit, row) for unit, row in listed if (unit, row[part.by]) in kept]",
                "listed = [(unit, row) for unit, row in listed if kept]",
            ),
        ),
        tests=("tests/engines/reference/test_relations.py",),
    ),
    Mutant(
        name="rows of two people that look alike are one",
        edits=(
            (
                "engines/reference/relations.py",
                "    unit, row = owned\n    return (unit, *row.values())",
                "    _, row = owned\n    return tuple(row.values())",
            ),
        ),
        tests=("tests/engines/reference/test_relations.py",),
    ),
    Mutant(
        name="groups of a sub-query hold rows of several people",
        edits=(
            (
                "engines/reference/relations.py",
                "together[(unit, *(row[key] for key in grouped.keys))].append(row)",
                "together[(rows[0][0], *(row[key] for key in grouped.keys))].append(row)",
            ),
        ),
        tests=("tests/engines/reference/test_folds.py",),
    ),
    Mutant(
        name="what a sub-query sums is not clamped",
        edits=(
            (
                "engines/reference/relations.py",
                "    points = (clamped_steps(cell, steps) for cell in cells)\n",
                "    points = (math.floor(float(cell) / float(steps.resolution) + 0.5) for cell in cells)\n",
            ),
        ),
        tests=("tests/engines/reference/test_folds.py",),
    ),
    Mutant(
        name="what was found of one group is put on another",
        edits=(
            (
                "engines/base.py",
                "table[rows[kept], index] = amounts[kept]",
                "table[rows[kept][::-1], index] = amounts[kept]",
            ),
        ),
        tests=("tests/engines/test_base.py",),
    ),
    Mutant(
        name="a text is read whole",
        edits=(("query/values/cells.py", "return text[: column.longest]", "return text"),),
        tests=(f"{READING}test_text_is_cut_to_256_characters_where_nothing_is_declared",),
    ),
    Mutant(
        name="a long id is cut",
        edits=(("query/values/cells.py", "text[:MAX_ID] + sha256(text.encode()).hexdigest()", "text[:MAX_ID]"),),
        tests=(f"{READING}test_long_ids_are_never_cut",),
    ),
)
