"""How often two values are held together, from two reports of each person: expectation maximization.

Each person's pair of reports has a likelihood for each pair of texts. The joint distribution that makes all pairs of
reports most likely is the one to which expectation maximization converges [FPE16].
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Label
from sfumato.local.core.reports import Reports
from sfumato.local.rappor.decoding import Floats
from sfumato.local.rappor.estimates import RapporEstimates
from sfumato.local.rappor.protocol import Rappor
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number

OTHER: Final = None
"""What stands for all texts that are no candidates."""
_TWO: Final = 2
_ROUNDS: Final = 2000
_NEAR: Final = 1e-7
_LEAST: Final = 0.01  # of the people hold a text that the test counts
_NOBODY: Final = 1e-6
_FLAT: Final = 1e-9  # of the largest information is none
_NUMBERS: Final = 1 << 22  # at once in memory
_LARGEST_TEST: Final = 900  # pairs of texts whose information is inverted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Association:
    """The joint distribution of two texts.

    Attributes:
        first: The texts of the first report; None stands for all others.
        second: Those of the second report.
        fractions: For each pair, the fraction of the people who hold both; they add up to 1.
        standard_errors: Those of `fractions`. Infinite where reports say nothing; NaN for pairs with other texts, whose
            bits are estimated too, where one pair is all there is, and if there are too many pairs.
        low: Lower ends of the intervals; at least 0.
        high: Upper ends of the intervals; at most 1.
        confidence: How often an interval holds its fraction, for each pair on its own, if hundreds of people hold it.
        people: How many pairs of reports there were.
        p_value: How likely so large an association is if the two texts are independent; NaN if there are too many pairs
            of texts to say, or too few people.
    """

    first: tuple[Label | None, ...]
    second: tuple[Label | None, ...]
    fractions: Floats
    standard_errors: Floats
    low: Floats
    high: Floats
    confidence: float
    people: int
    p_value: float

    def rows(self) -> list[dict[str, Any]]:
        """One row for each pair of texts."""
        return [
            {
                "first": first,
                "second": second,
                "fraction": float(self.fractions[i, j]),
                "standard_error": float(self.standard_errors[i, j]),
                "low": float(self.low[i, j]),
                "high": float(self.high[i, j]),
            }
            for i, first in enumerate(self.first)
            for j, second in enumerate(self.second)
        ]


def associate(
    protocols: tuple[Rappor, Rappor],
    reports: tuple[Reports, Reports],
    estimates: tuple[RapporEstimates, RapporEstimates],
    confidence: Number = "0.95",
) -> Association:
    """The joint distribution of what two reports of each person say.

    The candidates are those that `estimates` detected, and all other texts together. Both reports of a person are in
    the same place of both batches. They cost the sum of both events.

    Intervals are those of the normal distribution, cut at 0 and 1. Their variance is the inverse of the observed
    information at the solution, for changes of fractions that add up to 0. They do not account for who is a candidate,
    nor for what other texts set: if many people hold those, 95% are 93% to 95%. Where a true fraction is 0 or nearly
    so, an interval begins at 0 and holds it more often than stated.

    Args:
        protocols: Of the first and of the second reports. Devices need different metrics, or different secrets.
        reports: All first reports, and all second ones.
        estimates: What each kind of report says by itself.
        confidence: How often an interval holds its fraction, for each pair on its own.

    Raises:
        ParameterError: The batches are of different lengths or empty, or hold what is no report; or the confidence is
            out of range.

    Example:
        >>> city = Rappor(bits=16, hashes=1, cohorts=2, f="0.1", p="0.1", q="0.9", metric="city")
        >>> team = Rappor(bits=16, hashes=1, cohorts=2, f="0.1", p="0.1", q="0.9", metric="team")
        >>> sent = [kind.client().report_many(["a"] * 500 + ["b"] * 500) for kind in (city, team)]
        >>> counted = [kind.aggregator() for kind in (city, team)]
        >>> _ = [aggregator.add(batch) for aggregator, batch in zip(counted, sent)]
        >>> each = [aggregator.estimate(["a", "b"]) for aggregator in counted]
        >>> found = associate((city, team), tuple(sent), tuple(each))
        >>> bool(found.p_value < 1e-6)
        True
    """
    for name, pair, kind in (
        ("protocols", protocols, Rappor), ("reports", reports, Reports), ("estimates", estimates, RapporEstimates)
    ):  # fmt: skip
        if len(of_kind(pair, name, tuple, "a pair")) != _TWO or not all(isinstance(one, kind) for one in pair):
            raise ParameterError(name, "something else", f"must be a pair of {kind.__name__}")
    people = len(reports[0])
    if people != len(reports[1]) or people == 0:
        requirement = "must be two batches of one length, in which each person has one place"
        raise ParameterError("reports", f"{people} and {len(reports[1])} reports", requirement)
    likelihoods, texts = [], []
    for protocol, batch, estimate in zip(protocols, reports, estimates, strict=True):
        likelihoods.append(_likelihoods(protocol, batch, estimate))
        texts.append((*estimate.detected, OTHER))
    joint = _most_likely(*likelihoods)
    errors = _standard_errors(joint, *likelihoods)
    failure = float(failure_probability(confidence))
    reach = -ndtri(failure / 2) * errors
    return Association(
        first=texts[0], second=texts[1], fractions=joint, standard_errors=errors,
        low=np.maximum(joint - reach, 0.0), high=np.minimum(joint + reach, 1.0), confidence=1 - failure,
        people=people, p_value=_independence(joint, *likelihoods),
    )  # fmt: skip


def _likelihoods(protocol: Rappor, reports: Reports, estimates: RapporEstimates) -> Floats:
    """How likely each report is for each detected text and for all others, up to a factor of the report's own.

    The factor is its probability if no bit were set. Other texts set each bit of a cohort as often as the ones there
    that the detected texts leave unexplained. That may be a little less than never: cut at 0, the noise of bits that no
    text sets would count as other texts.
    """
    if reports.fingerprint != protocol.fingerprint or not protocol.are_valid(reports.payloads).all():
        raise ParameterError("reports", f"{len(reports)} reports", "must be reports of their protocol")
    high, low = map(float, protocol.reported)
    detected = estimates.detected
    fractions = np.array([estimates.possible[estimates.values.index(text)] for text in detected])
    cohorts, rows = protocol.parts_of(reports.payloads)
    bits = np.unpackbits(rows[:, ::-1], axis=1, bitorder="little")[:, : protocol.bits].astype(np.bool_)
    found = np.empty((len(reports), len(detected) + 1))
    for cohort in np.unique(cohorts).tolist():
        members = np.flatnonzero(cohorts == cohort)
        seen = bits[members]
        sets = np.zeros((protocol.bits, len(detected)))
        for at, text in enumerate(detected):
            sets[protocol.set_bits(str(text), cohort), at] = 1
        others = max(1e-9, 1 - fractions.sum())
        unexplained = ((seen.mean(axis=0) - low) / (high - low) - sets @ fractions) / others
        ones = np.clip(low + (high - low) * unexplained, low / 2, (1 + high) / 2)
        rates = np.column_stack((low + (high - low) * sets, ones))
        logarithms = seen @ np.log(rates / low) + ~seen @ np.log((1 - rates) / (1 - low))
        found[members] = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return found


def _most_likely(first: Floats, second: Floats) -> Floats:
    """The joint distribution under which the pairs of reports are most likely."""
    joint = np.full((first.shape[1], second.shape[1]), 1 / (first.shape[1] * second.shape[1]))
    for _ in range(_ROUNDS):
        each = ((first @ joint) * second).sum(axis=1)
        following = joint * ((first / each[:, None]).T @ second) / len(first)
        moved, joint = float(np.abs(following - joint).max()), following
        if moved < _NEAR:
            break
    return joint


def _standard_errors(joint: Floats, first: Floats, second: Floats) -> Floats:
    """Those of the most likely fractions, by the observed information; NaN for pairs with other texts."""
    errors = np.full(joint.shape, np.nan)
    # Pairs with other texts that nobody seems to hold stay at 0; all others may change.
    is_free = np.full(joint.shape, fill_value=True)
    is_free[-1], is_free[:, -1] = joint[-1] > _NOBODY, joint[:, -1] > _NOBODY
    free = np.flatnonzero(is_free)
    if min(joint.shape) == 1 or len(free) == 1 or joint.size > _LARGEST_TEST:
        return errors
    information = np.zeros((len(free), len(free)))
    people = max(1, _NUMBERS // joint.size)
    for start in range(0, len(first), people):
        some, others = first[start : start + people], second[start : start + people]
        each = ((some @ joint) * others).sum(axis=1)
        scores = (some[:, :, None] * others[:, None, :]).reshape(len(some), -1)[:, free] / each[:, None]
        information += scores.T @ scores
    # Fractions add up to 1, so only directions that add up to 0 count: all but the first of this basis.
    basis = np.linalg.qr(np.column_stack((np.ones(len(free)), np.eye(len(free))[:, 1:])))[0][:, 1:]
    known, directions = np.linalg.eigh(basis.T @ information @ basis)
    says_something = known > _FLAT * known[-1]
    spread = (basis @ directions) ** 2
    variances = spread[:, says_something] @ (1 / known[says_something])
    variances[spread[:, ~says_something].sum(axis=1) > _FLAT] = np.inf
    errors.flat[free] = np.sqrt(variances)
    errors[-1] = errors[:, -1] = np.nan
    return errors


def _independence(joint: Floats, first: Floats, second: Floats) -> float:
    """The p-value of the score test that the two texts are independent, whatever their own distributions are.

    Texts that hardly anybody holds are left out of it: where a fraction is 0 the test has no distribution.
    """
    rows, columns = (np.maximum(joint.sum(axis=axis), 0.0) for axis in (1, 0))
    some, others = rows >= _LEAST, columns >= _LEAST
    first, rows = first[:, some], rows[some] / rows[some].sum()
    second, columns = second[:, others], columns[others] / columns[others].sum()
    degrees = (len(rows) - 1) * (len(columns) - 1)
    if len(rows) * len(columns) > _LARGEST_TEST or degrees == 0:
        return float("nan")
    each = (first @ rows) * (second @ columns)
    scores = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1) / each[:, None] - 1
    return float(chi2.sf(_score_statistic(scores, rows, columns), degrees))


def _score_statistic(scores: Floats, rows: Floats, columns: Floats) -> float:
    """U'·I⁻¹·U of the directions of association, cleared of what changes of the margins explain."""
    of_rows = np.eye(len(rows))[:, 1:] - rows[:, None]
    of_columns = np.eye(len(columns))[:, 1:] - columns[:, None]
    margins = np.concatenate((np.kron(of_rows, columns[:, None]), np.kron(rows[:, None], of_columns)), axis=1)
    directions = scores @ np.kron(of_rows, of_columns)
    explained = scores @ margins
    cleared = directions - explained @ np.linalg.lstsq(explained, directions, rcond=None)[0]
    total = cleared.sum(axis=0)
    return float(total @ np.linalg.lstsq(cleared.T @ cleared, total, rcond=None)[0])
