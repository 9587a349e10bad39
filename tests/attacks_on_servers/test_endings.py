"""Servers end and are renewed while many ask: what was charged is answered, or stays charged once."""

import os
import shutil
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from itertools import count
from pathlib import Path
from threading import Event

import httpx
import pytest
from tests.attacks_on_servers.curators import PATIENCE, Curator, write_curator
from tests.attacks_on_servers.racing import EPSILON, question
from tests.meta.repository import ROOT
from tests.server.work.curators import is_alive, name_of, processes_below, program, until
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.ledger.core.entry import Committed, Reserved

ASKERS = 12 if FULL_SIZE else 3
RENEWED = 5 * PATIENCE
"""Seconds for several processes that start one after the other, on a machine that does other things."""
NUMBERS = count(1)
PACKAGE = ROOT / "src" / "sfumato"


class Again(Curator):
    """A curator that is started again on the same files, with the people that it has."""

    def __init__(self, before):
        super().__init__(before.config)
        self._people = before.admin, before.owner

    def _first_people(self):
        return self._people


class Installed(Curator):
    """A curator that runs from a copy of the package, which can become another version."""

    def __init__(self, config):
        super().__init__(config)
        self._packages = config.parent / "installed"
        shutil.copytree(PACKAGE, self._packages / "sfumato")

    def install(self, version):
        """Replace the package, as a package manager does under a server that runs."""
        (self._packages / "sfumato" / "version.py").write_text(f'__version__ = "{version}"\n')

    def _environment(self):
        return super()._environment() | {"PYTHONPATH": str(self._packages)}


def programs(curator, module):
    """The processes of a module, by number."""
    return {one for one in processes_below(curator.process.pid) if f"-m {module} " in name_of(one)}


def asked(client, number):
    """The status of a response; None if the connection was lost. The number is the idempotency key."""
    try:
        body, headers = question(number), {"Idempotency-Key": str(number)}
        return client.post("/datasets/people/ask", json=body, headers=headers).status_code
    except httpx.TransportError:
        return None


def released(client, number):
    """200, if an answer came; asked by this package's client, which sends again what is lost or too early."""
    client.query(question(number)["sql"]).release(epsilon=EPSILON, idempotency_key=str(number))
    return 200


@contextmanager
def load(curator, person, *, ask_once=asked):
    """People ask without a pause, each something new; gives what they hear, by number."""
    heard, is_over = {}, Event()

    def ask():
        with person.client(curator.url) if ask_once is asked else sf.connect(curator.url, token=person.token) as client:
            while not is_over.is_set():
                number = next(NUMBERS)
                heard[number] = ask_once(client, number)
                if heard[number] is None:
                    time.sleep(0.05)

    with ThreadPoolExecutor(ASKERS) as threads:
        running = [threads.submit(ask) for _ in range(ASKERS)]
        try:
            until(lambda: len(heard) > ASKERS)
            yield heard
        finally:
            is_over.set()
    for one in running:
        one.result()


def assert_each_is_charged_once(curator, heard):
    """Whoever saw an answer was charged once for it, it is kept, and all that is spent was charged to somebody."""
    with curator.ledger() as ledger:
        ledger.verify()
        entries = list(ledger.entries())
        spent = ledger.spent("people").epsilon
    reserved = {entry.idempotency_key: entry.request for entry in entries if isinstance(entry, Reserved)}
    charged = Counter(entry.idempotency_key for entry in entries if isinstance(entry, Reserved))
    kept = {entry.request for entry in entries if isinstance(entry, Committed)}
    assert set(charged.values()) == {1}
    assert {number for number, status in heard.items() if status == 200} <= {int(key.split(":")[1]) for key in charged}
    assert all(reserved[f"ann:{number}"] in kept for number, status in heard.items() if status == 200)
    assert spent == Fraction(len(charged)) * EPSILON
    return charged


def an_upgrade_of_gateways_and_worker_fails_no_query(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.client.calls.TRIES", 60)  # on a machine that does other things it takes longer
    with Installed(write_curator(tmp_path, gateways=2)) as curator:
        curator.account("ann", 500)
        ann = curator.analyst("people/ann", "ann")
        before = programs(curator, "sfumato.server.gateway.app") | programs(curator, "sfumato.server.work.worker")
        with load(curator, ann, ask_once=released) as heard:
            curator.install("0.2.0")
            curator.process.send_signal(signal.SIGHUP)
            until(lambda: not any(map(is_alive, before)), seconds=RENEWED)
            curator.wait_until_ready()
            seen = len(heard)
            until(lambda: len(heard) > seen + ASKERS)
        assert httpx.get(f"{curator.url}/v1/health").json()["version"] == "0.2.0"
        assert set(heard.values()) == {200}
        assert_each_is_charged_once(curator, heard)


def gateways_are_replaced_one_after_the_other_and_nobody_is_refused(curator, ann):
    gateways, workers = programs(curator, "sfumato.server.gateway.app"), programs(curator, "sfumato.server.work.worker")
    with load(curator, ann) as heard:
        curator.process.send_signal(signal.SIGHUP)
        until(lambda: not any(map(is_alive, gateways)), seconds=RENEWED)
        seen = len(heard)
        until(lambda: len(heard) > seen + ASKERS)
    after = programs(curator, "sfumato.server.gateway.app")
    assert (len(after), after & gateways) == (2, set())
    assert programs(curator, "sfumato.server.work.worker") == workers
    # A connection that nobody uses may be closed in the moment in which a client sends on it: HTTP/1.1 [RFC9112].
    statuses = Counter(heard.values())
    assert set(statuses) <= {200, None}, curator.log
    assert statuses[None] <= 2 * ASKERS
    with ann.client(curator.url) as client:
        heard |= {number: asked(client, number) for number, status in list(heard.items()) if status is None}
    assert set(heard.values()) == {200}
    assert_each_is_charged_once(curator, heard)


def a_worker_whose_files_changed_is_replaced_last_and_no_charge_is_lost(curator, ann):
    workers = programs(curator, "sfumato.server.work.worker")
    with load(curator, ann) as heard:
        content = curator.config.read_text()
        curator.config.write_text(content.replace("declared_rows = 1000", "declared_rows = 1001"))
        curator.process.send_signal(signal.SIGHUP)
        until(lambda: not any(map(is_alive, workers)), seconds=RENEWED)
        curator.wait_until_ready()
        seen = len(heard)
        until(lambda: len(heard) > seen + ASKERS)
    assert set(heard.values()) <= {200, 503, None}, curator.log
    with ann.client(curator.url) as client:
        again = {number: asked(client, number) for number, status in heard.items() if status != 200}
    assert set(again.values()) <= {200}
    assert set(map(str, heard)) == {key.split(":")[1] for key in assert_each_is_charged_once(curator, heard | again)}


def a_file_in_error_replaces_nothing(curator, ann):
    before = processes_below(curator.process.pid)
    curator.config.write_text(curator.config.read_text() + "\nnonsense = 1\n")
    os.killpg(curator.process.pid, signal.SIGHUP)  # as a terminal does that is closed: the others ignore it
    until(lambda: "nothing is replaced" in curator.log)
    time.sleep(0.3)
    assert {one for one in before if "gateway" in name_of(one) or "worker" in name_of(one)} <= processes_below(
        curator.process.pid
    )
    with ann.client(curator.url) as client:
        assert asked(client, next(NUMBERS)) == 200


def an_end_under_load_answers_or_charges_what_is_under_way(curator, ann):
    with load(curator, ann) as heard:
        left = processes_below(curator.process.pid)
        curator.process.send_signal(signal.SIGTERM)
        curator.process.wait(PATIENCE)
    until(lambda: not any(map(is_alive, left)))
    assert 200 in heard.values()
    assert set(heard.values()) <= {200, 503, None}, curator.log
    charged = assert_each_is_charged_once(curator, heard)
    if not FULL_SIZE:
        return
    with Again(curator) as later:
        with ann.client(later.url) as client:
            again = {number: asked(client, number) for number in map(int, (key.split(":")[1] for key in charged))}
        assert set(again.values()) == {200}
        assert assert_each_is_charged_once(later, again) == charged


def no_process_leaves_a_core_dump_or_shows_the_key(curator, _):
    key = (curator.folder / "ledger.db.key").read_bytes().strip()
    for one in {curator.process.pid, *processes_below(curator.process.pid)}:
        limits = Path(f"/proc/{one}/limits").read_text().splitlines()
        (line,) = [line for line in limits if line.startswith("Max core file size")]
        assert line.split()[4:6] == ["0", "0"], name_of(one)
        assert not any(key in Path(f"/proc/{one}/{shown}").read_bytes() for shown in ("cmdline", "environ"))
    assert os.getpid() not in processes_below(curator.process.pid)


def worker_and_gateways_that_are_started_apart_are_one_server(tmp_path, _):
    config = write_curator(tmp_path)
    alone = program("sfumato", "serve", "--config", config, "--only", "worker")
    with alone as worker, Curator(config, program="tests.attacks_on_servers.serving_gateways") as curator:
        curator.account("ann", 500)
        with curator.analyst("people/ann", "ann").client(curator.url) as client:
            assert asked(client, next(NUMBERS)) == 200
        for one, is_worker in ((worker.pid, True), (curator.process.pid, False)):
            started = " ".join(name_of(below) for below in processes_below(one))
            assert ("sfumato.server.work.worker" in started) is is_worker
            assert ("sfumato.server.gateway.app" in started) is not is_worker


SCENES = (
    gateways_are_replaced_one_after_the_other_and_nobody_is_refused,
    a_worker_whose_files_changed_is_replaced_last_and_no_charge_is_lost, a_file_in_error_replaces_nothing,
    an_end_under_load_answers_or_charges_what_is_under_way, no_process_leaves_a_core_dump_or_shows_the_key,
)  # fmt: skip
"""Each takes a server of its own, and seconds of a processor: `make test` plays one, and `make audit` all."""


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_server_ends_and_is_renewed(scene, tmp_path):
    with Curator(write_curator(tmp_path, gateways=2)) as curator:
        curator.account("ann", 500)
        scene(curator, curator.analyst("people/ann", "ann"))


@pytest.mark.parametrize(
    "scene",
    [an_upgrade_of_gateways_and_worker_fails_no_query, worker_and_gateways_that_are_started_apart_are_one_server],
    ids=lambda scene: scene.__name__,
)
def test_parts_of_a_server_begin_and_change(scene, tmp_path, monkeypatch):
    scene(tmp_path, monkeypatch)
