"""`PrivatePlan`: what an engine computes exactly, the mechanism on each measure, and how answers are made of them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sfumato.mechanisms.gaussian import Gaussian
from sfumato.mechanisms.laplace import Laplace
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.query.measures import Measure
from sfumato.query.relations import Aggregate, Rows
from sfumato.query.schema import Key
from sfumato.query.stability import Sensitivity

AdditiveNoise: TypeAlias = Laplace | Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column to group by, with its public keys."""

    name: str
    values: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The exact half of a plan: integers per group, computed where the data lives."""

    rows: Rows
    keys: tuple[KeyColumn, ...]
    measures: tuple[Measure, ...]

    @property
    def group_count(self) -> int:
        """How many groups an answer has: the product of the key counts, 1 without keys."""
        count = 1
        for key in self.keys:
            count *= len(key.values)
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOutput:
    """An answer that is a noisy count itself."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SumOutput:
    """An answer that is a noisy sum of lattice steps, times the resolution."""

    name: str
    total: int
    resolution: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOutput:
    """An answer made of a noisy count and a noisy sum around `centre`, both in lattice steps."""

    name: str
    count: int
    total: int
    resolution: Fraction
    centre: int
    lower: int
    upper: int


Output: TypeAlias = CountOutput | SumOutput | MeanOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlan:
    """A question with a price: nothing about it depends on the data.

    Attributes:
        question: The bounded relation it answers.
        statement: What the engine runs.
        sensitivities: One for each measure.
        mechanisms: One for each measure.
        outputs: One for each column of the answer; indices point into the measures.
        charge: What the account pays.
    """

    question: Aggregate
    statement: Statement
    sensitivities: tuple[Sensitivity, ...]
    mechanisms: tuple[AdditiveNoise, ...]
    outputs: tuple[Output, ...]
    charge: PureDP | ApproxDP

    @property
    def event(self) -> ComposedEvent:
        """All that is released, for the accountants."""
        return ComposedEvent(tuple(mechanism.event for mechanism in self.mechanisms))
