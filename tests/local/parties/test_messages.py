"""Messages of a secure sum: a whole run through bytes, and nothing else passes for one."""

import json

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.local import Party, PartySum, SecureSum, SumMessages
from sfumato.local.parties.messages import KINDS
from sfumato.mechanisms import DistributedLaplace

PROTOCOL = PartySum(
    DistributedLaplace(parties=5, l1_sensitivity=2, epsilon=40, max_dropouts=2), low=0, high=100, numbers=2
)


def a_run():
    """All messages of a run in which the last party sends no numbers, and its aggregator."""
    run, seen = SecureSum(PROTOCOL), []
    messages = SumMessages(PROTOCOL, run.session)

    def passed(kind, value):
        seen.append((kind, messages.write(kind, value)))
        return messages.read(kind, seen[-1][1])

    parties = [Party(PROTOCOL, number, run.session) for number in range(5)]
    for party in parties:
        run.join(passed("keys", party.keys()))
    roster = run.roster()
    for party in parties:
        run.deal(party.number, passed("boxes", party.deal(passed("roster", roster))))
    for party in parties[:4]:
        value = party.contribute([10, 20], passed("boxes", run.dealt_to(party.number)))
        run.add(party.number, passed("numbers", value))
    senders = run.senders()
    for party in parties[:4]:
        run.reveal(passed("revealed", party.reveal(passed("senders", senders))))
    return run, messages, seen


RUN, MESSAGES, SEEN = a_run()


def test_a_run_through_messages_gives_the_sum():
    assert {kind for kind, _ in SEEN} == set(KINDS)
    assert all(abs(found - exact) < 10 for found, exact in zip(RUN.estimate().totals, (40, 80), strict=True))


def test_a_message_is_what_the_method_gave_and_no_more():
    for kind, message in SEEN:
        assert MESSAGES.write(kind, MESSAGES.read(kind, message)) == message
        assert json.loads(message).keys() == {"run", "kind", "value"}
    numbers = MESSAGES.read("numbers", next(sent for kind, sent in SEEN if kind == "numbers"))
    assert (numbers.dtype, numbers.shape) == (np.dtype(np.uint64), (2,))


def test_messages_of_another_run_or_protocol_are_refused():
    other = PartySum(PROTOCOL.noise, low=0, high=101, numbers=2)
    for elsewhere in (SumMessages(PROTOCOL, bytes(16)), SumMessages(other, RUN.session)):
        for kind, message in SEEN:
            with pytest.raises(ParameterError, match="of this run"):
                elsewhere.read(kind, message)


def test_a_message_of_one_kind_is_none_of_another():
    for kind, message in SEEN:
        for awaited in set(KINDS) - {kind}:
            with pytest.raises(ParameterError, match=f"of kind {awaited}"):
                MESSAGES.read(awaited, message)
    with pytest.raises(ParameterError, match="of kind roster"):
        MESSAGES.read("roster", MESSAGES.write("boxes", {}))  # both are written as {}


def changed(kind, value):
    """A message of this run with another value."""
    found = json.loads(next(sent for named, sent in SEEN if named == kind))
    return json.dumps(found | {"value": value(found["value"])})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("keys", lambda keys: keys | {"party": 5}), ("keys", lambda keys: keys | {"sealing": "AAAA"}),
        ("keys", lambda keys: keys | {"masking": 7}), ("keys", lambda _: []), ("keys", lambda _: None),
        ("roster", lambda roster: roster | {"9": roster["0"]}), ("roster", lambda _: {"one": 1}),
        ("boxes", lambda boxes: boxes | {"0": "not base64!"}), ("boxes", lambda _: 7),
        ("numbers", lambda _: "AAAA"), ("numbers", lambda _: "/" * 21 + "w=="), ("numbers", lambda _: ""),
        ("senders", lambda _: [0, 1, True]), ("senders", lambda _: [0, 9]), ("senders", lambda _: 7),
        ("revealed", lambda given: given | {"own_keys": {"0": "AAAA"}}), ("revealed", lambda _: {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "other",
)  # fmt: skip
def test_values_that_no_method_gave_are_refused_and_not_shown(kind, value):
    with pytest.raises(ParameterError, match="must be a message") as caught:
        MESSAGES.read(kind, changed(kind, value))
    assert caught.value.value == "another one"


ODD = [b"", b"\xff", "[" * 100_000, "7", '"run"', "{}", '{"run": 1}', "null"]


@pytest.mark.parametrize("text", ODD, ids=lambda text: str(text)[:9])
def test_what_is_no_message_is_refused(text):
    with pytest.raises(ParameterError, match="must be a message"):
        MESSAGES.read("keys", text)


def test_only_what_is_sent_is_written():
    odd = {"keys": 7, "numbers": np.zeros(3), "senders": ["a"], "boxes": {0: "text"}, "revealed": {}}
    for kind, value in odd.items():
        with pytest.raises(ParameterError, match=f"sent as {kind}"):
            MESSAGES.write(kind, value)
    with pytest.raises(ParameterError, match="kind"):
        MESSAGES.write("secrets", 7)
    for made in (lambda: SumMessages("protocol", bytes(16)), lambda: SumMessages(PROTOCOL, b"short")):
        with pytest.raises(ParameterError):
            made()
