"""What a device keeps: one thread at a time, one process without a file, and no copies."""

import copy
import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.geo.locations import keeping as module
from sfumato.geo.locations.account import MetricAccount
from sfumato.geo.locations.planar_laplace import PlanarLaplace
from sfumato.geo.locations.tiles import TileMemory
from sfumato.geo.locations.traces import PredictiveTrace
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.privacy.promises import MetricDP

NOISY = PlanarLaplace(Grid(LocalProjection(0, 0), cell=100, columns=9, rows=9), epsilon="0.004")
ONE = MetricDP("0.001", "meter")

KINDS = {
    "account": lambda: MetricAccount(MetricDP(1, "meter")),
    "memory": lambda: TileMemory(NOISY),
    "trace": lambda: PredictiveTrace(NOISY, test_epsilon="0.002", threshold=100, budget=MetricDP(1, "meter")),
}
EVERY = pytest.mark.parametrize("kind", sorted(KINDS))


def used(kept):
    """Use it once, as a device does."""
    return kept.charge(ONE) if isinstance(kept, MetricAccount) else kept.release((0, 0))


@pytest.fixture
def _switching():
    """Threads take turns as often as they can, so that what is not locked is seen to be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_switching")
def test_threads_never_pass_a_budget_together():
    account = MetricAccount(MetricDP("0.4", "meter"))

    def charges(_):
        allowed = 0
        for _ in range(150):
            try:
                account.charge(ONE)
                allowed += 1
            except BudgetExceededError:
                pass
        return allowed

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(charges, range(4))) == 400
    assert account.spent == account.budget


@pytest.mark.usefixtures("_switching")
def test_threads_get_one_report_of_a_tile_and_no_more_than_a_trace_has():
    for _ in range(20):
        memory, trace = TileMemory(NOISY), PredictiveTrace(
            NOISY, test_epsilon="0.002", threshold="1e-9", budget=MetricDP("0.021", "meter")
        )  # fmt: skip
        with ThreadPoolExecutor(4) as threads:
            assert len(set(threads.map(lambda _, kept=memory: kept.release((0, 0)), range(8)))) == 1
            list(threads.map(lambda _, kept=trace: kept.release((0, 0)), range(8)))
        assert trace._paid <= trace.budget.epsilon
        assert trace._reports == 8


@EVERY
def test_nothing_that_is_kept_is_copied(kind):
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            copied(KINDS[kind]())


@EVERY
def test_a_forked_process_can_neither_charge_nor_report(kind, monkeypatch):
    kept = KINDS[kind]()
    used(kept)
    monkeypatch.setattr(module, "getpid", lambda: os.getpid() + 1)
    with kept._lock, pytest.raises(ParameterError, match="process"):  # also where a thread held the lock at the fork
        used(kept)


def _use(kept, queue):
    try:
        used(kept)
        queue.put("used")
    except ParameterError:
        queue.put("refused")


@EVERY
def test_a_real_fork_is_refused(kind):
    context, kept = get_context("fork"), KINDS[kind]()
    queue = context.Queue()
    process = context.Process(target=_use, args=(kept, queue))
    process.start()
    assert queue.get(timeout=30) == "refused"
    process.join()
    used(kept)


def test_with_a_file_a_fork_goes_on_where_the_others_are(tmp_path):
    context, kept = get_context("fork"), MetricAccount(MetricDP("0.002", "meter"), tmp_path / "account.json")
    queue = context.Queue()
    process = context.Process(target=_use, args=(kept, queue))
    process.start()
    assert queue.get(timeout=30) == "used"
    process.join()
    used(kept)
    with pytest.raises(BudgetExceededError):
        used(kept)
