"""Seeded bugs of counters: in what they count, in what is charged, and in what outlives a process."""

from tests.mutations.mutants import Mutant

_COUNTER = "tests/streams/counting/test_counter.py"
_STATE = "tests/streams/keeping/test_state.py"
_INTAKE = "tests/streams/counting/test_intake.py"
_NEIGHBORS = f"{_INTAKE}::test_the_stream_without_a_unit_differs_in_so_many_steps_and_by_so_much"
_KILLS = "tests/streams/test_kills.py"

MUTANTS = (
    Mutant(
        name="a counter that goes on draws new noise",
        edits=(
            (
                "streams/counting/counter.py",
                "self._running = self._plan.mechanism.restored(saved)",
                "self._running = self._plan.mechanism.restored(saved); self._running._noise.restore({})",
            ),
        ),
        tests=(f"{_COUNTER}::test_the_noise_goes_on_too",),
    ),
    Mutant(
        name="a value leaves before its state is kept",
        edits=(
            (
                "streams/counting/counter.py",
                "            self._keep(kept, first, released)\n",
                (
                    "            try:\n                self._keep(kept, first, released)\n"
                    "            except StateError:\n                pass\n"
                ),
            ),
        ),
        tests=(f"{_COUNTER}::test_nothing_leaves_that_is_not_kept_and_the_counter_goes_on_when_it_is_opened_again",),
    ),
    Mutant(
        name="the ledger hears of a state before it is on the disk",
        edits=(
            (
                "streams/keeping/state.py",
                "        self._file.write(state, row)\n        self._renew(self._fingerprint(state))\n",
                "        self._renew(self._fingerprint(state))\n        self._file.write(state, row)\n",
            ),
        ),
        tests=(f"{_COUNTER}::test_a_release_is_durable_before_it_is_given", _KILLS),
    ),
    Mutant(
        name="an old copy of a state goes on",
        edits=(
            (
                "streams/keeping/state.py",
                "        if lease != fingerprint:\n            raise StateError(str(self._path), _OLD)\n",
                "        self._renew(fingerprint)\n",
            ),
        ),
        tests=(f"{_STATE}::test_an_old_copy_is_refused_whether_the_state_is_open_or_not",),
    ),
    Mutant(
        name="a state that is opened has no new owner",
        edits=(
            (
                "streams/keeping/state.py",
                '            self._pass_on(self._next(owner=random_bytes(16).hex()), b"")\n',
                "            pass\n",
            ),
        ),
        tests=(f"{_STATE}::test_whoever_opened_a_copy_first_goes_on_and_the_other_is_refused",),
    ),
    Mutant(
        name="two owners of one state are told apart by nothing",
        edits=(("streams/keeping/state.py", "owner=random_bytes(16).hex()", 'owner="this process"'),),
        tests=(f"{_STATE}::test_two_copies_that_were_opened_at_once_are_not_taken_for_one",),
    ),
    Mutant(
        name="a lease is passed on whoever has it",
        edits=(
            (
                "ledger/writing/rules.py",
                "    require_open(pending.replay, reservation)\n    renewed = reservation\n",
                "    renewed = reservation\n",
            ),
        ),
        tests=(f"{_STATE}::test_who_was_overtaken_by_a_copy_can_keep_nothing_more",),
    ),
    Mutant(
        name="what a state holds is not in its fingerprint",
        edits=(("streams/keeping/state.py", "state.previous, state.head, content)", "state.previous, state.head)"),),
        tests=(f"{_STATE}::test_a_state_that_somebody_changed_is_refused",),
    ),
    Mutant(
        name="a log is believed as it is",
        edits=(("streams/keeping/state.py", "        if head != self._live.head:", "        if False:"),),
        tests=(f"{_STATE}::test_a_log_that_somebody_changed_is_refused",),
    ),
    Mutant(
        name="a state that was kept before the ledger failed is lost",
        edits=(("streams/keeping/state.py", "lease == self._live.previous:  #", "False:  #"),),
        tests=(f"{_STATE}::test_what_was_written_before_the_ledger_failed_goes_on_when_it_is_opened_again", _KILLS),
    ),
    Mutant(
        name="whoever is killed while a counter is made pays twice",
        edits=(("streams/keeping/state.py", 'idempotency_key=json.loads(header)["name"], ', ""),),
        tests=(f"{_STATE}::test_a_state_is_charged_once_and_goes_on_where_it_was",),
    ),
    Mutant(
        name="a file of another ledger is charged again",
        edits=(
            (
                "streams/keeping/state.py",
                "if self._live.number and self.payer.ledger.asked",
                "if False and self.payer.ledger.asked",
            ),
        ),
        tests=(f"{_STATE}::test_a_state_of_other_parameters_or_another_ledger_is_refused_and_charges_nothing",),
    ),
    Mutant(
        name="a state goes on with other arguments",
        edits=(("streams/keeping/state.py", "            self._require_same(parameters)\n", ""),),
        tests=(f"{_COUNTER}::test_an_old_copy_and_a_second_process_release_nothing",),
    ),
    Mutant(
        name="two processes open one file",
        edits=(("streams/keeping/state_file.py", '    "PRAGMA locking_mode = EXCLUSIVE",\n', ""),),
        tests=("tests/streams/keeping/test_state_file.py",),
    ),
    Mutant(
        name="a commit does not wait for the disk",
        edits=(("streams/keeping/state_file.py", '"PRAGMA synchronous = FULL"', '"PRAGMA synchronous = OFF"'),),
        tests=("tests/streams/keeping/test_state_file.py::test_a_commit_waits_for_the_disk",),
    ),
    Mutant(
        name="a counter is charged for one step",
        edits=(
            (
                "streams/counting/plan.py",
                "charge=payer.charge_of(event, delta=delta, stated=of_keys)",
                'charge=type(payer.charge_of(event, delta=delta, stated=of_keys))("0.0001")',
            ),
        ),
        tests=(f"{_COUNTER}::test_all_steps_are_charged_once_before_anything_is_read",),
    ),
    Mutant(
        name="a replaced unit is priced as a removed one",
        edits=(("streams/counting/plan.py", "_PAIR: Final = 2", "_PAIR: Final = 1"),),
        tests=("tests/streams/counting/test_plan.py::test_a_replaced_unit_is_one_removed_and_one_added",),
    ),
    Mutant(
        name="people with many events are protected one event at a time",
        edits=(("streams/counting/plan.py", "    elif not payer.is_each_row:", "    elif False:"),),
        tests=("tests/streams/counting/test_plan.py::test_units_with_several_events_need_a_bound_of_them",),
    ),
    Mutant(
        name="a counter goes on after the window that it was charged in",
        edits=(("streams/keeping/account.py", "            if window is not None:", "            if False:"),),
        tests=(f"{_COUNTER}::test_an_account_that_refills_is_refused_as_the_counter_goes_on_after_its_window",),
    ),
    Mutant(
        name="a unit takes part as often as it likes",
        edits=(("streams/counting/participation.py", "count > self.participation.most or ", ""),),
        tests=(_NEIGHBORS, "tests/streams/counting/test_participation.py"),
    ),
    Mutant(
        name="events of a unit may follow each other closely",
        edits=(("streams/counting/participation.py", " or step < last + self.participation.separation", ""),),
        tests=(_NEIGHBORS, "tests/streams/counting/test_participation.py"),
    ),
    Mutant(
        name="who took part is forgotten over a restart",
        edits=(
            (
                "streams/counting/counter.py",
                "                self._intake.memory.recall(taken)\n",
                "                pass\n",
            ),
        ),
        tests=(f"{_COUNTER}::test_the_counter_goes_on_after_a_restart_with_all_that_was_committed",),
    ),
    Mutant(
        name="an event without a unit counts",
        edits=(("streams/counting/participation.py", "(unit := found[at]) is", "(unit := found[at] or 0) is"),),
        tests=("tests/streams/counting/test_participation.py::test_an_event_without_a_unit_never_counts",),
    ),
    Mutant(
        name="a number is not clamped",
        edits=(
            ("streams/counting/measures.py", "np.clip(steps, first, last).astype(np.int64)", "steps.astype(np.int64)"),
        ),
        tests=(_NEIGHBORS, "tests/streams/counting/test_measures.py"),
    ),
    Mutant(
        name="a vector is not scaled",
        edits=(("streams/counting/measures.py", "self.contribution.bounded(rows)", "rows"),),
        tests=("tests/streams/counting/test_measures.py",),
    ),
    Mutant(
        name="a late event changes the open step",
        edits=(
            (
                "streams/counting/intake.py",
                "is_kept &= (at >= next_step) & (at <= self._last)",
                "at = np.maximum(at, next_step); is_kept &= at <= self._last",
            ),
        ),
        tests=(f"{_INTAKE}::test_late_events_and_those_beyond_the_horizon_are_dropped_without_a_word",),
    ),
    Mutant(
        name="quiet steps are not released",
        edits=(
            (
                "streams/counting/counter.py",
                "shown = self._released(first, released)",
                "shown = self._released(first, released[: 1 if self._plan.measure.numbers else 0])",
            ),
        ),
        tests=(f"{_COUNTER}::test_each_step_is_released_with_events_or_without",),
    ),
    Mutant(
        name="where a source is is kept without the events",
        edits=(("streams/counting/counter.py", '"pending": self._intake.pending.saved()', '"pending": []'),),
        tests=(f"{_COUNTER}::test_the_counter_goes_on_after_a_restart_with_all_that_was_committed",),
    ),
    Mutant(
        name="sums of large numbers wrap",
        edits=(("streams/counting/intake.py", "if int(np.abs(added).max()) * added.size >= _SAFE:", "if False:"),),
        tests=(f"{_INTAKE}::test_sums_are_exact_of_any_size_and_alone_as_together",),
    ),
    Mutant(
        name="a band is half as wide as it says",
        edits=(
            (
                "streams/counting/releases.py",
                "return values - reach, values + reach",
                "return values - reach / 2, values + reach / 2",
            ),
        ),
        tests=("tests/streams/counting/test_releases.py",),
    ),
    Mutant(
        name="what a counter released can be written over",
        edits=(
            (
                "streams/counting/releases.py",
                "        sums.flags.writeable = False",
                "        sums.flags.writeable = True",
            ),
        ),
        tests=("tests/streams/counting/test_releases.py::test_what_was_released_cannot_be_written_over",),
    ),
    Mutant(
        name="a counter goes on while its account is suspended",
        edits=(
            (
                "streams/counting/counter.py",
                "            self._state.require_available()\n            released",
                "            released",
            ),
        ),
        tests=(f"{_COUNTER}::test_a_source_that_fails_suspends_the_account",),
    ),
    Mutant(
        name="what is only known in ρ costs no ε",
        edits=(("ledger/core/prices.py", "compose(event).epsilon(delta)", "epsilon(delta)"),),
        tests=("tests/ledger/core/test_prices.py",),
    ),
)
