"""Processes and threads race to the cap; SFUMATO_FULL_SIZE has them race more often."""

from collections import Counter
from functools import partial

import pytest
from tests.ledger.processes import home
from tests.ledger.racing import ONE, PROCESSES, THREADS, Race, ask_the_same, leaves, paid_in, spend, tree
from tests.sizes import FULL_SIZE

from sfumato.ledger.core.entry import Reserved

ROUNDS = 100 if FULL_SIZE else 2
MANY = 1_000  # what a round does not spend


def hospital(number):
    """On every level one account is full at the end, whoever comes first: 25 + 40 + 15 = 80."""
    return tree(
        f"hospital {number}",
        ("dataset", None, "epsilon", 80),
        ("ward", "dataset", "rho", 40),
        ("ann", "ward", "epsilon", 30),
        ("ann's", "ann", "epsilon", MANY),
        ("bob", "ward", "epsilon", 30),
        ("bob's", "bob", "rho", MANY),
        ("lab", "dataset", "epsilon", MANY),
        ("cem", "lab", "orders", 25),
        ("cem's first", "cem", "epsilon", 20),
        ("cem's second", "cem", "epsilon", 20),
        ("dora", "lab", "rho", MANY),
        ("dora's", "dora", "epsilon", 15),
    )


FULL = ("dataset", "ward", "cem", "dora's")


def census(number):
    """Two analysts who may each spend most of what both may."""
    return tree(
        f"census {number}",
        ("dataset", None, "rho", 60),
        ("team", "dataset", "epsilon", MANY),
        ("ann", "team", "epsilon", 50),
        ("bob", "team", "orders", 50),
    )


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    return home(request.param, tmp_path)


@pytest.fixture
def ledger(place):
    with place.opened() as ledger:
        yield ledger


@pytest.fixture
def race(place):
    with Race(place) as race:
        yield race


def opened(ledger, accounts):
    for account in accounts:
        ledger.open_account(account.opened())
    return accounts


def raced(race, accounts):
    """How often each account was granted something, and which of them refused."""
    told = race.run(partial(spend, leaves(accounts)))
    return sum((granted for granted, _ in told), Counter()), set().union(*(refused for _, refused in told))


def assert_charged(accounts, entries, granted):
    """What was granted was charged and nothing else, at every level and in its own measure, within its budget."""
    paid, times = paid_in(entries)
    for account in accounts:
        assert times[account.name] <= account.count
        assert paid[account.name] == {name: times[account.name] * one for name, one in ONE[account.measure].items()}
    assert {name: times[name] for name in leaves(accounts) if times[name]} == granted
    return times


def test_processes_and_threads_race_to_the_caps_of_a_tree_and_fill_them_exactly(ledger, race):
    """Catalogue 34."""
    for number in range(ROUNDS):
        accounts = opened(ledger, hospital(number))
        granted, refused = raced(race, accounts)
        times = assert_charged(accounts, ledger.entries(), granted)
        full = {account.name for account in accounts if times[account.name] == account.count}
        assert {f"hospital {number}/{name}" for name in FULL} <= full
        assert refused <= full
        assert sum(granted.values()) == 80
    ledger.verify()


@pytest.mark.essential
def test_two_analysts_together_never_pass_the_cap_of_the_dataset(ledger, race):
    """Catalogue 34, 40."""
    for number in range(ROUNDS):
        accounts = opened(ledger, census(number))
        granted, _ = raced(race, accounts)
        assert_charged(accounts, ledger.entries(), granted)
        assert sum(granted.values()) == 60
        assert max(granted.values()) <= 50
    ledger.verify()


def test_who_ask_the_same_under_one_key_at_once_pay_once(ledger, race):
    """Catalogue 35, 41."""
    opened(ledger, tree("one", ("dataset", None, "rho", 1), ("ann", "dataset", "epsilon", 1)))
    told = race.run(partial(ask_the_same, "one/ann", "the key"))
    (entry,) = (entry for entry in ledger.entries() if isinstance(entry, Reserved))
    assert {request for request, _ in told} == {entry.request}
    assert [is_repeated for _, is_repeated in told].count(False) == 1
    assert len(told) == PROCESSES * THREADS
    ledger.verify()
