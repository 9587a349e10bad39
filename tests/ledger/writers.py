"""Processes that write to a ledger without an end, or only begin one."""

from dataclasses import replace
from itertools import count

from tests.ledger.accounts import people
from tests.ledger.killing import CHARGE, NOISE

from sfumato.ledger.keeping.checkpoint_files import slots_in, write_beside


def maker(home, connection, account):
    """Make a ledger, or find it made, and open an account in it; tell the name of its key."""
    with home.opened() as ledger:
        ledger.open_account(replace(people(), account=account))
        connection.send(ledger.key.name)


def endless(home, connection, name):
    """Reserve, commit and tell, until killed."""
    with home.opened() as ledger:
        for number in count():
            key = f"{name} {number}"
            reservation = ledger.reserve("project", event=NOISE, charge=CHARGE, question=key)
            ledger.commit(reservation, key=key, answer=number)
            connection.send((key, number))


def holding(home, connection):
    """Take a transaction, tell, and keep it until told to let go."""
    with home.opened() as ledger:
        ledger.open_account(people())
        with ledger._store.transaction():
            connection.send(True)
            connection.recv()


def in_slots(path, connection):
    """Write a file of slots by turns, until killed."""
    for number in count(1):
        content = path.read_bytes()
        last = max(slots_in(content), key=lambda slot: int(slot.text.split()[0]))
        assert write_beside(path, content, last, f"{number} " + "x" * 9_000)
        if number == 1:
            connection.send(True)
