"""Seeded bugs of the ledger: who pays, when a budget comes back, what is believed, and what lasts."""

from tests.mutations.mutants import Mutant

MUTANTS = (
    Mutant(
        name="a ledger whose seals were removed is taken for an old one",
        edits=(("ledger/migration.py", "elif here.checkpoint().is_of_sealed():", "elif False:"),),
        tests=("tests/ledger/test_migration.py::test_a_ledger_whose_seals_were_removed_is_not_taken_for_an_old_one",),
    ),
    Mutant(
        name="only the account that asks is charged",
        edits=(
            (
                "ledger/core/replay.py",
                "for payer in self._payers_of(entry)]",
                "for payer in self._payers_of(entry)[:1]]",
            ),
        ),
        tests=("tests/ledger/test_trees.py::test_every_account_above_is_charged_by_one_entry",),
    ),
    Mutant(
        name="the accounts above are not asked whether they can pay",
        edits=(
            (
                "ledger/core/replay.py",
                "in self._payers_of(entry):\n            cost =",
                "in self._payers_of(entry)[:1]:\n            cost =",
            ),
        ),
        tests=("tests/ledger/test_trees.py::test_two_below_it_never_pass_what_an_account_above_may_spend",),
    ),
    Mutant(
        name="who is above on two ways pays twice",
        edits=(
            (
                "ledger/core/replay.py",
                "reversed(dict.fromkeys(reversed((opened.account, *above))))",
                "(opened.account, *above)",
            ),
        ),
        tests=("tests/ledger/test_trees.py::test_who_is_above_on_two_ways_is_charged_once",),
    ),
    Mutant(
        name="a budget cannot be filled to its edge",
        edits=(("accounting/adaptive/amounts.py", "number <= limits[name]", "number < limits[name]"),),
        tests=("tests/ledger/core/test_account.py::test_ten_tenths_fill_every_measure_to_the_last_digit",),
    ),
    Mutant(
        name="a pure account pays for a delta",
        edits=(("ledger/core/prices.py", "case PureDP() if charge.delta:", "case PureDP() if False:"),),
        tests=("tests/ledger/core/test_prices.py::test_a_pure_account_refuses_what_needs_a_delta_and_says_why",),
    ),
    Mutant(
        name="prices in rho are rounded down",
        edits=(
            (
                "ledger/core/prices.py",
                "Fraction(ceil(number * steps), steps)",
                "Fraction(int(number * steps), steps)",
            ),
        ),
        tests=("tests/ledger/core/test_prices.py::test_a_price_that_is_no_decimal_is_rounded_up",),
    ),
    Mutant(
        name="a part is charged what it adds to the total",
        edits=(
            (
                "ledger/core/account.py",
                "self.lifetime.add(price, part)",
                "self.lifetime.add(self.lifetime.increase(price, part), part)",
            ),
        ),
        tests=("tests/ledger/core/test_account.py",),
    ),
    Mutant(
        name="a calendar window begins a day early",
        edits=(("ledger/core/windows.py", "timedelta(days=at // DAY)", "timedelta(days=at // DAY - 1)"),),
        tests=("tests/ledger/core/test_windows.py",),
    ),
    Mutant(
        name="a rolling window is a day too short",
        edits=(("ledger/core/windows.py", "at - self.days * DAY + 1", "at - (self.days - 1) * DAY"),),
        tests=(
            "tests/ledger/core/test_account.py::test_a_rolling_window_forgets_a_charge_just_when_so_many_days_have_passed",
        ),
    ),
    Mutant(
        name="a charge that has left its window leaves the lifetime too",
        edits=(("ledger/core/account.py", "self.within.take(price, part)", "self.lifetime.take(price, part)"),),
        tests=("tests/ledger/core/test_account.py",),
    ),
    Mutant(
        name="the machine's clock may hurry",
        edits=(("ledger/core/windows.py", "min(wall, steadily)", "wall"),),
        tests=("tests/ledger/core/test_windows.py",),
    ),
    Mutant(
        name="the machine's clock may go back",
        edits=(
            (
                "ledger/core/windows.py",
                "max(self._last, min(wall, steadily))",
                "min(wall, steadily)",
            ),
        ),
        tests=("tests/ledger/core/test_windows.py",),
    ),
    Mutant(
        name="the ledger's time goes back with its clock",
        edits=(
            (
                "ledger/reading/reader.py",
                "max(self._at, self._clock(), 0 if replay is None else replay.at)",
                "self._clock()",
            ),
        ),
        tests=("tests/ledger/test_model.py",),
    ),
    Mutant(
        name="an entry may be of before the one before",
        edits=(("ledger/core/replay.py", "if entry.at < self.at:", "if False:"),),
        tests=(
            "tests/ledger/reading/test_verification.py::test_an_entry_of_before_the_one_before_it_is_followed_by_nobody",
        ),
    ),
    Mutant(
        name="what is abandoned is refunded",
        edits=(
            (
                "ledger/core/replay.py",
                "        del self.open_requests[entry.request]",
                (
                    "        del self.open_requests[entry.request]\n"
                    "        if isinstance(entry, Abandoned):\n"
                    "            self.accounts[entry.account].lifetime.outside = Amounts()"
                ),
            ),
        ),
        tests=("tests/ledger/writing/test_rules.py::test_what_failed_under_a_key_stays_failed_and_charged",),
    ),
    Mutant(
        name="who asks again is charged again",
        edits=(
            (
                "ledger/writing/rules.py",
                "before, Reserved | Shared):\n        return _repeated(pending, before, entry)\n    return",
                "before, Reserved | Shared):\n        pass\n    return",
            ),
        ),
        tests=("tests/ledger/writing/test_rules.py::test_who_asks_again_under_a_key_is_charged_once",),
    ),
    Mutant(
        name="another body under the same key is taken for the same",
        edits=(("ledger/writing/rules.py", '"charge", "body", *', '"charge", *'),),
        tests=("tests/ledger/writing/test_rules.py::test_another_question_under_the_same_key_is_refused",),
    ),
    Mutant(
        name="another part under the same key is taken for the same",
        edits=(("ledger/writing/rules.py", '("question", "part") if', '("question",) if'),),
        tests=("tests/ledger/writing/test_rules.py::test_another_question_under_the_same_key_is_refused",),
    ),
    Mutant(
        name="what failed under a key is granted again",
        edits=(("ledger/writing/rules.py", "if pending.find(request_name(before.request)) is None:", "if False:"),),
        tests=("tests/ledger/writing/test_rules.py::test_what_failed_under_a_key_stays_failed_and_charged",),
    ),
    Mutant(
        name="a shared answer is free",
        edits=(
            (
                "ledger/core/replay.py",
                "paid = self.state(source).path",
                "paid = self.state(account).path",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_rules.py::test_a_shared_answer_is_charged_to_the_reader_and_not_again_to_those_above_both",
        ),
    ),
    Mutant(
        name="a closed account pays",
        edits=(("ledger/core/replay.py", "if above.is_closed:", "if False:"),),
        tests=("tests/ledger/writing/test_rules.py::test_a_closed_account_grants_nothing_nor_does_any_below_it",),
    ),
    Mutant(
        name="data under a new name has a budget of its own",
        edits=(
            (
                "ledger/writing/rules.py",
                "known = replay.known_accounts(seal for table in tables for seal in table.fingerprints)",
                "known: tuple[str, ...] = ()",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_rules.py::test_the_same_data_under_a_new_name_is_below_the_account_that_had_it_first",
        ),
    ),
    Mutant(
        name="a table has another unit tomorrow",
        edits=(("ledger/writing/protection.py", "if known not in {None, entry.unit}:", "if False:"),),
        tests=("tests/ledger/writing/test_protection.py::test_an_account_has_one_unit_for_a_table_and_for_its_data",),
    ),
    Mutant(
        name="a table by another name has any column of its data as its unit",
        edits=(
            (
                "ledger/writing/protection.py",
                "is_other = was != entry.unit if is_exact",
                "is_other = False if is_exact",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_protection.py::test_a_policy_that_says_two_units_of_the_same_data_opens_nothing",
        ),
    ),
    Mutant(
        name="a view of people has rows as its unit",
        edits=(("ledger/writing/protection.py", "else _is_other_kind(was, entry.unit)", "else False"),),
        tests=(
            (
                "tests/ledger/writing/test_protection.py::"
                "test_what_a_view_reads_may_have_other_names_there_and_no_other_kind_of_unit"
            ),
        ),
    ),
    Mutant(
        name="rows are taken for a renamed column of ids",
        edits=(("ledger/writing/protection.py", "if was in _OWNERLESS or entry.unit in _OWNERLESS:", "if False:"),),
        tests=(
            "tests/ledger/writing/test_protection.py::test_rows_are_no_renamed_column_of_ids_nor_is_what_is_public",
        ),
    ),
    Mutant(
        name="people's data are public beside them",
        edits=(("ledger/writing/protection.py", "    if entry.unit == _NOBODY:\n", "    if False:\n"),),
        tests=("tests/session/test_units_in_ledgers.py::test_nothing_of_people_is_public_beside_them",),
    ),
    Mutant(
        name="an account beside another one protects the same unit on a fresh budget",
        edits=(
            (
                "ledger/writing/protection.py",
                "if _are_beside(replay, opened, holder, beside):\n                req",
                "if False:\n                req",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_protection.py::test_an_account_beside_another_one_protects_others_for_certain",
        ),
    ),
    Mutant(
        name="units are compared before the transaction alone",
        edits=(
            ("ledger/writing/rules.py", "    require_units(replay, opened, tables, beside)\n    known", "    known"),
        ),
        tests=("tests/ledger/writing/test_protection.py::test_an_account_has_one_unit_for_a_table_and_for_its_data",),
    ),
    Mutant(
        name="who follows a ledger takes two units of one table",
        edits=(("ledger/core/replay.py", "if state.tables.get(table, entry.unit) != entry.unit:", "if False:"),),
        tests=("tests/ledger/writing/test_protection.py::test_nobody_follows_two_bindings_of_one_table",),
    ),
    Mutant(
        name="verify takes any unit of data that another account has",
        edits=(
            (
                "ledger/reading/verification.py",
                "others(self, self.state(entry.account).opened, entry, entry.beside, {})",
                "...",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_protection.py::test_verify_finds_another_account_that_was_never_to_have_another_unit",
        ),
    ),
    Mutant(
        name="a snapshot forgets the units of tables",
        edits=(("ledger/keeping/follower.py", '"tables": dict(state.tables),', '"tables": {},'),),
        tests=("tests/ledger/keeping/test_follower.py::test_a_replay_comes_back_as_it_was",),
    ),
    Mutant(
        name="a label is silent about the accounts beside",
        edits=(("ledger/reading/reader.py", "if one in path or account in accounts[one].path", "if one == other"),),
        tests=(
            "tests/ledger/writing/test_protection.py::test_those_beside_are_told_of_the_accounts_above_and_below_too",
        ),
    ),
    Mutant(
        name="a seal is believed whoever made it",
        edits=(("ledger/keeping/seals.py", "if not key.verifies(seal, _PURPOSE, text):", "if False:"),),
        tests=("tests/attacks_on_ledgers/test_forgery.py::test_the_seal_of_another_ledger_does_not_fit",),
    ),
    Mutant(
        name="entries after the last seal are followed",
        edits=(("ledger/keeping/seals.py", "if chain != end.chain:", "if False:"),),
        tests=("tests/ledger/keeping/test_follower.py::test_a_record_that_no_seal_covers_is_not_followed",),
    ),
    Mutant(
        name="entries without a seal are an old version",
        edits=(("ledger/keeping/seals.py", "if end.chain.length == 0:", "if True:"),),
        tests=("tests/ledger/keeping/test_follower.py::test_records_without_any_seal_are_not_followed",),
    ),
    Mutant(
        name="pointers are not compared when a ledger is opened",
        edits=(("ledger/writes.py", "INDEX_ENTRIES_READ = 10_000", "INDEX_ENTRIES_READ = -1"),),
        tests=(
            "tests/attacks_on_ledgers/test_forgery.py::test_what_lies_beside_the_chain_is_missed_when_the_ledger_is_opened",
        ),
    ),
    Mutant(
        name="a key without its ledger gets a fresh one",
        edits=(("ledger/locations.py", "must_exist=must_exist or has_key", "must_exist=must_exist"),),
        tests=("tests/cli/ledger/test_upkeep.py::test_a_checkpoint_elsewhere_guards_a_ledger_that_lost_its_own",),
    ),
    Mutant(
        name="a checkpoint that is gone is not missed",
        edits=(("ledger/keeping/checkpoint_files.py", "if not os.path.lexists(self._path):", "if False:"),),
        tests=("tests/ledger/test_damage.py::test_a_checkpoint_that_is_gone_is_missed",),
    ),
    Mutant(
        name="a seal says where a checkpoint is before it is there",
        edits=(
            (
                "ledger/writes.py",
                "            self._noting.write(self._sealed(seal.chain), is_synced=True)",
                "            pass",
            ),
        ),
        tests=(
            "tests/ledger/test_ledger.py::test_a_ledger_whose_process_ends_before_it_notes_its_first_batch_opens_again",
        ),
    ),
    Mutant(
        name="a batch without a seal takes the last one away",
        edits=(
            ("ledger/stores/transactions.py", "self._end.seal if batch.seal is None else batch.seal", "batch.seal"),
        ),
        tests=("tests/ledger/stores/test_memory.py",),
    ),
    Mutant(
        name="a torn slot of a checkpoint is believed",
        edits=(("ledger/keeping/checkpoint_files.py", "sha256(text).hexdigest().encode() != digest or ", ""),),
        tests=(
            "tests/ledger/keeping/test_checkpoint_files.py::test_of_two_slots_the_other_one_counts_if_one_was_torn",
        ),
    ),
    Mutant(
        name="a checkpoint is written over the last one",
        edits=(("ledger/keeping/checkpoint_files.py", "0 if last.offset else size", "last.offset"),),
        tests=(
            "tests/ledger/keeping/test_checkpoint_files.py::test_texts_are_written_by_turns_as_long_as_there_is_room",
        ),
    ),
    Mutant(
        name="the older slot of a checkpoint counts",
        edits=(("ledger/keeping/checkpoint_files.py", "last = max(noted, key", "last = min(noted, key"),),
        tests=("tests/ledger/test_damage.py::test_an_older_copy_is_refused_also_if_who_spent_was_killed",),
    ),
    Mutant(
        name="a ledger that has to be there is made",
        edits=(
            ("ledger/locations.py", "location, must_exist = location.location, True", "location = location.location"),
        ),
        tests=("tests/session/test_session.py::test_a_ledger_that_has_to_be_there_is_not_made",),
    ),
    Mutant(
        name="a flight is not waited for",
        edits=(("ledger/writing/rules.py", "if flight is not None and flight != over:", "if False:"),),
        tests=(
            "tests/session/asking/test_flights.py::test_threads_that_ask_one_question_at_once_are_charged_once_and_get_one_answer",
        ),
    ),
    Mutant(
        name="a lease fences nobody",
        edits=(("ledger/writing/rules.py", "if known.lease != reservation.lease:", "if False:"),),
        tests=("tests/ledger/test_flights.py::test_who_was_taken_over_can_neither_renew_nor_commit",),
    ),
    Mutant(
        name="another account waits before it is charged and draws anew",
        edits=(
            (
                "session/asking/execution.py",
                "if desk.policy.shares_answers and ticket.prepared.part is None:",
                "if False:",
            ),
        ),
        tests=(
            "tests/session/asking/test_flights.py::test_another_account_is_charged_before_it_waits_and_gets_the_same_answer",
        ),
    ),
    Mutant(
        name="a checkpoint is written when a ledger is closed and not before",
        edits=(("ledger/writes.py", "self._noted(replay, is_synced=self._noting.is_due())", "pass"),),
        tests=("tests/ledger/test_damage.py::test_an_older_copy_is_refused_also_if_who_spent_was_killed",),
    ),
    Mutant(
        name="a ledger that was moved grants on",
        edits=(("ledger/writing/batch.py", "if self.replay.moved_to is not None:", "if False:"),),
        tests=(
            "tests/ledger/test_migration.py::test_the_source_ends_with_the_place_it_was_moved_to_and_grants_nothing_any_more",
        ),
    ),
    Mutant(
        name="an account that exists waits for a transaction",
        edits=(("ledger/ledger.py", "if rules.is_open(self._caught_up(), opened, found, beside):", "if False:"),),
        tests=("tests/ledger/test_stopped_processes.py::test_an_account_that_exists_is_opened_meanwhile",),
    ),
    Mutant(
        name="snapshots are believed whoever wrote them",
        edits=(("ledger/keeping/follower.py", "if not key.verifies(seal, _PURPOSE, text):", "if False:"),),
        tests=("tests/ledger/keeping/test_follower.py::test_a_snapshot_of_another_key_is_refused",),
    ),
    Mutant(
        name="a snapshot forgets what is in its windows",
        edits=(("ledger/keeping/follower.py", "state.within.add(charged.price, charged.part)", "pass"),),
        tests=("tests/ledger/keeping/test_follower.py::test_a_replay_comes_back_as_it_was",),
    ),
    Mutant(
        name="pointers are believed whoever bent them",
        edits=(
            (
                "ledger/keeping/seals.py",
                "index_entry.seal, _OF_INDEX_ENTRIES, index_entry.name, index_entry.index, record.hash):",
                "index_entry.seal, _OF_INDEX_ENTRIES, index_entry.name, index_entry.index, record.hash) and False:",
            ),
        ),
        tests=("tests/ledger/keeping/test_seals.py::test_a_pointer_bent_to_another_record_is_refused",),
    ),
    Mutant(
        name="a store that lost its end is followed from its new one",
        edits=(
            (
                "ledger/keeping/follower.py",
                "if not records or records[0].hash != replay.chain.head:",
                "if not records:",
            ),
        ),
        tests=("tests/ledger/keeping/test_follower.py::test_a_store_whose_end_was_replaced_is_refused",),
    ),
    Mutant(
        name="an interrupted replay is used",
        edits=(
            (
                "ledger/keeping/follower.py",
                "replay, self._replay = known or self._from_snapshot(store, end), None",
                "replay = self._replay = known or self._from_snapshot(store, end)",
            ),
        ),
        tests=("tests/ledger/keeping/test_follower.py::test_a_replay_that_was_interrupted_is_dropped",),
    ),
    Mutant(
        name="what was decided counts although it was not kept",
        edits=(("ledger/writes.py", "self._follower.forget()", "pass"),),
        tests=("tests/ledger/test_model.py",),
    ),
    Mutant(
        name="a transaction is decided on what this process knew before",
        edits=(
            (
                "ledger/writes.py",
                "replay = self._follower.caught_up(transaction)",
                "replay = self._follower.replay or self._follower.caught_up(transaction)",
            ),
        ),
        tests=("tests/ledger/test_ledger.py",),
    ),
    Mutant(
        name="a failed write is told to the first one only",
        edits=(
            (
                "ledger/writing/writer.py",
                "if request.error is None and failure is not None:",
                "if request is batch[0] and request.error is None and failure is not None:",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_writer.py::test_a_failed_write_is_the_error_of_all_also_of_those_that_came_meanwhile",
        ),
    ),
    Mutant(
        name="an overspend verifies",
        edits=(("ledger/reading/verification.py", "            self.require_payable(entry)\n", ""),),
        tests=(
            "tests/ledger/reading/test_verification.py::test_a_charge_that_was_never_to_be_granted_is_found_and_named",
        ),
    ),
    Mutant(
        name="a charge below its price verifies",
        edits=(("ledger/reading/verification.py", "if price > entry.charge.epsilon * _AS_GOOD_AS:", "if False:"),),
        tests=(
            "tests/ledger/reading/test_verification.py::test_a_charge_that_was_never_to_be_granted_is_found_and_named",
        ),
    ),
    Mutant(
        name="an answer that nobody had is shared",
        edits=(
            (
                "ledger/reading/verification.py",
                "if source is not None and self._answers.get((source, entry.key)) != cost:",
                "if False:",
            ),
        ),
        tests=(
            "tests/ledger/reading/test_verification.py::test_a_charge_that_was_never_to_be_granted_is_found_and_named",
        ),
    ),
    Mutant(
        name="a lost pointer verifies",
        edits=(
            (
                "ledger/reading/verification.py",
                "    if wanted:\n        raise _lost",
                "    if False:\n        raise _lost",
            ),
        ),
        tests=("tests/ledger/reading/test_verification.py::test_a_lost_pointer_is_found",),
    ),
    Mutant(
        name="a pointer that another key sealed verifies",
        edits=(("ledger/reading/verification.py", "if made is None or made == index_entry:", "if True:"),),
        tests=("tests/ledger/reading/test_verification.py::test_pointers_of_another_key_are_found",),
    ),
    Mutant(
        name="a record under another hash follows",
        edits=(("ledger/core/store.py", " or record.hash != _digest(self.head, record.text)", ""),),
        tests=("tests/ledger/reading/test_verification.py::test_a_record_that_somebody_changed_is_found",),
    ),
    Mutant(
        name="an older copy of a ledger is taken for the ledger",
        edits=(
            (
                "ledger/writes.py",
                "        if noted is not None:\n            require_not_older",
                "        if noted is not None and False:\n            require_not_older",
            ),
        ),
        tests=("tests/ledger/test_locations.py",),
    ),
    Mutant(
        name="a commit is not on the disk when it is acknowledged",
        edits=(("ledger/stores/sqlite.py", "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL"),),
        tests=("tests/ledger/stores/test_sqlite.py",),
    ),
    Mutant(
        name="two threads have a transaction at once",
        edits=(
            (
                "ledger/stores/transactions.py",
                "        with self._lock:\n            if self._is_taken:",
                "        if True:\n            if self._is_taken:",
            ),
        ),
        tests=("tests/ledger/stores/test_memory.py",),
    ),
    Mutant(
        name="a suspended account grants",
        edits=(("ledger/core/replay.py", "        self.require_available(entry.account)\n", ""),),
        tests=("tests/ledger/test_suspensions.py",),
    ),
    Mutant(
        name="a question is answered although another one failed meanwhile",
        edits=(("ledger/ledger.py", "            pending.replay.require_available(account)\n", ""),),
        tests=("tests/ledger/test_suspensions.py",),
    ),
    Mutant(
        name="an acknowledged failure is not counted",
        edits=(("ledger/core/replay.py", "        state.acknowledged += 1\n", ""),),
        tests=("tests/ledger/test_suspensions.py",),
    ),
    Mutant(
        name="who reads sees what is decided and not yet kept",
        edits=(("ledger/writes.py", "held.enter_context(self._lock)", "held.callback(id, self._lock)"),),
        tests=("tests/ledger/test_writes.py::test_nobody_reads_what_is_decided_and_not_yet_kept",),
    ),
    Mutant(
        name="what is being written when a process ends is lost",
        edits=(("ledger/writing/writer.py", "            queue.thread.join()\n", "            pass\n"),),
        tests=(
            (
                "tests/ledger/writing/test_writer.py::"
                "test_ctrl_c_ends_the_waiting_and_what_is_being_written_is_kept_before_the_process_ends"
            ),
        ),
    ),
    Mutant(
        name="signals arrive where a charge is written",
        edits=(
            (
                "ledger/writing/writer.py",
                "may_serve=current_thread() is not main_thread()",
                "may_serve=current_thread() is not None and main_thread() is not None",
            ),
        ),
        tests=(
            "tests/ledger/writing/test_writer.py::test_whoever_is_alone_writes_by_itself_unless_signals_arrive_there",
        ),
    ),
)
