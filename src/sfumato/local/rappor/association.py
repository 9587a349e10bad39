"""How often two values are held together, from two reports of each person: expectation maximization.

Each person's pair of reports has a likelihood for each pair of texts. The joint distribution that makes all pairs of
reports most likely is the one to which expectation maximization converges [FPE16].
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import chi2

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Label
from sfumato.local.core.reports import Reports
from sfumato.local.rappor.decoding import Floats
from sfumato.local.rappor.estimates import RapporEstimates
from sfumato.local.rappor.protocol import Rappor
from sfumato.numeric.arguments import of_kind

OTHER: Final = None
"""What stands for all texts that are no candidates."""
_TWO: Final = 2
_ROUNDS: Final = 2000
_NEAR: Final = 1e-7
_LEAST: Final = 0.01  # of the people hold a text that the test counts
_LARGEST_TEST: Final = 900  # pairs of texts whose information is inverted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Association:
    """The joint distribution of two texts.

    Attributes:
        first: The texts of the first report; None stands for all others.
        second: Those of the second report.
        fractions: For each pair, the fraction of the people who hold both; they add up to 1.
        people: How many pairs of reports there were.
        p_value: How likely so large an association is if the two texts are independent; NaN if there are too many pairs
            of texts to say, or too few people.
    """

    first: tuple[Label | None, ...]
    second: tuple[Label | None, ...]
    fractions: Floats
    people: int
    p_value: float

    def rows(self) -> list[dict[str, Any]]:
        """One row for each pair of texts."""
        return [
            {"first": first, "second": second, "fraction": float(self.fractions[i, j])}
            for i, first in enumerate(self.first)
            for j, second in enumerate(self.second)
        ]


def associate(
    protocols: tuple[Rappor, Rappor],
    reports: tuple[Reports, Reports],
    estimates: tuple[RapporEstimates, RapporEstimates],
) -> Association:
    """The joint distribution of what two reports of each person say.

    The candidates are those that `estimates` detected, and all other texts together. Both reports of a person are in
    the same place of both batches. They cost the sum of both events.

    Args:
        protocols: Of the first and of the second reports. Devices need different metrics, or different secrets.
        reports: All first reports, and all second ones.
        estimates: What each kind of report says by itself.

    Raises:
        ParameterError: The batches are of different lengths or empty, or hold what is no report.

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
    return Association(
        first=texts[0], second=texts[1], fractions=joint, people=people, p_value=_independence(joint, *likelihoods)
    )


def _likelihoods(protocol: Rappor, reports: Reports, estimates: RapporEstimates) -> Floats:
    """How likely each report is for each detected text and for all others, up to a factor of the report's own.

    The factor is its probability if no bit were set. Other texts set each bit of a cohort as often as the ones there
    that the detected texts leave unexplained.
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
        ones = low + (high - low) * np.clip(unexplained, 0.0, 1.0)
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
