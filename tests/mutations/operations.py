"""Seeded bugs of operations: keys that are given, backups, restores, checks and how processes are replaced."""

from tests.mutations.mutants import Mutant

GIVEN = "tests/ledger/keeping/test_given_keys.py::"
BACKUP = "tests/server/operations/test_backup.py::"
CHECK = "tests/server/operations/test_"
GATEWAY = "tests/server/gateway/"
RESTORE = "tests/server/operations/test_restore.py::"
PASSED_OFF = """\
    if ledger is not None:
        from sfumato.ledger.locations import open_ledger, place_of
        with open_ledger(ledger, ignoring_checkpoint=True) as opened:
            place_of(ledger).checkpoint().write(opened.checkpoint(), although_shorter=True)
"""

MUTANTS = (
    Mutant(
        name="a key that is given is written to the disk",
        edits=(("ledger/keeping/key.py", "    if key.is_given:\n", "    if key.is_given and key.first:\n"),),
        tests=(f"{GIVEN}test_a_ledger_begins_with_a_given_key_and_only_its_name_is_on_the_disk",),
    ),
    Mutant(
        name="fingerprints of data are lost with a rotation to a given key",
        edits=(
            (
                "ledger/keeping/key.py",
                'LedgerKey(secrets[name], secrets.get(first, b""), is_given=True)',
                "LedgerKey(secrets[name], is_given=True)",
            ),
        ),
        tests=(f"{GIVEN}test_the_drill_rotates_to_the_other_key_and_the_old_one_can_go",),
    ),
    Mutant(
        name="a file of given keys may be read by all",
        edits=(("ledger/keeping/given_keys.py", "    if mode & _OF_OTHERS:\n", "    if mode & 0:\n"),),
        tests=(f"{GIVEN}test_a_file_of_keys_is_for_its_owner_alone",),
    ),
    Mutant(
        name="a release whose cost nobody knows is a free one",
        edits=(
            (
                "server/operations/restore.py",
                'raise LedgerError(account, "was shown a release without a price; find out who changed the database")',
                "continue",
            ),
        ),
        tests=("tests/server/operations/test_restore.py::test_a_release_whose_cost_is_not_known_is_no_free_one",),
    ),
    Mutant(
        name="the ledger is copied before the database",
        edits=(
            ("server/operations/backup.py", "    acts = _database(curator, copies)\n", ""),
            (
                "server/operations/backup.py",
                "        ledger = _ledger(place, copies)\n",
                "        ledger = _ledger(place, copies)\n    acts = _database(curator, copies)\n",
            ),
        ),
        tests=(f"{BACKUP}test_what_is_asked_between_the_copies_is_charged_in_the_copy_of_the_ledger",),
    ),
    Mutant(
        name="keys are in every backup",
        edits=(("server/operations/backup.py", "is_kept_apart=not with_keys and", "is_kept_apart=not place.key and"),),
        tests=(f"{BACKUP}test_keys_are_in_it_only_if_that_is_asked_for_and_the_checkpoint_and_the_data_never",),
    ),
    Mutant(
        name="a backup is not verified",
        edits=(("server/operations/backup.py", "ledger.verify(about=take)", "ledger.checkpoint()"),),
        tests=(f"{BACKUP}test_large_answers_go_with_the_ledger",),
    ),
    Mutant(
        name="less may be declared than releases cost",
        edits=(
            ("server/operations/restore.py", "if stated.epsilon < one.cost.epsilon or", "if stated.epsilon < 0 or"),
        ),
        tests=(f"{RESTORE}test_what_is_declared_covers_epsilon_and_delta_of_the_same_account",),
    ),
    Mutant(
        name="what was released since a backup is not found",
        edits=(
            (
                "server/operations/restore.py",
                'if receipt["request"] in known:',
                'if receipt["request"] not in known:',
            ),
        ),
        tests=(f"{RESTORE}test_releases_that_the_ledger_never_charged_are_reported_with_their_cost",),
    ),
    Mutant(
        name="a restored ledger passes for the newest one",
        edits=(
            (
                "server/operations/restore.py",
                "    return Restored(manifest=manifest, ",
                f"{PASSED_OFF}    return Restored(manifest=manifest, ",
            ),
        ),
        tests=(f"{RESTORE}test_a_restored_ledger_is_refused_until_somebody_declares",),
    ),
    Mutant(
        name="a changed file is restored",
        edits=(("server/operations/manifest.py", "!= (file.size, file.sha256)", "!= (file.size, hash_of(path))"),),
        tests=(f"{CHECK}manifest.py::test_a_file_that_was_changed_is_refused",),
    ),
    Mutant(
        name="a backup writes outside of the folder that it is restored to",
        edits=(("server/operations/manifest.py", '".." not in path.parts and ', ""),),
        tests=(f"{CHECK}manifest.py::test_a_list_of_another_form_or_of_places_elsewhere_is_refused",),
    ),
    Mutant(
        name="files that a group may read are fine",
        edits=(("server/operations/files.py", "_OF_OTHERS: Final = 0o077", "_OF_OTHERS: Final = 0o007"),),
        tests=(f"{CHECK}files.py::test_what_others_may_use_is_a_failure_with_the_command_that_mends_it",),
    ),
    Mutant(
        name="answers without a time class are fine",
        edits=(("server/operations/people.py", "if curator.work.quantum == 0:", "if curator.work.quantum < 0:"),),
        tests=(f"{CHECK}people.py::test_budgets_end_are_small_and_times_do_not_tell",),
    ),
    Mutant(
        name="one owner is enough for two persons' decisions",
        edits=(("server/operations/people.py", "dataset.second_person and len(owners) == 1", "len(owners) > 9"),),
        tests=(f"{CHECK}people.py::test_what_needs_two_persons_has_two_that_are_active",),
    ),
    Mutant(
        name="whoever renews again begins anew, so that the last gateway never comes",
        edits=(("server/serve.py", " and renewed.is_set() and self._before is None:", " and renewed.is_set():"),),
        tests=("tests/server/test_serve.py::test_who_is_told_ever_again_to_renew_all_still_replaces_each",),
    ),
    Mutant(
        name="a successor takes the place before it is ready",
        edits=(("server/serve.py", "self._next is not None and self._next.version() is not None:", "self._next:"),),
        tests=("tests/server/test_serve.py::test_a_successor_takes_the_place_once_it_is_ready",),
    ),
    Mutant(
        name="passwords of databases are in every backup",
        edits=(("server/operations/backup.py", "url._replace(password=None).difference_update_query(secrets)", "url"),),
        tests=(f"{BACKUP}test_what_is_on_servers_is_copied_by_commands_without_passwords",),
    ),
    Mutant(
        name="a session that has ended comes back with the database",
        edits=(
            ("server/operations/backup.py", "connection.execute(delete(table))", "connection.execute(table.select())"),
        ),
        tests=(f"{BACKUP}test_no_session_is_in_a_backup_as_it_may_end_later",),
    ),
    Mutant(
        name="an older ledger comes back with the database",
        edits=(("server/operations/backup.py", "--exclude-schema='sfumato_*' {empty}", "{empty}"),),
        tests=(f"{BACKUP}test_what_is_on_servers_is_copied_by_commands_without_passwords",),
    ),
    Mutant(
        name="what is being declared is spent meanwhile",
        edits=(
            ("cli/curator.py", "with ledger_folder(curator), without_worker(curator):", "with ledger_folder(curator):"),
        ),
        tests=(f"{RESTORE}test_nothing_is_declared_while_a_worker_runs",),
    ),
    Mutant(
        name="a worker of another version is sent what is charged",
        edits=(
            (
                "server/work/channel.py",
                'return {} if answer.get("in") is True else',
                'return {} if answer.get("in") or answer.get("renewed") else',
            ),
        ),
        tests=(
            "tests/server/work/test_channel.py::test_a_worker_of_another_version_lets_nobody_in_and_nothing_is_charged",
        ),
    ),
    Mutant(
        name="a connection that is accepted as a gateway ends asks on and on",
        edits=(("server/gateway/limits.py", "            if is_ending():\n", "            if False:\n"),),
        tests=(f"{GATEWAY}test_limits.py::test_a_connection_that_is_accepted_as_the_server_ends_has_one_response",),
    ),
)
