"""Room, the user, swap, and which versions run: of real processes, and of made-up machines."""

import os
import resource
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from tests.server.work.curators import curator_file, program, until

from sfumato.server.config import load_curator
from sfumato.server.operations import machine
from sfumato.server.operations.findings import Level
from sfumato.server.operations.machine import examine_machine, examine_processes, gateway_version, worker_version
from sfumato.version import __version__


class Usage(NamedTuple):
    total: int
    used: int
    free: int


GIB = 2**30


@pytest.fixture
def curator(tmp_path):
    return load_curator(curator_file(tmp_path))


def levels(findings):
    return {one.subject: one.level for one in findings}


@pytest.mark.parametrize(
    ("total", "free", "level"),
    [
        (100 * GIB, 50 * GIB, Level.FINE), (100 * GIB, 9 * GIB, Level.WARNING), (100 * GIB, GIB, Level.FAILURE),
        (2 * GIB, GIB - 1, Level.FAILURE), (1000 * GIB, 21 * GIB, Level.WARNING),
    ],
)  # fmt: skip
def test_a_disk_without_room_is_told(curator, monkeypatch, total, free, level):
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: Usage(total, total - free, free))
    found = {subject: one for subject, one in levels(examine_machine(curator)).items() if subject.startswith("room at")}
    assert list(found.values()) == [level]


@pytest.mark.parametrize(("user", "is_told"), [(0, True), (1000, False)])
def test_a_server_of_root_is_warned_of(curator, monkeypatch, user, is_told):
    monkeypatch.setattr(machine.os, "geteuid", lambda: user)
    assert ("user" in levels(examine_machine(curator))) is is_told


def test_swap_and_temporary_files_on_a_disk_are_told(curator, monkeypatch):
    mounts = ["/dev/sda / ext4 rw 0 0", "x /tmp tmpfs rw 0 0"]
    lines = {"/proc/swaps": ["Filename Type", "/swap file"], "/proc/mounts": mounts}
    monkeypatch.setattr(machine, "_lines", lambda path: lines.get(str(path), []))
    monkeypatch.setattr(machine.tempfile, "gettempdir", lambda: "/var/tmp")  # noqa: S108 # nothing is written there
    found = levels(examine_machine(curator))
    assert (found["swap"], found["/var/tmp"]) == (Level.ADVICE, Level.ADVICE)  # noqa: S108 # as above
    lines["/proc/swaps"] = ["Filename Type"]
    monkeypatch.setattr(machine.tempfile, "gettempdir", lambda: "/tmp/x")  # noqa: S108 # as above
    assert not {"swap", "/tmp/x"} & set(levels(examine_machine(curator)))  # noqa: S108 # as above


def test_what_does_not_run_has_no_version(curator):
    assert (worker_version(curator), gateway_version(curator)) == (None, None)
    assert levels(examine_processes(curator)) == {"worker": Level.ADVICE, "gateway": Level.ADVICE}


def test_a_worker_that_runs_says_its_version_and_leaves_no_core_dumps(tmp_path):
    file = curator_file(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_CORE)
    with program("sfumato.server.work.worker", file) as process:
        curator = load_curator(file)
        until(lambda: worker_version(curator) is not None)
        assert worker_version(curator) == __version__
        found = levels(examine_processes(curator))
        assert (found["worker"], found["core dumps"]) == (Level.FINE, Level.FINE)
        assert "Max core file size        0 " in Path(f"/proc/{process.pid}/limits").read_text()
    assert resource.getrlimit(resource.RLIMIT_CORE) == before


def test_processes_of_another_version_or_with_core_dumps_are_told(curator, monkeypatch):
    monkeypatch.setattr(machine, "worker_version", lambda _: "0.0.1")
    monkeypatch.setattr(machine, "gateway_version", lambda _: "0.0.1")
    monkeypatch.setattr(
        machine, "_lines", lambda _: ["Max core file size        unlimited            unlimited            bytes"]
    )
    (curator.state / "worker.lock").write_text(f"{os.getpid()} on here")
    found = levels(examine_processes(curator))
    assert found == {"worker": Level.WARNING, "gateway": Level.WARNING, "core dumps": Level.FAILURE}


@contextmanager
def answering(content):
    """A server of HTTP that says one thing."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(("content", "version"), [(b'{"version": "9"}', "9"), (b"{}", "unknown"), (b"nonsense", None)])
def test_the_version_of_a_gateway_is_read_from_its_health(curator, content, version, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # which nobody asks
    with answering(content) as port:
        curator.port = port
        assert gateway_version(curator) == version
