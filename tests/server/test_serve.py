"""The supervisor keeps its processes alive, ends all of them, and none of them outlives it, however it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest
from tests.server.work.curators import curator_file, is_alive, name_of, processes_below, until

from sfumato.errors import ParameterError
from sfumato.server import serve
from sfumato.server.serve import Kept, Supervisor, end_with_parent

SECONDS = 60


# One process


def kept(script, *descriptors):
    """A process of a script that is kept."""
    return Kept("a test", (sys.executable, "-c", script, *map(str, descriptors)), descriptors)


@contextmanager
def looked_after(one, *, patience=SECONDS):
    """Look after it until the test is over; then it has so many seconds to end."""
    over = Event()

    def look():
        while not over.wait(0.01):
            one.look()

    thread = Thread(target=look)
    thread.start()
    try:
        yield one
    finally:
        over.set()
        thread.join()
        one.end()
        one.wait(patience)


def test_what_ends_is_started_again_ever_less_often(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "_LONGEST_PAUSE", 0.4)
    file = tmp_path / "starts"
    with looked_after(kept(f"import time; open({str(file)!r}, 'a').write(f'{{time.time()}}\\n')")):
        until(lambda: file.exists() and len(file.read_text().splitlines()) >= 4)
    starts = [float(line) for line in file.read_text().splitlines()]
    pauses = [later - earlier for earlier, later in pairwise(starts)]
    assert pauses[0] >= 0.2
    assert all(pause >= 0.4 for pause in pauses[1:])


def test_what_lived_long_is_started_again_soon(monkeypatch):
    monkeypatch.setattr(serve, "_STEADY", 0.0)
    monkeypatch.setattr(serve, "_LONGEST_PAUSE", 1_000)
    with looked_after(kept("import time; time.sleep(100)")) as one:
        for _ in range(3):
            first = until(lambda: one.process_id)
            os.kill(first, signal.SIGKILL)
            until(lambda first=first: one.process_id not in {None, first})


def test_a_machine_without_room_for_a_process_ends_nothing(monkeypatch):
    def no_room(*_, **__):
        raise BlockingIOError(11, "no room")

    with monkeypatch.context() as full:
        full.setattr(serve.subprocess, "Popen", no_room)
        full.setattr(serve, "_LONGEST_PAUSE", 0.0)
        one = kept("import time; time.sleep(100)")
        one.look()
        assert one.process_id is None
    one.look()
    assert is_alive(one.process_id)
    one.end()
    one.wait(SECONDS)


def test_what_does_not_end_is_made_to():
    one = kept(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(99)"
    )
    one.look()
    time.sleep(0.3)
    one.end()
    one.wait(0.1)
    assert not is_alive(one.process_id)


def test_a_process_inherits_what_it_is_given_and_nothing_else(tmp_path):
    read, write = os.pipe()
    os.set_inheritable(write, True)
    file = tmp_path / "open"
    listing = f"import os; text = ' '.join(sorted(os.listdir('/proc/self/fd'))); open({str(file)!r}, 'w').write(text)"
    one = kept(listing, read)
    one.look()
    until(lambda: not is_alive(one.process_id))
    one.wait(SECONDS)
    found = set(file.read_text().split())
    assert str(read) in found
    assert str(write) not in found
    os.close(read)
    os.close(write)


# A successor

READY = "import os, sys, time; os.write(int(sys.argv[-1]), b'2.0\\n') if sys.argv[1:] else None; time.sleep(100)"


def test_a_successor_takes_the_place_once_it_is_ready(tmp_path):
    file = tmp_path / "ready"
    waiting = f"import pathlib, time\nwhile not pathlib.Path({str(file)!r}).exists(): time.sleep(0.01)\n"
    with looked_after(kept(f"import sys\nif sys.argv[1:]:\n  exec({waiting!r})\n{READY}")) as one:
        first = until(lambda: one.process_id)
        one.change()
        time.sleep(0.2)
        assert (one.process_id, one.is_changing) == (first, True)
        file.touch()
        until(lambda: one.process_id != first)
        until(lambda: not one.is_changing)
        assert not is_alive(first)
        assert is_alive(one.process_id)
        assert one.version == "2.0"


@pytest.mark.parametrize("script", ["import sys; sys.argv[1:] and sys.exit(1)", "pass"], ids=["ends", "is silent"])
def test_whoever_has_no_successor_stays(script, monkeypatch):
    monkeypatch.setattr(serve, "_SECONDS_TO_START", 0.5)
    with looked_after(kept(f"{script}; import time; time.sleep(100)")) as one:
        first = until(lambda: one.process_id)
        one.change()
        until(lambda: not one.is_changing)
        assert one.process_id == first
        assert is_alive(first)


def test_who_does_not_leave_for_a_successor_is_made_to(monkeypatch):
    monkeypatch.setattr(serve, "_SECONDS_TO_END", 0.2)
    one = kept(f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {READY}")
    with looked_after(one, patience=0.2):
        first = until(lambda: one.process_id)
        time.sleep(0.2)
        one.change()
        until(lambda: one.process_id != first)
        until(lambda: not is_alive(first))


def test_who_is_told_ever_again_to_renew_all_still_replaces_each(tmp_path):
    supervisor = Supervisor(curator_file(tmp_path), only="gateways")
    supervisor.gateways = [kept(READY), kept(READY)]
    ended, renewed = Event(), Event()
    thread = Thread(target=lambda: supervisor.run(ended=ended, renewed=renewed))
    thread.start()
    try:
        first = until(lambda: supervisor.gateways[1].process_id and [one.process_id for one in supervisor.gateways])

        def storm():
            renewed.set()
            assert sum(one.is_changing for one in supervisor.gateways) <= 1
            return all(one.process_id not in first for one in supervisor.gateways)

        until(storm)
    finally:
        ended.set()
        thread.join()


def test_all_end_with_their_successors():
    one = kept("import time; time.sleep(100)")
    one.look()
    one.change()
    both = one.process_id, one._next.process.pid
    one.end()
    one.wait(SECONDS)
    assert not any(map(is_alive, both))


def test_the_end_of_a_parent_is_heard():
    read, write = os.pipe()
    ended, before = Event(), signal.getsignal(signal.SIGHUP)
    try:
        end_with_parent(read, ended.set)
        os.kill(os.getpid(), signal.SIGHUP)  # which is for the parent alone
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not ended.wait(0.05)
    assert not os.get_inheritable(read)
    os.close(write)
    assert ended.wait(SECONDS)
    os.close(read)


# All of them


class Served:
    """A supervisor with its processes, for several tests; one that a test has ended is started anew for the next.

    Args:
        folder: Where its files are made.
    """

    def __init__(self, folder):
        self._file = curator_file(folder, top="gateways = 2")
        self.process = self.url = None

    def running(self):
        """Its process, once everything can be asked."""
        if self.process is not None and self.process.poll() is not None:
            self.end()
        if self.process is None:
            command = [sys.executable, "-m", "sfumato", "serve", "--config", str(self._file)]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.url = re.search(r"http://\S+", self.process.stdout.readline())[0]
        until(lambda: is_ready(self.url))
        return self.process

    def end(self):
        if self.process is not None:
            below = processes_below(self.process.pid)
            self.process.terminate()
            self.process.communicate(timeout=SECONDS)
            self.process = None
            for one in below:
                if is_alive(one):
                    os.kill(one, signal.SIGKILL)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    served = Served(tmp_path_factory.mktemp("curator"))
    yield served
    served.end()


def is_ready(url):
    try:
        return httpx.get(f"{url}/v1/ready", timeout=SECONDS).status_code == 200
    except httpx.TransportError:
        return False


def of_module(process_id, module):
    """The processes below one that run a module."""
    return {one for one in processes_below(process_id) if module in name_of(one)}


def test_only_gateways_have_the_socket_on_which_clients_connect(served):
    process = served.running()
    port = f"{int(served.url.rpartition(':')[2]):04X}"
    line = next(line for line in Path("/proc/net/tcp").read_text().splitlines() if f"0100007F:{port} 00000000" in line)
    listening = f"socket:[{line.split()[9]}]"
    having = {one for one in processes_below(process.pid) if listening in files_of(one)}
    assert having == of_module(process.pid, "gateway.app")
    assert len(having) == 2


def test_gateways_load_no_engine(served):
    process = served.running()
    gateways, workers = (of_module(process.pid, module) for module in ("gateway.app", "work.worker"))
    assert (len(gateways), len(workers)) == (2, 1)
    for one in (process.pid, *gateways, *workers):
        assert not re.search(r"duckdb|libarrow", Path(f"/proc/{one}/maps").read_text())


@pytest.mark.parametrize("module", ["gateway.app", "work.worker"])
def test_who_is_killed_is_started_again(served, module):
    process = served.running()
    before = of_module(process.pid, module)
    below = set().union(*map(processes_below, before))
    for one in before:
        os.kill(one, signal.SIGKILL)
    until(lambda: not any(map(is_alive, below)))
    until(lambda: len(of_module(process.pid, module) - before) == len(before))
    until(lambda: is_ready(served.url))


def test_all_end_when_it_is_told_to(served):
    process = served.running()
    left = processes_below(process.pid)
    assert len(of_module(process.pid, "gateway.app")) == 2
    process.terminate()
    assert process.wait(SECONDS) == 0
    until(lambda: not any(map(is_alive, left)))


def test_all_end_when_it_is_killed(served):
    process = served.running()
    left = processes_below(process.pid)
    assert len(left) >= 6
    process.kill()
    process.wait()
    until(lambda: not any(map(is_alive, left)))
    assert not is_ready(served.url)


def files_of(process_id):
    """What the descriptors of a process are."""
    found = set()
    for descriptor in Path(f"/proc/{process_id}/fd").iterdir():
        try:
            found.add(str(descriptor.readlink()))
        except OSError:
            continue
    return found


# The address


def test_an_address_in_use_is_refused(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        file = curator_file(tmp_path)
        file.write_text(file.read_text().replace("127.0.0.1:0", f"127.0.0.1:{taken.getsockname()[1]}"))
        with pytest.raises(ParameterError, match="must be free"):
            Supervisor(file)


def test_an_address_of_another_machine_is_refused(tmp_path):
    file = curator_file(tmp_path, top="insecure = true")
    file.write_text(file.read_text().replace("127.0.0.1:0", "192.0.2.1:0"))
    with pytest.raises(ParameterError, match="one of this machine"):
        Supervisor(file)


def test_a_free_port_is_in_the_address(tmp_path):
    supervisor = Supervisor(curator_file(tmp_path))
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+", supervisor.url)
    ended = Event()
    ended.set()
    supervisor.run(ended=ended)
    assert [one.process_id for one in (supervisor.worker, *supervisor.gateways)].count(None) == 0
