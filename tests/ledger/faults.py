"""What goes wrong around a ledger, and a ledger to which it happens."""

import os
import resource
import sqlite3
from contextlib import contextmanager

from tests.ledger.accounts import TENTH, people

from sfumato.errors import SfumatoError
from sfumato.ledger.core.entry import Reserved
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.core.store import StoreBatch
from sfumato.ledger.keeping.seals import Seal, encode_seal
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP

NOBODY = 65_534


def ask(ledger, key, epsilon="0.1", account="people"):
    """Reserve, under a key by which one can ask again."""
    asked = Asked(principal="ann", idempotency_key=key, body=f"a hash of {key}")
    return ledger.reserve(account, event=PureEvent(epsilon), charge=PureDP(epsilon), question=key, asked=asked)


def answer(ledger, key, account="people"):
    """Reserve, and commit an answer."""
    ledger.commit(ask(ledger, key, account=account), key=key, answer=f"the answer to {key}")


def filled(home, count=3, budget="1"):
    """A ledger with so many answers, each made since it was opened anew; it is closed."""
    for number in range(count):
        with home.opened() as ledger:
            ledger.open_account(people(PureDP(budget)))
            answer(ledger, f"question {number}")


def charges(ledger):
    """How many reservations there are, which is what was spent."""
    count = sum(isinstance(entry, Reserved) for entry in ledger.entries())
    assert ledger.spent("people") == PureDP(count * TENTH)
    return count


def appended(ledger, text):
    """What somebody writes who has the store and its key, and follows the chain."""
    with ledger._store.transaction() as transaction:
        chain = transaction.end().chain
        record = chain.link(text)
        seal = Seal(chain=chain.follow(record), index=ledger._follower.seal.index)
        transaction.append(StoreBatch(records=(record,), seal=encode_seal(seal, ledger.key)))


def told(action):
    """The type and the text of the error of an action; None if it has none."""
    try:
        action()
    except SfumatoError as error:
        return type(error).__name__, str(error)
    return None


@contextmanager
def full_disk():
    """No file of this process grows, or is written at all."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def on_a_full_disk(home, connection):
    """The work of a process: everything that writes, while the disk is full and once there is room again."""
    with home.opened() as ledger:
        first = ask(ledger, "first")
        with full_disk():
            connection.send(told(lambda: ask(ledger, "second")))
            connection.send(told(lambda: ledger.commit(first, key="first", answer=1)))
            connection.send(told(lambda: _attach(ledger)))
            connection.send(told(ledger.checkpoint))
        ledger.commit(first, key="first", answer=1)
        answer(ledger, "second")
        _attach(ledger)
        ledger.checkpoint()


def _attach(ledger):
    with ledger.attachments.writing() as path:
        path.write_bytes(b"x" * 10_000)


def as_nobody(home, connection):
    """The work of a process: spend, as somebody who is not almighty."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)

    def spend():
        with home.opened() as ledger:
            ask(ledger, "as nobody")

    connection.send(told(spend))


class FailingConnection:
    """A connection to SQLite whose COMMIT fails like a disk that does not sync.

    Args:
        connection: The real one.
        is_kept: Whether what was written is on the disk all the same.
    """

    def __init__(self, connection, *, is_kept):
        self._connection, self._is_kept = connection, is_kept

    def execute(self, statement, *parameters):
        if statement == "COMMIT":
            if self._is_kept:
                self._connection.execute(statement)
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
            raise error
        return self._connection.execute(statement, *parameters)

    def __getattr__(self, name):
        return getattr(self._connection, name)
