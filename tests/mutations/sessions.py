"""Seeded bugs of sessions: what is paid, what is drawn, what is shown, what is kept."""

from tests.mutations.mutants import Mutant

SIDES = "tests/attacks_on_questions/test_side_channels.py::"

FREE = "tests/session/asking/test_free_answers.py::"
STORED = "tests/session/asking/test_stored_sections.py::"
DRY = "tests/session/test_dry_run.py::"
FORMATS = "tests/session/releases/test_formats.py::"

MUTANTS = (
    Mutant(
        name="a formula is written to CSV as it is",
        edits=(
            ("session/releases/formats.py", "if value.startswith(_FORMULAS) else value", "if not value else value"),
        ),
        tests=(f"{FORMATS}test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe",),
    ),
    Mutant(
        name="texts in CSV are quoted only where commas need it",
        edits=(("session/releases/formats.py", "quoting=csv.QUOTE_NONNUMERIC", "quoting=csv.QUOTE_MINIMAL"),),
        tests=(f"{FORMATS}test_text_is_quoted_so_that_no_other_separator_makes_a_formula_of_it",),
    ),
    Mutant(
        name="why a document is no release is said in its own words",
        edits=(
            (
                "session/releases/formats.py",
                "        return _refused(_NO_RELEASE)",
                "        return _refused(f'{_NO_RELEASE}{sys.exc_info()[1]}')",
            ),
        ),
        tests=(f"{FORMATS}test_what_is_no_release_is_refused_in_constant_words",),
    ),
    Mutant(
        name="a document may say more than a release",
        edits=(
            (
                "session/releases/documents.py",
                "is_as_written = encode_release(release) == document",
                "is_as_written = True",
            ),
        ),
        tests=("tests/session/releases/test_documents.py::test_what_is_not_as_it_was_written_is_refused",),
    ),
    Mutant(
        name="a dry run opens the sources",
        edits=(
            (
                "session/dry_run.py",
                "    engine = MadeUpEngine(policy)\n",
                (
                    "    from sfumato.session.opening.opening import open_engines, open_sources, places_of\n"
                    "    places = places_of(policy, engine='duckdb')\n"
                    "    sources = open_sources(policy, places)\n"
                    "    engine = open_engines(sources, engine='duckdb', places=places, options={})\n"
                ),
            ),
        ),
        tests=(f"{DRY}test_no_source_is_opened",),
    ),
    Mutant(
        name="a dry run charges the account",
        edits=(
            (
                "session/dry_run.py",
                "ledger = Ledger(MemoryStore())\n    ledger.open_account(opened)",
                "ledger = planning.ledger",
            ),
        ),
        tests=(f"{DRY}test_no_account_is_charged_and_none_has_to_be_able_to_pay",),
    ),
    Mutant(
        name="a dry run makes as many rows as a join has",
        edits=(("session/dry_run.py", ", salt=salt, most=MOST_ROWS)", ", salt=salt)"),),
        tests=(f"{DRY}test_a_join_that_makes_many_rows_is_refused_before_it_makes_them",),
    ),
    Mutant(
        name="a receipt of a dry run states the version of the data",
        edits=(("session/dry_run.py", "replace(planning.policy, data_version=MADE_UP)", "planning.policy"),),
        tests=(f"{DRY}test_an_answer_says_that_it_is_made_up",),
    ),
    Mutant(
        name="rows that are not listed are in no cell",
        edits=(
            (
                "query/analysis/cells.py",
                "return (*values, None, Beyond.UNLISTED) if is_listed else (*values, None, Beyond.BELOW, Beyond.ABOVE)",
                "return values",
            ),
        ),
        tests=(f"{FREE}test_these_do_not",),
    ),
    Mutant(
        name="what may be one way or the other is in no group",
        edits=(
            (
                "query/analysis/cells.py",
                "        if held is UNKNOWN or UNKNOWN in values:\n            return UNKNOWN",
                "        if held is UNKNOWN or UNKNOWN in values:\n            return None",
            ),
        ),
        tests=("tests/query/analysis/test_cells.py",),
    ),
    Mutant(
        name="a number that is not determined is 0",
        edits=(
            (
                "session/asking/free_answers.py",
                "float(value) * resolution if known else None",
                "float(value) * resolution if known else 0.0",
            ),
        ),
        tests=(f"{FREE}test_a_group_that_is_not_determined_is_missing_and_never_0",),
    ),
    Mutant(
        name="what stored numbers do not add up to is estimated all the same",
        edits=(("session/asking/free_answers.py", "is_known &= missed <=", "is_known |= missed <="),),
        tests=(f"{FREE}test_these_do_not",),
    ),
    Mutant(
        name="a CASE of which a condition is unknown takes its default",
        edits=(("query/analysis/cells.py", "            if truth is UNKNOWN:\n", "            if truth is None:\n"),),
        tests=("tests/query/analysis/test_cells.py",),
    ),
    Mutant(
        name="what is one step beyond a bound is beside the bound",
        edits=(
            (
                "query/analysis/cells.py",
                "interval.upper + (step if comparison in _BEFORE else 0)",
                "interval.upper + step",
            ),
        ),
        tests=("tests/query/analysis/test_cells.py",),
    ),
    Mutant(
        name="how much a number of a stored workload is multiplied by is forgotten",
        edits=(("query/planning/linear.py", "np.full((1, 1), measurement.multiplier)", "np.ones((1, 1))"),),
        tests=("tests/query/planning/test_linear.py",),
    ),
    Mutant(
        name="each number of a stored workload is of one group",
        edits=(("session/asking/stored_sections.py", "if self.sums is None:", "if True:"),),
        tests=(f"{FREE}test_a_workload_has_every_row_in_a_cell_and_so_determines_totals",),
    ),
    Mutant(
        name="rows of people with limits serve other questions",
        edits=(("query/planning/linear.py", "or shape_of(main.rows).metric is not Metric.ROWS:", "or main is None:"),),
        tests=(f"{FREE}test_rows_with_owners_are_sampled_anew_for_each_question",),
    ),
    Mutant(
        name="answers about other data serve too",
        edits=(
            (
                "session/asking/stored_sections.py",
                "!= (policy.version, policy.data_version):\n            continue",
                "!= (policy.version, policy.data_version):\n            pass",
            ),
        ),
        tests=(f"{STORED}test_answers_about_other_data_or_declarations_are_not_used",),
    ),
    Mutant(
        name="answers about other declarations serve too",
        edits=(("session/asking/stored_sections.py", ".get(table.name) != declared:", ".get(table.name) is None:"),),
        tests=(f"{STORED}test_answers_about_other_data_or_declarations_are_not_used",),
    ),
    Mutant(
        name="answers of other accounts serve too",
        edits=(
            ("session/asking/stored_sections.py", "or entry.account != planning.account:", "or entry.account is None:"),
        ),
        tests=(f"{STORED}test_answers_of_other_accounts_are_not_used",),
    ),
    Mutant(
        name="a part of a partition serves the whole",
        edits=(
            (
                "session/asking/stored_sections.py",
                "if (one.linear.table, one.linear.part) == (table.name, part))",
                "if one.linear.table == table.name)",
            ),
        ),
        tests=(f"{STORED}test_a_part_of_a_partition_is_not_the_whole",),
    ),
    Mutant(
        name="one draw counts twice",
        edits=(("session/asking/free_answers.py", "        chosen.append(one)\n", "        chosen += [one, one]\n"),),
        tests=(f"{FREE}test_an_answer_counts_as_often_as_it_was_drawn",),
    ),
    Mutant(
        name="a sum beyond 64 bits stops at the largest whole number",
        edits=(
            (
                "query/statistics/estimates.py",
                "return whole if abs(whole) <= LARGEST_WHOLE else None",
                "return min(whole, 2**63 - 1)",
            ),
        ),
        tests=(
            (
                "tests/query/statistics/test_estimates.py::"
                "test_beyond_64_bits_a_value_is_missing_and_an_end_open_and_neither_is_another_number"
            ),
        ),
    ),
    Mutant(
        name="people whose ids 64 bits do not hold vanish where text holds them",
        edits=(("session/opening/opening.py", "return kept.with_text_ids(texts)", "return kept"),),
        tests=("tests/session/test_long_ids.py::test_nobody_vanishes_whatever_holds_the_ids",),
    ),
    Mutant(
        name="ids of one table are text and those of the next are not",
        edits=(("query/policy/policy.py", "if ids & held and all(", "if ids <= held and all("),),
        tests=("tests/session/test_long_ids.py::test_ids_in_text_meet_those_that_are_stored_as_numbers",),
    ),
    Mutant(
        name="an answer about ids in text is charged again",
        edits=(("session/asking/answer_key.py", "value.as_declared if isinstance(value, Column) else value", "value"),),
        tests=(
            "tests/session/test_long_ids.py::test_a_ledger_and_stored_answers_know_a_table_by_what_was_declared_of_it",
        ),
    ),
    Mutant(
        name="sums between wide bounds are whole numbers of 64 bits",
        edits=(
            ("query/model/statement.py", "abs(end) * MOST_ROWS <= MAX_KEY for end in ends", "True for end in ends"),
        ),
        tests=("tests/session/test_wide_sums.py::test_records_hold_the_whole_sum",),
    ),
    Mutant(
        name="the type of a sum with automatic bounds follows from those that were chosen",
        edits=(("query/planning/plan.py", "return _with_wide_sums(final, plan.question)", "return final"),),
        tests=("tests/session/test_wide_sums.py::test_automatic_bounds_change_no_type_and_no_note",),
    ),
    Mutant(
        name="the owner's exact numbers are in the repr of a report",
        edits=(("session/opening/examination.py", "missing: int = field(repr=False)", "missing: int"),),
        tests=("tests/session/opening/test_examination.py::test_no_number_is_shown_until_it_is_printed",),
    ),
    Mutant(
        name="a session does not say whom it protects",
        edits=(("session/session.py", "open_account(own, tables=tables, ", "open_account(own, "),),
        tests=(
            (
                "tests/session/test_units_in_ledgers.py::"
                "test_a_policy_that_protects_rows_where_people_were_is_refused_before_anything_is_spent"
            ),
        ),
    ),
    Mutant(
        name="ids of two kinds are one unit",
        edits=(
            (
                "query/model/schema.py",
                'f"{_written(column)} ({self.column(column).as_declared.kind})"',
                'f"{_written(column)} (text)"',
            ),
        ),
        tests=("tests/session/test_units_in_ledgers.py::test_ids_of_another_kind_are_another_unit",),
    ),
    Mutant(
        name="a path is bound to its first step alone",
        edits=(("query/model/schema.py", "({_written(key)}), {table.owner_text}", "({_written(key)})"),),
        tests=("tests/session/test_units_in_ledgers.py::test_a_path_to_the_unit_is_bound_with_all_of_its_steps",),
    ),
    Mutant(
        name="a file at the same place is another one once its rows change",
        edits=(("session/opening/lineage.py", "if isinstance(place, str | PathLike)", "if False"),),
        tests=(
            (
                "tests/session/test_units_in_ledgers.py::"
                "test_a_file_at_the_same_place_has_the_unit_that_it_had_though_its_rows_and_its_table_are_others"
            ),
        ),
    ),
    Mutant(
        name="charged after the data was read",
        edits=(
            (
                "session/asking/planning.py",
                "        plan = prepared.plan\n        found = ",
                (
                    "        plan = prepared.plan\n"
                    "        planning.engine.run(plan.sections[0].statements[0], salt='0' * 32)\n        found = "
                ),
            ),
        ),
        tests=("tests/session/asking/test_planning.py", "tests/session/test_session.py"),
    ),
    Mutant(
        name="batch by batch groups with private keys are all shown",
        edits=(("session/releases/releasing.py", "places = np.flatnonzero(kept)", "places = np.arange(len(kept))"),),
        tests=("tests/session/releases/test_streaming.py::test_a_private_group_is_shown_by_its_own_coin",),
    ),
    Mutant(
        name="batch by batch the noise of the first batch is used again",
        edits=(
            (
                "session/releases/releasing.py",
                "        noisy = measurement.mechanism.release(own.reshape(-1)) if own.size else own\n",
                (
                    "        drawn = measurement.mechanism.release(0 * own.reshape(-1)) if own.size else own\n"
                    "        noisy = own.reshape(-1) + _noisy.__dict__.setdefault('first', drawn)[: own.size]\n"
                ),
            ),
        ),
        tests=("tests/session/releases/test_streaming.py::test_every_number_has_noise_of_its_own",),
    ),
    Mutant(
        name="a question that is asked twice at once is shown twice",
        edits=(
            ("ledger/ledger.py", "return first.answer if isinstance(first, Committed) else answer", "return answer"),
        ),
        tests=(
            "tests/session/asking/test_planning.py::test_of_two_answers_that_were_paid_for_outside_of_a_flight_both_show_the_first",
        ),
    ),
    Mutant(
        name="progress tells how many groups of a batch were released",
        edits=(("session/asking/saving.py", "        waiting += len(batch)\n", "        told(len(batch))\n"),),
        tests=(
            (
                "tests/session/asking/test_saving.py::"
                "test_progress_moves_in_steps_that_do_not_tell_how_many_groups_of_a_batch_were_released"
            ),
        ),
    ),
    Mutant(
        name="numbers in files are cut to 64 bits",
        edits=(
            ("engines/sql/lowering.py", "np.clip(numbers, -_WIDEST, _WIDEST)", "np.clip(numbers, -(2**63), 2**63 - 1)"),
        ),
        tests=("tests/engines/sql/test_results.py::test_numbers_are_halved_and_put_together_again",),
    ),
    Mutant(
        name="saved groups stay in the order of the engine",
        edits=(("session/releases/stored.py", "by=keys,", "by=[],"),),
        tests=("tests/session/releases/test_stored.py::test_keys_of_every_kind_come_back_in_order",),
    ),
    Mutant(
        name="parts of a saved answer are as large as the batches of the engine",
        edits=(("engines/duckdb/database.py", "ROW_GROUP_SIZE {rows_in_a_part}", "ROW_GROUP_SIZE 8192"),),
        tests=("tests/session/releases/test_stored.py",),
    ),
    Mutant(
        name="a file beside the ledger is believed whatever is in it",
        edits=(("ledger/keeping/attachments.py", "changed = _hash(path) != attachment.sha256", "changed = False"),),
        tests=("tests/ledger/keeping/test_attachments.py",),
    ),
    Mutant(
        name="groups with private keys are all shown",
        edits=(
            (
                "session/releases/releasing.py",
                "for group, is_kept in zip(candidates, mask, strict=True) if is_kept)",
                "for group, is_kept in zip(candidates, mask, strict=True))",
            ),
        ),
        tests=(
            "tests/session/releases/test_releasing.py::test_private_groups_are_shown_sorted_and_those_of_few_units_are_not",
        ),
    ),
    Mutant(
        name="groups with private keys come in the order of the engine",
        edits=(
            (
                "session/releases/releasing.py",
                "return sorted(group for group, is_kept in",
                "return list(group for group, is_kept in",
            ),
        ),
        tests=("tests/session/releases/test_releasing.py",),
    ),
    Mutant(
        name="noise is drawn again until no answer is negative",
        edits=(
            (
                "session/releases/releasing.py",
                "            noisy = measurement.mechanism.release(exact.reshape(-1))\n",
                (
                    "            while min(noisy := measurement.mechanism.release(exact.reshape(-1)), default=0) < 0:\n"
                    "                pass\n"
                ),
            ),
        ),
        tests=(f"{SIDES}test_noise_takes_as_many_random_bytes_and_is_the_same_whatever_it_is_added_to[None]",),
    ),
    Mutant(
        name="what is counted of a group stands beside another",
        edits=(
            (
                "session/releases/releasing.py",
                "exact = aligned(statement, found, shown)[:, list(measurement.measures)]",
                "exact = aligned(statement, found, shown[::-1])[:, list(measurement.measures)]",
            ),
        ),
        tests=("tests/session/releases/test_releasing.py",),
    ),
    Mutant(
        name="private keys are selected by their rows",
        edits=(("query/planning/sections.py", "measure=main.measures.index(UnitCount())", "measure=0"),),
        tests=("tests/query/planning/test_sections.py",),
    ),
    Mutant(
        name="every statement of a question samples anew",
        edits=(
            (
                "session/asking/execution.py",
                "run = partial(desk.engine.run, salt=salt)",
                "run = lambda statement: desk.engine.run(statement, salt=random_bytes(16).hex())",
            ),
        ),
        tests=("tests/session/asking/test_planning.py::test_all_statements_of_a_question_share_a_fresh_salt",),
    ),
    Mutant(
        name="an answer is drawn anew whenever it is asked for",
        edits=(
            (
                "session/asking/planning.py",
                "    answer = stored(planning, prepared)\n    if answer is None and",
                "    answer = None\n    if answer is None and",
            ),
            (
                "ledger/writing/rules.py",
                "if pending.find(answer_name(entry.account, entry.key)) is not None:",
                "if False:",
            ),
        ),
        tests=("tests/session/asking/test_question.py",),
    ),
    Mutant(
        name="every question samples alike",
        edits=(("session/asking/execution.py", "salt = random_bytes(16).hex()", 'salt = "0" * 32'),),
        tests=("tests/session/asking/test_planning.py::test_all_statements_of_a_question_share_a_fresh_salt",),
    ),
    Mutant(
        name="a table of another session is taken for one of this",
        edits=(
            (
                "session/asking/planning.py",
                "if planning.policy.tables.get(table.name) != table:",
                "if table.name not in planning.policy.tables:",
            ),
        ),
        tests=("tests/session/asking/test_planning.py",),
    ),
    Mutant(
        name="a stored answer outlives its data",
        edits=(("session/asking/answer_key.py", '        "data": policy.data_version,\n', ""),),
        tests=("tests/session/asking/test_planning.py",),
    ),
    Mutant(
        name="a stored answer is of any price",
        edits=(
            (
                "session/asking/answer_key.py",
                '        "event": encode_event(plan.event),\n        **_circumstances(policy, plan.charge, tables),\n',
                "        **_circumstances(policy, PureDP(1), tables),\n",
            ),
            (
                "session/asking/answer_key.py",
                '        "sections": [_section(section) for section in plan.sections],\n',
                "",
            ),
        ),
        tests=("tests/session/asking/test_planning.py",),
    ),
    Mutant(
        name="bounds are chosen anew whenever an answer is shown",
        edits=(
            (
                "session/asking/execution.py",
                "    return with_chosen_bounds(",
                "    return plan or with_chosen_bounds(",
            ),
        ),
        tests=("tests/session/asking/test_question.py", "tests/session/asking/test_planning.py"),
    ),
    Mutant(
        name="the answer to a part is charged to no part",
        edits=(("session/asking/planning.py", "part=prepared.part, asked=asked,", "part=None, asked=asked,"),),
        tests=("tests/session/asking/test_view.py",),
    ),
    Mutant(
        name="parts of a partition choose each for themselves",
        edits=(
            (
                "session/asking/view.py",
                "public | {table.name: replace(first, value=value)},",
                "public | {table.name: replace(first, value=value, salt=random_bytes(16).hex())},",
            ),
        ),
        tests=("tests/session/asking/test_view.py",),
    ),
    Mutant(
        name="a partition charges its cheapest parts",
        edits=(
            ("accounting/core/conversions.py", "from heapq import nlargest", "from heapq import nsmallest as nlargest"),
        ),
        tests=("tests/accounting/core/test_conversions.py::test_in_parallel_the_largest_parts_count",),
    ),
    Mutant(
        name="what was left when an answer was given is said to be left now",
        edits=(
            (
                "session/asking/shown.py",
                "return replace(receipt, remaining=desk.ledger.remaining(desk.account)) if reused else receipt",
                "return receipt",
            ),
        ),
        tests=("tests/session/asking/test_question.py", "tests/session/test_session.py"),
    ),
    Mutant(
        name="several intervals hold each, and not all at once",
        edits=(("query/statistics/estimates.py", "return 1 - (1 - confidence) / parts", "return confidence"),),
        tests=("tests/query/statistics/test_estimates.py",),
    ),
    Mutant(
        name="public keys are read from a table of people",
        edits=(("query/policy/policy.py", "if not self.tables[origin.table].is_public:", "if False:"),),
        tests=("tests/query/policy/test_policy.py",),
    ),
    Mutant(
        name="a question that is paid for as a part reads everybody",
        edits=(("session/asking/planning.py", "        _check_part(question, part)", "        pass"),),
        tests=("tests/session/asking/test_view.py::test_a_question_to_a_part_reads_nobody_outside_of_it",),
    ),
    Mutant(
        name="a failure on rows is told to who asked",
        edits=(
            (
                "session/asking/execution.py",
                "            if cause is None:\n                raise\n",
                "            raise\n",
            ),
        ),
        tests=("tests/session/test_suspension.py",),
    ),
    Mutant(
        name="snapshots are for all to read",
        edits=(("session/opening/snapshots.py", "0o600", "0o644"),),
        tests=(
            "tests/session/opening/test_snapshots.py::test_a_snapshot_is_read_instead_of_a_view_and_is_of_one_data_version",
        ),
    ),
    Mutant(
        name="a snapshot of another data version is read",
        edits=(("session/opening/snapshots.py", "    if found != data_version:\n", "    if False:\n"),),
        tests=(
            "tests/session/opening/test_snapshots.py::test_a_snapshot_is_read_instead_of_a_view_and_is_of_one_data_version",
        ),
    ),
    Mutant(
        name="what was not released is drawn as 0",
        edits=(
            (
                "plots/measured.py",
                "return values, lows, highs",
                "return tuple(map(np.nan_to_num, (values, lows, highs)))",
            ),
        ),
        tests=("tests/plots/test_measured.py::test_a_bar_that_was_not_released_has_neither_height_nor_interval",),
    ),
    Mutant(
        name="what was bought by earlier rules is charged again by the latest",
        edits=(("session/asking/planning.py", "return _bought_before(planning, planned) or latest", "return latest"),),
        tests=(
            "tests/session/asking/test_older_answers.py::test_an_older_answer_is_the_answer_and_costs_nothing_again",
        ),
    ),
)
