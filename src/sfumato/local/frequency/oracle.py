"""Frequency oracles: each report supports some values, its person's own more often than others.

A report supports the value v that its person holds with probability p, and each other value with probability q. Of n
reports, c of which support v, the unbiased estimate of the fraction who hold v is (c/n − q)/(p − q) [WBLJ17].
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import UNKNOWN, Domain, Indexes, Label
from sfumato.local.core.odds import local_epsilon
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.frequency.estimates import FrequencyEstimates, Supports
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, positive_integer, probability, set_fields

DomainLike: TypeAlias = Domain | int | Iterable[Label]
"""A domain; or a size, or labels, of which one is made."""


@dataclass(frozen=True, slots=True, init=False)
class FrequencyOracle(LocalProtocol):
    """A protocol whose reports support values.

    Args:
        domain: The values; a size or a list of labels makes one.
        epsilon: The most that one report may reveal. See `realized_epsilon` for what it does reveal.

    Raises:
        ParameterError: ε is out of range, the domain has too many values, or it is open where it may not be.
    """

    domain: Domain
    epsilon: Fraction

    most_values: ClassVar[int] = 1 << 20
    takes_texts: ClassVar[bool] = False
    tells_of_all: ClassVar[bool] = True
    """Whether each report tells of every value."""

    def __init__(self, domain: DomainLike, *, epsilon: Number) -> None:
        held = domain if isinstance(domain, Domain) else Domain(domain)
        if held.is_open and not self.takes_texts:
            raise ParameterError("domain", "all texts", "must be listed for this oracle")
        if not held.is_open and len(held) > self.most_values:
            raise ParameterError("domain", len(held), f"must have at most {self.most_values:,} values for this oracle")
        set_fields(self, domain=held, epsilon=local_epsilon(epsilon))

    @property
    @abstractmethod
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often a report supports the value of its person, and how often each other one; exactly."""

    @abstractmethod
    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """How many of the reports support each of these values, from the cells of an aggregator."""

    @property
    def is_exclusive(self) -> bool:
        """Whether each report supports exactly one value."""
        return False

    @property
    def most_supported(self) -> int | None:
        """How many values one report supports at most; None if it may support all."""
        return 1 if self.is_exclusive else None

    def variance(self, *, reports: int, fraction: Number = 0) -> float:
        """The variance of the estimate of a value that this fraction of the people hold.

        (f·p(1 − p) + (1 − f)·q(1 − q))/(n·(p − q)²), known before anyone is asked.

        Example:
            >>> from sfumato.local import OptimizedUnaryEncoding
            >>> round(OptimizedUnaryEncoding(1024, epsilon=1).variance(reports=1), 3)
            3.683
        """
        p, q = self.support_probabilities
        held, people = probability(fraction, "fraction"), positive_integer(reports, "reports")
        return float((held * p * (1 - p) + (1 - held) * q * (1 - q)) / (people * (p - q) ** 2))

    def inputs(self, values: Iterable[Any]) -> Indexes:
        """Numbers of the values in the domain; a uniform one for a value that is not in it."""
        indexes = self.domain.indexes(values)
        unknown = np.flatnonzero(indexes == UNKNOWN)
        if len(unknown):
            indexes[unknown] = uniform_below(len(self.domain), len(unknown))
        return indexes

    def parse(self, text: str) -> Label | None:
        """The value of the domain that is written so."""
        return self.domain.parse(text)

    def aggregator(self) -> "FrequencyAggregator":
        """An empty aggregator."""
        return FrequencyAggregator(self)


class FrequencyAggregator(Aggregator[FrequencyOracle]):
    """Counts of the reports of a frequency oracle, and what they say of the values.

    Example:
        >>> from sfumato.local import DirectEncoding
        >>> oracle = DirectEncoding(["tea", "coffee"], epsilon=20)
        >>> collected = oracle.aggregator()
        >>> collected.add(oracle.client().report_many(["tea", "coffee", "tea", "tea"])).accepted
        4
        >>> collected.estimate().fractions.round(3).tolist()
        [0.75, 0.25]
    """

    def __init__(self, protocol: FrequencyOracle) -> None:
        super().__init__(protocol)
        self._probabilities: Final = protocol.support_probabilities

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> FrequencyEstimates:
        """The fraction of the people who hold each candidate: unbiased, with an interval for each.

        Args:
            candidates: Values of the domain; all of them, if none are given.
            confidence: How often such an interval holds the fraction, for each value on its own.

        Raises:
            ParameterError: There are no reports or no candidates, a candidate is not in the domain or comes twice, or
                the confidence is out of range.
        """
        labels = self.protocol.domain.values() if candidates is None else tuple(candidates)
        domain = self.protocol.domain
        indexes = np.arange(len(domain)) if candidates is None else domain.candidates(labels)
        p, q = map(float, self._probabilities)
        supports = Supports(
            counts=self._supports(indexes), reports=positive_integer(len(self), "reports"), when_held=p, when_not=q,
            are_all=len(indexes) == len(self.protocol.domain), is_exclusive=self.protocol.is_exclusive,
        )  # fmt: skip
        return supports.estimate(labels, confidence, extra_variance=self._extra_variance(supports))

    def _supports(self, indexes: Indexes) -> NDArray[np.int64]:
        return self.protocol.supports(self._counts, len(self), indexes)

    def _extra_variance(self, supports: Supports) -> float:
        """What the variance of a fraction has beyond that of the reports: of hashes that are shared, for example."""
        del supports
        return 0.0
