"""A gateway plans and charges, and has what is charged run elsewhere: in this order, and never twice."""

import os
from dataclasses import replace

import pytest

from sfumato.errors import BusyError, EngineError, LedgerError, ParameterError, TicketError, UnavailableError
from sfumato.query.policy.file import load_policy
from sfumato.server.gateway.desks import Datasets, Errand
from sfumato.server.work.channel import opened
from sfumato.session.asking import planning
from sfumato.session.asking.execution import execute
from sfumato.session.session import Session
from sfumato.session.wire.policies import encode_declarations
from sfumato.session.wire.tickets import decode_ticket


class Line:
    """A way to a process with the data that is this one; what happens on it is noted.

    Args:
        ledger: Where charges are.
        run: Runs a message.
        full: Why there is no place, if there is none.
    """

    def __init__(self, ledger, run=None, full=None):
        self._ledger, self._run, self._full, self.seen = ledger, run, full, []

    def enter(self):
        self.seen.append(("enter", self._ledger.spent("clinic/ann").epsilon))
        if self._full is not None:
            raise self._full

    def run(self, message, *, meanwhile, every):
        self.waits = meanwhile, every
        self.seen.append(("run", self._ledger.spent("clinic/ann").epsilon))
        return self._run(message)


@pytest.fixture
def datasets(beside):
    return beside.gateway.datasets


def question(datasets, line, sql):
    return datasets.view(datasets.served("clinic"), "clinic/ann", Errand(line)).query(sql)


@pytest.fixture
def worker(beside, curator):
    """Runs what a gateway sends, in this process."""
    policy = load_policy(curator.folder / "clinic.toml")
    version = beside.gateway.datasets.served("clinic").declared.data_version
    session = Session(
        replace(policy, data_version=version), ledger=curator.curator.ledger,
        budget=curator.curator.datasets["clinic"].budget,
    )  # fmt: skip

    def run(message):
        _, (account, text) = opened(message, session.desk.ledger.key)
        desk = replace(session.desk, account=account)
        execute(desk, decode_ticket(text, desk))
        return {"answered": True, "doublings": 2}

    yield run
    session.close()


def test_42_a_place_is_taken_before_and_the_query_run_after_the_charge(beside, datasets, worker, fresh):
    """Catalogue 42: charged before data is read, and after somebody will read it."""
    ledger = beside.gateway.ledger
    line = Line(ledger, worker)
    asked, before = question(datasets, line, fresh()), ledger.spent("clinic/ann").epsilon
    first = asked.release(epsilon="0.5")
    assert [(what, str(spent - before)) for what, spent in line.seen] == [("enter", "0"), ("run", "1/2")]
    assert not first.reused
    again = asked.release(epsilon="0.5")
    assert (again.reused, again.estimates, len(line.seen)) == (True, first.estimates, 2)


def test_without_a_place_nothing_is_charged(beside, datasets, fresh):
    ledger = beside.gateway.ledger
    for refusal in (BusyError("queries", 2), UnavailableError()):
        line, before = Line(ledger, full=refusal), ledger.spent("clinic").epsilon
        with pytest.raises(type(refusal)):
            question(datasets, line, fresh()).release(epsilon="0.5")
        assert (len(line.seen), ledger.spent("clinic").epsilon) == (1, before)


@pytest.mark.usefixtures("unheard")
def test_42_what_fails_after_the_charge_stays_charged_and_is_no_second_charge_under_its_key(
    beside, datasets, worker, fresh
):
    """Catalogue 42, 35: a gateway whose worker went away asks again under the key."""

    def gone(_):
        raise UnavailableError

    ledger, sql = beside.gateway.ledger, fresh()
    before = ledger.spent("clinic/ann").epsilon
    with pytest.raises(UnavailableError):
        question(datasets, Line(ledger, gone), sql).release(epsilon="0.5", idempotency_key="ann:desk")
    assert str(ledger.spent("clinic/ann").epsilon - before) == "1/2"
    answer = question(datasets, Line(ledger, worker), sql).release(epsilon="0.5", idempotency_key="ann:desk")
    assert not answer.reused
    assert str(ledger.spent("clinic/ann").epsilon - before) == "1/2"


def test_an_answer_that_is_in_the_ledger_is_shown_though_the_way_back_is_cut(beside, datasets, worker, fresh):
    """A worker may answer and die before it says so."""

    def cut(message):
        worker(message)
        raise EngineError("data", "answered")

    errand = Errand(Line(beside.gateway.ledger, cut))
    asked = datasets.view(datasets.served("clinic"), "clinic/ann", errand).query(fresh())
    assert not asked.release(epsilon="0.5").reused


def test_while_a_gateway_waits_the_ledger_hears_three_times_a_lease_that_it_does(beside, datasets, worker, fresh):
    """Else another one would take the query over, and have it run once more."""
    ledger, renewals = beside.gateway.ledger, []

    def late(message):
        meanwhile, every = line.waits
        assert every == planning.LEASE / 3
        for _ in range(2):
            meanwhile()
            renewals.append(ledger.flight("clinic/ann", errand.prepared.key).renewals)
        return worker(message)

    line = Line(ledger, late)
    errand = Errand(line)
    datasets.view(datasets.served("clinic"), "clinic/ann", errand).query(fresh()).release(epsilon="0.5")
    assert renewals == [1, 2]


def test_whether_an_answer_took_longer_than_its_class_comes_to_be_known(beside, datasets, worker, fresh):
    errand = Errand(Line(beside.gateway.ledger, worker))
    datasets.view(datasets.served("clinic"), "clinic/ann", errand).query(fresh()).release(epsilon="0.5")
    assert errand.doublings == 2
    assert errand.prepared is not None


def test_what_is_known_of_data_alone_is_refused(datasets, beside, tmp_path, fresh):
    asked = question(datasets, Line(beside.gateway.ledger), fresh())
    with pytest.raises(ParameterError, match="where the data are"):
        asked.explain(epsilon=1, sql=True)
    with pytest.raises(ParameterError, match="not written here"):
        asked.release(epsilon=1, to=tmp_path / "x.parquet")


def test_declarations_are_read_again_once_they_are_written_again(beside, curator, tmp_path, monkeypatch):
    datasets, place = Datasets(curator.curator, beside.gateway.ledger), tmp_path / "clinic.declared"
    place.write_bytes(curator.curator.declarations("clinic").read_bytes())
    monkeypatch.setattr(type(curator.curator), "declarations", lambda *_: place)
    first = datasets.served("clinic")
    assert datasets.served("clinic") is first
    stated = place.stat()
    os.utime(place, ns=(stated.st_atime_ns, stated.st_mtime_ns + 1))
    assert datasets.served("clinic") is first  # the same was written again: what was planned by it holds
    policy = replace(first.planning.policy, data_version="later")
    place.write_text(encode_declarations(replace(first.planning, policy=policy), beside.gateway.ledger), "utf-8")
    assert datasets.served("clinic").planning.policy == policy
    assert datasets.served("clinic").stamp != first.stamp


def test_declarations_of_a_stranger_are_not_believed(beside, curator, tmp_path, monkeypatch):
    """They are sealed with the ledger's key; whoever can write the file may not say what is protected."""
    datasets, place = Datasets(curator.curator, beside.gateway.ledger), tmp_path / "clinic.declared"
    text = curator.curator.declarations("clinic").read_text("utf-8")
    monkeypatch.setattr(type(curator.curator), "declarations", lambda *_: place)
    for forged in ("", "{}", text.replace("100", "101"), text[:-1], text.replace("add_or_remove_one", "replace_one")):
        place.write_text(forged, "utf-8")
        with pytest.raises((UnavailableError, TicketError, LedgerError)):
            datasets.served("clinic")
    place.unlink()
    with pytest.raises(UnavailableError):
        datasets.served("clinic")
