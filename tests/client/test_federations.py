"""Owners train together over real gateways: two of them, which share a database, as after a restart."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from tests.client.relays import NAMES, NEAR, SECRET, VALUES, Plan, total_of
from tests.server.running import Beside, running

import sfumato as sf
from sfumato.errors import BudgetExceededError, NotFoundError, ParameterError
from sfumato.ledger.keeping.files import locked
from sfumato.privacy.guarantees import PureDP

PEOPLE = ("ann", "bob", "cem", "olga")


@pytest.fixture(scope="module")
def gateways():
    found = [Beside(running()), Beside(running())]
    yield found
    for one in found:
        one.stop()


def url_of(gateway):
    host, port = gateway.address
    return f"http://{host}:{port}"


def opened(gateways, name, plan, owners=PEOPLE, **options):
    return sf.open_federation(url_of(gateways[0]), name, plan, owners, token=gateways[0].keys["admin"], **options)


def joined(gateways, name, number):
    gateway = gateways[number % len(gateways)]
    return sf.join_federation(url_of(gateway), name, token=gateway.keys[PEOPLE[number]])


def waits(_):
    """Instead of a wait without end, in the place of `messages`."""
    pytest.fail("it takes part")


def test_four_owners_train_together_over_two_gateways(gateways, tmp_path):
    news = opened(gateways, "together", Plan())
    assert (news.parties, news.rounds, news.least, news.place.phase) == (PEOPLE, 2, 3, "keys")
    plans = [Plan() for _ in NAMES]

    def owner(number):
        with joined(gateways, "together", number) as federation:
            return federation.take_part(
                plans[number], VALUES[number], secret=SECRET, journal=tmp_path / f"{number}.journal", pause="0.01"
            )

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(owner, range(4)))
    for result in results:
        assert (result == results[0]).all()
    assert np.abs(results[0] - total_of(range(4), (0, 1))).max() < NEAR
    assert [plan.shares for plan in plans] == [[4, 4]] * 4
    late = Plan()  # whoever comes when all is over has the same model
    with joined(gateways, "together", 1) as federation:
        assert federation.news().place.phase == "over"
        again = federation.take_part(late, VALUES[1], secret=SECRET, journal=tmp_path / "1.journal", pause="0.01")
    assert (again == results[0]).all()
    assert late.computed == 0


def test_another_plan_than_was_opened_sends_nothing(gateways, tmp_path):
    opened(gateways, "agreed", Plan())
    spent = Plan()
    spent.public.rounds = 1
    wrong = {
        "noise": Plan(rho=10**10), "rounds": Plan(rounds=3), "max_colluders": Plan(), "must be as at its start": spent,
        "a plan of shared_federation": None,
    }  # fmt: skip
    with joined(gateways, "agreed", 0) as federation:
        federation.messages = waits
        for words, plan in wrong.items():
            colluders = 2 if words == "max_colluders" else 1
            with pytest.raises(ParameterError, match=words):
                federation.take_part(
                    plan, VALUES[0], secret=SECRET, journal=tmp_path / "rounds", max_colluders=colluders
                )
        for secret in (b"", bytes(15), "x" * 32):
            with pytest.raises(ParameterError, match="secret"):
                federation.take_part(Plan(), VALUES[0], secret=secret, journal=tmp_path / "journal")
        assert federation.news().sent == ()
        assert not (tmp_path / "journal").exists() or (tmp_path / "journal").read_text().count("\n") == 1


def test_a_journal_is_of_one_program_at_a_time(gateways, tmp_path):
    opened(gateways, "alone", Plan())
    with joined(gateways, "alone", 0) as federation, locked(tmp_path / "journal.lock", patience=0):
        with pytest.raises(ParameterError, match="no other program has"):
            federation.take_part(Plan(), VALUES[0], secret=SECRET, journal=tmp_path / "journal")
        assert federation.news().sent == ()


class Paying:
    """An owner with an account, which has enough for one participation."""

    def __init__(self):
        self.paid = []

    def admitted(self, _, participation):
        if participation not in self.paid and self.paid:
            raise BudgetExceededError("owner", PureDP(1), PureDP(0))
        self.paid.append(participation)
        return VALUES[0], None


def test_owners_that_cannot_pay_send_nothing(gateways, tmp_path):
    opened(gateways, "paid", Plan())
    paying, plan = Paying(), Plan()
    paying.paid.append("an earlier one")
    with joined(gateways, "paid", 0) as federation:
        federation.messages = waits
        with pytest.raises(BudgetExceededError):
            federation.take_part(plan, paying, secret=SECRET, journal=tmp_path / "journal")
        assert federation.news().sent == ()
        first = (tmp_path / "journal").read_text().splitlines()
        with pytest.raises(BudgetExceededError):
            federation.take_part(plan, paying, secret=SECRET, journal=tmp_path / "another")
    assert (plan.computed, len(first)) == (0, 1)
    assert (tmp_path / "another").read_text().splitlines() != first  # so that it is another participation


def test_who_takes_no_part_is_told_so(gateways, tmp_path):
    opened(gateways, "closed", Plan())
    keys = gateways[0].keys
    with sf.join_federation(url_of(gateways[0]), "closed", token=keys["omar"]) as other, pytest.raises(NotFoundError):
        other.news()
    with sf.join_federation(url_of(gateways[0]), "closed", token=keys["admin"]) as federation:
        assert federation.news().party is None
        with pytest.raises(ParameterError, match="one of the owners"):
            federation.take_part(Plan(), VALUES[0], secret=SECRET, journal=tmp_path / "journal")
        assert repr(federation) == f"<RemoteFederation closed at {url_of(gateways[0])}>"


def test_a_federation_that_cannot_be_is_not_opened(gateways):
    cases = [
        (Plan(), PEOPLE[:3], "must be 4"), (Plan(5, max_dropouts=4), PEOPLE, "max_dropouts"),
        (Plan(max_dropouts=0), PEOPLE, "max_colluders"), (None, PEOPLE, "shared_federation"),
        (Plan(), [1, 2, 3, 4], "owners"),
    ]  # fmt: skip
    for plan, owners, words in cases:
        with pytest.raises(ParameterError, match=words):
            opened(gateways, "never", plan, owners)
    with pytest.raises(NotFoundError, match="nobody"):
        opened(gateways, "never", Plan(), (*PEOPLE[:3], "nobody"))
    with ExitStack() as stack, pytest.raises(ParameterError, match="https"):
        stack.enter_context(sf.join_federation("http://far.example", "never", token=gateways[0].keys["ann"]))
