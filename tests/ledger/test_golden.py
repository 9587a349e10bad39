"""Ledgers of every version, as that version wrote them, are read for ever and mean what they meant."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.stories import KEY, NOON, HandClock

from sfumato.errors import LedgerError
from sfumato.ledger.core.codec import decode_entry, encode_entry
from sfumato.ledger.core.entry import Entry
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.core.store import Record, StoreBatch
from sfumato.ledger.core.windows import DAY
from sfumato.ledger.labels import label_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.rotation import rewritten
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP

FOLDER = Path(__file__).parent.parent / "golden"
ANSWER = {"n": 42, "error": 29.5, "by": [None, True, "ünï"]}


def records(version):
    lines = (FOLDER / f"ledger_v{version}.jsonl").read_text("ascii").splitlines()
    return tuple(Record(**json.loads(line)) for line in lines)


def ledger(version, *, after=0):
    """A ledger over these records, some time after the last of the newest version."""
    store = MemoryStore()
    with store.transaction() as transaction:
        transaction.append(StoreBatch(records=records(version)))
        rewritten(transaction, Replay(), KEY)
    return Ledger(store, key=KEY, clock=HandClock(NOON + 23 * DAY + after))


def test_versions_2_to_4_have_every_kind_of_entry_and_every_field_says_something():
    entries = [decode_entry(record.text) for record in (*records(2), *records(3), *records(4))]
    assert {type(entry) for entry in entries} == set(Entry.__args__)
    for kind in Entry.__args__:
        for field in kind.__dataclass_fields__:
            assert any(getattr(entry, field) for entry in entries if type(entry) is kind), (kind, field)


def test_version_2_would_be_written_the_same_today():
    for record in (*records(2), *records(3), *records(4)):
        assert encode_entry(decode_entry(record.text)) == record.text


def test_version_2_has_spent_what_it_had():
    read = ledger(2)
    assert read.accounts() == ("hospital", "station", "ann", "bob", "carl", "toys")
    assert read.path("bob") == ("bob", "station", "hospital")
    assert read.spent("ann") == ApproxDP("0.6", "1e-6")  # of this month
    assert read.spent_in_all("ann") == ApproxDP("1.4", "2e-6")
    assert read.remaining("bob") == ApproxDP("0.4", "9e-6")
    assert read.spent("toys") == ApproxDP("0.1", "1e-9")
    assert read.spent("carl") == ZCDP("0.005")
    assert Fraction("0.0199") < read.spent("hospital").rho < Fraction("0.02")
    assert [float(bound) for bound in read.spent("station").bounds] == pytest.approx([0.0399172, 0.0498248], rel=1e-5)
    assert read.is_closed("bob")
    assert read.budget("toys") == NO_GUARANTEE


def test_windows_of_version_2_go_on():
    assert ledger(2, after=DAY * 31).spent("ann") == ApproxDP(0, 0)


def test_answers_of_version_2_are_found():
    read = ledger(2)
    assert read.answer("ann", "how many?") == read.answer("bob", "how many?") == ANSWER
    assert read.answer("carl", "how many?") == ANSWER
    monday = Asked(principal="ann@example.org", idempotency_key="monday", body="ab" * 32)
    assert read.asked_before(monday).request == "a1"


def test_version_1_has_spent_what_it_had_and_goes_on():
    read = ledger(1)
    assert {name: read.spent(name) for name in read.accounts()} == {
        "adult": PureDP("0.8"),
        "hospital": ApproxDP("1.75", "2e-6"),
        "toys": PureDP(Fraction(1, 3)),
    }
    assert read.answer("adult", "how many?") == {"n": 42, "error": 29.5}
    read.reserve("adult", event=PureEvent("0.1"), charge=PureDP("0.1"), question="q")
    assert read.spent("adult") == PureDP("0.9")


def test_version_3_was_suspended_once_moved_and_grants_nothing():
    assert not ledger(3).is_suspended("people")
    assert label_of(ledger(3), "people").acknowledged == 1
    with pytest.raises(LedgerError, match=r"was moved to /srv/new\.db"):
        ledger(3).reserve("people", event=PureEvent("0.1"), charge=PureDP("0.1"), question="q")


def test_version_4_protects_people_in_one_account_and_visits_in_the_other_one_beside_it():
    read = ledger(4)
    assert {name: dict(read.units(name)) for name in read.accounts()} == {
        "people": {"visits": "pid (text)"},
        "visits": {"visits": "visit (text)"},
    }
    assert (read.beside("people"), read.beside("visits")) == (("visits",), ("people",))
    assert read.path("visits") == ("visits",)
    assert read.verify().length == 7
