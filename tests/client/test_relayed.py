"""An attempt at a round by messages: whatever a server changes, swaps, hides or shows twice, it learns no other sum."""

import pytest
from tests.client.relays import SECRET, Plan, agreed_of
from tests.local.parties.runs import exactly

from sfumato.client.relayed import PHASES, RelayedRun, Sealing, read_result, written_result
from sfumato.errors import ParameterError

CONTEXT = b"round 0"


def runs(count=4, max_dropouts=2, *, contexts=None):
    protocol = exactly(count, max_dropouts, max_colluders=1)
    contexts = contexts or [CONTEXT] * count
    return [RelayedRun(protocol, number, SECRET, context) for number, context in enumerate(contexts)]


def as_they_are(_phase, _reader, found):
    return found


def up_to(owners, last, change=as_they_are):
    """All phases before one; what each owner is shown may be changed."""
    for phase in PHASES[: PHASES.index(last)]:
        sent = {number: run.message(phase, number + 1) for number, run in enumerate(owners)}
        for reader, run in enumerate(owners):
            run.take(phase, change(phase, reader, sent))
    return owners


def test_all_owners_find_the_same_sum():
    owners = up_to(runs(), "revealed")
    sent = {number: run.message("revealed") for number, run in enumerate(owners)}
    for run in owners:
        run.take("revealed", sent)
    assert {run.total() for run in owners} == {((10,), 4)}


def test_who_saw_nothing_but_the_messages_finds_it_too():
    """As a program that begins in the middle of an attempt."""
    owners, late = runs(), runs()[2]
    for phase in PHASES:
        sent = {number: run.message(phase, number + 1) for number, run in enumerate(owners)}
        for run in (*owners, late):
            run.take(phase, sent)
    assert late.total() == ((10,), 4)


@pytest.mark.parametrize("phase", PHASES)
def test_no_message_can_be_changed_or_put_elsewhere(phase):
    owners = up_to(runs(), phase)
    sent = {number: run.message(phase, 1) for number, run in enumerate(owners)}
    other = up_to(runs(contexts=[b"round 1"] * 4), phase)
    text = sent[1]
    for wrong in (
        text[:-1] + ("}" if text[-1] != "}" else "]"), "0" * 64 + text[64:], text[64:], "", text[:63], "ü" * 70,
        sent[0], other[1].message(phase, 1),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=f"{phase} of party 1"):
            owners[0].take(phase, {**sent, 1: wrong})


def hide(hidden):
    """A server that hides the last owner's message of a phase from two owners, and the first one's from the others."""

    def change(phase, reader, found):
        lost = 3 if reader < 2 else 0
        return {number: one for number, one in found.items() if phase != hidden or number != lost}

    return change


def test_owners_that_are_shown_different_numbers_reveal_nothing():
    """Else a server would learn two sums of three owners each."""
    owners = up_to(runs(), "agreed", hide("numbers"))
    sent = {number: run.message("agreed") for number, run in enumerate(owners)}
    for run in owners:
        with pytest.raises(ParameterError, match="those that 2 owners were shown"):
            run.take("agreed", sent)
        with pytest.raises(ParameterError, match="agreed on what they were shown"):
            run.message("revealed")


@pytest.mark.parametrize("phase", ["keys", "boxes"])
def test_owners_that_are_shown_different_keys_or_seals_add_up_nothing(phase):
    with pytest.raises(ParameterError):
        up_to(runs(), "agreed", hide(phase))


def test_nothing_is_revealed_before_owners_agreed():
    owners = up_to(runs(), "agreed")
    with pytest.raises(ParameterError, match="must come after owners agreed"):
        owners[0].message("revealed")
    sent = {number: run.message("agreed") for number, run in enumerate(owners)}
    with pytest.raises(ParameterError, match="1 owners were shown"):
        owners[1].take("agreed", {0: sent[0]})


def test_too_few_of_a_phase_end_the_attempt():
    for phase in ("keys", "boxes", "numbers"):
        owners = up_to(runs(), phase)
        sent = {number: run.message(phase, 1) for number, run in enumerate(owners)}
        with pytest.raises(ParameterError, match="at least 3"):
            owners[0].take(phase, {number: sent[number] for number in (0, 1)})


def test_wrong_parts_are_left_out_and_too_few_give_no_sum():
    owners = up_to(runs(), "revealed")
    strange = Sealing(SECRET, CONTEXT).sealed("revealed", 1, '{"run": "another"}')
    sent = {number: run.message("revealed") for number, run in enumerate(owners)} | {1: strange}
    owners[0].take("revealed", sent)
    assert owners[0].total() == ((10,), 4)
    owners[2].take("revealed", {**sent, 2: Sealing(SECRET, CONTEXT).sealed("revealed", 2, "x")})
    assert owners[2].total() is None


def test_keys_in_the_name_of_another_are_refused():
    owners = runs()
    sent = {number: run.message("keys") for number, run in enumerate(owners)}
    sealing = Sealing(SECRET, CONTEXT)
    taken = sealing.sealed("keys", 1, sealing.opened("keys", 2, sent[2]))
    with pytest.raises(ParameterError, match="must be its own"):
        owners[0].take("keys", {**sent, 1: taken})


def test_a_secret_is_long_and_stays_unsaid():
    for wrong in (b"", bytes(15), "a text of more than sixteen", None):
        with pytest.raises(ParameterError, match="secret"):
            Sealing(wrong, CONTEXT)
    with pytest.raises(ParameterError) as caught:
        Sealing(b"short-secret", CONTEXT)
    assert "short" not in str(caught.value)
    assert RelayedRun(agreed_of(Plan()), 0, SECRET, CONTEXT).message("keys").isascii()


def test_sums_are_written_in_one_way():
    for total in (((0, -1, 2**61, -(2**61)), 7), None):
        assert read_result(written_result(total)) == total
    for wrong in ("", "{}", "[]", '{"shares": 1, "totals": "A"}', '{"shares": 1, "totals": 3}', "[" * 100_000):
        with pytest.raises(ParameterError, match="noisy sum"):
            read_result(wrong)
