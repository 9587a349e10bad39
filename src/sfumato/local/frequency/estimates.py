"""From supports to fractions: raw unbiased estimates with intervals, and projected ones, kept apart."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Label
from sfumato.local.frequency.projection import base_cut, most_likely, norm_sub
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number

Floats: TypeAlias = NDArray[np.float64]
Projection: TypeAlias = Literal["norm_sub", "base_cut", "em"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Supports:
    """How many of the reports support each of some values, and with which probabilities a report does.

    Attributes:
        counts: For each value, the reports that support it.
        reports: How many reports there are.
        when_held: p, the probability that the report of a person supports the value of that person.
        when_not: q, the probability that it supports another given value.
        are_all: Whether the values are the whole domain, so that their fractions add up to 1.
        is_exclusive: Whether each report supports exactly one value of the domain.
        asked: For each value, how many of the reports tell of it, if these are not all: a random part of the people.
    """

    counts: NDArray[np.int64]
    reports: int
    when_held: float
    when_not: float
    are_all: bool
    is_exclusive: bool
    asked: NDArray[np.int64] | None = None

    @property
    def shares(self) -> Floats:
        """c/n: of the reports that tell of a value, those that support it."""
        shares: Floats = self.counts / (self.reports if self.asked is None else self.asked)
        return shares

    @property
    def fractions(self) -> Floats:
        """(c/n − q)/(p − q): unbiased, so some lie below 0 or above 1."""
        return (self.shares - self.when_not) / (self.when_held - self.when_not)

    def variances(self, fractions: Floats) -> Floats:
        """(f·p(1 − p) + (1 − f)·q(1 − q))/(n·(p − q)²); and f(1 − f)·(1/m − 1/n), if m of the n people were asked."""
        p, q = self.when_held, self.when_not
        asked = self.reports if self.asked is None else self.asked
        spread = fractions * p * (1 - p) + (1 - fractions) * q * (1 - q)
        drawn = fractions * (1 - fractions) * (1 / asked - 1 / self.reports)
        variances: Floats = spread / (asked * (p - q) ** 2) + drawn
        return variances

    def estimate(self, values: tuple[Label, ...], confidence: Number, *, extra_variance: float) -> "FrequencyEstimates":
        """Fractions with intervals.

        Raises:
            ParameterError: The confidence is out of range.
        """
        failure = float(failure_probability(confidence))
        fractions = self.fractions
        within = np.clip(fractions, 0.0, 1.0)
        if self.asked is not None:  # two more who hold the value, and two who do not: few may have been asked [AC98]
            within = (within * self.asked + 2) / (self.asked + 4)
        errors = np.sqrt(self.variances(within) + extra_variance)
        reach = -ndtri(failure / 2) * errors
        return FrequencyEstimates(
            values=values,
            fractions=_kept(fractions),
            standard_errors=_kept(errors),
            errors_at_0=_kept(np.sqrt(self.variances(np.zeros(len(fractions))) + extra_variance)),
            low=_kept(fractions - reach),
            high=_kept(fractions + reach),
            confidence=1 - failure,
            reports=self.reports,
            supports=self,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrequencyEstimates:
    """The fraction of the people who hold each value, as the reports say it: unbiased, and thus good for sums.

    An estimate may lie below 0 or above 1, and so may the ends of its interval; `project` makes a distribution.

    Attributes:
        values: The values, in the order of all arrays.
        fractions: The unbiased estimates.
        standard_errors: The standard deviations of `fractions`, estimated.
        errors_at_0: The same for values that nobody holds.
        low: Lower ends of the intervals.
        high: Upper ends of the intervals.
        confidence: How often an interval holds the fraction of these people, for each value on its own.
        reports: How many reports were counted.
        supports: What the estimates were made of.
    """

    values: tuple[Label, ...]
    fractions: Floats
    standard_errors: Floats
    errors_at_0: Floats
    low: Floats
    high: Floats
    confidence: float
    reports: int
    supports: Supports

    def __len__(self) -> int:
        return len(self.values)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each value, in their order."""
        columns = (self.fractions, self.standard_errors, self.low, self.high)
        names = ("value", "fraction", "standard_error", "low", "high")
        cells = zip(self.values, *(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in cells]

    def project(self, method: Projection = "norm_sub", *, significance: float = 0.05) -> "ProjectedFrequencies":
        """The nearest possible fractions: at least 0 each, and of a whole domain with the sum 1.

        ``norm_sub`` is the nearest distribution in Euclidean distance. ``em`` is the most likely one, to which
        expectation maximization converges. ``base_cut`` keeps estimates that are above 0 beyond doubt and sets all
        others to 0; they need not add up to 1. Projected fractions are biased and have no intervals.

        Args:
            method: The name of a projection.
            significance: With ``base_cut``, the probability that any value that nobody holds is kept.

        Raises:
            ParameterError: The method is unknown, or the significance not between 0 and 1.

        References:
            [WLLSL20] for the comparison; [KBR16] for the likelihood.
        """
        match method:
            case "norm_sub":
                found = norm_sub(self.fractions, is_whole=self.supports.are_all)
            case "em":
                found = most_likely(
                    self.supports.shares * self.reports, self.reports, self.supports.when_held, self.supports.when_not,
                    is_whole=self.supports.are_all, is_exclusive=self.supports.is_exclusive,
                )  # fmt: skip
            case "base_cut":
                found = base_cut(self.fractions, self.errors_at_0, significance=significance)
            case _:
                raise ParameterError("method", method, "must be norm_sub, em or base_cut")
        return ProjectedFrequencies(values=self.values, fractions=_kept(found), method=method)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProjectedFrequencies:
    """Possible fractions near the unbiased ones: for pictures and samples, not for sums or tests.

    Attributes:
        values: The values, in the order of the fractions.
        fractions: At least 0 each; with ``norm_sub`` and ``em`` of a whole domain, their sum is 1.
        method: How they were projected.
    """

    values: tuple[Label, ...]
    fractions: Floats
    method: Projection


def _kept(array: Floats) -> Floats:
    """The same array, which nobody changes any more."""
    array.flags.writeable = False
    return array
