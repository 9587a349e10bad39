import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.accounts import people, ward

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger.core.codec import decode_entry, encode_entry
from sfumato.ledger.core.entry import Committed, PartitionPart, Reserved
from sfumato.ledger.core.prices import in_words
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import Chain, Record
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE

GOLDEN = Path(__file__).parents[2] / "golden" / "ledger_v1.jsonl"


def reserved(request: str, epsilon: object, part: PartitionPart | None = None, delta: object = 0) -> Reserved:
    charge = guarantee(epsilon, delta)
    return Reserved(
        account="people", request=request, question="q", event=PureEvent(charge.epsilon), charge=charge, part=part
    )


def spent(*entries, relation=ADD_OR_REMOVE_ONE):
    replay = Replay()
    for entry in (people(relation=relation), *entries):
        replay.apply(entry)
    state = replay.accounts["people"]
    return in_words(state.spent(0), state.budget)


def test_what_is_reserved_is_spent_committed_or_not():
    committed = Committed(account="people", request="r1", key="k", answer=1)
    assert spent(reserved("r1", "0.1"), reserved("r2", "0.2"), committed) == PureDP("0.3")


def test_ten_times_a_tenth_is_exactly_one():
    assert spent(*(reserved(f"r{i}", 0.1) for i in range(10))) == PureDP(1)


def test_deltas_add_up_too():
    assert spent(reserved("r1", 1, delta="1e-6"), reserved("r2", 2, delta="2e-6")) == ApproxDP(3, "3e-6")


def test_a_partition_costs_its_dearest_part():
    entries = reserved("r1", 1, ward("A")), reserved("r2", 3, ward("B")), reserved("r3", 1, ward("A"))
    assert spent(*entries) == PureDP(3)


def test_who_may_lie_in_two_parts_pays_for_the_two_dearest():
    entries = reserved("r1", 1, ward("A", 2)), reserved("r2", 3, ward("B", 2)), reserved("r3", 5, ward("C", 2))
    assert spent(*entries) == PureDP(8)


def test_exchanging_a_person_touches_twice_as_many_parts():
    entries = reserved("r1", 1, ward("A")), reserved("r2", 3, ward("B")), reserved("r3", 5, ward("C"))
    assert spent(*entries, relation=REPLACE_ONE) == PureDP(8)


def test_partitions_and_the_rest_add_up():
    other = PartitionPart(partition="day", value="A")
    assert spent(reserved("r1", 1, ward("A")), reserved("r2", 2, other), reserved("r3", 4)) == PureDP(7)


@pytest.mark.parametrize(
    "entries",
    [
        [reserved("r", 1)],
        [people(), people()],
        [people(), reserved("r", 1), reserved("r", 1)],
        [people(), Committed(account="people", request="r", key="k", answer=1)],
        [people(), reserved("r", 1), *[Committed(account="people", request="r", key="k", answer=1)] * 2],
        [people(), reserved("r", 1, ward("A", 1)), reserved("s", 1, ward("B", 2))],
    ],
    ids=[
        "not open",
        "opened twice",
        "reserved twice",
        "never reserved",
        "committed twice",
        "declared anew",
    ],
)
def test_a_story_that_cannot_be_is_refused(entries):
    replay = Replay()
    for entry in entries[:-1]:
        replay.apply(entry)
    with pytest.raises(ParameterError):
        replay.apply(entries[-1])


def test_a_record_that_verifies_but_cannot_follow_is_corrupt_and_named():
    replay = Replay()
    for index, entry in enumerate((people(), reserved("r", 1), reserved("r", 1))):
        record = replay.chain.link(encode_entry(entry))
        if index < 2:
            replay.follow(record)
    with pytest.raises(LedgerCorruptError) as caught:
        replay.follow(record)
    assert caught.value.index == 2
    assert replay.chain.length == 2


def test_a_record_of_a_later_version_is_refused():
    text = encode_entry(people()).replace('"version":2}', '"version":5}')
    with pytest.raises(LedgerError, match="newer"):
        Replay().follow(Chain().link(text))


def golden_records() -> list[Record]:
    return [Record(**json.loads(line)) for line in GOLDEN.read_text().splitlines()]


def test_a_ledger_of_version_1_is_read_for_ever():
    replay = Replay()
    for record in golden_records():
        replay.follow(record)
    assert {name: in_words(state.spent(0), state.budget) for name, state in replay.accounts.items()} == {
        "adult": PureDP("0.8"),
        "hospital": ApproxDP("1.75", "2e-6"),
        "toys": PureDP(Fraction(1, 3)),
    }
    assert {name for name, request in replay.open_requests.items() if request.account == "hospital"} == {
        "h2",
        "h3",
        "h4",
    }


def test_an_entry_of_version_1_means_the_same_when_it_is_written_today():
    for record in golden_records():
        entry = decode_entry(record.text)
        assert decode_entry(encode_entry(entry)) == entry
