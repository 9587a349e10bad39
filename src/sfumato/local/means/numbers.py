"""What protocols of numbers share: public bounds with a lattice between them, and counts of each possible output."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import Label
from sfumato.local.core.odds import epsilon_of, local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.mechanisms.lattice import is_missing
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, exact, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

Places: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
LARGEST_LATTICE: Final = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class NumberProtocol(LocalProtocol):
    """Randomizes a number between two public bounds into one of finitely many outputs.

    The number is moved to the nearest of T + 1 lattice places between the bounds, both included.

    ============================  ============================================
    Edge case                     Behavior
    ============================  ============================================
    a number beyond a bound, ±∞   counts as the bound
    None, NaN, a text             counts as a uniformly random place
    True and False                count as 1 and 0
    ============================  ============================================

    Args:
        low: The lower bound.
        high: The upper bound, above it.
        epsilon: From 10^−6 to 100.
        steps: T, from 1 to 2^16. What the rounding adds to the error is at most half of a step.

    Raises:
        ParameterError: A parameter is out of range, or floats cannot tell the places between the bounds apart.
    """

    low: Fraction
    high: Fraction
    epsilon: Fraction
    steps: int

    usual_steps: ClassVar[int] = 4096

    def __init__(self, low: Number, high: Number, *, epsilon: Number, steps: int | None = None) -> None:
        lower, upper = exact(low, "low"), exact(high, "high")
        if lower >= upper:
            raise ParameterError("high", high, "must be above the lower bound")
        taken = positive_integer(self.usual_steps if steps is None else steps, "steps", most=LARGEST_LATTICE)
        _check_floats(lower, upper, taken)
        set_fields(self, low=lower, high=upper, epsilon=local_epsilon(epsilon), steps=taken)

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many outputs there are."""

    @abstractmethod
    def draw(self, places: Places) -> Places:
        """An output for each lattice place, from 0 to T."""

    @abstractmethod
    def probabilities(self, place: int) -> list[Fraction]:
        """The exact probability of each output, for one lattice place."""

    @property
    @abstractmethod
    def event(self) -> FiniteEvent:
        """What one report reveals about its person."""

    @property
    def realized_epsilon(self) -> Fraction:
        """The ε of the exact probabilities, rounded up."""
        return epsilon_of(self.event)

    @property
    def payload_bytes(self) -> int:
        """As many as hold the number of an output."""
        return width_of(self.outputs)

    @property
    def cells(self) -> int:
        """One for each output."""
        return self.outputs

    def inputs(self, values: Iterable[Any]) -> Places:
        """The nearest lattice place of each number; a uniform one for what is no number."""
        return places_of(values, self.low, self.high, self.steps)

    def parse(self, text: str) -> float | None:
        """The number that is written so."""
        try:
            return float(text)
        except ValueError:
            return None

    def randomize(self, inputs: Places) -> Payloads:
        """The number of the drawn output."""
        return packed_integers(self.draw(inputs), self.payload_bytes)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Those that name an output."""
        return integers_of(payloads) < self.outputs

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How often each output came."""
        return np.bincount(integers_of(payloads), minlength=self.outputs)


def places_of(values: Iterable[Any], low: Fraction, high: Fraction, steps: int) -> Places:
    """The nearest of the lattice places 0 to `steps` of each number; a uniform one for what is no number.

    Example:
        >>> places_of([0, 0.26, 7, -3], Fraction(0), Fraction(1), 4).tolist()
        [0, 1, 4, 0]
    """
    plain = isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and not isinstance(values, np.ma.MaskedArray)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ParameterError("values", f"{values.ndim}-dimensional", "must have one dimension")
    with np.errstate(over="ignore"):  # a long double may be larger than any float
        numbers = np.array(values if plain else [number_of(value) for value in values], dtype=np.float64)
    unknown = np.flatnonzero(np.isnan(numbers))
    numbers[unknown] = 0.0
    scaled = (np.clip(numbers, float(low), float(high)) - float(low)) / float(high - low) * steps
    places = np.clip(np.floor(scaled + 0.5), 0, steps).astype(np.int64)
    if len(unknown):
        places[unknown] = uniform_below(steps + 1, len(unknown))
    return places


def _check_floats(low: Fraction, high: Fraction, steps: int) -> None:
    """Each step is at least two steps of the floats at the bounds, so that numbers reach all places."""
    try:
        step, finest = float(high - low) / steps, np.spacing(max(abs(float(low)), abs(float(high))))
    except OverflowError:
        raise ParameterError("high", "a bound", "must differ from the lower bound by less than 10^308") from None
    if not step >= 2 * finest:
        requirement = "must be so far above the lower bound that floats tell the steps between them apart"
        raise ParameterError("high", float(high), f"{requirement}; subtract a constant from all numbers")


def number_of(value: Any) -> float:
    """A number as a float, and NaN for what is none."""
    if is_missing(value) or isinstance(value, str | bytes | complex | np.ma.MaskedArray):
        return nan
    try:
        held = value.as_py() if hasattr(value, "as_py") else value
        try:
            return float(held)
        except OverflowError:
            return inf if held > 0 else -inf
    except Exception:  # noqa: BLE001 # whatever a value raises: an error would tell that this value is odd
        return nan


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """What randomized reports say of the mean of the people's numbers.

    Attributes:
        mean: Unbiased but for the rounding to the lattice, and thus sometimes beyond a bound.
        standard_error: The standard deviation of `mean`, estimated.
        low: Lower end of the interval.
        high: Upper end of the interval.
        confidence: How often such an interval holds the mean of these people.
        reports: How many reports it is of.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    confidence: float
    reports: int

    @classmethod
    def of(cls, mean: float, standard_error: float, confidence: Number, *, reports: int) -> Self:
        """With the interval of the normal distribution.

        Raises:
            ParameterError: The confidence is out of range.
        """
        failure = float(failure_probability(confidence))
        reach = -float(ndtri(failure / 2)) * standard_error
        return cls(
            mean=mean, standard_error=standard_error, low=mean - reach, high=mean + reach, confidence=1 - failure,
            reports=reports,
        )  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """One row, for tables."""
        return [{name: getattr(self, name) for name in ("mean", "standard_error", "low", "high")}]


class NumberAggregator(Aggregator[NumberProtocol]):
    """Counts of outputs. It refuses candidates, which numbers do not have."""

    def counted(self, candidates: Iterable[Label] | None) -> int:
        """How many reports there are, at least one.

        Raises:
            ParameterError: There are none, or candidates were given.
        """
        if candidates is not None:
            raise ParameterError("candidates", "some", "must be left out: this protocol is of numbers")
        return positive_integer(len(self), "reports")
