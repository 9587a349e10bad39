"""The process with the data runs a ticket only if exactly that is charged and unanswered, and gives nothing back."""

import json
import resource
import sys
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.server.work.curators import CANARY, PEOPLE, asking, curator_file
from tests.session.opened import recorded

from sfumato.errors import EngineError, FailedOnRowsError, LedgerError, ParameterError, PolicyError
from sfumato.learn.bayes.tallies import ClassTallies
from sfumato.learn.ordering.planning import planned_fit
from sfumato.ledger.core.reservations import NOBODY
from sfumato.ledger.keeping.key import fresh_key
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP, guarantee
from sfumato.server.config import load_curator
from sfumato.server.gateway.desks import RemoteDesk
from sfumato.server.work import child, pacing
from sfumato.server.work.channel import sealed, written
from sfumato.server.work.child import Runner
from sfumato.session.asking.execution import answered
from sfumato.session.asking.planning import Planning, Ticket, charge, prepare
from sfumato.session.training.ordered import FitOrder
from sfumato.session.wire.fits import declared_rows, decode_fit, encode_fit
from sfumato.session.wire.tickets import encode_ticket

ANSWERED = {"answered": True, "doublings": 0}


@contextmanager
def running(file, name="people"):
    """A runner of a dataset, and the engine that tells what it was asked."""
    curator = load_curator(file)
    runner = Runner(curator, curator.datasets[name])
    try:
        yield runner, recorded(runner._session)[1]
    finally:
        runner.close()


@pytest.fixture
def served(tmp_path):
    """A runner, its engine, and a gateway's half."""
    file = curator_file(tmp_path)
    with running(file) as (runner, engine), asking(file) as gateway:
        yield runner, engine, gateway


def test_a_charged_ticket_is_answered_in_the_ledger_and_nowhere_else(served):
    runner, engine, gateway = served
    ticket = gateway.ticket(epsilon=500)
    assert runner.handle(gateway.message(ticket)) == ANSWERED
    assert len(engine.statements) == 1
    assert gateway.answer(ticket)["receipt"]["request"] == ticket.reservation.request


def test_what_gateways_read_of_the_data_is_only_what_is_released(served):
    runner, _, gateway = served
    ticket = gateway.ticket("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    heard = runner.handle(gateway.message(ticket))
    declared = gateway.curator.declarations("people").read_text()
    kept = json.dumps(gateway.answer(ticket))
    assert not any(secret in shown for secret in (CANARY, ".parquet") for shown in (str(heard), declared, kept))


# What is refused before anything is read


def refused(served, content, part):
    """The message is refused for one part of it, before the engine is asked."""
    runner, engine, _ = served
    heard = runner.handle(content)
    assert (heard.get("failed"), heard.get("part")) == ("TicketError", part)
    assert engine.statements == []


def test_a_ticket_is_run_once_however_often_it_is_sent(served):
    runner, engine, gateway = served
    message = gateway.message(gateway.ticket())
    assert runner.handle(message) == ANSWERED
    for _ in range(3):
        assert runner.handle(message)["failed"] == "TicketError"
    assert len(engine.statements) == 1


def test_a_ticket_that_was_abandoned_is_refused(served):
    gateway = served[2]
    ticket = gateway.ticket()
    gateway.ledger.abandon(ticket.reservation, reason="a test")
    refused(served, gateway.message(ticket), "reservation")


def test_a_ticket_of_another_account_is_refused(served):
    gateway = served[2]
    gateway.open_child("people/ann")
    ticket = gateway.ticket()
    refused(served, gateway.message(ticket, account="people/ann"), "account")
    refused(served, gateway.message(gateway.ticket(account="people/ann"), account="people"), "account")


def test_a_ticket_that_another_account_was_charged_for_is_refused(served):
    gateway = served[2]
    gateway.open_child("people/ann")
    ticket = gateway.ticket(account="people/ann")
    claimed = replace(ticket, reservation=replace(ticket.reservation, account="people"))
    refused(served, gateway.message(claimed), "reservation")


def test_a_ticket_of_another_dataset_is_refused(tmp_path):
    file = curator_file(tmp_path, "people", "others")
    with running(file, "others"), running(file) as (runner, engine), asking(file) as gateway:
        ticket = gateway.ticket(account="others")
        refused((runner, engine, gateway), gateway.message(ticket), "account")
        refused((runner, engine, gateway), gateway.message(ticket, account="people"), "account")


@pytest.mark.parametrize("field", ["version", "data_version"])
def test_a_ticket_that_was_planned_under_another_policy_or_for_other_data_is_refused(served, field):
    gateway = served[2]
    desk, planned = gateway.prepared()
    other = Planning(policy=replace(desk.policy, **{field: "2"}), ledger=desk.ledger, account="people")
    question = planned.plan.question
    ticket = charge(other, prepare(other, question, text=planned.text, total=guarantee("0.5")))
    refused(served, gateway.message(ticket), "hash and key")


def test_a_ticket_that_was_sealed_with_the_key_of_another_ledger_is_refused(served):
    gateway = served[2]
    refused(served, gateway.message(gateway.ticket(), key=fresh_key()), "seal")


def test_a_ticket_of_which_a_character_was_changed_is_refused(served):
    gateway = served[2]
    message = json.loads(gateway.message(gateway.ticket()))
    account, text = message["parts"]
    for parts in ([account, text.replace("people", "peoplf", 1)], [account + " ", text], [account + text, ""], [text]):
        refused(served, written(message | {"parts": parts}), "seal")
    refused(served, written(message | {"purpose": "publish"}), "seal")


def test_a_sealed_ticket_about_something_else_is_refused(served):
    gateway = served[2]
    text = encode_ticket(gateway.ticket())
    changed = text.replace(
        '"epsilon":{"rational":"1/2"}', '"epsilon":{"rational":"5"}', 1
    )  # less noise than was charged
    assert changed != text
    refused(served, written(sealed(gateway.ledger.key, "run", "people", changed)), "plan")


def test_a_ticket_for_which_nothing_was_reserved_is_refused(served):
    gateway = served[2]
    claimed = replace(gateway.ticket().reservation, request="0" * 32)
    refused(served, gateway.message(Ticket(prepared=gateway.prepared()[1], reservation=claimed)), "reservation")


def test_a_ticket_for_which_another_query_was_reserved_is_refused(served):
    gateway = served[2]
    reservation = gateway.ticket("SELECT SUM(age) AS total FROM people").reservation
    refused(served, gateway.message(Ticket(prepared=gateway.prepared()[1], reservation=reservation)), "reservation")


def test_a_ticket_for_which_less_was_reserved_is_refused(served):
    gateway = served[2]
    cheap = gateway.ticket(epsilon="0.1").reservation
    refused(served, gateway.message(Ticket(prepared=gateway.prepared()[1], reservation=cheap)), "reservation")


def test_a_ticket_for_whose_hash_and_key_a_smaller_charge_was_reserved_is_refused(served):
    gateway = served[2]
    _, planned = gateway.prepared()
    reservation = gateway.ledger.fly(
        "people", planned.key, event=PureEvent("0.1"), charge=PureDP("0.1"), question=planned.question
    )
    refused(served, gateway.message(Ticket(prepared=planned, reservation=reservation)), "reservation")


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\x00", b"[]", b"{}", b"[" * 10**5, b'{"purpose": 1, "parts": [], "seal": ""}', b'{"parts": [1]}'],
    ids=["nothing", "no text", "a list", "no parts", "nested", "a number", "numbers"],
)
def test_what_is_no_message_is_refused(served, content):
    refused(served, content, "message")


@pytest.mark.parametrize(
    ("purpose", "parts"), [("run", ()), ("run", ("people",)), ("publish", ()), ("suspend", ("people", ""))]
)
def test_a_sealed_message_of_no_known_purpose_is_refused(served, purpose, parts):
    refused(served, written(sealed(served[2].ledger.key, purpose, *parts)), "purpose")


def test_a_ticket_on_suspended_data_is_unavailable_and_reads_nothing(served):
    runner, engine, gateway = served
    ticket, other = gateway.ticket(), gateway.ticket("SELECT SUM(age) AS total FROM people")
    gateway.ledger.suspend_account(other.reservation)
    assert runner.handle(gateway.message(ticket)) == {"failed": "UnavailableError"}
    assert runner.handle(gateway.message(other)) == {"failed": "UnavailableError"}
    assert engine.statements == []


# What fails


def failing(runner, error):
    """The engine fails."""

    def run(*_, **__):
        raise error

    runner._session.desk.engine.run = run


@pytest.mark.parametrize(
    "error", [MemoryError(), ValueError(CANARY), FailedOnRowsError("duckdb", "answered", "OutOfRange")], ids=repr
)
def test_what_fails_over_rows_suspends_the_data_and_tells_nothing(served, error):
    runner, _, gateway = served
    failing(runner, error)
    ticket = gateway.ticket()
    assert runner.handle(gateway.message(ticket)) == {"failed": "UnavailableError"}
    assert gateway.ledger.is_suspended("people")
    assert gateway.ledger.flight_of(ticket.reservation.request) is None
    assert gateway.curator.mark("people").read_text().strip() == ""


def test_what_fails_before_rows_are_read_says_so(served):
    runner, _, gateway = served
    failing(runner, EngineError("duckdb", "connected"))
    ticket = gateway.ticket()
    assert runner.handle(gateway.message(ticket)) == {"failed": "EngineError", "engine": "duckdb", "phase": "connected"}
    assert not gateway.ledger.is_suspended("people")


def test_what_takes_too_long_suspends_the_data(served, monkeypatch):
    runner, engine, gateway = served
    times = iter([0.0, 1_000.0])
    monkeypatch.setattr(child, "Pace", lambda *given, **options: pacing.Pace(*given, **options, clock=times.__next__))
    ticket = gateway.ticket()
    assert runner.handle(gateway.message(ticket)) == {"failed": "UnavailableError"}
    assert len(engine.statements) == 1
    assert gateway.ledger.is_suspended("people")
    assert gateway.answer(ticket) is None


def test_a_query_that_may_take_too_long_is_not_run(tmp_path):
    file = curator_file(tmp_path, quantum=0.001, seconds=0.001, rows_per_second=1)
    with running(file) as (runner, engine), asking(file) as gateway:
        assert runner.handle(gateway.message(gateway.ticket())) == {"failed": "UnavailableError"}
        assert engine.statements == []
        assert not gateway.ledger.is_suspended("people")


def test_a_failure_that_the_ledger_cannot_record_ends_the_process_and_the_next_one_records_it(served, monkeypatch):
    runner, _, gateway = served
    failing(runner, MemoryError())
    ticket = gateway.ticket()
    ledger = type(runner._session.desk.ledger)
    with monkeypatch.context() as broken:

        def fails(*_):
            raise PolicyError("ledger", "cannot be written")

        broken.setattr(ledger, "suspend_account", fails)
        with pytest.raises(SystemExit):
            runner.handle(gateway.message(ticket))
        assert not gateway.ledger.is_suspended("people")
    runner.close()
    with running(gateway.curator.state.parent / "curator.toml"):
        assert gateway.ledger.is_suspended("people")
        assert gateway.curator.mark("people").read_text().strip() == ""


# Accounts that share answers


def test_accounts_that_ask_the_same_at_once_do_not_wait_for_each_other(tmp_path):
    file = curator_file(tmp_path, shares=True)
    with running(file) as (runner, engine), asking(file) as gateway:
        accounts = [gateway.open_child(f"people/{name}") for name in ("ann", "bob")]
        first, second = (gateway.ticket(account=account) for account in accounts)
        assert runner.handle(gateway.message(second)) == ANSWERED  # though the other one asked earlier
        assert runner.handle(gateway.message(first)) == ANSWERED
        answers = [gateway.answer(one) for one in (first, second)]
        assert answers[0]["sections"] == answers[1]["sections"]
        assert len(engine.statements) == 1


def test_what_another_account_was_answered_goes_the_way_of_any_other_query(tmp_path, monkeypatch):
    """It comes at the end of its time class, so that its time tells nobody that somebody else asked."""
    file = curator_file(tmp_path, shares=True)
    with running(file) as (runner, engine), asking(file) as gateway:
        accounts = [gateway.open_child(f"people/{name}") for name in ("ann", "bob")]
        sent = []

        def answer(_, ticket, **__):
            sent.append(runner.handle(gateway.message(ticket)))
            return gateway.answer(ticket)

        monkeypatch.setattr(RemoteDesk, "answer", answer)
        monkeypatch.setattr(RemoteDesk, "expect", lambda *_: None)
        answers = [answered(*gateway.prepared(account=account), asked=NOBODY) for account in accounts]
        assert sent == [ANSWERED] * 2
        assert answers[0].answer["sections"] == answers[1].answer["sections"]
        assert [one.is_reused for one in answers] == [False, False]
        assert len(engine.statements) == 1


# Versions of the data


def publish(runner, gateway, version):
    return runner.handle(written(sealed(gateway.ledger.key, "publish", version)))


def data_version(gateway):
    return gateway.datasets.served("people").planning.policy.data_version


def test_a_published_version_is_that_of_gateways_and_of_processes_to_come(served, tmp_path):
    runner, _, gateway = served
    old = gateway.ticket()
    pq.write_table(pa.concat_tables([PEOPLE] * 5), tmp_path / "people.parquet")
    assert publish(runner, gateway, "2027") == {"published": "2027"}
    assert data_version(gateway) == "2027"
    assert runner.handle(gateway.message(old))["failed"] == "TicketError"
    fresh = gateway.ticket(epsilon=500)
    assert runner.handle(gateway.message(fresh)) == ANSWERED
    (section,) = gateway.answer(fresh)["sections"]
    assert "20" in json.dumps(section)
    with running(tmp_path / "curator.toml") as (_, _):
        assert data_version(gateway) == "2027"


def test_a_version_that_cannot_be_opened_is_not_published(served, tmp_path):
    runner, _, gateway = served
    (tmp_path / "people.parquet").write_bytes(b"no table")
    assert "failed" in publish(runner, gateway, "2027")
    assert not gateway.curator.version("people").exists()
    assert data_version(gateway) == "1"
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    assert runner.handle(gateway.message(gateway.ticket())) == ANSWERED


def test_a_process_follows_a_version_that_another_one_has_published(served):
    runner, _, gateway = served
    with running(gateway.curator.state.parent / "curator.toml") as (other, _):
        assert publish(other, gateway, "2027") == {"published": "2027"}
        assert runner.handle(gateway.message(gateway.ticket())) == ANSWERED


def test_a_policy_of_another_dataset_is_refused(tmp_path):
    file = curator_file(tmp_path)
    (tmp_path / "people.toml").write_text((tmp_path / "people.toml").read_text().replace('"people"', '"other"', 1))
    with pytest.raises(PolicyError, match="as the curator's file calls it"), running(file):
        pass


# The engine


def test_duckdb_reads_no_other_file_and_its_settings_are_locked(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with running(curator_file(tmp_path, engine="duckdb")) as (runner, engine):
        connection = engine._engine._database
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')", "SET enable_external_access = true",
            "SET memory_limit = '1GB'", f"ATTACH '{tmp_path / 'other.db'}' AS other", "INSTALL httpfs",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
        ):  # fmt: skip
            with pytest.raises(Exception, match=r"(?i)disabled|locked|not permitted|permission"):
                connection.execute(statement)
        assert runner.is_worn is False
    assert not (tmp_path / "out.csv").exists()


def test_a_process_whose_queries_took_more_memory_than_they_may_is_worn(tmp_path, monkeypatch):
    taken = [2**30]
    monkeypatch.setattr(child, "_most_memory", lambda: taken[0])
    with running(curator_file(tmp_path, memory=2**28)) as (runner, _):
        runner._memory_at_start = 2**30
        assert not runner.is_worn
        taken[0] += 2**28 + 1
        assert runner.is_worn
    with running(curator_file(tmp_path)) as (runner, _):
        assert not runner.is_worn


def test_memory_that_is_not_limited_stays_unlimited(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with running(curator_file(tmp_path)) as (runner, _):
        runner.bound_memory()
        assert runner._memory_at_start > 2**20
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_a_budget_that_an_owner_has_changed_holds_when_the_dataset_is_opened_again(tmp_path):
    file = curator_file(tmp_path)
    with running(file), asking(file) as gateway:
        gateway.ledger.change_budget("people", PureDP(5), reason="an owner's")
    with running(file), asking(file) as gateway:
        assert gateway.ledger.budget("people") == PureDP(5)


def test_another_budget_in_the_file_is_refused_and_not_taken_for_an_owner_s(tmp_path):
    file = curator_file(tmp_path)
    with running(file):
        pass
    file.write_text(file.read_text("utf-8").replace("epsilon = 1000", "epsilon = 2000"), "utf-8")
    with pytest.raises(LedgerError, match="was opened with budget ε 1000, not ε 2000"):
        Runner(load_curator(file), load_curator(file).datasets["people"])


# Fits


BAYES = FitOrder(estimator="GaussianNB", arguments='{"epsilon":"0.5"}')


def fit_ticket(gateway, order=BAYES, **claims):
    """A charged fit, planned as a gateway has it planned."""
    rows = gateway.view().training_set("SELECT age, sex FROM people", target="sex")
    planned = planned_fit(order, declared_rows(rows.query, rows.neighboring_relation))
    return charge(rows.desk, rows.prepare(replace(decode_fit(encode_fit(planned)), **claims)))


def test_a_charged_fit_is_run_once_and_its_model_is_in_the_ledger(served):
    runner, engine, gateway = served
    ticket = fit_ticket(gateway)
    assert runner.handle(gateway.message(ticket)) == ANSWERED
    answer = gateway.answer(ticket)
    assert set(answer["model"]) == {"counts", "sums"}
    assert CANARY not in json.dumps(answer)
    assert runner.handle(gateway.message(ticket))["failed"] == "TicketError"
    assert len(engine.statements) == 1


def test_a_fit_of_another_epsilon_than_was_charged_is_refused(served):
    gateway = served[2]
    ticket = fit_ticket(gateway)
    dearer = fit_ticket(gateway, replace(BAYES, arguments='{"epsilon":"1"}'))
    claimed = replace(dearer, reservation=ticket.reservation)
    refused(served, gateway.message(claimed), "reservation")
    plan = ticket.prepared.plan
    fit = replace(plan.fit, order=dearer.prepared.plan.fit.order)
    claimed = replace(ticket, prepared=replace(ticket.prepared, plan=replace(plan, fit=fit)))
    refused(served, gateway.message(claimed), "plan")


def test_the_arguments_of_a_fit_are_sealed(served):
    gateway = served[2]
    message = gateway.message(fit_ticket(gateway))
    for changed in (message.replace(b"0.5", b"5.0"), message.replace(b"GaussianNB", b"CategoricalNB")):
        assert changed != message
        refused(served, changed, "seal")


def test_a_fit_that_fails_on_rows_suspends_the_data(served, monkeypatch):
    runner, _, gateway = served
    ticket = fit_ticket(gateway)

    def fails(*_):
        raise FailedOnRowsError("a", "b", cause="KeyError")

    monkeypatch.setattr(ClassTallies, "release", fails)
    assert runner.handle(gateway.message(ticket)) == {"failed": "UnavailableError"}
    assert gateway.ledger.is_suspended("people")


def test_a_fit_that_may_take_too_long_is_refused_before_it_is_charged(tmp_path):
    file = curator_file(tmp_path, quantum=0.01, seconds=0.2, rows_per_second=1e4)
    with running(file), asking(file) as gateway:
        before = gateway.ledger.spent("people")
        view = gateway.view()
        rows = view.training_set("SELECT age, sex FROM people", target="sex")
        planned = planned_fit(BAYES, declared_rows(rows.query, rows.neighboring_relation))
        with pytest.raises(ParameterError, match="smaller model"):
            rows.fit(planned)
        assert gateway.ledger.spent("people") == before


def test_where_models_are_not_installed_no_fit_is_run(served, monkeypatch):
    gateway = served[2]
    monkeypatch.setitem(sys.modules, "sfumato.learn.ordering.planning", None)
    refused(served, gateway.message(fit_ticket(gateway)), "plan")
