"""What one way to group a query releases: the mechanism on each thing that engines compute, and the outputs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar, Final, Literal, TypeAlias

import numpy as np

from sfumato.mechanisms.additive.gaussian import Gaussian, GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.numeric.many_noises import half_widths_of_sums
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.privacy.events import Event, PureEvent
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.stability import Sensitivity
from sfumato.query.model.statement import KeyColumn, Statement
from sfumato.query.statistics.estimates import (
    NOTHING,
    AnswerValue,
    Estimator,
    Forecast,
    Measured,
    by_row,
    figures_of,
    shared,
    within,
)
from sfumato.query.statistics.workloads import FittedCells

AdditiveNoise: TypeAlias = Laplace | GaussianNoise
Law: TypeAlias = Literal["laplace", "gaussian"]
LAWS: Final[tuple[Law, ...]] = ("laplace", "gaussian")


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive:
    """Noise on some measures of a statement, for every group (and cell): one vector, one distribution.

    Attributes:
        statement: Which statement of the section.
        measures: Which of its measures; or one, of a statement with cells, of which each cell is a coordinate.
        sensitivity: The most by which one unit changes the vector.
        mechanism: The distribution of the noise.
    """

    statement: int
    measures: tuple[int, ...]
    sensitivity: Sensitivity
    mechanism: AdditiveNoise

    @property
    def event(self) -> Event:
        """The event of this release, for accountants."""
        return self.mechanism.event


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileChoice:
    """A quantile of each group, or several, or nearly its largest or smallest value, chosen from its `Bins`.

    The mechanism is private for one row in one group; a unit with `rows` rows that move costs as much as they do.
    """

    statement: int
    mechanism: Quantile | QuantileEnd | Extreme | JointQuantiles
    rows: int

    @property
    def event(self) -> Event:
        """The event of this release, for accountants."""
        return _of_rows(self.mechanism.event, self.mechanism.epsilon, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopChoice:
    """The most frequent values of each group, chosen from its `Values`; as private as `QuantileChoice`."""

    statement: int
    mechanism: NoisyTopK
    rows: int

    @property
    def event(self) -> Event:
        """The event of this release, for accountants."""
        return _of_rows(self.mechanism.event, self.mechanism.epsilon, self.rows)


Measurement: TypeAlias = Additive | QuantileChoice | TopChoice | FittedCells


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoice:
    """Which groups with private keys are shown, by the units that they hold: measure `measure` of statement 0.

    Without a mechanism, all that there are: those of public rows.
    """

    measure: int
    mechanism: TruncatedGeometricSelection | None

    @property
    def event(self) -> Event:
        """The event of this release, for accountants."""
        return PureEvent(Fraction(0)) if self.mechanism is None else self.mechanism.event


class Output(ABC):
    """A column of the answer: how it is made of what is released, and what is known of its error before.

    It is a frozen dataclass that is built by name, and has a stored name in `stored`.
    """

    __slots__ = ()
    name: str
    stored: ClassVar[Names]
    is_estimate: ClassVar[bool] = False
    """Whether it is the best estimate of a count or a sum, which is a fraction."""

    @abstractmethod
    def estimator(self, section: "Section", confidence: Fraction, *, size: int | None = None) -> Estimator:
        """How it is made of what was measured of all groups.

        Args:
            section: What was released.
            confidence: How often an interval is to hold the exact value, such as 0.95.
            size: Of how many values a group is presumed to have been chosen from, where no count was released.
        """

    @abstractmethod
    def forecast(self, section: "Section", confidence: Fraction, *, size: int) -> Forecast:
        """Its predicted error, over so many values where that matters; never from the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One way to group: all of a query, or one of its GROUPING SETS.

    Attributes:
        keys: What it groups by.
        selection: How private keys are shown; None where all keys are public.
        statements: What engines run.
        measurements: What is released; indexes point into the statements.
        outputs: The columns of the answer; indexes point into the measurements.
    """

    keys: tuple[KeyColumn, ...]
    selection: KeyChoice | None
    statements: tuple[Statement, ...]
    measurements: tuple[Measurement, ...]
    outputs: tuple[Output, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """All that it releases."""
        chosen = () if self.selection is None else (self.selection.event,)
        return (*chosen, *(measurement.event for measurement in self.measurements))

    @property
    def is_fitted(self) -> bool:
        """Whether all of its numbers follow from workloads that others share."""
        return any(isinstance(measurement, FittedCells) for measurement in self.measurements)

    def error(self, measurement: int, confidence: Fraction) -> float:
        """How far the noise of a measurement moves each of its numbers, at a confidence; infinite where ε is 0."""
        return float(self._noise(measurement).accuracy(confidence))

    def noise(self, measurement: int) -> IntegerNoise | None:
        """The noise of a measurement, of scale 0 where numbers are exact; None where nothing is released."""
        return noise_of(self._noise(measurement))

    def noises(self, measurements: Sequence[int]) -> tuple[IntegerNoise, ...] | None:
        """The noise of each of several measurements; None where nothing is released of one."""
        known = tuple(noise for noise in map(self.noise, measurements) if noise is not None)
        return known if len(known) == len(measurements) else None

    def _noise(self, measurement: int) -> AdditiveNoise:
        additive = self.measurements[measurement]
        if not isinstance(additive, Additive):
            raise TypeError("only additive noise has an error that does not depend on the data")
        return additive.mechanism


def noise_of(mechanism: AdditiveNoise | Gaussian) -> IntegerNoise | None:
    """The noise that a mechanism adds, of scale 0 where numbers are exact; None where it releases nothing."""
    if not isinstance(mechanism, Laplace):
        return IntegerNoise("gaussian", mechanism.stddev)
    is_nothing = mechanism.scale == 0 and mechanism.l1_sensitivity > 0
    return None if is_nothing else IntegerNoise("laplace", mechanism.scale)


Place: TypeAlias = tuple[int, int]
"""A noisy number: its measurement, and its coordinate in it."""


class SumOutput(Output):
    """An answer that is a sum of noisy numbers of lattice steps, times the resolution; an INTEGER if `is_whole`."""

    __slots__ = ()
    resolution: Fraction
    is_whole: bool

    @property
    @abstractmethod
    def terms(self) -> tuple[tuple[Place, int], ...]:
        """The noisy numbers, each with what it is multiplied by."""

    def reach(self, section: Section, confidence: Fraction) -> int | None:
        """How many steps the noise moves it at most, with a confidence; None where nothing is released."""
        if len(self.terms) == 1:
            (((measurement, _), _),) = self.terms
            return None if section.noise(measurement) is None else int(section.error(measurement, confidence))
        noises = section.noises([measurement for (measurement, _), _ in self.terms])
        if noises is None:
            return None
        weights = np.array([[float(factor) for _, factor in self.terms]])
        return int(half_widths_of_sums(noises, weights, 1 - confidence)[0])

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """A lattice point times its resolution, plus or minus the error of the noise."""
        reach = self.reach(section, confidence)
        if reach is None:
            return by_row(lambda _: NOTHING)
        numerator, denominator = self.resolution.as_integer_ratio()

        def estimate(measured: Measured) -> Sequence[AnswerValue]:
            parts = [[factor * row[place] for row in measured[own]] for (own, place), factor in self.terms]
            steps = parts[0] if len(parts) == 1 else list(map(sum, zip(*parts, strict=True)))
            ends = [
                figures_of([(place + move) * numerator for place in steps], denominator, is_whole=self.is_whole)
                for move in (0, -reach, reach)
            ]
            return within(*ends)

        return estimate

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """The error of the noise, whatever the data."""
        reach = self.reach(section, confidence)
        return Forecast(column=self.name, half_width=inf if reach is None else float(self.resolution) * reach)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearOutput(SumOutput):
    """An answer that is one noisy number."""

    stored: ClassVar = Names("LinearOutput", "measurement", "resolution", "coordinate", "is_whole", unwritten=("name",))

    name: str
    measurement: int
    resolution: Fraction = Fraction(1)
    coordinate: int = 0
    is_whole: bool = True

    @property
    def terms(self) -> tuple[tuple[Place, int], ...]:
        """The number itself."""
        return (((self.measurement, self.coordinate), 1),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CenteredOutput(SumOutput):
    """An answer that is a noisy sum of distances from a middle, plus a noisy count times the middle."""

    stored: ClassVar = Names(
        "CenteredOutput", "total", "count", "middle", "resolution", "is_whole", unwritten=("name",)
    )

    name: str
    total: int
    count: int
    middle: int
    resolution: Fraction
    is_whole: bool

    @property
    def terms(self) -> tuple[tuple[Place, int], ...]:
        """The sum, and the count."""
        return ((self.total, 0), 1), ((self.count, 0), self.middle)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedOutput(Output):
    """A count or a sum that follows from workloads: of such numbers, each times a factor; a FLOAT.

    Attributes:
        name: Its column.
        terms: Its numbers and their factors.
        resolution: What 1 of them is.
        running: Windows that are running sums of it, with the queries of the workload that they are.
    """

    stored: ClassVar = Names("FittedOutput", "terms", "resolution", unwritten=("name", "running"))
    is_estimate: ClassVar = True

    name: str
    terms: tuple[tuple[int, int], ...]
    resolution: Fraction
    running: tuple[tuple[str, int], ...] = ()

    def reaches(self, section: Section, confidence: Fraction, window: str | None = None) -> list[float]:
        """How far the noise moves it in each group, at most with a confidence; or a running sum of it."""
        apart = shared(confidence, len(self.terms))
        total = np.zeros(1)
        for measurement, factor in self.terms:
            cells = self._cells(section, measurement)
            group = cells.group if window is None else dict(self.running)[window]
            widths = cells.by_group(cells.workload.widths(apart)[group], section.keys)
            total = total + abs(factor) * np.array(widths)
        return [float(width) for width in total * float(self.resolution)]

    def estimator(self, section: Section, confidence: Fraction, *, size: int | None = None) -> Estimator:
        """A fitted number of steps times the resolution, plus or minus the error of the noise."""
        reaches, step = self.reaches(section, confidence), float(self.resolution)

        def estimate(measured: Measured) -> Sequence[AnswerValue]:
            rows = zip(*(measured[own] for own, _ in self.terms), strict=True)
            factors = [factor for _, factor in self.terms]
            values = [step * sum(f * own[0] for f, own in zip(factors, row, strict=True)) for row in rows]
            pairs = list(zip(values, reaches, strict=True))
            return within(values, [value - reach for value, reach in pairs], [value + reach for value, reach in pairs])

        return estimate

    def forecast(self, section: Section, confidence: Fraction, *, size: int) -> Forecast:
        """The error of the noise in the group in which it is largest, whatever the data."""
        return Forecast(column=self.name, half_width=max(self.reaches(section, confidence)))

    @staticmethod
    def _cells(section: Section, measurement: int) -> FittedCells:
        cells = section.measurements[measurement]
        if not isinstance(cells, FittedCells):
            raise TypeError("a fitted number is one of a workload")
        return cells


def estimators(section: Section, confidence: Fraction, *, size: int | None = None) -> tuple[Estimator, ...]:
    """How each output of a section is made of what was measured of all groups; see `Output.estimator`."""
    return tuple(output.estimator(section, confidence, size=size) for output in section.outputs)


def _of_rows(event: Event, epsilon: Fraction, rows: int) -> Event:
    """The event, for a unit with several rows, of a mechanism that is private for one row."""
    return event if rows == 1 else PureEvent(epsilon * rows)
