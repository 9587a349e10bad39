"""Seeded bugs of sources of streams: clocks, what is late, duplicates, positions, tables and batches."""

from tests.mutations.mutants import Mutant

_SOURCES = "streams/sources"
_FEED, _READING, _TABLES, _FOLLOWING, _SPARK = (
    f"tests/streams/sources/test_{name}.py" for name in ("feed", "reading", "tables", "following", "spark")
)
_TICKS = "tests/streams/sources/test_ticks.py"
_WORLDS = f"{_FEED}::test_without_one_event_at_most_its_tick_has_one_event_less"
_DUPLICATES = f"{_FEED}::test_duplicates_of_one_tick_count_once_also_with_other_times_and_after_a_restart"
_INTERRUPTION = f"{_FEED}::test_an_interruption_leaves_no_event_without_its_position_and_no_position_without_its_event"
_RECORDS = f"{_FEED}::test_without_one_record_at_most_its_own_key_has_one_event_less"
_POSITION = f"{_FEED}::test_a_position_is_durable_with_the_events_before_it_and_with_no_others"

MUTANTS = (
    Mutant(
        name="a late event shifts a tick that was released, or the next one",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                "return self.counter.next_step + place if 0 <= place < len(edges) - 1 else NO_TICK",
                "return self.counter.next_step + max(place, 0) if place < len(edges) - 1 else NO_TICK",
            ),
        ),
        tests=(f"{_FEED}::test_a_late_event_moves_no_release_and_raises_nothing",),
    ),
    Mutant(
        name="a tick does not wait for late events",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                "inf if is_over else self.ticks.begin(step + 1) + self.lateness // _MICROSECOND",
                "inf if is_over else self.ticks.begin(step + 1)",
            ),
            (f"{_SOURCES}/feed.py", "self.ticks.at(moment - self.lateness // _MICROSECOND)", "self.ticks.at(moment)"),
        ),
        tests=(f"{_FEED}::test_a_tick_waits_for_late_events_and_not_longer",),
    ),
    Mutant(
        name="events of any tick ahead are taken",
        edits=((f"{_SOURCES}/feed.py", "min(max(current, first) + self._ahead, self._horizon)", "self._horizon"),),
        tests=(f"{_FEED}::test_events_of_ticks_too_far_ahead_are_dropped",),
    ),
    Mutant(
        name="empty ticks are skipped",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                "released = self.counter.tick(len(steps), position=",
                "released = self.counter.tick(1, position=",
            ),
        ),
        tests=(f"{_FEED}::test_empty_ticks_are_released",),
    ),
    Mutant(
        name="a duplicate is counted",
        edits=((f"{_SOURCES}/feed.py", "is_first = found not in seen", "is_first = True"),),
        tests=(_DUPLICATES,),
    ),
    Mutant(
        name="a duplicate is known by its id alone, whosever it is",
        edits=((f"{_SOURCES}/feed.py", "repr((whose, id, named))", "repr((id, named))"),),
        tests=(_DUPLICATES, _WORLDS),
    ),
    Mutant(
        name="ids are forgotten over a restart",
        edits=((f"{_SOURCES}/feed.py", "if isinstance(seen, dict):", "if seen is None:"),),
        tests=(_DUPLICATES,),
    ),
    Mutant(
        name="ids are kept for ever",
        edits=((f"{_SOURCES}/feed.py", "            if step >= first_open\n", ""),),
        tests=(f"{_FEED}::test_ids_of_closed_ticks_are_forgotten",),
    ),
    Mutant(
        name="a position is committed before the events that it stands for",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                """            if step != NO_TICK:
                self._add(""",
                """            self.counter.commit(position={**self._document(1), "position": position})
            if step != NO_TICK:
                self._add(""",
            ),
        ),
        tests=(_POSITION,),
    ),
    Mutant(
        name="a strange event takes the whole column with it",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                "            self._add_each(columns, steps, in_order)\n",
                "            del in_order\n",
            ),
        ),
        tests=(f"{_FEED}::test_one_strange_event_among_many_is_the_only_one_that_is_dropped",),
    ),
    Mutant(
        name="an event that cannot be read raises",
        edits=((f"{_SOURCES}/feed.py", "with suppress(Exception):", "with suppress(ParameterError):"),),
        tests=(f"{_FEED}::test_whatever_an_event_is_nothing_is_raised",),
    ),
    Mutant(
        name="a strange event changes the order in which others are taken",
        edits=((f"{_SOURCES}/feed.py", 'in_order = kept[np.argsort(steps[kept], kind="stable")]', "in_order = kept"),),
        tests=(f"{_FEED}::test_a_strange_event_changes_nothing_of_what_others_may_add",),
    ),
    Mutant(
        name="a record stands in for another one of its id that says something else",
        edits=((f"{_SOURCES}/feed.py", "        digest.update(places.tobytes() + amounts.tobytes())\n", ""),),
        tests=(_RECORDS,),
    ),
    Mutant(
        name="an event is kept without its position",
        edits=((f"{_SOURCES}/feed.py", "        if self._is_torn:\n", "        if False:\n"),),
        tests=(_INTERRUPTION, f"{_TABLES}::test_rows_count_once_if_their_reading_is_interrupted"),
    ),
    Mutant(
        name="an event may be interrupted once it is in",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                "            self._is_torn = True\n            if step != NO_TICK:\n",
                "            self._is_torn = False\n            if step != NO_TICK:\n",
            ),
        ),
        tests=(_INTERRUPTION,),
    ),
    Mutant(
        name="public time that was refused is kept",
        edits=(
            (
                f"{_SOURCES}/feed.py",
                "        step = self.counter.next_step\n        found = range(step, step)\n",
                (
                    "        self._stated = self._stated if now is None else max(self._stated, moment)\n"
                    "        step = self.counter.next_step\n        found = range(step, step)\n"
                ),
            ),
        ),
        tests=(f"{_FEED}::test_public_time_that_was_refused_is_not_kept",),
    ),
    Mutant(
        name="rows are read again after their ticks could not be closed",
        edits=((f"{_SOURCES}/tables.py", "max(steps.start, self._last_read + 1)", "steps.start"),),
        tests=(
            f"{_TABLES}::test_rows_count_once_however_often_the_account_refuses_to_close_their_ticks",
            f"{_TABLES}::test_rows_count_once_if_their_reading_is_interrupted",
        ),
    ),
    Mutant(
        name="an account of the same name in another ledger pays",
        edits=(
            (
                f"{_SOURCES}/reading.py",
                "if not counter.is_over and (charged is None or charged.account != dataset):",
                "if charged is not None and charged.account != dataset:",
            ),
        ),
        tests=(f"{_READING}::test_an_account_of_the_same_name_in_another_ledger_pays_for_nothing_here",),
    ),
    Mutant(
        name="rows that are units of their own are one event",
        edits=((f"{_SOURCES}/reading.py", "if columns.id is not None and self._unit is None:", "if columns is None:"),),
        tests=(f"{_READING}::test_where_each_row_is_a_unit_two_rows_are_never_one_event",),
    ),
    Mutant(
        name="a batch that was taken and not committed is skipped",
        edits=((f"{_SOURCES}/spark.py", "                self._keep()\n", ""),),
        tests=(f"{_SPARK}::test_a_batch_of_which_the_commit_was_refused_is_committed_when_it_comes_again",),
    ),
    Mutant(
        name="a jump of the clock closes any number of ticks",
        edits=((f"{_SOURCES}/feed.py", "len(found) > self._most_ticks", "len(found) > 10**9"),),
        tests=(f"{_FEED}::test_a_clock_that_is_set_forward_closes_what_it_skips_unless_that_is_too_much",),
    ),
    Mutant(
        name="a day has 24 hours",
        edits=(
            (
                f"{_SOURCES}/ticks.py",
                "return local.replace(tzinfo=self._zone)",
                "return self._origin.astimezone(UTC) + (local - self._origin.replace(tzinfo=None))",
            ),
        ),
        tests=(f"{_TICKS}::test_days_have_23_and_25_hours_where_clocks_are_changed",),
    ),
    Mutant(
        name="an event behind the end of a tick is counted in it",
        edits=(
            (
                f"{_SOURCES}/following.py",
                (
                    "            if steps := feed.closable():  # before the event, which came when they had ended\n"
                    "                yield feed.close(steps)\n"
                ),
                "",
            ),
            (
                f"{_SOURCES}/following.py",
                "            is_ended = feed.counter.is_over or (item is not None and _is_end(item))\n",
                (
                    "            is_ended = feed.counter.is_over or (item is not None and _is_end(item))\n"
                    "            if steps := feed.closable():\n                yield feed.close(steps)\n"
                ),
            ),
        ),
        tests=(f"{_FOLLOWING}::test_a_source_that_begins_again_is_read_past_what_was_taken",),
    ),
    Mutant(
        name="a source that begins again is counted again",
        edits=((f"{_SOURCES}/following.py", 'taken if flag(begins_again, "begins_again") else 0', "0"),),
        tests=(f"{_FOLLOWING}::test_a_source_that_begins_again_is_read_past_what_was_taken",),
    ),
    Mutant(
        name="values are clamped to the counter's bounds only after they were dealt out",
        edits=(
            (f"{_SOURCES}/reading.py", "max(measure.lower, Fraction(column.lower))", "Fraction(column.lower)"),
            (
                f"{_SOURCES}/reading.py",
                "lower = measure.lower if column.lower",
                "lower = Fraction(-99) if column.lower",
            ),
            (f"{_SOURCES}/reading.py", "upper = measure.upper if column.upper", "upper = Fraction(99) if column.upper"),
        ),
        tests=(f"{_READING}::test_one_row_moves_the_sum_by_no_more_than_its_own_clamped_value",),
    ),
    Mutant(
        name="rows stay in the order of the engine",
        edits=((f"{_SOURCES}/reading.py", "        rows = rows[order]\n", "        order = np.arange(len(rows))\n"),),
        tests=(f"{_READING}::test_the_order_in_which_rows_are_stored_is_not_seen",),
    ),
    Mutant(
        name="a counter of single events is fed the rows of people",
        edits=(
            (
                f"{_SOURCES}/reading.py",
                "if table.has_owners is not (counter.participation is not None):",
                "if table.has_owners and False:",
            ),
        ),
        tests=(f"{_READING}::test_a_counter_has_to_protect_the_units_of_the_table",),
    ),
    Mutant(
        name="a failure on a row suspends nothing",
        edits=((f"{_SOURCES}/reading.py", "    counter.suspend()\n", ""),),
        tests=(
            f"{_READING}::test_a_failure_on_a_row_suspends_the_account_and_any_other_does_not",
            f"{_TABLES}::test_a_row_that_fails_suspends_the_data_and_releases_nothing",
        ),
    ),
    Mutant(
        name="a tick that ended while rows were read is closed unread",
        edits=((f"{_SOURCES}/tables.py", "return feed.close(steps)", "return feed.advance(now)"),),
        tests=(f"{_TABLES}::test_a_tick_that_ends_while_rows_are_read_is_not_closed_unread",),
    ),
    Mutant(
        name="rows of the open tick are read with the closed ones",
        edits=(
            (
                f"{_SOURCES}/reading.py",
                "Compare(Comparison.LESS, time, until)",
                "Compare(Comparison.LESS_EQUAL, time, until)",
            ),
        ),
        tests=(f"{_READING}::test_only_rows_of_the_time_that_is_asked_for_are_read",),
    ),
    Mutant(
        name="a batch that is handed over again counts again",
        edits=(
            (
                f"{_SOURCES}/spark.py",
                "            if self._is_counted(position):\n                self._keep()\n                return\n",
                "",
            ),
        ),
        tests=(f"{_SPARK}::test_a_batch_counts_once_and_ticks_close_by_the_clock_alone",),
    ),
    Mutant(
        name="a line that is too long counts by its end",
        edits=(
            (
                "cli/stream/running.py",
                'is_whole, line = rest.endswith(b"\\n"), b""',
                'is_whole, line = rest.endswith(b"\\n"), rest',
            ),
        ),
        tests=("tests/cli/stream/test_running.py::test_a_line_that_is_too_long_counts_nothing_wherever_it_ends",),
    ),
)
