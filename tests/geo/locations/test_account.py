"""The account of a device: ε per unit of distance adds up, is on the disk first, and ends at the budget."""

import json
from multiprocessing import get_context

import pytest

from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.geo.locations.account import MetricAccount
from sfumato.geo.locations.planar_laplace import PlanarLaplace
from sfumato.geo.metrics.lipschitz import LipschitzLaplace
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.promises import MetricDP

BUDGET = MetricDP("0.03", "meter", 2)
HEIGHT = LipschitzLaplace(lipschitz=1, epsilon="0.01", unit="meter")


def test_charges_add_up_and_end_at_the_budget():
    account = MetricAccount(BUDGET)
    for _ in range(3):
        account.charge(MetricDP(10, "kilometer", "0.5"))
    assert account.spent == MetricDP("0.03", "meter", "1.5")
    assert account.remaining == MetricDP(0, "meter", "0.5")
    with pytest.raises(BudgetExceededError):
        account.charge(MetricDP("1e-9", "meter"))
    assert account.spent.epsilon == BUDGET.epsilon


def test_the_offset_has_a_budget_of_its_own():
    account = MetricAccount(BUDGET)
    with pytest.raises(BudgetExceededError):
        account.charge(MetricDP("0.01", "meter", 3))
    with pytest.raises(BudgetExceededError):
        MetricAccount(MetricDP(1, "meter")).charge(MetricDP("0.01", "meter", "0.1"))


def test_a_release_is_charged_before_it_is_made():
    account = MetricAccount(MetricDP("0.01", "meter"))
    account.release(HEIGHT, 421)
    with pytest.raises(BudgetExceededError):
        account.release(HEIGHT, 421)
    failing = MetricAccount(BUDGET)
    with pytest.raises(ParameterError, match="exact"):
        failing.release(HEIGHT, "no number")
    assert failing.spent.epsilon == HEIGHT.epsilon  # never given back


def test_reports_of_places_are_charged_with_their_offset():
    noisy = PlanarLaplace(Grid(LocalProjection(0, 0), cell=100, columns=9, rows=9), epsilon="0.01")
    account = MetricAccount(BUDGET)
    account.release(noisy, (0, 0))
    assert account.spent == noisy.guarantee


def test_a_file_keeps_what_was_spent(tmp_path):
    path = tmp_path / "account.json"
    MetricAccount(BUDGET, path).charge(MetricDP("0.01", "meter"))
    again = MetricAccount(BUDGET, path)
    assert again.spent == MetricDP("0.01", "meter")
    MetricAccount(BUDGET, path).charge(MetricDP("0.02", "meter"))
    with pytest.raises(BudgetExceededError):  # it reads what the other one has spent
        again.charge(MetricDP("0.01", "meter"))


def test_a_charge_that_cannot_be_written_is_none(tmp_path, monkeypatch):
    account = MetricAccount(BUDGET, tmp_path / "account.json")
    monkeypatch.setattr("sfumato.geo.locations.account.draft_of", _full)
    with pytest.raises(OSError, match="full"):
        account.release(HEIGHT, 421)
    assert account.spent.epsilon == 0


def _full(*_):
    raise OSError("the disk is full")


def _charge(path, queue):
    try:
        MetricAccount(BUDGET, path).charge(MetricDP("0.01", "meter"))
        queue.put(True)
    except BudgetExceededError:
        queue.put(False)


def test_processes_with_one_file_never_pass_the_budget(tmp_path):
    context = get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=_charge, args=(tmp_path / "account.json", queue)) for _ in range(5)]
    for process in processes:
        process.start()
    assert sorted(queue.get(timeout=30) for _ in processes) == [False, False, True, True, True]
    for process in processes:
        process.join()


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"spent": {}}, {"spent": {"epsilon": "9", "unit": "meter", "offset": "0"}}, {"spent": None}],
)
def test_a_damaged_file_is_never_a_fresh_budget(tmp_path, change):
    path = tmp_path / "account.json"
    MetricAccount(BUDGET, path).charge(MetricDP("0.01", "meter"))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ParameterError, match="damaged"):
        MetricAccount(BUDGET, path)


def test_a_file_of_another_budget_is_refused(tmp_path):
    path = tmp_path / "account.json"
    MetricAccount(BUDGET, path).charge(MetricDP("0.01", "meter"))
    with pytest.raises(ParameterError, match="same budget"):
        MetricAccount(MetricDP(1, "meter"), path)


@pytest.mark.parametrize("promise", [PureDP("0.01"), 1, MetricDP(1, "embedding distance"), None])
def test_promises_of_another_kind_are_refused(promise):
    with pytest.raises(ParameterError):
        MetricAccount(BUDGET).charge(promise)
    with pytest.raises(ParameterError, match="budget"):
        MetricAccount(PureDP(1))
    with pytest.raises(ParameterError, match="mechanism"):
        MetricAccount(BUDGET).release(promise, 1)
