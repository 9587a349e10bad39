"""Many threads of many client processes ask through HTTP at once, until every account refuses."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction

import httpx
from tests.ledger.processes import PATIENCE, ended, started, wire

from sfumato.ledger.core.entry import Committed, Opened, Reserved

PROCESSES, THREADS = 8, 16
EPSILON = Fraction(1, 10)
DATASET = "/v1/datasets/people"
PAUSE = 0.1
_FREE = (429, 503)
"""Refusals that cost nothing, and say when to come again."""


class Asker:
    """One client process, which has one connection for each of its threads.

    Args:
        url: Where the curator is.
    """

    def __init__(self, url):
        limits = httpx.Limits(max_connections=THREADS, max_keepalive_connections=THREADS)
        self._client = httpx.Client(base_url=url, timeout=120, limits=limits)

    def ask(self, token, body, key=None):
        """Ask until there is an answer or a refusal that stays."""
        while True:
            response = self.post(token, body, key=key)
            if response.status_code not in _FREE:
                return response
            assert "Retry-After" in response.headers
            time.sleep(PAUSE)

    def post(self, token, body, *, key=None, path="ask"):
        """What is said to one request."""
        headers = {"Authorization": f"Bearer {token}"} | ({} if key is None else {"Idempotency-Key": key})
        return self._client.post(f"{DATASET}/{path}", json=body, headers=headers)

    def close(self):
        self._client.close()


def question(name):
    """A query that nobody has asked before: its name is in it."""
    return {"sql": f"SELECT COUNT(*) AS n FROM people WHERE age <> {name}", "epsilon": str(EPSILON)}


def spend(tokens, round_number, asker, thread):
    """Ask what is new with one key after the other, until each is refused; gives what was granted and who was refused.

    Args:
        tokens: The keys, by account.
        round_number: Of this round; no two ask the same.
        asker: Asks.
        thread: The number of this thread, which chooses the account that it begins with.
    """
    names = sorted(tokens)
    name = names[thread % len(names)]
    granted, number = [], 1_000_000 * round_number + 1_000 * thread
    while (response := asker.ask(tokens[name], question(number))).status_code == 200:
        granted.append((name, response.headers["Sfumato-Reused"], response.json()["releases"][0]["receipt"]))
        number += 1
    assert response.status_code == 402, response.text
    return granted, name


def ask_the_same(token, body, keys, asker, thread):
    """Ask what all others ask; under one key, or each under one of its own."""
    response = asker.ask(token, body, keys[thread % len(keys)])
    assert response.status_code == 200, response.text
    return response.content, response.headers["Sfumato-Reused"]


def racer(url, number, connection):
    """The work of one client process: whatever it is told, in all of its threads at once."""
    asker = Asker(url)
    with ThreadPoolExecutor(THREADS) as threads:
        connection.send("ready")
        while (work := connection.recv()) is not None:
            told = [threads.submit(work, asker, number * THREADS + thread) for thread in range(THREADS)]
            connection.send([one.result() for one in told])
    asker.close()


class Race:
    """Client processes that are there for several rounds, so that each round begins at once for all.

    Args:
        url: Where the curator is.
    """

    def __init__(self, url):
        self._ends, self._racers = [], []
        for number in range(PROCESSES):
            own, other = wire()
            self._racers.append(started(racer, url, number, other))
            other.close()
            self._ends.append(own)
        assert self._heard() == ["ready"] * PROCESSES

    def run(self, work, *, patience=PATIENCE):
        """What every thread of every process says after some work."""
        for end in self._ends:
            end.send(work)
        return [one for told in self._heard(patience) for one in told]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end, process in zip(self._ends, self._racers, strict=True):
            with suppress(BrokenPipeError):  # it has ended, with an error of its own
                end.send(None)
            end.close()
            ended(process)

    def _heard(self, patience=PATIENCE):
        assert all(end.poll(patience) for end in self._ends)
        return [end.recv() for end in self._ends]


def assert_receipts_are_of_the_ledger(entries, receipts, accounts):
    """Each receipt says what a replay of the ledger says, of its request and of the moment after it.

    Args:
        entries: Those of the ledger.
        receipts: What analysts got, by pairs with the account that paid.
        accounts: The accounts as the server shows them, by name.
    """
    above, spent, of_request, kept = {}, Counter(), {}, set()
    for entry in entries:
        match entry:
            case Opened():
                above[entry.account] = (entry.account, *(name for one in entry.parents for name in above[one]))
            case Reserved():
                spent.update(dict.fromkeys(above[entry.account], EPSILON))
                of_request[entry.request] = (entry.account, entry.question, spent[entry.account])
            case Committed():
                kept.add(entry.request)
    seen = Counter(receipt["request"] for _, receipt in receipts)
    assert set(seen.values()) <= {1}
    assert set(seen) == set(of_request) == kept
    for account, receipt in receipts:
        assert (account, receipt["plan_hash"]) == of_request[receipt["request"]][:2]
        assert Fraction(receipt["spent"]["epsilon"]) == of_request[receipt["request"]][2]
    for name, shown in accounts.items():
        budget, used, left = (Fraction(shown[field]["epsilon"]) for field in ("budget", "spent", "remaining"))
        assert used == spent[name] <= budget
        assert left == budget - used
    return spent
