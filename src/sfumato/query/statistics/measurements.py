"""What one way to group a question releases: the mechanism on each thing that engines compute, and the outputs."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.partitions.truncated_geometric import TruncatedGeometricSelection
from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.quantile import Quantile, QuantileEnd
from sfumato.mechanisms.selection.noisy_top_k import NoisyTopK
from sfumato.privacy.events import Event, PureEvent
from sfumato.query.analysis.sensitivity import Sensitivity
from sfumato.query.model.measures import Steps
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import Bins, KeyColumn, Statement

AdditiveNoise: TypeAlias = Laplace | GaussianNoise
Law: TypeAlias = Literal["laplace", "gaussian"]
LAWS: Final[tuple[Law, ...]] = ("laplace", "gaussian")


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive:
    """Noise on some measures of a statement, for every group (and cell): one vector, one law.

    Attributes:
        statement: Which statement of the section.
        measures: Which of its measures; or one, of a statement with cells, of which each cell is a coordinate.
        sensitivity: How far one unit moves the vector.
        mechanism: The law of the noise.
    """

    statement: int
    measures: tuple[int, ...]
    sensitivity: Sensitivity
    mechanism: AdditiveNoise

    @property
    def event(self) -> Event:
        """What is told."""
        return self.mechanism.event


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileChoice:
    """A quantile of each group, or nearly its largest or smallest value, chosen from its `Bins`.

    The mechanism is private for one row in one group; a unit with `rows` rows that move costs as much as they do.
    """

    statement: int
    mechanism: Quantile | QuantileEnd | Extreme
    rows: int

    @property
    def event(self) -> Event:
        """What is told."""
        return _of_rows(self.mechanism.event, self.mechanism.epsilon, self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopChoice:
    """The most frequent values of each group, chosen from its `Values`; as private as `QuantileChoice`."""

    statement: int
    mechanism: NoisyTopK
    rows: int

    @property
    def event(self) -> Event:
        """What is told."""
        return _of_rows(self.mechanism.event, self.mechanism.epsilon, self.rows)


Measurement: TypeAlias = Additive | QuantileChoice | TopChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoice:
    """Which groups with private keys are shown, by the units that they hold: measure `measure` of statement 0.

    Without a mechanism, all that there are: those of public rows.
    """

    measure: int
    mechanism: TruncatedGeometricSelection | None

    @property
    def event(self) -> Event:
        """What is told."""
        return PureEvent(Fraction(0)) if self.mechanism is None else self.mechanism.event


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearOutput:
    """An answer that is a noisy number of lattice steps, times the resolution; an INTEGER if `is_whole`."""

    name: str
    measurement: int
    resolution: Fraction = Fraction(1)
    coordinate: int = 0
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOutput:
    """An answer made of a noisy count and a noisy sum of steps around their offset."""

    name: str
    count: int
    total: int
    steps: Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceOutput:
    """An answer made of a noisy count, a noisy sum of steps and a noisy sum of their squares."""

    name: str
    count: int
    total: int
    squares: int
    steps: Steps
    population: bool
    root: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CovarianceOutput:
    """An answer made of a noisy count, two noisy sums and a noisy sum of products; `squares` for a correlation."""

    name: str
    count: int
    totals: tuple[int, int]
    products: int
    steps: tuple[Steps, Steps]
    population: bool
    squares: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileOutput:
    """An answer that is a chosen bin of a lattice; an INTEGER if `is_whole`."""

    name: str
    measurement: int
    bins: Bins
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileIntervalOutput:
    """An answer that is a chosen bin of a lattice, with two more that lie surely on either side of the quantile."""

    name: str
    measurement: int
    ends: tuple[int, int]
    bins: Bins
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TopOutput:
    """An answer that is a chosen public value."""

    name: str
    measurement: int
    coordinate: int
    values: tuple[Key, ...]


Output: TypeAlias = (
    LinearOutput | MeanOutput | VarianceOutput | CovarianceOutput | QuantileOutput | QuantileIntervalOutput | TopOutput
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One way to group: all of a question, or one of its GROUPING SETS.

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


def _of_rows(event: Event, epsilon: Fraction, rows: int) -> Event:
    """What a mechanism that is private for one row tells of a unit with several."""
    return event if rows == 1 else PureEvent(epsilon * rows)
