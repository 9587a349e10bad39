"""Pan-private counter: every look as a sum of noises and events, read from the code, and what shifts of noises cost."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm
from tests.laws import ALPHA

from sfumato.errors import ParameterError
from sfumato.mechanisms.pan_private import counter as module
from sfumato.mechanisms.pan_private.counter import PanPrivateCounter
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

EVENT_BITS = 4
NOISE_BITS = 4


class Numbered:
    """Noises that are powers of two, so that each sum shows of which noises and events it is made."""

    def __init__(self, gaps):
        self.first, self.drawn, self.scales = EVENT_BITS * gaps, 0, set()

    def discrete_laplace(self, scale, size):
        self.scales.add(scale)
        noises = [1 << self.first + NOISE_BITS * (self.drawn + i) for i in range(size)]
        self.drawn += size
        return np.array(noises, dtype=object)

    def parts(self, number, gaps):
        """How often each event, and each noise, is in a sum."""
        events = [number >> EVENT_BITS * gap & 15 for gap in range(gaps)]
        return events, [number >> self.first + NOISE_BITS * i & 15 for i in range(self.drawn)]


def looks(monkeypatch, mechanism, steps):
    """All sums that are seen, as (times each event is in it, times each noise is in it); event i is before step i."""
    gaps = len(steps)
    numbered, sums = Numbered(gaps), []
    monkeypatch.setattr(module, "discrete_laplace", numbered.discrete_laplace)
    running, copy = mechanism.start(), None
    for gap, step in enumerate(steps):
        if running.ticks < mechanism.horizon:
            running.add(1 << EVENT_BITS * gap)
        if step == "tick":
            sums.append(running.tick())
        elif step == "look":
            sums += running._open + running._closed
        elif step == "save":
            copy = running.saved()
            held = module.read_copy(copy, running._parameters(), most_copies=mechanism.saved_copies)
            sums += held["open"] + held["closed"]
        else:
            running = mechanism.restored(copy)
    assert numbered.scales == {mechanism.scale}
    parts = [numbered.parts(number, gaps) for number in sums]
    return np.array([events for events, _ in parts]), np.array([noises for _, noises in parts])


def cost_of(events, noises):
    """The least Σ|z| over whole shifts z of the noises that hide one event in all sums; None if none do."""
    count = noises.shape[1]
    found = linprog(np.ones(2 * count), A_eq=np.hstack([noises, -noises]), b_eq=events, method="highs")
    if found.status:
        return None
    shifts = np.rint(found.x[:count] - found.x[count:]).astype(int)
    assert (noises @ shifts == events).all()
    return int(abs(shifts).sum())


def costs(monkeypatch, mechanism, steps):
    """Of each event, in units of 1/scale."""
    events, noises = looks(monkeypatch, mechanism, steps)
    return [cost_of(column, noises) for column in events.T]


def inserted(steps, *more):
    """Steps with one of some kinds at each place."""
    for places in product(range(len(steps) + 1), repeat=len(more)):
        longer = list(steps)
        for place, step in sorted(zip(places, more, strict=True), reverse=True):
            longer[place:place] = step
        yield tuple(longer)


LOOK, SAVE, LATER = ("look",), ("save",), ("save", "restore")


@pytest.mark.parametrize(
    ("horizon", "more"),
    [(1, ()), (2, (LOOK,)), (4, (LOOK,)), (1, (LOOK, SAVE, LATER)), (2, (LOOK, SAVE)), (3, (LOOK, LATER))],
    ids=lambda value: str(value) if isinstance(value, int) else "-".join("".join(step) for step in value) or "nothing",
)
def test_one_event_costs_epsilon_whatever_is_seen(horizon, more, monkeypatch):
    mechanism = PanPrivateCounter(horizon=horizon, epsilon=1, saved_copies=9)
    found = [cost for steps in inserted(("tick",) * horizon, *more) for cost in costs(monkeypatch, mechanism, steps)]
    assert None not in found
    assert max(found) == mechanism.levels
    assert mechanism.levels / mechanism.scale == mechanism.epsilon


def test_two_looks_that_nobody_announces_are_not_private(monkeypatch):
    mechanism = PanPrivateCounter(horizon=4, epsilon=1, saved_copies=1)
    assert costs(monkeypatch, mechanism, ("look", "look", "tick"))[1] is None
    assert costs(monkeypatch, mechanism, ("look", "tick", "look", "tick"))[1] is None
    assert max(costs(monkeypatch, mechanism, ("look", "save", "look", "tick"))) == mechanism.levels


def test_a_copy_that_is_restored_twice_costs_twice(monkeypatch):
    mechanism = PanPrivateCounter(horizon=1, epsilon=1, saved_copies=1)
    numbered = Numbered(1)
    monkeypatch.setattr(module, "discrete_laplace", numbered.discrete_laplace)
    copy, sums = mechanism.start().saved(), []
    for _ in range(2):
        running = mechanism.restored(copy)
        running.add(1)
        sums.append(running.tick())
    sums += module.read_copy(copy, running._parameters(), most_copies=1)["open"]
    parts = [numbered.parts(number, 1) for number in sums]
    assert cost_of(np.array([e for (e,), _ in parts]), np.array([noises for _, noises in parts])) == 2


def test_without_noise_the_counts_are_the_running_sums(monkeypatch):
    monkeypatch.setattr(module, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))
    running = PanPrivateCounter(horizon=20, epsilon=1, threshold="23.5").start()
    counts = []
    for tick in range(20):
        running.add([tick, 0, -1])
        running.add(Secret(1))
        counts.append(running.tick())
    assert counts == np.cumsum(range(20)).tolist()
    assert running.crossed_at == 8  # 28, after 21


@pytest.mark.statistical
@pytest.mark.parametrize(("copies", "tick"), [(0, 1), (0, 7), (1, 6)])
def test_counts_err_as_is_said(copies, tick):
    mechanism = PanPrivateCounter(horizon=8, epsilon=1, saved_copies=copies)
    runs, errors = 400, []
    for _ in range(runs):
        running = mechanism.start()
        for at in range(tick):
            running.add(5)
            if copies and at == 3:
                running = mechanism.restored(running.saved())
            count = running.tick()
        errors.append(count - 5 * tick)
    stddev = mechanism.stddev(tick)
    assert abs(np.mean(errors)) <= norm.isf(ALPHA / 2) * stddev / runs**0.5
    assert np.std(errors) == pytest.approx(stddev, rel=0.4)  # more than 5 standard errors
    assert np.mean(np.abs(errors) <= mechanism.half_width(tick, "0.9")) >= 0.8


def test_the_count_of_a_tick_is_made_of_as_many_noises_as_is_said(monkeypatch):
    mechanism, most = PanPrivateCounter(horizon=6, epsilon=1, saved_copies=1), [0] * 6
    for steps in inserted(("tick",) * 6, SAVE):
        _, noises = looks(monkeypatch, mechanism, steps)
        is_tick = [step == "tick" for step in steps for _ in range(2 * mechanism.levels if step == "save" else 1)]
        most = np.maximum(most, noises.sum(axis=1)[is_tick])
    assert most.tolist() == [mechanism.noises(tick) for tick in range(1, 7)] == [4, 4, 6, 4, 6, 6]


@pytest.mark.statistical
def test_a_crossing_is_as_near_the_threshold_as_is_said():
    mechanism = PanPrivateCounter(horizon=15, epsilon=2, threshold=1_000)
    alpha = mechanism.crossing_accuracy("0.9")
    assert alpha > mechanism.half_width(7, "0.9")
    near = 0
    for _ in range(80):
        running = mechanism.start()
        for _ in range(15):
            running.add(100)
            running.tick()
        crossed = running.crossed_at
        near += crossed is not None and 100 * crossed >= 1_000 - alpha and 100 * (crossed - 1) < 1_000 + alpha
    assert near >= 72 - 20  # 7 standard errors


def test_the_scale_follows_from_levels_and_events():
    assert PanPrivateCounter(horizon=1, epsilon=2).scale * 2 == 1
    assert PanPrivateCounter(horizon=1023, epsilon=1, events_per_unit=3).scale == 30
    assert PanPrivateCounter(horizon=1024, epsilon=1).levels == 11
    assert PanPrivateCounter(horizon=7, epsilon="0.1", events_per_unit=5).event == PureEvent("0.1")


def test_a_restored_counter_goes_on_where_it_was(monkeypatch):
    monkeypatch.setattr(module, "discrete_laplace", lambda _, size: np.zeros(size, dtype=np.int64))
    mechanism = PanPrivateCounter(horizon=5, epsilon=1, saved_copies=2, threshold=4)
    running = mechanism.start()
    for _ in range(3):
        running.add(2)
        running.tick()
    running.add(7)
    restored = mechanism.restored(running.saved())
    assert (restored.ticks, restored.crossed_at, restored.remaining_copies) == (3, 2, 1)
    assert (restored.tick(), restored.tick()) == (13, 13)


def test_after_the_horizon_nothing_is_counted():
    running = PanPrivateCounter(horizon=1, epsilon=1).start()
    running.tick()
    for late in (running.tick, running.add, lambda: running.add("none")):
        with pytest.raises(ParameterError, match="horizon"):
            late()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("horizon", {"horizon": 0}),
        ("horizon", {"horizon": 2**41}),
        ("epsilon", {"epsilon": 0}),
        ("saved_copies", {"saved_copies": -1}),
        ("events_per_unit", {"events_per_unit": 0}),
        ("threshold", {"threshold": 0}),
        ("scale", {"epsilon": "1e-20"}),
    ],
)
def test_parameters_out_of_range_are_refused(name, wrong):
    with pytest.raises(ParameterError, match=name):
        PanPrivateCounter(**{"horizon": 10, "epsilon": 1, **wrong})


def test_ticks_and_events_are_checked():
    mechanism = PanPrivateCounter(horizon=10, epsilon=1)
    for wrong in (0, 11, 1.5):
        with pytest.raises(ParameterError, match="tick"):
            mechanism.stddev(wrong)
    with pytest.raises(ParameterError, match="integer"):
        mechanism.start().add(0.5)
