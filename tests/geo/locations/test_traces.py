"""Predictive traces: every way their coins can fall, against every two traces of a small region."""

from fractions import Fraction
from itertools import product
from math import exp, hypot, isqrt, log

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.locations import planar_laplace as planar
from sfumato.geo.locations import traces as module
from sfumato.geo.locations.planar_laplace import PlanarLaplace
from sfumato.geo.locations.traces import PredictiveTrace
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.projection import LocalProjection
from sfumato.numeric.distributions import discrete_laplace_cdf
from sfumato.privacy.promises import MetricDP

GRID = Grid(LocalProjection(0, 0), cell=100, columns=3, rows=1)
NOISY = PlanarLaplace(GRID, epsilon="0.004")
TEST, THRESHOLD = "0.002", 120
PLACES = [tuple(float(part) for part in GRID.centers(cell)) for cell in range(3)]


def trace(budget="1"):
    return PredictiveTrace(NOISY, test_epsilon=TEST, threshold=THRESHOLD, budget=MetricDP(budget, "meter"))


def reporting_law(monkeypatch):
    """The probability of each reported cell from each cell: the noise of a long strip, run through the mechanism."""
    side = np.arange(-60, 61)
    noise = np.stack([part.ravel() for part in np.meshgrid(side, side)], axis=1)
    weights = np.exp(-np.hypot(*noise.T) / float(NOISY.scale))
    with monkeypatch.context() as patched:
        patched.setattr(planar, "planar_laplace", lambda *_: noise)
        found = [NOISY.release_cells(np.full(len(noise), cell)) for cell in range(3)]
    return np.array([np.bincount(cells, weights=weights, minlength=3) / weights.sum() for cells in found])


def law_of(cells, laws, monkeypatch, *, budget="1"):
    """The probability of each sequence of (report, was fresh), by running a trace once for each way coins may fall."""
    found = {}
    for coins in product(*[[(far, report) for far in (False, True) for report in range(3)] for _ in cells]):
        steps, at = list(coins), {"n": -1}
        device, chance, shown = trace(budget), 1.0, []
        with monkeypatch.context() as patched:
            patched.setattr(
                PlanarLaplace, "release_cells", lambda _s, _c, at=at, steps=steps: np.array([steps[at["n"]][1]])
            )
            patched.setattr(
                module, "discrete_laplace_one", lambda _, at=at, steps=steps: 10**9 * (1 if steps[at["n"]][0] else -1)
            )
            for number, cell in enumerate(cells):
                at["n"] = number
                last, before = device._last, device._paid
                report = int(GRID.cells(*device.release(PLACES[cell])))
                paid = device._paid - before
                far, wanted = steps[number]
                if last is not None and paid:
                    steps_apart = 64 * abs(cell - last)
                    near = float(discrete_laplace_cdf(device.test_scale, device._limit - steps_apart))
                    chance *= 1 - near if far else near
                elif far:
                    chance = 0.0  # no test was made: one of both is counted
                if report == wanted and (last is None or (paid > Fraction(TEST))):
                    chance *= laws[cell, report]
                elif report != last or wanted != 0:
                    chance = 0.0  # nothing was drawn: one of three is counted
                shown.append((report, paid))
        if chance:
            found[tuple(shown)] = found.get(tuple(shown), 0.0) + chance
    return found


@pytest.mark.parametrize("budget", ["1", "0.009"])
def test_no_sequence_tells_two_traces_apart_by_more_than_what_was_spent(budget, monkeypatch):
    laws = reporting_law(monkeypatch)
    every = {
        cells: law_of(cells, laws, monkeypatch, budget=budget) for cells in ((0, 0), (0, 2), (1, 2), (2, 0), (2, 2))
    }
    for law in every.values():
        assert sum(law.values()) == pytest.approx(1, abs=1e-9)
    worst = 0.0
    for first, second in product(every, every):
        for shown, chance in every[first].items():
            paid = [float(cost) for _, cost in shown]
            allowed = sum(cost * 100 * abs(a - b) for cost, a, b in zip(paid, first, second, strict=True))
            loss = log(chance / every[second][shown])
            assert loss <= allowed + 1e-9
            assert sum(paid) <= float(budget)
            worst = max(worst, loss / allowed) if allowed else worst
    assert worst > 0.5


@pytest.mark.parametrize("budget", ["1", "0.009"])
def test_reports_alone_tell_no_two_traces_apart_by_more_than_is_said_to_be_spent(budget, monkeypatch):
    """Reports do not show which of them were fresh: only the most that so many may cost is a promise of theirs."""
    laws, alone = reporting_law(monkeypatch), {}
    for cells in ((0, 0), (0, 2), (2, 0), (2, 2)):
        alone[cells] = {}
        for shown, chance in law_of(cells, laws, monkeypatch, budget=budget).items():
            reports = tuple(report for report, _ in shown)
            alone[cells][reports] = alone[cells].get(reports, 0.0) + chance
    device = trace(budget)
    device.release_all(PLACES[:2])
    for first, second in product(alone, alone):
        meters = 100 * max(abs(a - b) for a, b in zip(first, second, strict=True))
        for reports, chance in alone[first].items():
            assert log(chance / alone[second][reports]) <= float(device.spent.epsilon) * meters + 1e-9


def test_what_is_said_to_be_spent_is_a_function_of_the_number_of_reports(monkeypatch):
    """The same reports, of a device that stays, whether its tests pass or fresh reports happen to be equal."""
    monkeypatch.setattr(PlanarLaplace, "release_cells", lambda *_: np.array([1]))
    paid, said = set(), set()
    for noise in (-(10**9), 10**9):
        monkeypatch.setattr(module, "discrete_laplace_one", lambda _, noise=noise: noise)
        device, spent = trace(), []
        assert device.spent.epsilon == 0
        for _ in range(3):
            assert device.release(PLACES[1]) == NOISY.place(1)
            spent.append(device.spent.epsilon)
        paid.add(device._paid)
        said.add(tuple(spent))
    assert paid == {Fraction("0.008"), Fraction("0.016")}
    assert said == {(Fraction("0.004"), Fraction("0.01"), Fraction("0.016"))}


def test_the_test_pays_for_rounding_down():
    """Between neighboring cells the distance in steps may change by one more than 64, and the scale has that step."""
    device = trace()
    grid = Grid(LocalProjection(0, 0), cell=100, columns=40, rows=40)
    wide = PredictiveTrace(
        PlanarLaplace(grid, epsilon="0.004"), test_epsilon=TEST, threshold=100, budget=MetricDP(1, "meter")
    )
    worst = 0.0
    for cell, other in ((0, 1), (5, 46), (7, 399), (801, 41)):
        for target in range(0, 1600, 7):
            change = abs(wide._steps_to(cell, target) - wide._steps_to(other, target))
            (a, b), (c, d) = divmod(cell, 40), divmod(other, 40)
            meters = 100 * hypot(a - c, b - d)
            worst = max(worst, change / float(wide.test_scale) / (float(TEST) * meters))
    assert 0.95 < worst <= 1
    assert device.test_scale * Fraction(TEST) * 100 == 65
    assert wide._steps_to(0, 41) == isqrt(2 * 64**2)


def test_a_device_that_stays_pays_for_tests_and_a_wanderer_for_reports():
    grid = Grid(LocalProjection(0, 0), cell=100, columns=400, rows=400)
    noisy = PlanarLaplace(grid, epsilon="0.02")
    spent = []
    for east in (0, 9000):
        device = PredictiveTrace(noisy, test_epsilon="0.004", threshold=2500, budget=MetricDP(1, "meter"))
        route = [grid.projection.degrees(east * (-1) ** n, 0) for n in range(20)]
        assert len(device.release_all(route)) == 20
        spent.append(device._paid)
    assert spent[0] < Fraction("0.15") < 20 * noisy.epsilon < spent[1]  # twenty fresh reports would cost 0.4


def test_the_budget_is_never_passed_and_the_last_report_is_sent_for_ever():
    device = trace("0.013")
    reports = [device.release(PLACES[n % 3]) for n in range(30)]
    assert Fraction("0.013") - Fraction("0.006") < device._paid <= device.budget.epsilon
    assert device.spent == device.budget
    assert len(set(reports[-20:])) == 1


def test_the_guarantee_between_true_places_is_in_proportion():
    device = trace("0.016")
    assert device.guarantee == NOISY.guarantee.repeated(4)


@pytest.mark.parametrize(
    "given",
    [{"mechanism": 5}, {"test_epsilon": 0}, {"threshold": 0}, {"budget": 1}, {"budget": MetricDP("0.003", "meter")},
     {"budget": MetricDP(1, "word")}, {"test_epsilon": "1e-40"}],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(given):
    arguments = {"mechanism": NOISY, "test_epsilon": TEST, "threshold": 1, "budget": MetricDP(1, "meter")} | given
    with pytest.raises(ParameterError):
        PredictiveTrace(arguments.pop("mechanism"), **arguments)
    with pytest.raises(ParameterError, match="trace"):
        trace().release_all(5)


def test_a_continuous_test_would_pass_as_often():
    """P(near) of a place at the last report: 1 − exp(−ε·threshold)/2, but for the step of rounding."""
    device = trace()
    assert float(discrete_laplace_cdf(device.test_scale, device._limit)) == pytest.approx(1 - exp(-0.24) / 2, abs=0.01)
