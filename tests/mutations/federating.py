"""Seeded bugs of federations over a server: what it takes, when a phase closes, what owners check and note."""

from tests.mutations.mutants import Mutant

_KEPT = "server/identity/federations.py"
_KEEPS = "tests/server/identity/test_federations.py"
_RELAYED, _RELAYS = "client/relayed.py", "tests/client/test_relayed.py"
_PART, _PARTS = "client/taking_part.py", "tests/client/test_taking_part.py"
_AGAIN = f"{_KEEPS}::test_the_same_message_again_is_one_and_another_in_its_place_is_refused"
_LATE = f"{_KEEPS}::test_a_phase_ends_with_its_time_if_enough_have_sent"

MUTANTS = (
    Mutant(
        name="another message in its place is heard as the same",
        edits=((_KEPT, "if before != {party: message}:", "if False:"),),
        tests=(_AGAIN,),
    ),
    Mutant(
        name="a phase closes with too few",
        edits=((_KEPT, "if sent >= row.terms.least:", "if sent >= 2:"),),
        tests=(f"{_KEEPS}::test_the_first_phase_waits_without_end_for_enough",),
    ),
    Mutant(
        name="messages of an open phase are shown",
        edits=((_KEPT, "PHASES.index(place.phase) >= row.phase:", "PHASES.index(place.phase) > row.phase:"),),
        tests=(f"{_KEEPS}::test_messages_are_shown_once_all_are_there_and_not_before",),
    ),
    Mutant(
        name="messages have any length",
        edits=((_KEPT, "if len(message) > row.terms.message_characters or not", "if not"),),
        tests=(f"{_KEEPS}::test_messages_are_bounded_and_plain",),
    ),
    Mutant(
        name="strangers send to a federation",
        edits=((_KEPT, "return self.parties.index(person) if person in self.parties else None", "return 0"),),
        tests=(f"{_KEEPS}::test_strangers_neither_send_nor_end_anything",),
    ),
    Mutant(
        name="strangers see messages of a federation",
        edits=(
            (
                "server/gateway/routes/federations.py",
                "if who.gateway.federations.terms(name).number_of(who.principal.name) is None:",
                "if who.gateway.federations.terms(name) is None:",
            ),
        ),
        tests=("tests/server/gateway/routes/test_federations.py::test_for_strangers_there_is_none",),
    ),
    Mutant(
        name="who dropped out of a round goes on in it",
        edits=(
            (
                _KEPT,
                "return self._senders(connection, row.name, row.phase - 1)",
                "return self._senders(connection, row.name, 0) | {3}",
            ),
        ),
        tests=(_LATE,),
    ),
    Mutant(
        name="a round is tried again after something was revealed",
        edits=((_KEPT, "elif row.phase == _LAST:", "elif False:"),),
        tests=(
            f"{_KEEPS}::test_a_round_in_which_too_few_reveal_is_over_without_a_sum",
            f"{_PARTS}::test_a_round_that_fails_after_something_was_revealed_is_over_without_a_sum",
        ),
    ),
    Mutant(
        name="messages of an attempt stay",
        edits=(
            (
                _KEPT,
                "connection.execute(delete(FEDERATION_MESSAGES).where(FEDERATION_MESSAGES.c.federation == row.name))",
                "pass",
            ),
        ),
        tests=(f"{_KEEPS}::test_a_round_ends_with_its_sum_of_which_there_is_one",),
    ),
    Mutant(
        name="another noisy sum takes the place of the first",
        edits=((_KEPT, "if before != result:", "if False:"),),
        tests=(f"{_KEEPS}::test_a_round_ends_with_its_sum_of_which_there_is_one",),
    ),
    Mutant(
        name="codes of messages are not compared",
        edits=(
            (
                _RELAYED,
                "if not message.isascii() or not hmac.compare_digest(",
                "if not message.isascii() or hmac.compare_digest(b'', ",
            ),
        ),
        tests=(f"{_RELAYS}::test_no_message_can_be_changed_or_put_elsewhere",),
    ),
    Mutant(
        name="codes of messages do not say whose they are",
        edits=((_RELAYED, "json.dumps([kind, sender, content])", "json.dumps([kind, content])"),),
        tests=(f"{_RELAYS}::test_no_message_can_be_changed_or_put_elsewhere",),
    ),
    Mutant(
        name="owners reveal though they were shown different numbers",
        edits=((_RELAYED, "if alike < self._protocol.least_shares:", "if alike < 1:"),),
        tests=(f"{_RELAYS}::test_owners_that_are_shown_different_numbers_reveal_nothing",),
    ),
    Mutant(
        name="owners reveal before they agreed",
        edits=((_RELAYED, "if not self._is_agreed:", "if False:"),),
        tests=(f"{_RELAYS}::test_nothing_is_revealed_before_owners_agreed",),
    ),
    Mutant(
        name="keys are taken in the name of another",
        edits=((_RELAYED, 'if getattr(value, "party", sender) != sender:', "if False:"),),
        tests=(f"{_RELAYS}::test_keys_in_the_name_of_another_are_refused",),
    ),
    Mutant(
        name="a round is revealed and not noted",
        edits=((_PART, "            self._journal.reveals(here.round)\n", "            pass\n"),),
        tests=(f"{_PARTS}::test_a_server_that_forgets_a_round_gets_no_second_sum_of_it",),
    ),
    Mutant(
        name="an attempt is begun and not noted",
        edits=((_PART, "            self._journal.begins(at, place.attempt)\n", ""),),
        tests=(f"{_PARTS}::test_an_attempt_is_never_begun_twice_though_the_server_says_that_nothing_was_sent",),
    ),
    Mutant(
        name="results of strangers move the model",
        edits=(
            (
                _PART,
                'Sealing(self._secret, self._history).opened("result", _EVERYBODY, result)',
                "result[64:]",
            ),
        ),
        tests=(f"{_PARTS}::test_other_results_than_those_of_owners_move_nothing",),
    ),
    Mutant(
        name="another plan takes part",
        edits=(("client/federations.py", "        _require_same(_document(plan, agreed), news)\n", ""),),
        tests=("tests/client/test_federations.py::test_another_plan_than_was_opened_sends_nothing",),
    ),
    Mutant(
        name="an owner is charged after it has taken part",
        edits=(
            (
                "client/federations.py",
                "                owner, _ = owner.admitted(plan, noted.name)\n",
                "                owner = [0, 0, 0]\n",
            ),
        ),
        tests=("tests/client/test_federations.py::test_owners_that_cannot_pay_send_nothing",),
    ),
    Mutant(
        name="all journals of a federation are one participation",
        edits=((_PART, 'lines = [f"{federation} {random_bytes(16).hex()}"]', 'lines = [f"{federation} 0"]'),),
        tests=("tests/client/test_federations.py::test_owners_that_cannot_pay_send_nothing",),
    ),
)
