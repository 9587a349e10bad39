"""Disks that are full, connections that are lost, values that are none: nothing is granted that is not charged."""

import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger import postgres_ledgers
from tests.ledger.accounts import people
from tests.ledger.faults import (
    NOBODY,
    FailingConnection,
    answer,
    appended,
    as_nobody,
    ask,
    charges,
    filled,
    on_a_full_disk,
    told,
)
from tests.ledger.processes import ended, home, started, wire

from sfumato.errors import BudgetExceededError, LedgerError, ParameterError
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.stores.postgres import LedgerConnection
from sfumato.ledger.stores.transactions import OpenTransaction
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP


@pytest.fixture
def place(tmp_path):
    return home("sqlite", tmp_path)


@pytest.fixture
def server_place(tmp_path):
    return home("postgres", tmp_path)


def test_a_full_disk_refuses_and_once_there_is_room_all_goes_on_and_is_charged_once(place):
    """Catalogue 36."""
    with place.opened() as ledger:
        ledger.open_account(people())
    own, other = wire()
    assert ended(started(on_a_full_disk, place, other)) == 0
    reserving, committing, attaching, noting = (own.recv() for _ in range(4))
    for name, text in (reserving, committing):
        assert name == "LedgerError"
        assert "the query is refused" in text
    assert attaching[0] == noting[0] == "LedgerError"
    assert "free disk space" in attaching[1]
    with place.opened() as ledger:
        assert charges(ledger) == 2
        assert (ledger.answer("people", "first"), ledger.answer("people", "second")) == (1, "the answer to second")
        ledger.verify()


@pytest.mark.parametrize(
    ("file_mode", "folder_mode"), [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500), (0o000, 0o700), (0o600, 0o000)]
)
def test_a_file_or_a_folder_that_only_reads_refuses_and_says_what_right_is_missing(file_mode, folder_mode):
    """Catalogue 36."""
    with tempfile.TemporaryDirectory() as name:  # in which nobody else has a right, but whoever owns it
        place, folder = home("sqlite", Path(name)), Path(name)
        filled(place)
        for one in (folder, *folder.iterdir()):
            if os.geteuid() == 0:
                os.chown(one, NOBODY, NOBODY)
            one.chmod(folder_mode if one == folder else file_mode)
        own, other = wire()
        assert ended(started(as_nobody, place, other)) == 0
        folder.chmod(0o700)
        for one in folder.iterdir():
            one.chmod(0o600)
        kind, text = own.recv()
        assert kind == "LedgerError"
        assert re.search("this user|with the right to", text)
        with place.opened() as ledger:
            assert charges(ledger) == 3


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_disk_that_does_not_sync_refuses_all_who_wait_and_who_asks_again_pays_once(place, is_kept):
    """Catalogue 36."""
    keys = [f"question {number}" for number in range(8)]
    with place.opened() as ledger, ThreadPoolExecutor(8) as threads:
        ledger.open_account(people())
        store, real = ledger._store, ledger._store._writer
        store._writer = FailingConnection(real, is_kept=is_kept)
        for name, text in threads.map(lambda key: told(lambda: ask(ledger, key)), keys):
            assert name == "LedgerError"
            assert "the disk failed; the query is refused and may count as spent" in text
        store._writer = real
        written = charges(ledger)  # who came while a batch failed is refused with it, and was not in it
        assert (0 < written <= 8) if is_kept else (written == 0)
        assert sum(ask(ledger, key).is_repeated for key in keys) == written
        assert charges(ledger) == 8
        ledger.verify()


def lose_connections():
    """End all sessions of those who keep ledgers, as a server does that is started anew."""
    postgres_ledgers.server().execute(
        f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '{postgres_ledgers.KEEPER}'"
    )


def test_a_connection_lost_between_reserving_and_committing_costs_nothing_more(server_place):
    """Catalogue 36, 42."""
    with server_place.opened() as ledger:
        ledger.open_account(people())
        reservation = ask(ledger, "question 0")
        lose_connections()
        ledger.commit(reservation, key="question 0", answer=1)
        assert ledger.answer("people", "question 0") == 1
        assert charges(ledger) == 1
        ledger.verify()


def test_a_connection_lost_within_a_turn_keeps_nothing_of_it(server_place, monkeypatch):
    """Catalogue 36, 42."""
    append = OpenTransaction.append

    def lost(transaction, batch):
        append(transaction, batch)
        lose_connections()

    with server_place.opened() as ledger:
        ledger.open_account(people())
        with monkeypatch.context() as patch:
            patch.setattr(OpenTransaction, "append", lost)
            with pytest.raises(LedgerError, match="the connection was lost during COMMIT"):
                ask(ledger, "question 0")
        assert charges(ledger) == 0
        assert not ask(ledger, "question 0").is_repeated
        assert charges(ledger) == 1
        ledger.verify()


def test_a_connection_lost_as_a_turn_was_kept_is_refused_and_who_asks_again_pays_once(server_place, monkeypatch):
    """Catalogue 36, 42."""
    commit = LedgerConnection.commit

    def lost(connection):
        commit(connection)
        lose_connections()
        commit(connection)  # of which this side does not know whether it came through

    with server_place.opened() as ledger:
        ledger.open_account(people())
        with monkeypatch.context() as patch:
            patch.setattr(LedgerConnection, "commit", lost)
            with pytest.raises(LedgerError, match="may have been kept or not"):
                ask(ledger, "question 0")
        assert charges(ledger) == 1
        assert ask(ledger, "question 0").is_repeated
        assert charges(ledger) == 1


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_library_that_is_older_than_an_entry_refuses_and_spends_nothing(store, tmp_path):
    place = home(store, tmp_path)
    filled(place)
    with place.opened() as ledger:
        appended(ledger, '{"entry":{"account":"people","type":"Forgiven"},"version":5}')
        for use in (lambda: ask(ledger, "more"), lambda: ledger.spent("people"), ledger.verify):
            with pytest.raises(LedgerError, match="entry of version 5: was written by a newer version of sfumato"):
                use()
        assert len([*ledger.records()]) == 8
    with pytest.raises(LedgerError, match="newer version of sfumato"):
        place.opened()


NUMBERS = ["nan", "inf", "-inf", "-0.1", "1/0", float("nan"), float("inf"), -0.1, Fraction(-1, 10), None, True, "ε"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("kind", [PureDP, PureEvent, ZCDP, lambda number: ApproxDP(1, number)])
def test_no_cost_and_no_budget_is_made_of_a_number_that_is_none_or_below_0(kind, number):
    with pytest.raises(ParameterError):
        kind(number)


def forged(kind, number):
    """A value whose own checks somebody has passed by."""
    value = object.__new__(kind)
    object.__setattr__(value, "epsilon", number)
    return value


@pytest.mark.parametrize(
    ("event", "charge"),
    [
        (PureEvent("0.1"), PureDP("0.099999999999999")),
        (PureEvent("1e-16"), PureDP("1e-16")),
        (PureEvent("1e-400"), PureDP("1e-400")),
        (PureEvent("0.1"), PureDP("1e10")),
        (PureEvent("0.1"), forged(PureDP, Fraction(-1, 10))),
        (forged(PureEvent, Fraction(-1, 10)), forged(PureDP, Fraction(-1, 10))),
        (forged(PureEvent, float("inf")), PureDP("0.1")),
        (PureEvent("0.1"), forged(PureDP, True)),
    ],
)
def test_a_cost_below_the_price_or_off_the_grid_or_forged_is_refused_and_recorded_nowhere(books, event, charge):
    with pytest.raises(ParameterError):
        books.reserve("people", event=event, charge=charge, question="how many?")
    assert charges(books) == 0


@pytest.fixture
def books():
    """A ledger in memory with an account, and one below it."""
    with open_ledger("memory:") as ledger:
        ledger.open_account(people())
        ledger.open_account(replace(people(), account="team", parents=("people",)))
        yield ledger


@pytest.mark.parametrize(
    ("account", "parents", "error"),
    [
        ("own", ("own",), "must be other accounts"),
        ("own", ("team", "team"), "each once"),
        ("own", ("not there",), "must be open before"),
        ("people", ("team",), "was not opened as a child of team"),
    ],
)
def test_no_account_is_above_itself(books, account, parents, error):
    with pytest.raises((ParameterError, LedgerError), match=error):
        books.open_account(replace(people(), account=account, parents=parents))
    assert books.path("team") == ("team", "people")


@pytest.mark.parametrize("closed", ["team", "people"])
def test_a_closed_account_grants_nothing_more_to_itself_or_below_and_stays_charged(books, closed):
    reservation = ask(books, "before", account="team")
    books.close_account(closed, reason="the project has ended")
    with pytest.raises(LedgerError, match=f"account '{closed}': was closed by its owner"):
        ask(books, "after", account="team")
    books.commit(reservation, key="before", answer=1)  # which was paid for
    assert charges(books) == 1
    books.open_account(replace(people(), account="new", parents=("team",)))
    with pytest.raises(LedgerError, match="was closed"):
        ask(books, "below", account="new")
    books.verify()


@pytest.mark.parametrize("lowered", ["team", "people"])
def test_an_account_lowered_below_what_is_spent_refuses_all_and_forgets_nothing(books, lowered):
    for number in range(5):
        answer(books, f"question {number}", account="team")
    books.change_budget(lowered, PureDP("0.3"), reason="the data turned out to be more sensitive")
    assert (books.spent(lowered), books.remaining(lowered)) == (PureDP("0.5"), PureDP(0))
    with pytest.raises(BudgetExceededError, match="ε 0 remaining"):
        ask(books, "one more", epsilon="0.000001", account="team")
    assert books.answer("team", "question 0") == "the answer to question 0"
    books.change_budget(lowered, PureDP("0.6"), reason="agreed with those concerned")
    ask(books, "the last", account="team")
    with pytest.raises(BudgetExceededError):
        ask(books, "one more", account="team")
    assert charges(books) == 6
    books.verify()
