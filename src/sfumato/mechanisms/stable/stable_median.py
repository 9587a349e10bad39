"""The median by propose-test-release: with little noise, or not at all."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

from sfumato.errors import ParameterError
from sfumato.mechanisms.lattice import as_resolution
from sfumato.mechanisms.quantiles.grid import OnGrid
from sfumato.mechanisms.stable.median import distance_to_instability, median, ordered, width_of
from sfumato.mechanisms.stable.propose_test_release import ProposeTestRelease, StableValue
from sfumato.numeric.rationals import Number, exact, positive, set_fields
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True, init=False)
class StableMedian(OnGrid):
    """The median of values on a public grid with noise for a proposed sensitivity, or None if one may not suffice.

    It answers where values lie close around their median, so that even some (2/ε)·ln(1/δ) more or fewer people, twice
    as many to be nearly certain of an answer, could not make it move by more than `proposed_sensitivity` at one step.

    **Guarantee**: (ε, δ)-differential privacy under `neighboring_relation`, where a unit has one value; under add or
    remove also for the number of values. None tells, at the same cost, that the data were not found to be stable.
    Proof: proofs/mechanisms/stable/median.md, proofs/mechanisms/stable/propose_test_release.md.

    ====================================  =================================================
    Edge case                             Answer
    ====================================  =================================================
    no values                             None, except with probability δ
    an even number of values              the lower of the two in the middle, with noise
    a value outside the bounds, ±∞        counts as the nearest grid point
    NaN, None                             count as 0, or as the grid point nearest to it
    a proposal of the grid's width        ParameterError when constructed: `Laplace` needs no test
    ====================================  =================================================

    Args:
        lower: The public lower bound of the values.
        upper: The public upper bound of the values.
        proposed_sensitivity: In the unit of the values, at least one step: a guess that must not depend on the data.
        epsilon: Above 0, half for the test and half for the answer.
        delta: Above 0 and below 1/2.
        resolution: The width of a step of the grid, above 0.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> age = StableMedian(lower=0, upper=120, proposed_sensitivity=1, epsilon=1, delta="1e-6")
        >>> age.threshold, age.accuracy(0.95), age.release([])
        (26, Fraction(6, 1), None)
        >>> age.release([31, 32, 33] * 1000) is None  # 1000 would have to leave before 31 and 33 were neighbors
        False

    References:
        [DL09].
    """

    lower: Fraction
    upper: Fraction
    proposed_sensitivity: Fraction
    epsilon: Fraction
    delta: Fraction
    resolution: Fraction
    neighboring_relation: NeighboringRelation
    guard: ProposeTestRelease = field(repr=False)
    """The test, and the noise of an answer, in steps of the grid."""

    def __init__(
        self,
        *,
        lower: Number,
        upper: Number,
        proposed_sensitivity: Number,
        epsilon: Number,
        delta: Number,
        resolution: Number = 1,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        set_fields(
            self,
            lower=exact(lower, "lower"),
            upper=exact(upper, "upper"),
            resolution=as_resolution(resolution),
            proposed_sensitivity=positive(proposed_sensitivity, "proposed_sensitivity"),
            neighboring_relation=as_relation(neighboring_relation),
        )
        if not 1 <= self._steps < width_of(self._grid):
            requirement = "must be at least one step of the grid and less than its width"
            raise ParameterError("proposed_sensitivity", proposed_sensitivity, requirement)
        guard = ProposeTestRelease(proposed_sensitivity=self._steps, epsilon=epsilon, delta=delta)
        set_fields(self, guard=guard, epsilon=guard.epsilon, delta=guard.delta)

    @property
    def threshold(self) -> int:
        """The number of changed units up to which, with noise, data do not count as stable."""
        return self.guard.threshold

    @property
    def event(self) -> ApproxEvent:
        """The event of one release, for accountants, with an answer or without."""
        return self.guard.event

    def release(self, values: Any | Secret[Any]) -> Fraction | None:
        """A grid point near the median, or None.

        Args:
            values: A sequence of numbers, one for each unit, in any order.

        Raises:
            ParameterError: It is no sequence, or holds something that is no number.
        """
        grid = self._grid
        data = ordered(grid, values)
        distance = distance_to_instability(
            data, sensitivity=self._steps, neighboring_relation=self.neighboring_relation
        )
        noisy = self.guard.release(StableValue(median(data), distance))
        return None if noisy is None else min(max(noisy, grid.first), grid.last) * self.resolution

    def accuracy(self, confidence: Number = "0.95") -> Fraction:
        """The t with P(|answer − median on the grid| ≤ t) ≥ confidence, for an answer that is not None."""
        return self.guard.accuracy(confidence) * self.resolution

    @property
    def _steps(self) -> int:
        """The proposed sensitivity in whole steps, beyond which a median on the grid moves by one step more."""
        return floor(self.proposed_sensitivity / self.resolution)
