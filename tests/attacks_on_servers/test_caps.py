"""Clients race through HTTP to the caps of a tree of accounts; SFUMATO_FULL_SIZE has them race more often."""

import json
from collections import Counter
from functools import partial

import pytest
from tests.attacks_on_servers.curators import Curator, database, write_curator
from tests.attacks_on_servers.racing import (
    EPSILON,
    PROCESSES,
    THREADS,
    Race,
    ask_the_same,
    assert_receipts_are_of_the_ledger,
    question,
    spend,
)
from tests.sizes import FULL_SIZE

ROUNDS = 100 if FULL_SIZE else 1
MANY = 1_000  # what a round does not spend
TREES = (
    {"team": 10, "team/ann": 8, "team/bob": 8, "lab": MANY, "lab/cem": 6, "lab/dora": 4},
    {"lab": MANY, "lab/ann": 12, "lab/bob": 12},
)
"""How many questions each account can pay; the dataset pays for 20, and for 16, so that it is full whoever is first."""

CAPS = (20, 16)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def curator(request, tmp_path_factory):
    """A curator with two gateways on one ledger, and one database of people; both in files, or both on a server."""
    folder, places = tmp_path_factory.mktemp("curator"), {}
    if request.param == "postgres":
        from tests.ledger.postgres_ledgers import location

        places = {"ledger": location(), "database": database()}
    with Curator(write_curator(folder, epsilon="0.001", gateways=2, **places)) as running:
        yield running


@pytest.fixture(scope="module")
def race(curator):
    with Race(curator.url) as race:
        yield race


@pytest.fixture(scope="module")
def receipts(curator):  # noqa: ARG001 # for each a list of its own
    """What all tests of a curator got, with the accounts that paid: its ledger holds nothing else."""
    return []


def opened(curator, name, tree, cap):
    """Accounts of a round, and the keys of those who spend them; the dataset may spend so much more than it has."""
    curator.grow(curator.spent() + cap * EPSILON)
    for path, count in tree.items():
        curator.account(f"{name}-{path}", count * EPSILON)
    leaves = [f"people/{name}-{path}" for path in tree if "/" in path]
    return {account: curator.analyst(account, account.replace("/", ".")).token for account in leaves}


@pytest.mark.essential
def test_clients_race_to_the_caps_of_analysts_teams_and_dataset_and_fill_them_exactly(curator, race, receipts):
    """Catalogue 34, through HTTP: two gateways, eight client processes of 16 threads each."""
    for number in range(ROUNDS):
        for tree, cap in zip(TREES, CAPS, strict=True):
            name = f"round{number}-{cap}"
            tokens, before = opened(curator, name, tree, cap), curator.spent()
            told = race.run(partial(spend, tokens, 2 * number + (cap == CAPS[0])))
            granted = [one for ours, _ in told for one in ours]
            assert {reused for _, reused, _ in granted} == {"false"}
            assert {refused for _, refused in told} == tokens.keys()
            receipts += [(account, receipt) for account, _, receipt in granted]
            with curator.ledger() as ledger:
                spent = assert_receipts_are_of_the_ledger(ledger.entries(), receipts, curator.accounts())
            own = {path: spent[f"people/{name}-{path}"] / EPSILON for path in tree}
            paid = Counter(account.removeprefix(f"people/{name}-") for account, *_ in granted)
            assert paid == Counter({path: int(own[path]) for path in tree if "/" in path and own[path]})
            assert spent["people"] - before == len(granted) * EPSILON == cap * EPSILON
            if "team" in tree:
                full = {path for path, count in tree.items() if own[path] == count}
                assert {"team", "lab/cem", "lab/dora"} <= full


def test_who_ask_the_same_at_once_pay_once_and_see_the_same_bytes(curator, race, receipts):
    """Catalogue 35, 41: under one key, and under two, in turns."""
    for number in range(ROUNDS):
        curator.grow(curator.spent() + EPSILON)
        account = f"people/same{number}"
        curator.account(f"same{number}", MANY)
        ann, body = curator.analyst(account, f"ann{number}"), question(-1 - number)
        for keys in (["one"], ["one", "two"], [None]):
            told = race.run(partial(ask_the_same, ann.token, body, keys))
            assert len(told) == PROCESSES * THREADS
            assert len({content for content, _ in told}) == 1
            receipts += [(account, receipt) for receipt in _receipts(told)] if keys == ["one"] else []
        with curator.ledger() as ledger:
            spent = assert_receipts_are_of_the_ledger(ledger.entries(), receipts, curator.accounts())
        assert spent[account] == EPSILON


def _receipts(told):
    return [json.loads(told[0][0])["releases"][0]["receipt"]]
