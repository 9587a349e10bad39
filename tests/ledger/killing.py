"""A process that reserves, executes, stores, commits and sends, and is killed at a point on this way."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from threading import Lock
from typing import NamedTuple
from unittest.mock import patch

from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.stores.transactions import OpenTransaction
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

POINTS = (
    "before it reserves",
    "within the transaction that reserves",
    "before it executes",
    "after it executed",
    "while it stores a file",
    "within the transaction that commits",
    "before it sends",
    "while it sends",
)
"""Where a process is killed; within a transaction is after the append and before the end."""

CHARGED, COMMITTED = POINTS.index("before it executes"), POINTS.index("before it sends")
"""From which point on a question is charged, and has its answer."""

NOISE, CHARGE = GaussianEvent(10), ApproxDP("0.6", "1e-6")
_KINDS = {
    "within the transaction that reserves": '"type":"Reserved"',
    "within the transaction that commits": '"type":"Committed"',
}


def open_accounts(ledger):
    """A project, and a dataset above it in another measure."""
    facts = {"neighboring_relation": ADD_OR_REMOVE_ONE, "privacy_unit": "each row"}
    ledger.open_account(Opened(account="dataset", budget=ZCDP(1000), **facts))
    ledger.open_account(Opened(account="project", budget=ApproxDP(1000, "0.1"), parents=("dataset",), **facts))


class Fuse(NamedTuple):
    """Where this process ends, and how many times it passes there before."""

    point: str | None
    passes: "count[int]"

    def at(self, point):
        """Be killed without a chance to tidy up, if this is where and when."""
        if point == self.point and next(self.passes) == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def fuse(point, survived):
    return Fuse(point, count(-survived))


def curator(home, keys, path, told, threads):
    """The work of the process: answer questions under these keys, and send what was asked for to a file."""
    burning = fuse(*told)
    channel = Channel(path, burning)
    with home.opened() as ledger, _within_turns(burning), ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(answer, ledger, key, channel, burning) for key in keys]:
            done.result()


class Channel:
    """A file of lines, which stands for the wire to those who ask."""

    def __init__(self, path, burning):
        self._file, self._lock, self._fuse = path.open("xb", buffering=0), Lock(), burning

    def send(self, key, shown):
        line = json.dumps([key, shown]).encode() + b"\n"
        with self._lock:
            self._file.write(line[: len(line) // 2])
            self._fuse.at("while it sends")
            self._file.write(line[len(line) // 2 :])


def answer(ledger, key, channel, burning):
    """Answer one question as a session does: nothing is sent that was not committed."""
    asked = Asked(principal="ann", idempotency_key=key, body=f"a hash of {key}")
    burning.at("before it reserves")
    reservation = ledger.reserve("project", event=NOISE, charge=CHARGE, question=key, asked=asked)
    if not reservation.is_answered:
        burning.at("before it executes")
        noisy = random_bytes(8).hex()  # two executions never have the same noise
        burning.at("after it executed")
        ledger.commit(reservation, key=key, answer={"noisy": noisy, "file": _stored(ledger, noisy, burning)})
    burning.at("before it sends")
    channel.send(key, ledger.answer_of(reservation))


def _stored(ledger, noisy, burning):
    with ledger.attachments.writing() as path:
        path.write_text(noisy[:8])
        burning.at("while it stores a file")
        path.write_text(noisy)
    attachment = ledger.attachments.attached(path)
    return [attachment.name, attachment.sha256]


@contextmanager
def _within_turns(burning):
    append = OpenTransaction.append

    def appended(transaction, batch):
        append(transaction, batch)
        for point, kind in _KINDS.items():
            if any(kind in record.text for record in batch.records):
                burning.at(point)

    with patch.object(OpenTransaction, "append", appended):
        yield


def sent(path):
    """What somebody has: the answers that came whole, and the beginning of one that did not."""
    *lines, rest = path.read_bytes().split(b"\n")
    return [tuple(json.loads(line)) for line in lines], rest
