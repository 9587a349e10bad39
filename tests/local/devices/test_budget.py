"""A ledger on the device: no history of values costs more than its budget, whatever was held."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.local.branches import law_of, worst_ratio

from sfumato.errors import ParameterError
from sfumato.local import (
    BasicRappor,
    BucketBits,
    DeviceBudget,
    DeviceLedger,
    DirectEncoding,
    LocalClient,
    LongitudinalDirect,
    OptimizedUnaryEncoding,
    Rappor,
)
from sfumato.numeric.rounding import log_up

DRINKS = DirectEncoding(["tea", "coffee"], epsilon=1)
EMOJI = OptimizedUnaryEncoding(5, epsilon="0.5")


def ledger_in(folder, budget, **protocols):
    clients = {name: protocol.client() for name, protocol in (protocols or {"drinks": DRINKS}).items()}
    return DeviceLedger(budget, clients, folder / "ledger.json")


def days_of(budget, values_by_day, folder):
    """What one device sends in so many days, from a fresh ledger."""
    (folder / "ledger.json").unlink(missing_ok=True)
    ledger, sent = ledger_in(folder, budget), []
    for day, values in enumerate(values_by_day):
        sent += [report.payload for report in ledger.send({"drinks": values}, day=day)["drinks"]]
    return tuple(sent)


@pytest.mark.parametrize("beyond", ["repeat", "data_free"])
def test_whatever_is_held_on_all_days_the_reports_have_the_epsilon_of_the_lifetime(beyond, tmp_path, monkeypatch):
    """Exactly, over all falls of all coins of three days: two may be about values, and the third may not."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=2, beyond=beyond)
    laws = [
        law_of(lambda held=held: days_of(budget, [[value] for value in held], tmp_path))
        for held in product(("tea", "coffee"), repeat=3)
    ]
    assert 2 * DRINKS.realized_epsilon - log_up(worst_ratio(laws)) < Fraction(1, 10**15)
    assert log_up(worst_ratio(laws)) <= budget.lifetime
    first_day = [law_of(lambda v=v: days_of(budget, [[v]], tmp_path)) for v in ("tea", "coffee")]
    assert log_up(worst_ratio(first_day)) <= budget.per_day


def test_what_is_beyond_the_budget_has_one_distribution_whatever_is_held(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=1, reports_per_day=2, beyond="data_free")
    laws = [law_of(lambda v=v: days_of(budget, [["tea"], [v]], tmp_path)[1:]) for v in ("tea", "coffee", None)]
    assert laws[0] == laws[1] == laws[2]


def test_as_many_reports_are_sent_every_day_whatever_is_held(tmp_path):
    budget = DeviceBudget(per_use=1, per_day=2, lifetime=5, reports_per_day=3)
    ledger = ledger_in(tmp_path, budget, drinks=DRINKS, emoji=EMOJI)
    values = [{"drinks": ["tea"] * 9, "emoji": [1]}, {}, {"drinks": []}, {"emoji": [1, 2]}, {"drinks": [None]}, {}]
    spent = [Fraction(0)]
    for day, held in enumerate(values):
        sent = ledger.send(held, day=day)
        assert {name: len(reports) for name, reports in sent.items()} == {"drinks": 3, "emoji": 3}
        spent.append(ledger.spent)
        assert spent[-1] - spent[-2] <= budget.per_day
        assert DRINKS.aggregator().add(sent["drinks"]).accepted == 3
        assert EMOJI.aggregator().add(sent["emoji"]).accepted == 3
    assert ledger.spent <= budget.lifetime
    assert ledger.remaining == budget.lifetime - ledger.spent
    assert spent[-1] == spent[-2]


def test_what_is_charged_does_not_depend_on_values(tmp_path):
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=3)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    changing, constant = ledger_in(tmp_path / "a", budget), ledger_in(tmp_path / "b", budget)
    for day, values in enumerate((["tea"], [], [None], ["tea", "beer"], ["coffee"])):
        changing.send({"drinks": values}, day=day)
        constant.send({"drinks": ["tea"]}, day=day)
        assert changing.spent == constant.spent


def test_beyond_the_budget_reports_are_repeated(tmp_path):
    ledger = ledger_in(
        tmp_path, DeviceBudget(per_use=1, per_day=1, lifetime=1), drinks=OptimizedUnaryEncoding(60, epsilon=1)
    )
    first = ledger.send({"drinks": [3]}, day=0)
    for day in (1, 2, 7):
        assert ledger.send({"drinks": [day]}, day=day) == first


def test_asking_again_gives_the_same_reports_and_costs_nothing(tmp_path):
    """Also if the clock went back, and after the program was started again."""
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=9)
    wide = OptimizedUnaryEncoding(60, epsilon=1)
    ledger = ledger_in(tmp_path, budget, drinks=wide)
    sent, spent = ledger.send({"drinks": [1]}, day=5), ledger.spent
    for day in (5, 4, -1):
        assert ledger.send({"drinks": [2]}, day=day) == sent
    again = ledger_in(tmp_path, budget, drinks=wide)
    assert again.spent == spent > 0
    assert again.send({"drinks": [7]}, day=5) == sent
    assert again.send({"drinks": [7]}, day=6) != sent
    assert again.spent == 2 * spent


def test_nothing_is_returned_if_the_ledger_cannot_be_written(tmp_path, monkeypatch):
    ledger = ledger_in(tmp_path, DeviceBudget(per_use=1, per_day=1, lifetime=9))

    def full(_):
        raise OSError("no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        ledger.send({"drinks": ["tea"]}, day=0)
    assert not (tmp_path / "ledger.json").exists()


def test_values_of_a_day_are_drawn_uniformly(tmp_path):
    sure = DirectEncoding(3, epsilon=50)
    budget = DeviceBudget(per_use=50, per_day=20_000, lifetime=20_000, reports_per_day=400)
    sent = ledger_in(tmp_path, budget, drinks=sure).send({"drinks": [0, 1, 1, 1]}, day=0)["drinks"]
    ones = sum(report.payload[0] for report in sent)
    assert 200 < ones < 380  # of 400, expected 300 with a standard deviation of 8.7


REMEMBERING = (
    Rappor(bits=32, hashes=1, cohorts=4, f="0.5", p="0.25", q="0.75"),
    BasicRappor(2, f="0.5", p=0, q=1),
    LongitudinalDirect(2, epsilon=1, permanent_epsilon=2),
    BucketBits(3, epsilon=1),
)


@pytest.mark.parametrize("protocol", REMEMBERING, ids=lambda protocol: protocol.kind)
def test_a_client_with_a_memory_is_refused_and_one_without_can_have_a_ledger(protocol, tmp_path):
    """Two reports of one permanent response are never different: no number of days would pay for that."""
    budget = DeviceBudget(per_use=3, per_day=3, lifetime=6)
    with pytest.raises(ParameterError, match="memory"):
        ledger_in(tmp_path, budget, home=protocol)
    ledger = DeviceLedger(budget, {"home": LocalClient(protocol)}, tmp_path / "ledger.json")
    assert protocol.aggregator().add(ledger.send({"home": [1]}, day=1)["home"]).accepted == 1


@pytest.mark.parametrize(
    "makes_client", [LocalClient, lambda protocol: protocol.client()], ids=["fresh", "remembering"]
)
def test_what_a_day_reveals_adds_up_only_without_a_memory(makes_client):
    """Exactly, for two days: a value that stays, and one that changes."""
    protocol = BucketBits(2, epsilon=1, sampled=2)

    def sent(*values):
        client = makes_client(protocol)
        return tuple(client.report(value).payload for value in values)

    laws = [law_of(lambda held=held: sent(*held)) for held in product(range(2), repeat=2)]
    is_limited = all(law.keys() == laws[0].keys() for law in laws)
    if is_limited:
        assert log_up(worst_ratio(laws)) <= 2 * protocol.realized_epsilon
    assert is_limited == (not makes_client(protocol).has_memory)


def test_processes_with_one_ledger_send_one_set_of_reports(tmp_path):
    """Both were started before either sent: as often as a program is started twice."""
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=2)
    wide = OptimizedUnaryEncoding(60, epsilon=1)
    first, second = (ledger_in(tmp_path, budget, drinks=wide) for _ in range(2))
    for day in range(5):
        sent = [ledger.send({"drinks": [day]}, day=day) for ledger in (first, second)]
        assert sent[0] == sent[1]
        assert first.spent == second.spent <= budget.lifetime
        first, second = second, first


def test_two_threads_never_spend_one_day_twice(tmp_path):
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=99)
    wide = OptimizedUnaryEncoding(60, epsilon=1)
    ledgers = [ledger_in(tmp_path, budget, drinks=wide) for _ in range(4)]
    for day in range(3):
        with ThreadPoolExecutor(len(ledgers)) as pool:
            sent = list(pool.map(lambda ledger, day=day: ledger.send({"drinks": [1]}, day=day), ledgers))
        assert all(reports == sent[0] for reports in sent)
    assert ledger_in(tmp_path, budget, drinks=wide).spent == 3 * wide.realized_epsilon


def test_an_older_copy_does_not_move_a_running_device_back(tmp_path):
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=9)
    ledger, path = ledger_in(tmp_path, budget), tmp_path / "ledger.json"
    ledger.send({}, day=1)
    older = path.read_bytes()
    sent, spent = ledger.send({}, day=2), ledger.spent
    path.write_bytes(older)
    assert ledger.send({}, day=2) == sent
    assert ledger.spent == spent


def test_the_name_of_the_file_is_on_the_disk_before_reports_are_returned(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    ledger_in(tmp_path, DeviceBudget(per_use=1, per_day=1, lifetime=9)).send({}, day=0)
    assert synced == [(tmp_path / "ledger.json").stat().st_ino, tmp_path.stat().st_ino]


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_use": 0}, {"per_use": 3}, {"per_day": 11}, {"lifetime": -1}, {"reports_per_day": 0},
        {"beyond": "silence"}, {"reports_per_day": 1001},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_budget_is_refused(wrong):
    with pytest.raises(ParameterError):
        DeviceBudget(**{"per_use": 1, "per_day": 2, "lifetime": 10} | wrong)


def test_wrong_clients_days_and_values_are_refused(tmp_path):
    budget = DeviceBudget(per_use="0.6", per_day=1, lifetime=1)
    with pytest.raises(ParameterError, match="above per_use"):
        ledger_in(tmp_path, budget)
    with pytest.raises(ParameterError, match="at least one"):
        DeviceLedger(budget, {}, tmp_path / "ledger.json")
    ledger = ledger_in(tmp_path, budget, emoji=EMOJI)
    for day in (0.5, "1", True, None):
        with pytest.raises(ParameterError, match="day"):
            ledger.send({}, day=day)
    with pytest.raises(ParameterError, match="values"):
        ledger.send({"drinks": ["tea"]}, day=0)
    for values in ("tea", {"tea": 1}, 7):
        with pytest.raises(ParameterError, match="must be a list") as refused:
            ledger.send({"emoji": values}, day=0)
        assert "tea" not in str(refused.value)


def test_a_ledger_that_is_damaged_or_of_something_else_is_refused(tmp_path):
    budget = DeviceBudget(per_use=1, per_day=1, lifetime=9)
    ledger_in(tmp_path, budget).send({}, day=1)
    path = tmp_path / "ledger.json"
    good = json.loads(path.read_text("utf-8"))
    for changed in (
        {"spent": "-1"}, {"spent": "x"}, {"day": True}, {"day": "1"}, {"reports": {}}, {"version": 2}, {"budget": {}},
        {"protocols": {}}, {"reports": {"drinks": ["no report"]}}, {"reports": None},
    ):  # fmt: skip
        path.write_text(json.dumps(good | changed), "utf-8")
        with pytest.raises(ParameterError, match="path"):
            ledger_in(tmp_path, budget)
    for content in ("", "[]", "{", "{}", "7"):
        path.write_text(content, "utf-8")
        with pytest.raises(ParameterError, match="path"):
            ledger_in(tmp_path, budget)
    path.write_text(json.dumps(good), "utf-8")
    with pytest.raises(ParameterError, match="same budget"):
        ledger_in(tmp_path, DeviceBudget(per_use=1, per_day=1, lifetime=10))


def test_protocols_take_turns_until_the_day_is_spent():
    budget = DeviceBudget(per_use=2, per_day=3, lifetime=4, reports_per_day=2)
    costs = {"a": Fraction(2), "b": Fraction(1)}
    assert [fresh for _, fresh in budget.schedule(costs, spent=Fraction(0))] == [True, True, False, False]
    assert [fresh for _, fresh in budget.schedule(costs, spent=Fraction(3))] == [False, True, False, False]
    assert [fresh for _, fresh in budget.schedule(costs, spent=Fraction(4))] == [False] * 4
    assert np.all([name in costs for name, _ in budget.schedule(costs, spent=Fraction(0))])
