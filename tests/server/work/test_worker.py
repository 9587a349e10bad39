"""The worker as real processes: strangers, kills at every moment, what is inherited, and that nothing is left."""

import os
import re
import resource
import signal
import socket
import struct
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from tests.server.work.curators import (
    CANARY,
    asking,
    curator_file,
    is_alive,
    name_of,
    processes_below,
    program,
    until,
)
from tests.sizes import FULL_SIZE

from sfumato.errors import BusyError, ParameterError, SfumatoError, TicketError, UnavailableError
from sfumato.server.config import load_curator
from sfumato.server.work import worker
from sfumato.server.work.worker import Worker

WORKER = "sfumato.server.work.worker"
PADDED = {"quantum": 0.8}
IDLE = 1_000


def opened(file, *names):
    """Wait until some datasets are open."""
    curator = load_curator(file)

    def is_open(name):
        with ExitStack() as stack:
            line = stack.enter_context(asking(file)).datasets.line(name, patience=0)
            stack.callback(line.close)
            try:
                line.enter()
            except UnavailableError:
                return False
            return True

    until(lambda: Path(curator.ledger.removeprefix("sqlite:///")).exists() and curator.socket.exists())
    for name in names or ("people",):
        until(lambda name=name: curator.declarations(name).exists())
        until(lambda name=name: is_open(name))


@contextmanager
def working(file, *names):
    """The worker of a curator, as a process of its own, and a gateway's half."""
    with program(WORKER, file) as process:
        opened(file, *names)
        with asking(file) as gateway:
            yield process, gateway


def child_of(process_id):
    """The process with the data, as its mark is locked or not: the last one that was forked."""
    (server,) = [one for one in processes_below(process_id) if "forkserver" in name_of(one) and has_forks(one)]
    return max(processes_below(server))


def has_forks(process_id):
    return bool(processes_below(process_id))


def threads_of(process_id):
    return len(list(Path(f"/proc/{process_id}/task").iterdir()))


class Asked:
    """A query that is asked in the background.

    Attributes:
        outcome: The release, or the error; empty until then.
    """

    def __init__(self, gateway, sql, **stated):
        self.outcome = []
        self._view = gateway.view()
        self._thread = Thread(target=self._ask, args=(sql, stated), daemon=True)
        self._thread.start()

    def _ask(self, sql, stated):
        try:
            self.outcome.append(self._view.query(sql).release(**stated))
        except SfumatoError as error:
            self.outcome.append(error)

    def over(self):
        until(lambda: self.outcome)
        return self.outcome[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A worker for the tests that kill nothing."""
    file = curator_file(tmp_path_factory.mktemp("curator"), "people", "others", queue=3, memory=2**28)
    with working(file, "people", "others") as (process, gateway):
        yield process, gateway


COUNTED = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


# Queries


def test_a_query_is_answered_charged_once_and_answered_again_for_nothing(served):
    gateway = served[1]
    question = gateway.view("others").query("SELECT COUNT(*) AS n FROM people")
    first, before = question.release(epsilon=100), gateway.ledger.spent("others")
    assert first.records()[0]["n"] == 4
    assert question.release(epsilon=100).records() == first.records()
    assert gateway.ledger.spent("others") == before


def test_datasets_do_not_wait_for_each_other(served):
    gateway = served[1]
    lines = [gateway.datasets.line("people", patience=5) for _ in range(3)]
    for line in lines:
        line.enter()
    gateway.view("others").query("SELECT COUNT(*) AS n FROM people").release(epsilon=1)
    for line in lines:
        line.close()


def test_a_full_queue_is_busy_before_anything_is_charged(served):
    gateway = served[1]
    before = gateway.ledger.spent("people")
    lines = [gateway.datasets.line("people", patience=5) for _ in range(3)]
    for line in lines:
        line.enter()
    with pytest.raises(BusyError):
        gateway.view().query(COUNTED.format(1)).release(epsilon=1)
    assert gateway.ledger.spent("people") == before
    for line in lines:
        line.close()
    until(lambda: not isinstance(Asked(gateway, COUNTED.format(1), epsilon=1).over(), BusyError))


def test_a_query_that_may_take_too_long_is_refused_before_it_is_charged(served):
    gateway = served[1]
    view = gateway.view()
    view._desk = type(view._desk)(
        policy=view.policy, ledger=gateway.ledger, account="people", places={}, errand=view._desk.errand,
        work=view._desk.work.model_copy(update={"quantum": 1.0}), declared_rows=10**12,
    )  # fmt: skip
    before = gateway.ledger.spent("people")
    with pytest.raises(ParameterError, match="may take 20 s here"):
        view.query(COUNTED.format(2)).release(epsilon=1)
    assert gateway.ledger.spent("people") == before


def test_a_gateway_that_goes_away_frees_its_place_and_its_query_is_answered(served):
    gateway = served[1]
    ticket = gateway.ticket(COUNTED.format(3))
    line = gateway.datasets.line("people", patience=5)
    line.enter()
    line._connection.send_bytes(gateway.message(ticket))
    line.close()
    until(lambda: gateway.answer(ticket))
    lines = [gateway.datasets.line("people", patience=5) for _ in range(3)]

    def all_enter():
        try:
            for one in lines:
                one.enter()
        except BusyError:
            return False
        return True

    until(all_enter)
    for one in lines:
        one.close()


# Strangers


def test_only_its_user_may_open_the_socket(served):
    curator = served[1].curator
    assert curator.socket.stat().st_mode & 0o777 == 0o600
    assert curator.state.stat().st_mode & 0o777 == 0o700
    assert {one.name: one.stat().st_mode & 0o077 for one in curator.state.iterdir() if one.stat().st_mode & 0o077} == {}


HOSTILE = {
    "nothing": b"",
    "garbage": b"GET / HTTP/1.1\r\n\r\n",
    "an empty message": struct.pack("!i", 0),
    "a negative length": struct.pack("!i", -2) + b"x" * 10,
    "a huge length": struct.pack("!i", 2**31 - 1) + b"x",
    "a very huge length": struct.pack("!iQ", -1, 2**63) + b"x",
    "no JSON": struct.pack("!i", 3) + b"abc",
    "no object": struct.pack("!i", 2) + b"[]",
    "deep": struct.pack("!i", 10**5) + b"[" * 10**5,
    "no dataset": struct.pack("!i", 2) + b"{}",
    "another dataset": struct.pack("!i", 17) + b'{"enter": "none"}',
    "a list": struct.pack("!i", 13) + b'{"enter": []}',
    "half a message": struct.pack("!i", 100) + b"{",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_strangers_send_stops_nobody(served, name):
    process, gateway = served
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(gateway.curator.socket))
        stranger.sendall(HOSTILE[name])
        line = gateway.datasets.line("people", patience=5)
        line.enter()
        line.close()
    assert process.poll() is None


def test_a_thousand_connections_that_say_nothing_stop_nobody(served):
    process, gateway = served
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with ExitStack() as stack:
        for number in range(IDLE if FULL_SIZE else 300):
            stranger = stack.enter_context(socket.socket(socket.AF_UNIX))
            stranger.connect(str(gateway.curator.socket))
            if number % 2:
                stranger.sendall(struct.pack("!i", 100))
        begun = time.monotonic()
        line = gateway.datasets.line("people", patience=5)
        line.enter()
        line.close()
        assert time.monotonic() - begun < 5
        assert threads_of(process.pid) < worker._MOST_OUTSIDE + 50


def test_what_is_sent_after_entering_is_refused_by_the_process_with_the_data(served):
    gateway = served[1]
    line = gateway.datasets.line("people", patience=5)
    with pytest.raises(TicketError):
        line.run({"purpose": "run", "parts": ["people", "x"], "seal": "0" * 64})
    with pytest.raises(TicketError):
        line.run({"died": True})
    line.close()


# What is inherited


def test_the_server_of_forks_has_one_thread_and_no_data(served):
    process, gateway = served
    (server,) = [one for one in processes_below(process.pid) if "forkserver" in name_of(one) and has_forks(one)]
    assert threads_of(server) == 1
    for one in (server, process.pid):
        assert not [file for file in files_of(one) if re.search(r"ledger\.db|\.parquet|\.running", file)]
    libraries = Path(f"/proc/{process.pid}/maps").read_text()
    assert not re.search(r"duckdb|arrow", libraries)
    assert re.search("duckdb", Path(f"/proc/{server}/maps").read_text())
    assert gateway.curator.socket.exists()


def test_processes_with_data_inherit_no_socket_but_their_own(served):
    process = served[0]
    (server,) = [one for one in processes_below(process.pid) if "forkserver" in name_of(one) and has_forks(one)]
    listening = {file for file in files_of(process.pid) if file.startswith("socket:")}
    for child in processes_below(server):
        sockets = {file for file in files_of(child) if file.startswith("socket:")}
        assert len(sockets) == 1
        assert not sockets & listening


def test_processes_with_data_may_take_so_much_memory_and_no_more(served):
    process = served[0]
    (server,) = [one for one in processes_below(process.pid) if "forkserver" in name_of(one) and has_forks(one)]
    for one, is_bounded in ((server, False), *((child, True) for child in processes_below(server))):
        limit = re.search(r"Max data size +(\w+) +(\w+)", Path(f"/proc/{one}/limits").read_text())
        assert (limit[1] == limit[2] != "unlimited") == is_bounded
        taken = int(Path(f"/proc/{one}/statm").read_text().split()[5]) * resource.getpagesize()
        assert not is_bounded or 2**28 < int(limit[1]) - taken <= 2**29 + 2**26


def files_of(process_id):
    """What the descriptors of a process are, but for those that are gone again."""
    found = []
    for descriptor in Path(f"/proc/{process_id}/fd").iterdir():
        try:
            found.append(str(descriptor.readlink()))
        except OSError:
            continue
    return found


def test_forks_do_not_draw_the_same_noise(tmp_path):
    file = curator_file(tmp_path, "people", "others", "more")
    names = ("people", "others", "more")
    with working(file, *names) as (_, gateway):
        drawn = [
            gateway.view(name).query("SELECT COUNT(*) AS n FROM people").release(epsilon="0.00001") for name in names
        ]
        assert len({one.records()[0]["n"] for one in drawn}) == 3


# Datasets that cannot be opened


def test_a_dataset_that_cannot_be_opened_is_tried_again_and_others_go_on(tmp_path):
    file = curator_file(tmp_path, "people", "others")
    content = (tmp_path / "others.parquet").read_bytes()
    (tmp_path / "others.parquet").unlink()
    with working(file) as (_, gateway):
        gateway.view().query("SELECT COUNT(*) AS n FROM people").release(epsilon=1)
        line = gateway.datasets.line("others", patience=0)
        with pytest.raises(UnavailableError):
            line.enter()
        (tmp_path / "others.parquet").write_bytes(content)
        opened(file, "others")


# Kills


def test_who_is_killed_between_queries_is_replaced_and_nothing_is_suspended(tmp_path):
    with working(curator_file(tmp_path)) as (process, gateway):
        child = child_of(process.pid)
        os.kill(child, signal.SIGKILL)
        answer = Asked(gateway, COUNTED.format(1), epsilon=1).over()
        assert answer.receipt.spent is not None
        assert not gateway.ledger.is_suspended("people")
        assert child_of(process.pid) != child


def is_running(gateway):
    return gateway.curator.mark("people").read_bytes().strip()


def test_who_is_killed_over_a_query_suspends_the_data_and_the_query_is_unavailable(tmp_path):
    with working(curator_file(tmp_path, **PADDED)) as (process, gateway):
        asked = Asked(gateway, COUNTED.format(1), epsilon=1)
        until(lambda: is_running(gateway))
        os.kill(child_of(process.pid), signal.SIGKILL)
        begun = time.monotonic()
        assert type(asked.over()) is UnavailableError
        assert time.monotonic() - begun > 0.4  # it comes no sooner than an answer
        assert gateway.ledger.is_suspended("people")
        assert str(gateway.ledger.spent("people")) == "ε 1"
        gateway.ledger.resume_account("people", reason="a test")
        until(lambda: not isinstance(Asked(gateway, COUNTED.format(1), epsilon=1).over(), UnavailableError))


def test_who_is_killed_after_an_answer_has_given_it(tmp_path):
    with working(curator_file(tmp_path)) as (process, gateway):
        asked = Asked(gateway, COUNTED.format(1), epsilon=1)
        first = asked.over()
        os.kill(child_of(process.pid), signal.SIGKILL)
        again = gateway.view().query(COUNTED.format(1)).release(epsilon=1)
        assert (again.records(), again.reused) == (first.records(), True)
        assert not gateway.ledger.is_suspended("people")


def test_a_query_is_finished_when_its_worker_is_killed_and_no_process_is_left(tmp_path):
    file = curator_file(tmp_path, **PADDED)
    with working(file) as (process, gateway):
        asked = Asked(gateway, COUNTED.format(1), epsilon=1)
        until(lambda: is_running(gateway))
        left = processes_below(process.pid)
        process.kill()
        assert type(asked.over()) is UnavailableError
        process.wait()
        until(lambda: not any(map(is_alive, left)))
        assert is_running(gateway) == b""
        assert not gateway.ledger.is_suspended("people")
        with program(WORKER, file):
            opened(file)
            again = gateway.view().query(COUNTED.format(1)).release(epsilon=1)
            assert again.reused
            assert str(gateway.ledger.spent("people")) == "ε 1"


def test_a_worker_that_starts_while_the_old_process_runs_waits_for_it(tmp_path):
    file = curator_file(tmp_path, quantum=3)
    with working(file) as (process, gateway):
        asked = Asked(gateway, COUNTED.format(1), epsilon=1)
        until(lambda: is_running(gateway))
        process.kill()
        process.wait()
        asked.over()
        with program(WORKER, file):
            opened(file)
            assert is_running(gateway) == b""
            assert not gateway.ledger.is_suspended("people")
            assert gateway.view().query(COUNTED.format(1)).release(epsilon=1).reused


def test_all_killed_over_a_query_suspend_the_data_at_the_next_start(tmp_path):
    file = curator_file(tmp_path, **PADDED)
    with working(file) as (process, gateway):
        asked = Asked(gateway, COUNTED.format(1), epsilon=1)
        until(lambda: is_running(gateway))
        child = child_of(process.pid)
        process.kill()
        os.kill(child, signal.SIGKILL)
        process.wait()
        assert type(asked.over()) is UnavailableError
        with program(WORKER, file):
            opened(file)
            assert gateway.ledger.is_suspended("people")


def test_the_end_waits_for_the_query_that_is_run_and_leaves_no_process(tmp_path):
    with working(curator_file(tmp_path, **PADDED)) as (process, gateway):
        asked = Asked(gateway, COUNTED.format(1), epsilon=1)
        until(lambda: is_running(gateway))
        left = processes_below(process.pid)
        for one in left | {process.pid}:  # as a system does that ends a service
            if "resource_tracker" not in name_of(one):
                os.kill(one, signal.SIGTERM)
        process.wait(20)
        until(lambda: not any(map(is_alive, left)))
        assert asked.over().records()
        assert not gateway.ledger.is_suspended("people")
        assert not gateway.curator.socket.exists()


def test_a_second_worker_of_the_same_folder_is_refused(served, monkeypatch):
    curator = served[1].curator
    monkeypatch.setattr(worker, "_SECONDS_FOR_A_LOCK", 0.1)
    with pytest.raises(ParameterError, match="is in use by another server"):
        worker.main(curator.state.parent / "curator.toml", None)
    assert curator.socket.exists()


def test_a_folder_with_a_path_that_is_too_long_for_a_socket_is_refused(tmp_path):
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    file = curator_file(folder)
    with pytest.raises(ParameterError, match="at most 90 bytes"):
        Worker(load_curator(file), file).start()


def test_logs_say_nothing_of_data_or_queries(tmp_path):
    with working(curator_file(tmp_path)) as (process, gateway):
        Asked(gateway, f"SELECT COUNT(*) AS n FROM people WHERE name = '{CANARY}'", epsilon=1).over()
        os.kill(child_of(process.pid), signal.SIGKILL)
        Asked(gateway, COUNTED.format(1), epsilon=1).over()
        process.terminate()
        log = process.communicate()[1].decode()
    assert "dataset people is open" in log
    assert CANARY not in log
    assert "SELECT" not in log
