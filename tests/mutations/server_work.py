"""Seeded bugs of the processes with data: what they run, when an answer is seen, and what a death leaves."""

from tests.mutations.mutants import Mutant

CHILD = "tests/server/work/test_child.py::"
PACING = "tests/server/work/test_pacing.py::"
MARKS = "tests/server/work/test_marks.py::"
QUEUES = "tests/server/work/test_queues.py::"
CHANNEL = "tests/server/work/test_channel.py::"
SERVE = "tests/server/test_serve.py::"

MUTANTS = (
    Mutant(
        name="the process with the data does not ask the ledger what was charged",
        edits=(("server/work/child.py", "        require_charged(ticket, desk.ledger)\n", ""),),
        tests=(
            f"{CHILD}test_a_ticket_is_run_once_however_often_it_is_sent",
            f"{CHILD}test_a_ticket_for_which_nothing_was_reserved_is_refused",
            f"{CHILD}test_a_ticket_for_which_less_was_reserved_is_refused",
        ),
    ),
    Mutant(
        name="anybody may send messages to the process with the data",
        edits=(("server/work/channel.py", 'if not key.verifies(seal, f"worker: {purpose}", *texts):', "if not seal:"),),
        tests=(
            f"{CHILD}test_a_ticket_that_was_sealed_with_the_key_of_another_ledger_is_refused",
            f"{CHANNEL}test_a_message_that_was_changed_is_refused",
        ),
    ),
    Mutant(
        name="a dataset runs the tickets of another one's accounts",
        edits=(("server/work/child.py", "if desk.account not in desk.ledger.path(account):", "if not account:"),),
        tests=(f"{CHILD}test_a_ticket_of_another_dataset_is_refused",),
    ),
    Mutant(
        name="answers are seen as soon as they are there",
        edits=(("server/work/child.py", "ready=pace.wait, waits=False", "waits=False"),),
        tests=(f"{CHILD}test_what_takes_too_long_suspends_the_data",),
    ),
    Mutant(
        name="failures are seen before the end of a time class",
        edits=(
            (
                "session/asking/execution.py",
                "            cause = _cause(error)\n            ready()\n",
                "            cause = _cause(error)\n",
            ),
        ),
        tests=(f"{PACING}test_answers_failures_and_suspensions_are_written_at_the_same_times",),
    ),
    Mutant(
        name="an answer that another account paid for comes at once",
        edits=(
            ("session/asking/execution.py", "            return None\n        ready()\n", "            return None\n"),
        ),
        tests=(f"{PACING}test_what_another_account_was_answered_comes_no_sooner",),
    ),
    Mutant(
        name="what runs over its class is seen at once",
        edits=(("server/work/pacing.py", "            self.doublings += 1\n", "            return\n"),),
        tests=(f"{PACING}test_whatever_time_the_work_takes_it_ends_at_the_class_or_a_doubling",),
    ),
    Mutant(
        name="the work of expressions is no part of a class",
        edits=(("server/work/pacing.py", "statement_work(statement) / STEPS_A_ROW", "0"),),
        tests=(f"{PACING}test_the_work_of_expressions_counts",),
    ),
    Mutant(
        name="a gateway takes at once what another account was answered",
        edits=(
            (
                "server/gateway/desks.py",
                "joins_at_once: ClassVar[bool] = False",
                "joins_at_once: ClassVar[bool] = True",
            ),
        ),
        tests=(f"{CHILD}test_what_another_account_was_answered_goes_the_way_of_any_other_query",),
    ),
    Mutant(
        name="the pairs of joins are no part of a class",
        edits=(("server/work/pacing.py", "pairs / PAIRS_A_ROW", "0"),),
        tests=(f"{PACING}test_pairs_of_joins_count_as_many_as_limits_allow",),
    ),
    Mutant(
        name="a query may take as long as it likes",
        edits=(("server/work/pacing.py", "if taken > self._longest:", "if taken < 0:"),),
        tests=(
            f"{PACING}test_what_takes_longer_than_anything_may_has_no_end",
            f"{CHILD}test_what_takes_too_long_suspends_the_data",
        ),
    ),
    Mutant(
        name="what takes too long by its plan is run",
        edits=(("server/work/pacing.py", "if seconds > work.seconds:", "if seconds < 0:"),),
        tests=(f"{PACING}test_a_class_beyond_what_a_query_may_take_is_refused",),
    ),
    Mutant(
        name="a death over a query suspends nothing",
        edits=(("server/work/marks.py", "        ledger.suspend_account(reservation)\n", ""),),
        tests=(f"{MARKS}test_a_death_over_a_query_suspends_the_data_once",),
    ),
    Mutant(
        name="a mark goes however a query ends",
        edits=(
            (
                "server/work/marks.py",
                "except SfumatoError:\n            self._write",
                "except BaseException:\n            self._write",
            ),
        ),
        tests=(f"{MARKS}test_a_death_over_a_query_suspends_the_data_once",),
    ),
    Mutant(
        name="a death is told before an answer could have come",
        edits=(("server/work/marks.py", "        self._wait(running)\n", ""),),
        tests=(f"{MARKS}test_a_suspension_comes_when_the_answer_would_have_come",),
    ),
    Mutant(
        name="several processes run queries on a dataset at once",
        edits=(("server/work/marks.py", "with locked(self._path):", "if self._path:"),),
        tests=(f"{MARKS}test_who_runs_something_is_alone_until_it_dies",),
    ),
    Mutant(
        name="a failure that the ledger did not record is forgotten",
        edits=(("server/work/child.py", "raise SystemExit(1) from None", "raise UnavailableError from None"),),
        tests=(f"{CHILD}test_a_failure_that_the_ledger_cannot_record_ends_the_process_and_the_next_one_records_it",),
    ),
    Mutant(
        name="a process stays at its version of the data",
        edits=(("server/work/child.py", "if self._version() != self._published:", 'if self._version() == "":'),),
        tests=(f"{CHILD}test_a_process_follows_a_version_that_another_one_has_published",),
    ),
    Mutant(
        name="queues have room for everybody",
        edits=(("server/work/queues.py", "            self._inside += 1\n", ""),),
        tests=(f"{QUEUES}test_a_full_queue_is_busy_until_somebody_leaves",),
    ),
    Mutant(
        name="errors of any class cross to gateways",
        edits=(("server/work/channel.py", 'return {"failed": "UnavailableError"}', 'return {"failed": str(error)}'),),
        tests=(f"{CHANNEL}test_of_other_errors_only_that_there_is_no_answer_crosses",),
    ),
    Mutant(
        name="what processes inherit they hand on",
        edits=(("server/serve.py", "os.set_inheritable(alive, False)", "os.set_inheritable(alive, True)"),),
        tests=(f"{SERVE}test_the_end_of_a_parent_is_heard",),
    ),
    Mutant(
        name="others may open the folder of keys and sockets",
        edits=(("server/config.py", "is_private = not self.state.stat().st_mode & _OF_OTHERS", "is_private = True"),),
        tests=("tests/server/test_config.py::test_a_folder_that_others_may_open_is_refused",),
    ),
)
