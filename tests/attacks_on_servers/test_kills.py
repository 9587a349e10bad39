"""Gateway, worker and the process with the data are killed on the way to an answer; SFUMATO_FULL_SIZE kills more."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import count

import httpx
import pytest
from tests.attacks_on_servers.burning import POINTS, VICTIMS, is_burnt, lay
from tests.attacks_on_servers.curators import Curator, write_curator
from tests.attacks_on_servers.racing import EPSILON, question
from tests.sizes import FULL_SIZE

from sfumato.ledger.core.entry import Committed, Reserved

ROUNDS = 4 if FULL_SIZE else 1
DEADLY = {("before it reads data", "child"), ("after it read data", "child")}
"""Where a query stays charged without an answer, and the data is suspended: it may have died because of a row."""

_NUMBERS = count(1)


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    config = write_curator(tmp_path_factory.mktemp("curator"))
    with Curator(config, program="tests.attacks_on_servers.burning") as running:
        yield running


@pytest.fixture(scope="module")
def ann(curator):
    curator.account("ann", 500)
    return curator.analyst("people/ann", "ann")


def asked(curator, person, key):
    """The status of a response and its body; of a connection that was lost None and nothing."""
    with person.client(curator.url) as client:
        try:
            response = client.post(
                "/datasets/people/ask", json=question(key), headers={"Idempotency-Key": str(key)}
            )  # fmt: skip
        except httpx.TransportError:
            return None, b""
        return response.status_code, response.content


def prepare(curator):
    """Wait until all can be asked."""
    curator.wait_until_ready()
    if curator.accounts()["people"]["state"] == "suspended":
        curator.acknowledge()


def asked_until_known(curator, person, key):
    """What is said of a query once the server is there again, and its owner lets it be asked."""
    for _ in range(200):
        status, body = asked(curator, person, key)
        if status == 503 and curator.accounts()["people"]["state"] == "suspended":
            curator.acknowledge()
        elif status not in {None, 429, 503}:
            return status, body
        time.sleep(0.1)
    raise AssertionError(curator.log)


def assert_released_is_charged(curator, keys, shown):
    """What anybody saw was charged and is stored, and whatever was charged is counted, once for each key."""
    with curator.ledger() as ledger:
        entries = list(ledger.entries())
        ledger.verify()
    charged = Counter(entry.idempotency_key for entry in entries if isinstance(entry, Reserved))
    requests = {entry.idempotency_key: entry.request for entry in entries if isinstance(entry, Reserved)}
    kept = {entry.request for entry in entries if isinstance(entry, Committed)}
    assert set(charged.values()) <= {1}
    for key in keys:
        if body := shown.get(key):
            assert requests[f"ann:{key}"] in kept
            assert requests[f"ann:{key}"].encode() in body
    for name in ("people", "people/ann"):
        assert Fraction(curator.accounts()[name]["spent"]["epsilon"]) == charged.total() * EPSILON
    return charged


@pytest.mark.essential
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("point", POINTS)
def test_who_is_killed_has_released_no_more_than_was_charged_and_who_asks_again_pays_once(curator, ann, point, victim):
    """Catalogue 35, through HTTP. In every other round four ask at once, of whom one meets the fuse."""
    for number in range(ROUNDS):
        keys = [next(_NUMBERS) for _ in range(4 if number % 2 else 1)]
        prepare(curator)
        lay(curator.folder, point, victim)
        with ThreadPoolExecutor(len(keys)) as threads:
            first = dict(zip(keys, threads.map(lambda key: asked(curator, ann, key), keys), strict=True))
        assert is_burnt(curator.folder)
        assert {status for status, _ in first.values()} <= {None, 200, 503}
        shown = {key: body for key, (status, body) in first.items() if status == 200}
        assert_released_is_charged(curator, keys, shown)
        second = {key: asked_until_known(curator, ann, key) for key in keys}
        charged = assert_released_is_charged(curator, keys, shown)
        third = {key: asked_until_known(curator, ann, key) for key in keys}
        assert third == second
        assert all(second[key] == (200, body) for key, body in shown.items())
        assert all(charged[f"ann:{key}"] == 1 for key in keys)
        failed = [key for key, (status, _) in second.items() if status == 409]
        if len(keys) == 1 or victim != "child":
            assert len(failed) == ((point, victim) in DEADLY)
        else:  # it may have been reading data for another one
            assert ((point, victim) in DEADLY) <= len(failed) <= 1
        assert all(status in {200, 409} for status, _ in second.values())
        assert assert_released_is_charged(curator, keys, shown) == charged
