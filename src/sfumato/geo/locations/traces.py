"""Traces: a report repeated while the device is near it, found out by a noisy test that costs less than a report."""

from fractions import Fraction
from math import isqrt
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.geo.locations.keeping import DeviceMemory
from sfumato.geo.locations.planar_laplace import Location, PlanarLaplace
from sfumato.mechanisms.base import opened
from sfumato.noise.laws.discrete_laplace import discrete_laplace_one
from sfumato.noise.uniform.integers import drawable, short_scale
from sfumato.numeric.arguments import each, of_kind
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.promises import MetricDP
from sfumato.privacy.secret import Secret

_PARTS: Final = 64
"""Steps to a cell, in which the test measures distances: rounding down costs one step of them."""


class PredictiveTrace(DeviceMemory):
    """One device's reports along a trace: the last report again where a test finds it near enough, else a fresh one.

    Before each report but the first, d(x, last report) + Laplace noise is compared with the `threshold`. The test has
    `test_epsilon` per meter of its own: the distance to a fixed cell changes by no more than the place does. If it
    passes, the last report is sent again and nothing more is paid. If not, the mechanism makes a fresh report, at ε.
    So a report costs `test_epsilon`, or `test_epsilon` + ε. Which of both is not always shown by the report, because a
    fresh one may be equal to the last. So the device alone knows what was paid, and says the most that n reports cost.

    **Guarantee**: all reports together have `budget` per meter: for two traces of snapped places, at most
    budget·(largest distance at one time). The first n reports have `spent`, which is a function of n alone. No report
    is made that could pass the budget. Proof: proofs/geo/locations/traces.md.

    ====================================================  ==================================================
    Edge case                                             Behavior
    ====================================================  ==================================================
    less is left than a test and a report cost            the last report again, for ever, at no cost
    a place outside of the grid, or none                  as `PlanarLaplace` has it
    threads share a trace                                 they take turns
    a trace is copied or forked                           refused: its budget would be there twice
    ====================================================  ==================================================

    Args:
        mechanism: The noise of fresh reports.
        test_epsilon: The ε per meter of one test, above 0.
        threshold: How many meters the last report may be away.
        budget: The most ε per meter of the whole trace, between centers of cells in the plane.

    Raises:
        ParameterError: An argument is out of range, or the budget has no room for one report.

    Example:
        >>> from sfumato.geo.planes.grid import Grid
        >>> noisy = PlanarLaplace(Grid.around(0, 0, width=20_000, height=20_000, cell=100), epsilon="0.01")
        >>> trace = PredictiveTrace(noisy, test_epsilon="0.002", threshold=1000, budget=MetricDP("0.1", "meter"))
        >>> reports = [trace.release((0, 0)) for _ in range(20)]
        >>> len(reports), trace.spent == trace.budget
        (20, True)

    References:
        [CPS14] for the mechanism and its test; the prediction here is the last report.
    """

    def __init__(self, mechanism: PlanarLaplace, *, test_epsilon: Number, threshold: Number, budget: MetricDP) -> None:
        super().__init__()
        self.mechanism: Final = of_kind(mechanism, "mechanism", PlanarLaplace, "a PlanarLaplace")
        self.test_epsilon: Final = positive(test_epsilon, "test_epsilon")
        self.threshold: Final = positive(threshold, "threshold")
        self.budget: Final = of_kind(budget, "budget", MetricDP, "a MetricDP: an ε without a distance is none").per(
            "meter"
        )
        if self.budget.epsilon < self.mechanism.epsilon:
            raise ParameterError("budget", budget, "must have room for one report of the mechanism")
        self.test_scale: Final = drawable(
            short_scale((_PARTS + 1) / (self.test_epsilon * self.mechanism.grid.cell)), "test_epsilon"
        )
        self._limit: Final = int(self.threshold / self.mechanism.grid.cell * _PARTS)
        self._paid = Fraction(0)  # of the device alone: it depends on coins that reports do not show
        self._reports = 0
        self._last: int | None = None

    @property
    def spent(self) -> MetricDP:
        """What all reports so far promise together, between centers of cells: the most that so many reports cost.

        It is a function of their number, never of the places or of what was drawn.
        """
        tests = max(self._reports - 1, 0) * self.test_epsilon
        return MetricDP(min(self._reports * self.mechanism.epsilon + tests, self.budget.epsilon), "meter")

    @property
    def guarantee(self) -> MetricDP:
        """What the whole trace promises between true places of the region, in meters on the ground."""
        share, one = self.budget.epsilon / self.mechanism.epsilon, self.mechanism.guarantee
        return MetricDP(one.epsilon * share, "meter", one.offset * share)

    def release(self, exact: Any | Secret[Any]) -> Location:
        """The report of the next place of the trace.

        Raises:
            ParameterError: It is no pair of numbers, or this is a forked process.
        """
        cell = self.mechanism.cell_of(opened(exact))
        with self._alone():
            self._reports += 1
            return self._next(cell)

    def release_all(self, trace: Any | Secret[Any]) -> list[Location]:
        """The reports of several places, one after the other.

        Raises:
            ParameterError: It is no list of pairs of numbers.
        """
        return [self.release(place) for place in each(opened(trace), "trace", of="places")]

    def _next(self, cell: Any) -> Location:
        """The next report, paid before anything is drawn."""
        if self._last is None:
            return self._fresh(cell)
        if self._paid + self.test_epsilon + self.mechanism.epsilon > self.budget.epsilon:
            return self.mechanism.place(self._last)
        self._paid += self.test_epsilon
        if self._steps_to(int(cell[0]), self._last) + discrete_laplace_one(self.test_scale) <= self._limit:
            return self.mechanism.place(self._last)
        return self._fresh(cell)

    def _fresh(self, cell: Any) -> Location:
        """A report of the mechanism, charged before it is drawn."""
        self._paid += self.mechanism.epsilon
        self._last = int(self.mechanism.release_cells(cell)[0])
        return self.mechanism.place(self._last)

    def _steps_to(self, cell: int, other: int) -> int:
        """The distance of two cells in 64ths of a cell, rounded down, in whole numbers."""
        (across, up), (there, high) = (divmod(number, self.mechanism.grid.columns) for number in (cell, other))
        return isqrt(((across - there) ** 2 + (up - high) ** 2) * _PARTS**2)
