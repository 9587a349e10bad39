"""Seeded bugs of who may do what: keys, roles, the log of acts, approvals, and what is kept of releases."""

from tests.mutations.mutants import Mutant

KEYS = "tests/server/identity/test_keys.py::"
PEOPLE = "tests/server/identity/test_people.py::"
ACTS = "tests/server/identity/test_acts.py::"
APPROVALS = "tests/server/identity/test_approvals.py::"
RELEASES = "tests/server/identity/test_releases.py::"
DATABASE = "tests/server/identity/test_database.py::"
COLLECTIONS = "tests/server/identity/test_collections.py::"
FIRST = "tests/server/identity/migrations/test_first.py::"

MUTANTS = (
    Mutant(
        name="an expired key is accepted",
        edits=(
            (
                "server/identity/keys.py",
                "key.revoked is None and (key.expires is None or now < key.expires)",
                "key.revoked is None",
            ),
        ),
        tests=(f"{KEYS}test_a_key_expires",),
    ),
    Mutant(
        name="a revoked key is accepted",
        edits=(
            (
                "server/identity/keys.py",
                "key.revoked is None and (key.expires is None or now < key.expires)",
                "key.expires is None or now < key.expires",
            ),
        ),
        tests=(f"{KEYS}test_a_key_is_revoked_at_once_in_every_process",),
    ),
    Mutant(
        name="the old secret of a rotated key works for ever",
        edits=(
            (
                "server/identity/keys.py",
                "is_right or (is_previous and until is not None and now < until)",
                "is_right or is_previous",
            ),
        ),
        tests=(f"{KEYS}test_the_old_secret_works_until_the_stated_time",),
    ),
    Mutant(
        name="any secret will do for a known key",
        edits=(
            (
                "server/identity/keys.py",
                "if key is None or not is_valid or not _is_usable(key, now)",
                "if key is None or not _is_usable(key, now)",
            ),
        ),
        tests=(f"{KEYS}test_what_is_no_key_is_refused",),
    ),
    Mutant(
        name="people who have left keep their keys",
        edits=(
            (
                "server/identity/keys.py",
                "or not _is_usable(key, now) or not key.is_active:",
                "or not _is_usable(key, now):",
            ),
        ),
        tests=(f"{KEYS}test_no_key_of_an_inactive_person_works",),
    ),
    Mutant(
        name="keys are hashed without the secret of the server",
        edits=(("server/identity/keys.py", "hmac.digest(self._secret, ", "hmac.digest(bytes(32), "),),
        tests=(f"{KEYS}test_only_a_keyed_hash_is_kept",),
    ),
    Mutant(
        name="a key makes keys that may do more",
        edits=(("server/identity/keys.py", "if not wanted <= within:", "if not wanted:"),),
        tests=(f"{KEYS}test_no_key_makes_one_that_may_do_more",),
    ),
    Mutant(
        name="the scope of a key is ignored",
        edits=(
            (
                "server/identity/people.py",
                "if right is None or right.scope not in self.scopes:\n            return False",
                "if right is None:\n            return False",
            ),
        ),
        tests=(f"{PEOPLE}test_an_action_needs_the_scope_of_the_key",),
    ),
    Mutant(
        name="a role on one dataset is one on all",
        edits=(
            (
                "server/identity/people.py",
                "frozenset(grant.role for grant in self.grants if grant.dataset == dataset)",
                "frozenset(grant.role for grant in self.grants)",
            ),
        ),
        tests=(f"{PEOPLE}test_every_role_may_do_what_is_meant_and_nothing_else",),
    ),
    Mutant(
        name="an owner who is an analyst too queries their own data",
        edits=(
            (
                "server/identity/people.py",
                "if action in _ANSWERS and Role.OWNER in roles and not owners_ask:",
                "if action in _ANSWERS and not roles and not owners_ask:",
            ),
        ),
        tests=(f"{PEOPLE}test_every_role_may_do_what_is_meant_and_nothing_else",),
    ),
    Mutant(
        name="a platform admin may do everything",
        edits=(
            (
                "server/identity/people.py",
                "if right.is_for_all or (right.is_for_admins and self.is_platform_admin):",
                "if right.is_for_all or self.is_platform_admin:",
            ),
        ),
        tests=(f"{PEOPLE}test_every_role_may_do_what_is_meant_and_nothing_else",),
    ),
    Mutant(
        name="datasets of others are forbidden instead of unknown",
        edits=(
            (
                "server/identity/people.py",
                "if dataset is not None and not self.roles(dataset) and not is_admins:",
                "if dataset is None and not is_admins and right is None:",
            ),
        ),
        tests=(f"{PEOPLE}test_a_refusal_says_what_is_needed_and_hides_datasets_of_others",),
    ),
    Mutant(
        name="acts are not chained",
        edits=(("server/identity/acts.py", 'previous = row["hash"] = _hash(row)', 'row["hash"] = _hash(row)'),),
        tests=(f"{ACTS}test_acts_that_come_together_are_written_together",),
    ),
    Mutant(
        name="the hash of an act leaves out the one before",
        edits=(
            ("server/identity/acts.py", "sha256(f\"{row['previous']}{content}\".encode())", "sha256(content.encode())"),
        ),
        tests=(f"{ACTS}test_the_hash_of_an_act_is_that_of_its_words_and_of_the_hash_before",),
    ),
    Mutant(
        name="whoever waits goes on before the act is written",
        edits=(("server/identity/acts.py", "        if wait:\n            waiting.written.result()\n", ""),),
        tests=(f"{ACTS}test_who_waits_learns_that_it_could_not_be_written_and_others_are_written_later",),
    ),
    Mutant(
        name="a query may stand in an act",
        edits=(("server/identity/acts.py", "if not _HASH.fullmatch(self.query_hash):", 'if self.query_hash == "-":'),),
        tests=(f"{ACTS}test_no_query_no_key_and_no_value_stands_in_an_act",),
    ),
    Mutant(
        name="acts may be deleted",
        edits=(
            ("server/identity/migrations/first.py", 'for word in ("update", "delete")', 'for word in ("update",)'),
            ("server/identity/migrations/first.py", "BEFORE UPDATE OR DELETE OR TRUNCATE", "BEFORE UPDATE OR TRUNCATE"),
        ),
        tests=(f"{FIRST}test_acts_and_releases_are_never_changed_nor_deleted",),
    ),
    Mutant(
        name="who asked may approve",
        edits=(
            ("server/identity/approvals.py", "if asked.asked_by == by:", "if not by:"),
            ("server/identity/migrations/first.py", '"decided_by IS NULL OR decided_by <> asked_by"', '"state <> 0"'),
        ),
        tests=(f"{APPROVALS}test_who_asked_does_not_decide",),
    ),
    Mutant(
        name="a decision may be changed",
        edits=(
            (
                "server/identity/approvals.py",
                "(APPROVALS.c.id == approval, APPROVALS.c.state == ApprovalState.PENDING.value)",
                "(APPROVALS.c.id == approval,)",
            ),
        ),
        tests=(f"{APPROVALS}test_a_decision_is_final",),
    ),
    Mutant(
        name="the last document is shown instead of the first",
        edits=(
            (
                "server/identity/releases.py",
                "        return kept\n\n    def find",
                "        return new\n\n    def find",
            ),
        ),
        tests=(f"{RELEASES}test_the_first_document_under_a_key_stays",),
    ),
    Mutant(
        name="releases of all accounts are listed",
        edits=(
            (
                "server/identity/releases.py",
                "_KEPT.where(RELEASES.c.account == account).order_by(RELEASES.c.number)",
                "_KEPT.order_by(RELEASES.c.number)",
            ),
        ),
        tests=(f"{RELEASES}test_releases_of_an_account_come_in_pages_in_their_order",),
    ),
    Mutant(
        name="a database of a newer version is used",
        edits=(
            ("server/identity/database.py", "if not known.issuperset(context.get_current_heads()):", "if not known:"),
        ),
        tests=(f"{DATABASE}test_a_database_of_a_newer_version_is_refused",),
    ),
    Mutant(
        name="a database file that is there is opened once more",
        edits=(
            (
                "server/identity/database.py",
                "            path.chmod(0o600)\n",
                "            os.close(os.open(path, os.O_RDWR))\n            path.chmod(0o600)\n",
            ),
        ),
        tests=(f"{DATABASE}test_who_opens_a_file_again_takes_no_lock_away_from_who_has_it_open",),
    ),
    Mutant(
        name="a grant names the account of another dataset",
        edits=(("server/gateway/routes/people.py", "if dataset != new.dataset or not path:", "if False:"),),
        tests=("tests/attacks_on_servers/test_rights.py::test_a_grant_charges_no_account_of_another_dataset",),
    ),
    Mutant(
        name="an owner reads the answers of analysts",
        edits=(("server/identity/people.py", "{Action.ASK, Action.READ_OWN_RELEASES}", "{Action.ASK}"),),
        tests=(f"{PEOPLE}test_every_role_may_do_what_is_meant_and_nothing_else",),
    ),
    Mutant(
        name="somebody has a name that no act can hold",
        edits=(
            (
                "server/identity/people.py",
                "not _PERSON.fullmatch(name) or KEY_MARK in name",
                "not _PERSON.fullmatch(name)",
            ),
        ),
        tests=(f"{PEOPLE}test_a_name_of_a_person_is_plain",),
    ),
    Mutant(
        name="a batch of reports that is sent again counts again",
        edits=(
            (
                "server/identity/collections.py",
                "if not self._database.insert_new(connection, BATCHES, **row):",
                "if self._database.insert_new(connection, BATCHES, **row) is None:",
            ),
        ),
        tests=(f"{COLLECTIONS}test_a_batch_counts_once_however_often_it_comes",),
    ),
    Mutant(
        name="a batch is known before it is counted",
        edits=(
            (
                "server/identity/collections.py",
                "            self._add(connection, collection, added)\n",
                (
                    "            for word in ('COMMIT', 'BEGIN'):\n                connection.exec_driver_sql(word)\n"
                    "            self._add(connection, collection, added)\n"
                ),
            ),
        ),
        tests=(f"{COLLECTIONS}test_if_counts_cannot_be_written_the_batch_is_not_known",),
    ),
    Mutant(
        name="the counts of another gateway are overwritten",
        edits=(("server/identity/collections.py", "        counted.merge(added)\n", "        counted = added\n"),),
        tests=(f"{COLLECTIONS}test_gateways_that_count_at_once_lose_nothing_and_double_nothing",),
    ),
    Mutant(
        name="a report that is refused drops its batch",
        edits=(("server/identity/collections.py", "if not intake.accepted:", "if intake.refused:"),),
        tests=(f"{COLLECTIONS}test_what_is_no_report_is_refused_alone_and_fills_no_table",),
    ),
    Mutant(
        name="counts of two protocols are mixed",
        edits=(("server/identity/collections.py", "if protocol != collection.protocol_hash:", "if protocol is None:"),),
        tests=(f"{COLLECTIONS}test_protocols_whose_short_fingerprints_agree_are_two",),
    ),
    Mutant(
        name="a server starts over counts of another protocol",
        edits=(
            (
                "server/identity/collections.py",
                "if before.get(each.name, each.protocol_hash) != each.protocol_hash:",
                "if before.get(each.name) == '':",
            ),
        ),
        tests=(f"{COLLECTIONS}test_counts_of_two_protocols_are_never_mixed",),
    ),
    Mutant(
        name="any batch under a known id is a repetition",
        edits=(
            (
                "server/identity/collections.py",
                "is_repeated=True) if is_same else None",
                "is_repeated=is_same or True)",
            ),
        ),
        tests=(f"{COLLECTIONS}test_another_batch_under_the_same_id_is_not_counted",),
    ),
    Mutant(
        name="what was forgotten counts again where the clock goes back",
        edits=(
            ("server/identity/collections.py", "update(HORIZON).where(HORIZON.c.first_day < first)", "update(HORIZON)"),
        ),
        tests=(f"{COLLECTIONS}test_old_batches_are_forgotten_and_never_count_again",),
    ),
    Mutant(
        name="a batch is forgotten while it is looked for",
        edits=(("server/identity/collections.py", ".with_for_update(read=True, of=HORIZON)", ""),),
        tests=(f"{COLLECTIONS}test_a_batch_that_is_forgotten_while_it_comes_again_counts_once",),
    ),
    Mutant(
        name="batches are never forgotten",
        edits=(("server/identity/collections.py", "if kept.oldest is not None and", "if kept.oldest is None and"),),
        tests=(f"{COLLECTIONS}test_few_rows_are_deleted_at_once_and_more_than_are_added",),
    ),
)
