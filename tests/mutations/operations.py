"""Seeded bugs of operations: keys that are given, backups, restores, checks and how processes are replaced."""

from tests.mutations.mutants import Mutant

GIVEN = "tests/ledger/keeping/test_given_keys.py::"

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
)
