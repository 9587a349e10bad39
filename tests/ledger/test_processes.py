"""The ledger between processes that race and are killed; SFUMATO_FULL_SIZE plays more rounds."""

import os
import signal
import subprocess
import sys

import pytest
from tests.ledger.accounts import TENTH, people

from sfumato.ledger.entry import Committed, Reserved
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.guarantees import PureDP

ROUNDS = 30 if os.environ.get("SFUMATO_FULL_SIZE") else 2
PROCESSES = 2
THREADS = 4

BEGIN = """
import sys
from concurrent.futures import ThreadPoolExecutor
from sfumato.errors import BudgetExceededError
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP

ledger = open_ledger(sys.argv[1])
tenth = PureDP("0.1")

def reserve():
    return ledger.reserve("people", event=PureEvent("0.1"), charge=tenth, question="q")
"""
RACE = """
def spend(_):
    granted = 0
    while True:
        try:
            reserve()
        except BudgetExceededError:
            return granted
        granted += 1

print("ready", flush=True)
input()
with ThreadPoolExecutor(4) as threads:
    print(sum(threads.map(spend, range(4))))
"""
ONE = """
reserve()
print("reserved", flush=True)
input()
"""
ENDLESS = """
for number in range(10**6):
    ledger.commit(reserve(), key=str(number), answer=number)
    print(number, flush=True)
"""


def start(program, path):
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def killed(process):
    """Kill it without a chance to tidy up; what it still said."""
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return rest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_processes_and_threads_race_to_the_budget_and_never_past_it(path, _round):
    with open_ledger(path) as ledger:
        ledger.open_account(people(PureDP(6)))
        racers = [start(RACE, path) for _ in range(PROCESSES)]
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * PROCESSES
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        granted = [int(racer.communicate()[0]) for racer in racers]
        assert sum(granted) == 60
        assert ledger.spent("people") == PureDP(6)
        assert ledger.verify().length == 61


def test_a_process_killed_between_reserving_and_committing_is_charged(path):
    with open_ledger(path) as ledger:
        ledger.open_account(people())
    victim = start(ONE, path)
    assert victim.stdout.readline() == "reserved\n"
    killed(victim)
    with open_ledger(path) as ledger:
        assert ledger.spent("people") == PureDP("0.1")
        assert ledger.verify().length == 2


@pytest.mark.parametrize("lines", [0, *range(3, 3 + 5 * ROUNDS, 5)])
def test_whenever_a_process_is_killed_what_it_released_was_charged(path, lines):
    with open_ledger(path) as ledger:
        ledger.open_account(people(PureDP(1000)))
    victim = start(ENDLESS, path)
    released = [victim.stdout.readline() for _ in range(lines)]
    released += [line for line in killed(victim).splitlines(keepends=True) if line.endswith("\n")]
    with open_ledger(path) as ledger:
        entries = ledger.entries()
        charged = sum(isinstance(entry, Reserved) for entry in entries)
        committed = sum(isinstance(entry, Committed) for entry in entries)
        assert len(released) <= committed <= charged <= committed + 1
        assert ledger.spent("people") == PureDP(charged * TENTH)
        assert ledger.verify().length == len(entries)


def test_many_processes_that_make_the_same_file_share_it(path):
    makers = [start('print("ready", flush=True)\ninput()', path) for _ in range(3)]
    assert [maker.stdout.readline() for maker in makers] == ["ready\n"] * 3
    with open_ledger(path) as ledger:
        ledger.open_account(people())
    for maker in makers:
        maker.communicate("done\n")
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]
