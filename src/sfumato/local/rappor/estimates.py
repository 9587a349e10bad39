"""What reports of RAPPOR say of candidate texts: fractions with intervals, and which ones are there beyond doubt."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isinf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.special import ndtr, ndtri

from sfumato.errors import ParameterError
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.domain import Label
from sfumato.local.rappor.decoding import Floats, Integers, fitted
from sfumato.local.rappor.protocol import Rappor
from sfumato.numeric.arguments import of_kind, share
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, positive_integer

_MOST: Final = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RapporEstimates:
    """The fractions of people who hold each candidate, by least squares over all bits and cohorts.

    Attributes:
        values: The candidates that were fitted, in the order in which they were given: all, unless there are more than
            0.8 times the equations. Then a lasso has left out those that explain nothing.
        fractions: Unbiased estimates, if all texts that were reported are candidates.
        standard_errors: Those of `fractions`; infinite for candidates that always set the same bits as others.
        low: Lower ends of the intervals.
        high: Upper ends of the intervals.
        p_values: How likely so large an estimate is for a text that nobody holds.
        is_detected: Whether that is less than the significance divided by the number of candidates (Bonferroni).
        possible: The best fractions of at least 0 that add up to 1 at most; biased, and without intervals.
        confidence: How often an interval holds its fraction.
        reports: How many reports were counted.
        candidates: How many candidates were given.
    """

    values: tuple[Label, ...]
    fractions: Floats
    standard_errors: Floats
    low: Floats
    high: Floats
    p_values: Floats
    is_detected: NDArray[np.bool_]
    possible: Floats
    confidence: float
    reports: int
    candidates: int

    def __len__(self) -> int:
        return len(self.values)

    @property
    def detected(self) -> tuple[Label, ...]:
        """The candidates that are there beyond doubt, the most frequent one first."""
        order = np.argsort(-self.fractions, kind="stable")
        return tuple(self.values[at] for at in order.tolist() if self.is_detected[at])

    def rows(self) -> list[dict[str, Any]]:
        """One row for each candidate that was fitted; None in place of what is infinite."""
        columns = (self.fractions, self.standard_errors, self.low, self.high, self.p_values, self.is_detected)
        names = ("value", "fraction", "standard_error", "low", "high", "p_value", "is_detected")
        cells = zip(self.values, *(column.tolist() for column in columns), strict=True)
        return [
            {
                name: None if isinstance(cell, float) and isinf(cell) else cell
                for name, cell in zip(names, row, strict=True)
            }
            for row in cells
        ]


class RapporAggregator(Aggregator[Rappor]):
    """Counts of reports and of ones at each bit, by cohort, and which texts they come from.

    Example:
        >>> homepages = Rappor(bits=32, hashes=1, cohorts=8, f="0.25", p="0.25", q="0.75")
        >>> collected = homepages.aggregator()
        >>> collected.add(homepages.client().report_many(["a.org"] * 7000 + ["b.org"] * 3000)).accepted
        10000
        >>> collected.estimate(["a.org", "b.org", "c.org"], significance=1e-6).detected
        ('a.org', 'b.org')
    """

    def estimate(
        self,
        candidates: Iterable[Label] | None = None,
        confidence: Number = "0.95",
        *,
        significance: float = 0.05,
    ) -> RapporEstimates:
        """The fraction of the people who hold each candidate, and which candidates are there beyond doubt.

        Args:
            candidates: The texts that may have been reported. Those that are missing make estimates less certain.
            confidence: How often an interval holds its fraction, for each candidate on its own.
            significance: How often any candidate that nobody holds is detected, at most.

        Raises:
            ParameterError: There are no reports or no candidates, one is no text or comes twice, or the confidence or
                significance is out of range.
        """
        texts = _candidates(candidates)
        failure, level = float(failure_probability(confidence)), share(significance, "significance")
        reports = positive_integer(len(self), "reports")
        counts = self._counts.reshape(self.protocol.cohorts, -1)
        present = np.flatnonzero(counts[:, 0])
        seen, errors = self.bit_fractions()
        fit = fitted(design_of(self.protocol, texts, present), seen[present].reshape(-1), errors[present].reshape(-1))
        reach = -ndtri(failure / 2) * fit.errors
        p_values = ndtr(-fit.fractions / fit.errors)
        return RapporEstimates(
            values=tuple(texts[at] for at in fit.support.tolist()),
            fractions=fit.fractions, standard_errors=fit.errors, low=fit.fractions - reach, high=fit.fractions + reach,
            p_values=p_values, is_detected=p_values < level / len(texts), possible=fit.possible,
            confidence=1 - failure, reports=reports, candidates=len(texts),
        )  # fmt: skip

    def bit_fractions(self) -> tuple[Floats, Floats]:
        """For each cohort and bit, the fraction of reports whose text sets it, estimated, and its standard error.

        (c/n − p*)/(q* − p*); cohorts without reports have no information, and infinite errors.
        """
        high, low = map(float, self.protocol.reported)
        counts = self._counts.reshape(self.protocol.cohorts, -1)
        reports = np.maximum(counts[:, :1], 1)
        ones = counts[:, 1:]
        shares = (ones + 1) / (reports + 2)  # away from 0 and 1, so that no error is 0
        errors = np.sqrt(shares * (1 - shares) / reports) / (high - low)
        errors[counts[:, 0] == 0] = np.inf
        return (ones / reports - low) / (high - low), errors


def design_of(protocol: Rappor, texts: tuple[str, ...], cohorts: Integers) -> csc_array:
    """Which bits each text sets: a row for each bit of each of the cohorts, a column for each text."""
    rows: list[int] = []
    ends = [0]
    for text in texts:
        for at, cohort in enumerate(cohorts.tolist()):
            rows += [at * protocol.bits + bit for bit in sorted(set(protocol.set_bits(text, cohort)))]
        ends.append(len(rows))
    shape = (len(cohorts) * protocol.bits, len(texts))
    return csc_array((np.ones(len(rows)), np.array(rows, dtype=np.int64), np.array(ends, dtype=np.int64)), shape=shape)


def detection_frequency(protocol: Rappor, *, reports: int, candidates: int, significance: float = 0.05) -> float:
    """The fraction of people from which on a text is likely to be detected among so many candidates.

    z·√(p*(1 − p*)/n)/(q* − p*), where z is exceeded with probability significance/candidates. It is of a test of one
    bit, as the paper has it; a fit of all bits detects somewhat less frequent texts too.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> homepages = Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")
        >>> round(detection_frequency(homepages, reports=10**6, candidates=200), 4)
        0.0138

    References:
        [EPK14] Section 6.
    """
    of_kind(protocol, "protocol", Rappor, "a Rappor protocol")
    high, low = map(float, protocol.reported)
    z = -float(ndtri(share(significance, "significance") / positive_integer(candidates, "candidates", most=_MOST)))
    variance = low * (1 - low) / positive_integer(reports, "reports", most=_MOST)
    return z * float(variance**0.5) / (high - low)


def _candidates(candidates: Iterable[Label] | None) -> tuple[str, ...]:
    if candidates is None:
        raise ParameterError("candidates", None, "must be given, because any text may have been reported")
    texts = tuple(candidates)
    if not texts or not all(isinstance(text, str) for text in texts) or len(set(texts)) < len(texts):
        raise ParameterError("candidates", f"{len(texts)} values", "must be at least one text, each given once")
    return tuple(str(text) for text in texts)
