"""Many simulated devices send to a curator that runs, while its gateways are killed: nothing is lost or counted twice.

`make audit` has a million devices. What was acknowledged is compared with the database, count by count, once every
process was killed.
"""

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Lock

import httpx
import numpy as np
import pytest
from tests.meta.repository import ROOT
from tests.server.identity.databases import KINDS, location
from tests.server.test_serve import is_alive, is_ready, of_module, processes_below, until
from tests.sizes import FULL_SIZE

from sfumato.local import OptimizedUnaryEncoding, save_protocol
from sfumato.server.config import load_curator
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import Database

ORACLE = OptimizedUnaryEncoding(64, epsilon=1)
BATCHES, DEVICES = (1_000, 1_000) if FULL_SIZE else (10, 250)
KILLED_AFTER = 250 if FULL_SIZE else 5
"""Batches between kills."""
SENDERS, SECONDS = 3, 60
FILE = """
address = "127.0.0.1:0"
gateways = 2

[limits]
requests_per_minute = 1_000_000
reports_per_minute = 10_000_000

[collections.visits]
protocol = "visits.json"
public = true
"""
HOSTILE = (b"", b"1", b"\xff" * (5 + ORACLE.payload_bytes))
"""Three in each batch: each is refused alone."""


class Run:
    """A curator that runs, and what its senders heard.

    Args:
        folder: Where its files are made.
        kind: The kind of its database.
    """

    def __init__(self, folder, kind):
        save_protocol(ORACLE, folder / "visits.json")
        self.config = folder / "curator.toml"
        self.config.write_text(f'database = "{location(kind, folder)}"\n{FILE}', "utf-8")
        self._lock = Lock()
        self.day = datetime.now(UTC).date()
        self.acknowledged, self.heard_again, self.killed = {}, 0, 0
        command = [sys.executable, "-m", "sfumato", "serve", "--config", str(self.config)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
        )  # fmt: skip
        self.url = re.search(r"http://\S+", self.process.stdout.readline())[0]
        until(lambda: is_ready(self.url))

    def kill(self, processes):
        """Kill processes, as the system does, and say how many: they can finish nothing."""
        for one in processes:
            os.kill(one, signal.SIGKILL)
        return len(processes)

    def kill_all(self):
        below = processes_below(self.process.pid)
        self.kill([self.process.pid, *(one for one in below if is_alive(one))])
        self.process.communicate(timeout=SECONDS)

    def send(self, number, reports):
        """Send a batch until it is acknowledged, and every third one once more."""
        lines = b"\n".join([*(b'{"report": "%s"}' % each.to_text().encode() for each in reports), *HOSTILE])
        for _ in range(1 + (number % 3 == 0)):
            answer = self._until_it_is_heard(number, lines)
            assert (answer["accepted"], answer["refused"]) == (len(reports), len(HOSTILE))
            with self._lock:
                self.heard_again += answer["repeated"]
                self.acknowledged[number] = reports
                is_time_to_kill = answer["repeated"] is False and len(self.acknowledged) % KILLED_AFTER == 0
            if is_time_to_kill:  # while the other senders wait for answers
                self.killed += self.kill(of_module(self.process.pid, "gateway.app"))

    def _until_it_is_heard(self, number, lines):
        headers = {
            "Idempotency-Key": f"{self.day}.batch-{number}-of-these-devices",
            "Content-Type": "application/x-ndjson",
        }
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                answer = httpx.post(
                    f"{self.url}/v1/collections/visits/reports", content=lines, headers=headers, timeout=SECONDS
                )  # fmt: skip
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code == 200:
                return answer.json()
            time.sleep(0.05)
        raise TimeoutError(number)


@pytest.fixture(params=KINDS)
def run(request, tmp_path):
    started = Run(tmp_path, request.param)
    yield started
    if started.process.poll() is None:
        started.kill_all()


def test_nothing_that_was_acknowledged_is_lost_and_nothing_counts_twice(run):
    rng = np.random.default_rng(24)
    client = ORACLE.client()
    with ThreadPoolExecutor(SENDERS) as pool:
        sent = [
            pool.submit(run.send, number, client.report_many(rng.integers(0, 64, DEVICES))) for number in range(BATCHES)
        ]
        for one in sent:
            one.result()
    run.kill_all()
    assert len(run.acknowledged) == BATCHES
    assert run.heard_again >= BATCHES // 3
    assert run.killed >= 2
    expected = ORACLE.aggregator()
    for reports in run.acknowledged.values():
        expected.add(reports)
    curator = load_curator(run.config)
    database = Database(curator.database)
    counted = Collections(database).counted(curator.collections["visits"])
    database.close()
    assert len(counted) == len(expected) == BATCHES * DEVICES
    assert counted.counts.tolist() == expected.counts.tolist()
