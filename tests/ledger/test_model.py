"""Random programs on the ledger, with crashes and failing disks, against a model that adds up plain lists.

SFUMATO_FULL_SIZE plays more and longer ones.
"""

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.ledger.model import BUDGETS, PARTS_PER_UNIT, RELEASES, Model
from tests.ledger.stories import KEY, HandClock, account, held
from tests.sizes import FULL_SIZE

from sfumato.errors import LedgerError, ReservationError, SfumatoError
from sfumato.ledger import writes as module
from sfumato.ledger.core.entry import PartitionPart
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.noting import CheckpointNotes
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import NeighboringRelation

FAULTS = st.sampled_from([*[None] * 6, "before", "after"])
KEYS = st.sampled_from("12")
BODIES = st.sampled_from("AAB")
WINDOWS = (None, None, RollingWindow(2), CalendarWindow("month"))
PARTS = st.none() | st.tuples(st.sampled_from(sorted(PARTS_PER_UNIT)), st.sampled_from("ABC"))


class Failing(MemoryStore):
    """A store whose disk fails when told, before or after it kept what was appended."""

    fault = None

    @contextmanager
    def transaction(self):
        with super().transaction() as transaction:
            yield transaction
            self.fail("before")
        self.fail("after")

    def fail(self, when):
        if self.fault == when:
            self.fault = None
            raise LedgerError("disk", "failed")


def attempted(act):
    """What comes of it, or why not."""
    try:
        return act()
    except SfumatoError as error:
        return error


class Programs(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder, self.notings = TemporaryDirectory(), []
        self.often = mock.patch.object(module, "SNAPSHOT_EVERY", 4)
        self.often.start()

    def teardown(self):
        self.often.stop()
        for noting in self.notings:
            noting.finish()
        self.folder.cleanup()

    @initialize(
        relation=st.sampled_from(NeighboringRelation),
        kind=st.sampled_from(sorted(BUDGETS)),
        window=st.sampled_from(WINDOWS),
    )
    def begin(self, relation, kind, window):
        self.store, self.clock = Failing(), HandClock()
        self.now = self.last = self.clock.at
        self.relation, self.version = relation, 0
        self.model = Model(2 if relation is NeighboringRelation.REPLACE_ONE else 1)
        self.pending, self.answers, self.asked = {}, {}, {}
        self.restart()
        self.open_account("dataset", kind, (), window)

    def restart(self):
        """A new process over the same store; what the one before had in its memory is gone."""
        noting = CheckpointNotes(CheckpointFile(Path(self.folder.name) / "note"))
        self.notings.append(noting)
        self.ledger = Ledger(self.store, key=KEY, clock=self.clock, checkpoint=noting)
        self.now = max(self.clock.at, self.last)
        self.pending.clear()

    def open_account(self, name, kind, parents, window):
        self.ledger.open_account(self.facts(name, BUDGETS[kind][0], parents, window), tables=[held(name, "the data")])
        self.model.open(name, kind, BUDGETS[kind][0], parents or ({"dataset"} - {name}), window)
        self.last = self.now

    def facts(self, name, budget, parents, window):
        return account(name, budget, parents=tuple(parents), window=window, neighboring_relation=self.relation)

    def names(self):
        return st.sampled_from(sorted(self.model.accounts))

    def tick(self):
        self.now = max(self.now, self.clock.at)

    # Accounts

    @precondition(lambda self: len(self.model.accounts) < 6)
    @rule(data=st.data(), kind=st.sampled_from(sorted(BUDGETS)), window=st.sampled_from(WINDOWS))
    def open_below(self, data, kind, window):
        parents = data.draw(st.lists(self.names(), max_size=2, unique=True))  # none: the data itself tells
        self.open_account(f"dataset/{len(self.model.accounts)}", kind, parents, window)

    @rule(data=st.data(), which=st.integers(0, 1))
    def change_budget(self, data, which):
        name = data.draw(self.names())
        known = self.model.accounts[name]
        known.budget = BUDGETS[known.kind][which]
        self.ledger.change_budget(name, known.budget, reason="so it was decided")
        self.last = self.now

    @precondition(lambda self: len(self.model.charges) > 8)
    @rule(data=st.data())
    def close_account(self, data):
        name = data.draw(self.names())
        self.ledger.close_account(name, reason="the study is over")
        self.model.accounts[name].is_closed = True
        self.last = self.now

    @rule(data=st.data())
    def publish_a_new_version_of_the_data(self, data):
        name, self.version = data.draw(self.names()), self.version + 1
        known = self.model.accounts[name]
        before = len(self.store.read(0))
        self.ledger.open_account(
            self.facts(name, known.budget, (), known.window), tables=[held(name, "the data", f"{self.version}")]
        )
        self.last = self.now if len(self.store.read(0)) > before else self.last

    # Charges

    @rule(data=st.data(), release=st.sampled_from(sorted(RELEASES)), part=PARTS, fault=FAULTS)
    def reserve(self, data, release, part, fault):
        self.attempt(data.draw(self.names()), release, part, fault, Asked())

    @rule(
        data=st.data(),
        release=st.sampled_from(["small", "noise"]),
        key=st.sampled_from("12"),
        body=BODIES,
        fault=FAULTS,
    )
    def reserve_under_a_key(self, data, release, key, body, fault):
        name, asked = data.draw(self.names()), Asked(principal="ann", idempotency_key=key, body=body)
        if key in self.asked:
            self.retry(name, release, asked)
        else:
            self.attempt(name, release, None, fault, asked)

    def attempt(self, name, release, part, fault, asked):
        charge = self.model.charge(name, release, part, self.now)
        self.store.fault = fault
        outcome = attempted(lambda: self.ask(name, release, part, asked))
        if isinstance(outcome, SfumatoError):
            assert charge is None or (fault is not None and "failed" in str(outcome))
            self.keep(charge if fault == "after" else None, None, name, release, asked)
        else:
            assert (charge is None, fault, outcome.is_repeated) == (False, None, False)
            self.keep(charge, outcome, name, release, asked)
        self.store.fault = None

    def ask(self, name, release, part, asked):
        event, charge = RELEASES[release]
        named = part and PartitionPart(partition=part[0], value=part[1], max_parts_per_unit=PARTS_PER_UNIT[part[0]])
        return self.ledger.reserve(name, event=event, charge=charge, question=release, part=named, asked=asked)

    def keep(self, charge, reservation, name, release, asked):
        if charge is not None:
            self.model.charges.append(charge)
            self.last = self.now
            if asked.idempotency_key:
                self.asked[asked.idempotency_key] = {"what": (name, release, asked.body), "is": "open"}
        if reservation is not None:
            self.pending[reservation.request] = (reservation, f"{release} {self.version}", asked.idempotency_key)

    def retry(self, name, release, asked):
        """Whatever happened to the first one: it is charged once, and answered once."""
        known = self.asked[asked.idempotency_key]
        if known["what"] != (name, release, asked.body) or known["is"] == "abandoned":
            with pytest.raises(ReservationError):
                self.ask(name, release, None, asked)
            return
        reservation = self.ask(name, release, None, asked)
        assert reservation.is_repeated
        assert reservation.is_answered == (known["is"] == "committed")
        if reservation.is_answered:
            assert self.ledger.answer_of(reservation) == reservation.request
        else:
            self.pending[reservation.request] = (reservation, f"{release} {self.version}", asked.idempotency_key)

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), is_answered=st.sampled_from([True, True, False]))
    def end(self, data, is_answered):
        request = [*self.pending][data.draw(st.integers(0, len(self.pending) - 1))]  # names are random, places are not
        reservation, key, idempotency_key = self.pending.pop(request)
        if is_answered:
            self.ledger.commit(reservation, key=key, answer=reservation.request)
            self.answers.setdefault((reservation.account, key), reservation.request)
            self.answers.setdefault((None, key), (reservation.account, reservation.request))
        else:
            self.ledger.abandon(reservation, reason="the engine failed")
        if idempotency_key:
            self.asked[idempotency_key]["is"] = "committed" if is_answered else "abandoned"
        self.last = self.now

    @precondition(lambda self: self.answers)
    @rule(data=st.data())
    def share(self, data):
        key = data.draw(st.sampled_from(sorted(key for reader, key in self.answers if reader is None)))
        name, (source, answer) = data.draw(self.names()), self.answers[None, key]
        if (name, key) in self.answers:
            return
        release = key.split()[0]
        event, cost = RELEASES[release]
        charge = self.model.charge(name, release, None, self.now, source)
        outcome = attempted(lambda: self.ledger.share(name, key, event=event, charge=cost, own=lambda found, _: found))
        assert (charge is None) == isinstance(outcome, SfumatoError)
        if charge is not None:
            assert not outcome.is_repeated
            self.keep(charge, None, name, release, Asked())
            self.answers[name, key] = answer

    # Time, and what fails

    @rule(by=st.sampled_from([1, DAY // 2, DAY, 2 * DAY - 1, 20 * DAY, -DAY, -40 * DAY]))
    def set_the_clock(self, by):
        self.clock.at += by
        self.tick()

    @rule(notes=st.booleans())
    def crash(self, notes):
        if notes:
            self.ledger.checkpoint()
        self.restart()

    @rule()
    def verify(self):
        assert self.ledger.verify().length == len(self.store.read(0))

    @invariant()
    def agree(self):
        for name, known in self.model.accounts.items():
            for at, ask in ((self.now, self.ledger.spent), (None, self.ledger.spent_in_all)):
                epsilon, delta, rho = self.model.spent(name, self.model.charges, at)
                assert ask(name) == (ZCDP(rho) if known.kind == "rho" else guarantee(epsilon, delta))
            assert set(self.ledger.path(name)) == known.above
        for (name, key), answer in self.answers.items():
            assert name is None or self.ledger.answer(name, key) == answer


TestPrograms = pytest.mark.essential(Programs.TestCase)
TestPrograms.settings = settings(max_examples=1000 if FULL_SIZE else 60, stateful_step_count=60 if FULL_SIZE else 30)
