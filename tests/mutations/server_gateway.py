"""Seeded bugs of the gateway: what is charged when, whose answers are at hand, who may ask, and what is written."""

from tests.mutations.mutants import Mutant

TESTS = "tests/server/gateway/"


def seeded(name, file, old, new, test):
    """A bug in one file of the gateway, which one test notices."""
    return Mutant(name=name, edits=((f"server/gateway/{file}.py", old, new),), tests=(f"{TESTS}{test}",))


MUTANTS = (
    seeded(
        "what nobody has room to run is charged", "desks", "self.errand.line.enter()  #", "#",
        "test_desks.py::test_without_a_place_nothing_is_charged",
    ),
    seeded(
        "a query is run again though its answer is in the ledger", "desks",
        "                if self._kept(ticket) is None:\n                    raise\n", "                raise\n",
        "test_desks.py::test_an_answer_that_is_in_the_ledger_is_shown_though_the_way_back_is_cut",
    ),
    seeded(
        "what is at hand is of any version of the data", "answering",
        "[asking.account, served.stamp.hex(), asking.ask.model_dump()]",
        "[asking.account, served.dataset.name, asking.ask.model_dump()]",
        "test_answering.py::test_49_another_version_of_the_data_is_asked_anew",
    ),
    seeded(
        "what another account paid for is at hand for everybody", "answering",
        "json.dumps([asking.account, ", "json.dumps([",
        "test_answering.py::test_48_nobody_gets_the_answer_of_another_account",
    ),
    seeded(
        "a gateway that waits lets others take its queries over", "desks",
        "meanwhile=partial(renew, ledger, reservation)", "meanwhile=lambda: None",
        "test_desks.py::test_while_a_gateway_waits_the_ledger_hears_three_times_a_lease_that_it_does",
    ),
    seeded(
        "what was declared first is declared for ever", "desks", "known[1].stamp == sha256(content).digest()",
        "known[1].stamp",
        "test_desks.py::test_declarations_are_read_again_once_they_are_written_again",
    ),
    seeded(
        "where an answer is at hand its idempotency key may be another query's", "answering",
        "idempotency_key=asking.key, body=shown.sent)", "idempotency_key=None, body=shown.sent)",
        "test_answering.py::test_41_a_key_is_for_one_query_of_one_person",
    ),
    seeded(
        "an idempotency key is anybody's", "routes/asking", 'key=f"{principal.name}:{idempotency_key or ',
        'key=f"{idempotency_key or ',
        "test_answering.py::test_41_two_people_on_one_account_have_keys_of_their_own",
    ),
    seeded(
        "a key may ask as often as it likes", "limits", "if not self._limiter.hit(self._most, who):",
        "if not (self._limiter.hit(self._most, who) or who):",
        "test_limits.py::test_63_each_key_may_ask_so_often_whatever_it_asks",
    ),
    seeded(
        "whoever waits for what is under way takes no place", "waiting",
        "with self._places.taken(asking.person) if is_joined else nullcontext():", "with nullcontext():",
        "test_waiting.py::test_whoever_waits_for_the_same_takes_a_place_too",
    ),
    seeded(
        "the name of a query is the right to have it asked", "routes/asking",
        "if asking.account != who.principal.account(asking.dataset):", "if not asking.account:",
        "test_waiting.py::test_whoever_lost_the_role_does_not_have_it_asked_again",
    ),
    seeded(
        "whoever has many keys has many places", "waiting",
        "self._places.take(asking.person)", "self._places.take(asking.key)",
        "test_limits.py::test_63_a_person_with_many_keys_may_ask_no_more_often",
    ),
    seeded(
        "another format takes no place", "routes/releases",
        "with who.gateway.places.taken(who.principal.name):", "with suppress(NotFoundError):",
        "test_limits.py::test_63_another_format_takes_a_place",
    ),
    seeded(
        "releases are shown to everybody who knows their names", "routes/releases",
        "if kept is None or kept.account != who.principal.account(kept.dataset):", "if kept is None:",
        "routes/test_releases.py::test_what_was_shown_to_others_is_as_what_does_not_exist",
    ),
    seeded(
        "owners ask", "access", "owners_ask=served.owners_may_ask", "owners_ask=True",
        "routes/test_asking.py::test_an_owner_who_is_an_analyst_too_does_not_ask",
    ),
    seeded(
        "acts of no dataset are everybody's", "routes/people", "yield None if names is None else frozenset(names)",
        'yield None if names is None else frozenset({*names, ""})',
        "routes/test_people.py::test_acts_are_read_of_one_s_datasets_alone",
    ),
    seeded(
        "a key becomes one that may do more", "routes/people", "if found.person == who.principal.name and missing:",
        "if not found.person and missing:",
        "routes/test_people.py::test_76_no_key_makes_one_or_becomes_one_that_may_do_more",
    ),
    seeded(
        "a larger budget needs nobody else", "routes/accounts", ".second_person and not _is_within(",
        ".second_person and not account and not _is_within(",
        "routes/test_accounts.py::test_73_a_larger_budget_needs_a_second_owner",
    ),
    seeded(
        "what is none of the interface leaves no act", "access", "if not who.is_written:", "if who.is_written:",
        "test_access.py::test_77_every_request_leaves_one_act",
    ),
    seeded(
        "logs hold the texts of exceptions", "observing", 'line["exception"] = record.exc_info[0].__name__',
        'line["exception"] = str(record.exc_info[1])',
        "test_observing.py::test_a_line_is_json_and_of_an_exception_it_names_the_class",
    ),
    seeded(
        "of two values under one name the last one counts", "bodies", "if len(found) < len(pairs):",
        "if not found and pairs:",
        "test_bodies.py::test_what_means_two_things_or_nothing_is_refused",
    ),
    seeded(
        "a time runs while an answer is computed", "limits",
        'is_answering = not getattr(self.cycle, "response_complete", True)', "is_answering = False",
        "test_limits.py::test_a_request_that_is_sent_behind_another_is_not_cut_off_while_it_is_answered",
    ),
    seeded(
        "anybody may send reports to any collection", "routes/collections",
        "if collection is not None and collection.is_public and not who.has_key:",
        "if collection is not None and not who.has_key:",
        "routes/test_collections.py::test_who_may_send_is_what_the_file_says",
    ),
    seeded(
        "everybody with a key reads estimates", "routes/collections", "if who.principal.name not in found.readers:",
        "if not who.principal.name:",
        "routes/test_collections.py::test_readers_see_estimates_and_nobody_else_does",
    ),
    seeded(
        "devices without a key leave acts", "access", "        if self._is_unnamed:\n            return\n", "",
        "test_access.py::test_devices_without_a_key_leave_no_act",
    ),
    seeded(
        "a batch is kept with an address", "routes/collections", "sender=who.principal.name)",
        "sender=who.principal.name or who._host)",
        "routes/test_collections.py::test_a_device_whose_address_changes_sends_the_same_batch",
    ),
    seeded(
        "logs hold addresses", "observing", '"seconds": round(taken, 3)}', '"host": scope["client"]}',
        "routes/test_collections.py::test_whoever_has_no_key_is_limited_by_address_which_is_kept_nowhere",
    ),
    Mutant(
        name="a key for reports reads estimates",
        edits=(
            ("server/identity/people.py", "Action.READ_ESTIMATES: Right(KeyScope.READ, ",
             "Action.READ_ESTIMATES: Right(KeyScope.REPORT, "),
        ),
        tests=(f"{TESTS}routes/test_collections.py::test_a_key_for_reports_does_nothing_else",),
    ),
    Mutant(
        name="a line that names two reports is one",
        edits=(("local/files.py", "if len(found) < len(pairs):", "if False:"),),
        tests=(f"{TESTS}routes/test_collections.py::test_a_hostile_report_is_refused_alone",),
    ),
    seeded(
        "everybody reads every counter", "routes/counters", "if not may_read(who, found):", "if False:",
        "routes/test_counters.py::test_whoever_is_no_reader_sees_nothing",
    ),
    Mutant(
        name="a step is in the public file before it was kept",
        edits=(
            (
                "streams/counting/counter.py", "            self._keep(kept, first, released)\n",
                ("            self._publish(self._released(first, released))\n"
                "            self._keep(kept, first, released)\n"),
            ),
        ),
        tests=("tests/streams/counting/test_published.py::test_nothing_leaves_before_it_was_kept",),
    ),
    Mutant(
        name="a line that was cut short stays in the public file",
        edits=(("streams/counting/published.py", "file.truncate(_end_of_lines(file))", "file.seek(0, SEEK_END)"),),
        tests=(
            "tests/streams/counting/test_published.py::test_a_counter_that_was_killed_adds_the_lines_that_are_missing",
        ),
    ),
    Mutant(
        name="the public file of another counter is written to",
        edits=(
            (
                "streams/counting/published.py", "if not self._first.startswith(file.read(len(self._first))):",
                "if False:",
            ),
        ),
        tests=("tests/streams/counting/test_published.py::test_the_file_of_another_counter_is_left_alone",),
    ),
)  # fmt: skip
