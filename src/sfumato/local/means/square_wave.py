"""The distribution of a number: the square wave, and its inversion by expectation maximization with smoothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from sfumato.local.core.domain import Label
from sfumato.local.core.odds import odds
from sfumato.local.means.mean import WindowProtocol, estimate_of
from sfumato.local.means.numbers import Floats, MeanEstimate, NumberAggregator, Places
from sfumato.local.means.windows import WindowLaw
from sfumato.numeric.arguments import share
from sfumato.numeric.rationals import Number

_MOST_ROUNDS: Final = 10_000
_SETTLED: Final = 1e-3
"""Rounds end when the logarithm of the likelihood of all reports grows by less than this [LWLS20]."""


@dataclass(frozen=True, slots=True, init=False)
class SquareWave(WindowProtocol):
    """Reports a place in a window around the true one R times as often as one outside of it, to see a distribution.

    The window has w = max(1, round(2bT)) of T + w outputs, b = (εR − R + 1)/(2R(R − 1 − ε)), which carries the most
    information in the limit of many places. R is the rational just below e^ε.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its number, with e^realized = R. Proof:
    proofs/local/means/square_wave.md.

    Args:
        low: The lower bound.
        high: The upper bound, above it.
        epsilon: From 10^−6 to 100.
        steps: T, from 1 to 2^16: the distribution is estimated on T + 1 places.

    Example:
        >>> SquareWave(0, 100, epsilon=1).law.width
        131

    References:
        [LWLS20].
    """

    kind: ClassVar[str] = "square_wave"
    usual_steps: ClassVar[int] = 256

    @property
    def law(self) -> WindowLaw:
        """The distribution of outputs."""
        ratio = odds(self.epsilon)
        reach = (self.epsilon * ratio - ratio + 1) / (ratio * (ratio - 1 - self.epsilon))
        return WindowLaw(self.steps, max(1, round(reach * self.steps)), ratio)

    def aggregator(self) -> "DistributionAggregator":
        """An empty aggregator."""
        return DistributionAggregator(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistributionEstimate:
    """What the reports say of the distribution of the people's numbers.

    Attributes:
        places: The T + 1 numbers of the lattice.
        fractions: The likeliest share of the people at each place, smoothed: at least 0, with the sum 1, and biased.
        mean: The mean, unbiased and with an interval; of the reports, not of `fractions`.
        reports: How many reports there are.
    """

    places: Floats
    fractions: Floats
    mean: MeanEstimate
    reports: int

    def rows(self) -> list[dict[str, Any]]:
        """One row for each place."""
        cells = zip(self.places.tolist(), self.fractions.tolist(), strict=True)
        return [{"number": number, "fraction": fraction} for number, fraction in cells]

    def quantile(self, level: float) -> float:
        """The place at which the estimated distribution function reaches a level.

        Raises:
            ParameterError: The level does not lie between 0 and 1.
        """
        reached = np.searchsorted(np.cumsum(self.fractions), share(level, "level") - 1e-12)
        return float(self.places[min(int(reached), len(self.places) - 1)])


class DistributionAggregator(NumberAggregator):
    """Counts of outputs, and the distribution that they say.

    Example:
        >>> protocol = SquareWave(0, 100, epsilon=20)
        >>> collected = protocol.aggregator()
        >>> collected.add(protocol.client().report_many([20.0] * 600 + [70.0] * 400)).accepted
        1000
        >>> found = collected.estimate()
        >>> round(found.quantile(0.5)), round(found.mean.mean)
        (20, 40)
    """

    def __init__(self, protocol: SquareWave) -> None:
        self._wave: Final = protocol
        super().__init__(protocol)

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> DistributionEstimate:
        """The likeliest smooth distribution, and the mean with an interval of that confidence."""
        reports, protocol = self.counted(candidates), self._wave
        fractions = smoothed_maximum(protocol.law, self._counts)
        places = np.linspace(float(protocol.low), float(protocol.high), protocol.steps + 1)
        mean = estimate_of(protocol, self._counts, reports, confidence)
        fractions.flags.writeable = places.flags.writeable = False
        return DistributionEstimate(places=places, fractions=fractions, mean=mean, reports=reports)


def smoothed_maximum(law: WindowLaw, counts: Places) -> Floats:
    """The shares of T + 1 places under which counts of outputs are most likely, smoothed in every round.

    Each round multiplies the share of a place by the mean, over all reports, of how much likelier it makes them than
    all places together do. Then each share becomes (left + 2·own + right)/4, with the ends counted twice.

    Args:
        law: The distribution of outputs.
        counts: How often each output came, at least one report in all.

    Example:
        >>> from fractions import Fraction
        >>> smoothed_maximum(WindowLaw(4, 1, Fraction(1000)), np.array([500, 0, 0, 0, 500])).round(1).tolist()
        [0.4, 0.1, 0.0, 0.1, 0.4]

    References:
        [LWLS20] Section 5.3.
    """
    inside, outside = float(law.inside), float(law.outside)
    shares = np.full(law.steps + 1, 1 / (law.steps + 1))
    before = -np.inf
    for _ in range(_MOST_ROUNDS):
        likely = outside + (inside - outside) * _in_windows(shares, law)
        reached = float(counts @ np.log(likely))
        if reached - before < _SETTLED:
            break
        before = reached
        ratios = counts / likely
        total = np.concatenate(([0.0], np.cumsum(ratios)))
        windows = total[law.width :][: law.steps + 1] - total[: law.steps + 1]
        shares = shares * (outside * total[-1] + (inside - outside) * windows)
        padded = np.pad(shares / shares.sum(), 1, mode="edge")
        shares = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return shares


def _in_windows(shares: Floats, law: WindowLaw) -> Floats:
    """For each output, the share of the places whose window holds it."""
    total = np.concatenate(([0.0], np.cumsum(shares)))
    outputs = np.arange(law.outputs)
    last = np.minimum(outputs + 1, law.steps + 1)
    first = np.maximum(outputs - law.width + 1, 0)
    found: Floats = total[last] - total[first]
    return found
