"""The means of several numbers of each person: each report is of a few of them, drawn at random."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import Label
from sfumato.local.core.odds import local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.local.means.mean import HybridMean, estimate_of
from sfumato.local.means.numbers import MeanEstimate, Places, places_of
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, exact, positive_integer, set_fields
from sfumato.privacy.events import Event, SelfComposedEvent
from sfumato.query.model.columns import unicode_text

_EACH: Final = Fraction("2.5")
"""The ε below which one more number in a report does more harm than good [WXYZHSSY19]."""
_MOST: Final = 1 << 16

Attribute = tuple[str, Fraction, Fraction]
"""A name, a lower and an upper bound."""


@dataclass(frozen=True, slots=True, init=False)
class SampledMeans(LocalProtocol):
    """Reports k of d numbers, drawn uniformly, each by `HybridMean` with ε/k; k = max(1, min(d, ⌊ε/2.5⌋)).

    A payload is k pairs of an attribute's number and an output, in rising order of the attributes.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in all of its person's numbers together. Proof:
    proofs/local/means/attributes.md.

    A value is a mapping of names to numbers, or a sequence of numbers in the order of the attributes. What it lacks
    counts as a uniformly random place, as `NumberProtocol` says.

    Args:
        attributes: The bounds of each attribute, by its name; at most 2^16.
        epsilon: From 10^−6 to 100, for all numbers of a person together.
        steps: The lattice steps between the bounds of each.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> protocol = SampledMeans({"age": (0, 100), "height": (0, 250), "weight": (0, 200)}, epsilon=5)
        >>> protocol.sampled, len(protocol.client().report({"age": 40, "height": 170, "weight": 70}).payload)
        (2, 6)

    References:
        [WXYZHSSY19] Section IV.
    """

    attributes: tuple[Attribute, ...]
    epsilon: Fraction
    steps: int

    kind: ClassVar[str] = "sampled_means"

    def __init__(
        self,
        attributes: Mapping[str, tuple[Number, Number]] | Iterable[Sequence[Any]],
        *,
        epsilon: Number,
        steps: int = HybridMean.usual_steps,
    ) -> None:
        try:
            listed: list[Any] = (
                [(name, *bounds) for name, bounds in attributes.items()]
                if isinstance(attributes, Mapping)
                else list(attributes)
            )
            entries = tuple((name, exact(low, "low"), exact(high, "high")) for name, low, high in listed)
        except (TypeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError("attributes", "some", "must be names, each with two bounds") from None
        names = [name for name, _, _ in entries]
        if not 1 <= len(names) <= _MOST or not all(isinstance(n, str) for n in names) or len(set(names)) < len(names):
            raise ParameterError("attributes", f"{len(names)} names", f"must be from 1 to {_MOST:,} different texts")
        for name in names:
            unicode_text(name, "attributes")
        set_fields(self, attributes=entries, epsilon=local_epsilon(epsilon), steps=positive_integer(steps, "steps"))
        for number in range(len(entries)):
            self.of(number)  # checks its bounds

    @property
    def sampled(self) -> int:
        """k: how many numbers a report is of."""
        return max(1, min(len(self.attributes), floor(self.epsilon / _EACH)))

    def of(self, number: int) -> HybridMean:
        """The protocol of one attribute."""
        _, low, high = self.attributes[number]
        return HybridMean(low, high, epsilon=self.epsilon / self.sampled, steps=self.steps)

    @property
    def event(self) -> Event:
        """The k numbers, as if all of them were unlike as any."""
        return self.of(0).event if self.sampled == 1 else SelfComposedEvent(self.of(0).event, self.sampled)

    @property
    def realized_epsilon(self) -> Fraction:
        """That of k reports of one number."""
        return self.of(0).realized_epsilon * self.sampled

    @property
    def payload_bytes(self) -> int:
        """K pairs."""
        return self.sampled * (width_of(len(self.attributes)) + width_of(self.of(0).outputs))

    @property
    def cells(self) -> int:
        """One for each attribute and output."""
        return len(self.attributes) * self.of(0).outputs

    def inputs(self, values: Iterable[Any]) -> Places:
        """A row of lattice places for each person."""
        rows = values if isinstance(values, np.ndarray) and values.ndim == 2 else [self._row(v) for v in values]  # noqa: PLR2004 # rows and columns
        count = len(self.attributes)
        columns = rows.T if isinstance(rows, np.ndarray) else list(zip(*rows, strict=True)) or [()] * count
        if len(columns) != count:
            raise ParameterError("values", f"{len(columns)} columns", f"must have {count}, one for each attribute")
        places = [
            places_of(column, low, high, self.steps)
            for column, (_, low, high) in zip(columns, self.attributes, strict=True)
        ]
        return np.stack(places, axis=1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(name for name, _, _ in self.attributes)

    def parse(self, text: str) -> float | None:
        """The number that is written so."""
        return self.of(0).parse(text)

    def randomize(self, inputs: Places) -> Payloads:
        """Which attributes, and an output of each."""
        chosen = uniform_subsets(self.sampled, len(self.attributes), len(inputs))
        drawn = self.of(0).draw(np.take_along_axis(inputs, chosen, axis=1).ravel())
        names = packed_integers(chosen.ravel(), width_of(len(self.attributes)))
        pairs = np.concatenate((names, packed_integers(drawn, width_of(self.of(0).outputs))), axis=1)
        return pairs.reshape(len(inputs), self.payload_bytes)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Different attributes in rising order, each with an output that it has."""
        chosen, drawn = self._parts(payloads)
        rising = (np.diff(chosen, axis=1) > 0).all(axis=1)
        known = (chosen < len(self.attributes)) & (drawn < self.of(0).outputs)
        return np.asarray(rising & known.all(axis=1), dtype=np.bool_)

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How often each output of each attribute came."""
        chosen, drawn = self._parts(payloads)
        return np.bincount((chosen * self.of(0).outputs + drawn).ravel(), minlength=self.cells)

    def aggregator(self) -> "SampledAggregator":
        """An empty aggregator."""
        return SampledAggregator(self)

    def _row(self, value: Any) -> tuple[Any, ...]:
        names = self.columns
        if isinstance(value, Mapping):
            return tuple(value.get(name) for name in names)
        is_row = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
        is_row = is_row and getattr(value, "ndim", 1) == 1
        return tuple(value) if is_row and len(value) == len(names) else (None,) * len(names)

    def _parts(self, payloads: Payloads) -> tuple[Places, Places]:
        width = width_of(len(self.attributes))
        pairs = payloads.reshape(len(payloads) * self.sampled, self.payload_bytes // self.sampled)
        shape = (len(payloads), self.sampled)
        return integers_of(pairs[:, :width]).reshape(shape), integers_of(pairs[:, width:]).reshape(shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledEstimates:
    """The mean of each attribute.

    Attributes:
        means: By the name of the attribute. Reports are of a random part of the people, whom the errors include.
    """

    means: Mapping[str, MeanEstimate]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each attribute."""
        return [{"attribute": name} | mean.rows()[0] for name, mean in self.means.items()]


class SampledAggregator(Aggregator[SampledMeans]):
    """Counts of the outputs of each attribute, and the means that they say.

    Example:
        >>> protocol = SampledMeans({"age": (0, 100), "height": (0, 250)}, epsilon=20)
        >>> collected = protocol.aggregator()
        >>> collected.add(protocol.client().report_many([(40, 170)] * 500)).accepted
        500
        >>> [round(mean.mean, -1) for mean in collected.estimate().means.values()]
        [40.0, 170.0]
    """

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> SampledEstimates:
        """The mean of each attribute, or of those that are named, over the reports that are of it.

        Raises:
            ParameterError: No report is of an attribute, or a name is none.
        """
        names = self.protocol.columns
        chosen = names if candidates is None else tuple(candidates)
        if unknown := [name for name in chosen if name not in names]:
            raise ParameterError("candidates", unknown[0], f"must be among {', '.join(names)}")
        return SampledEstimates(means={str(name): self._of(names.index(str(name)), confidence) for name in chosen})

    def _of(self, number: int, confidence: Number) -> MeanEstimate:
        protocol = self.protocol.of(number)
        counts = self._counts.reshape(len(self.protocol.attributes), -1)[number]
        reports = positive_integer(int(counts.sum()), "reports")
        are_sampled = self.protocol.sampled < len(self.protocol.attributes)
        return estimate_of(protocol, counts, reports, confidence, are_sampled=are_sampled)


def uniform_subsets(size: int, numbers: int, count: int) -> Places:
    """`count` independent uniform sets of so many of the numbers from 0, each as a row in rising order.

    Robert Floyd's algorithm: for each last number, a uniform one up to it, or the last itself if that was taken.

    Example:
        >>> uniform_subsets(2, 2, 1).tolist()
        [[0, 1]]
    """
    chosen = np.empty((count, size), dtype=np.int64)
    for column, last in enumerate(range(numbers - size, numbers)):
        drawn = uniform_below(last + 1, count)
        is_taken = (chosen[:, :column] == drawn[:, None]).any(axis=1)
        chosen[:, column] = np.where(is_taken, last, drawn)
    chosen.sort(axis=1)
    return chosen
