"""Processes that ask the same question of the same ledger at once."""

import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from threading import Event
from unittest.mock import patch

from tests.session.opened import COUNT, opened

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import SfumatoError

THREADS = 4


def askers(home, connection, processes):
    """So many processes, each with threads, that ask at once; all answers, each with its reservation."""
    os.environ["SFUMATO_LEDGER_FOLDER"] = str(home.folder)
    context = get_context("fork")  # of one that has imported everything, and opened nothing
    barrier, heard = context.Barrier(processes), context.SimpleQueue()
    working = []
    for _ in range(processes):
        if not (process := os.fork()):
            _ask(home, barrier, heard)
            os._exit(0)
        working.append(process)
    connection.send([answer for _ in working for answer in heard.get()])
    for process in working:
        os.waitpid(process, 0)


def _ask(home, barrier, heard):
    with opened(ledger=home.location) as session, ThreadPoolExecutor(THREADS) as threads:
        barrier.wait()
        told = [threads.submit(session.sql, COUNT, epsilon="0.1") for _ in range(THREADS)]
        try:
            heard.put([(one.result().records(), one.result().receipt.request) for one in told])
        except SfumatoError as error:
            heard.put([repr(error)])


def stuck(home, connection):
    """Ask, tell as soon as rows are about to be read, and never end."""
    os.environ["SFUMATO_LEDGER_FOLDER"] = str(home.folder)

    def forever(*_, **__):
        connection.send("flies")
        Event().wait()

    with patch.object(DuckDBEngine, "run", forever), opened(ledger=home.location) as session:
        session.sql(COUNT, epsilon="0.1")
