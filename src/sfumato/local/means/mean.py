"""Three unbiased ways to randomize a number: two outputs, a window, and a mixture of both."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import ClassVar, Final

import numpy as np

from sfumato.local.core.domain import Label
from sfumato.local.core.odds import event_of, odds
from sfumato.local.means.numbers import Floats, MeanEstimate, NumberAggregator, NumberProtocol, Places
from sfumato.local.means.windows import WindowLaw
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number
from sfumato.privacy.events import FiniteEvent

_MIXED_FROM: Final = Fraction("0.61")


@dataclass(frozen=True, slots=True, init=False)
class MeanProtocol(NumberProtocol):
    """A protocol of numbers, each output of which stands for a number, whose mean is the true one.

    Numbers are scaled: x = −1 at the lower bound and 1 at the upper one.
    """

    @abstractmethod
    def numbers(self) -> Floats:
        """The scaled number for which each output stands."""

    @abstractmethod
    def squares(self) -> tuple[Fraction, Fraction]:
        """The slope and the intercept of E[number²] as a function of x²."""

    def variance(self, *, scaled: Number = 1) -> float:
        """The variance of one report's number for a scaled x, in squares of half the distance of the bounds.

        Example:
            >>> round(HybridMean(-1, 1, epsilon=1).variance(), 3)
            4.289
        """
        slope, intercept = self.squares()
        square = Fraction(scaled) ** 2
        return float(slope * square + intercept - square)

    def aggregator(self) -> NumberAggregator:
        """An empty aggregator."""
        return MeanAggregator(self)


class MeanAggregator(NumberAggregator):
    """Counts of outputs, and the mean that they say.

    Example:
        >>> protocol = HybridMean(0, 100, epsilon=20)
        >>> collected = protocol.aggregator()
        >>> collected.add(protocol.client().report_many([20.0] * 500 + [40.0] * 500)).accepted
        1000
        >>> round(collected.estimate().mean)
        30
    """

    def __init__(self, protocol: MeanProtocol) -> None:
        self._of_means: Final = protocol
        super().__init__(protocol)

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> MeanEstimate:
        """The mean of the people's numbers, unbiased, with an interval for the randomness of the reports.

        Its variance is E[number²] − x², averaged over the people: a linear function of the mean square of their
        numbers, which the squares of the outputs say too. Where they do not, the square of the mean is a lower bound.
        """
        return estimate_of(self._of_means, self._counts, self.counted(candidates), confidence)


def estimate_of(
    protocol: MeanProtocol, counts: Places, reports: int, confidence: Number, *, are_sampled: bool = False
) -> MeanEstimate:
    """The mean behind counts of outputs.

    Args:
        protocol: Whose outputs they are.
        counts: How often each output came.
        reports: How many there are.
        confidence: Of the interval.
        are_sampled: Whether they are of some of the people, drawn at random, so that people differ too.
    """
    numbers = protocol.numbers()
    mean, square = float(counts @ numbers) / reports, float(counts @ numbers**2) / reports
    slope, intercept = map(float, protocol.squares())
    nearest = min(max(mean**2, 0.0), 1.0)
    held = min(max((square - intercept) / slope, nearest), 1.0) if slope else nearest
    noise = slope * held + intercept - held
    variance = max(square - mean**2, noise) if are_sampled else noise
    half = float(protocol.high - protocol.low) / 2
    middle = float(protocol.high + protocol.low) / 2
    return MeanEstimate.of(middle + half * mean, half * sqrt(variance / reports), confidence, reports=reports)


@dataclass(frozen=True, slots=True, init=False)
class DuchiMean(MeanProtocol):
    """Reports one of two outputs, which stand for ±(R + 1)/(R − 1).

    The number is rounded to a bound at random, the upper one with probability s/T at the place s, and the bound is then
    replaced by the other one with probability 1/(R + 1). R is the rational just below e^ε. Best for small ε.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its number, with e^realized = R. Proof:
    proofs/local/means/mean.md.

    Example:
        >>> round(DuchiMean(-1, 1, epsilon=1).variance(scaled=0), 3)
        4.683

    References:
        [DJW18]; [WXYZHSSY19] for the form with two outputs.
    """

    kind: ClassVar[str] = "duchi_mean"

    @property
    def outputs(self) -> int:
        """The lower one and the upper one."""
        return 2

    @property
    def event(self) -> FiniteEvent:
        """Of the two bounds."""
        lower, upper = self.probabilities(0), self.probabilities(self.steps)
        return event_of(zip(lower, upper, strict=True))

    def draw(self, places: Places) -> Places:
        """A bound at random, then perhaps the other one."""
        bounds = uniform_below(self.steps, len(places)) < places
        flips = bernoulli(self.flip_probability, len(places))
        return (bounds ^ flips).astype(np.int64)

    def probabilities(self, place: int) -> list[Fraction]:
        """Those of the lower and of the upper output."""
        flipped, share = self.flip_probability, Fraction(place, self.steps)
        upper = share * (1 - flipped) + (1 - share) * flipped
        return [1 - upper, upper]

    def numbers(self) -> Floats:
        """Minus and plus (R + 1)/(R − 1)."""
        return np.array([-1.0, 1.0]) * float(self._reach)

    def squares(self) -> tuple[Fraction, Fraction]:
        """The square is the same for all numbers."""
        return Fraction(0), self._reach**2

    @property
    def flip_probability(self) -> Fraction:
        """How often the bound is replaced by the other one: 1/(R + 1)."""
        return 1 / (odds(self.epsilon) + 1)

    @property
    def _reach(self) -> Fraction:
        return 1 / (1 - 2 * self.flip_probability)


@dataclass(frozen=True, slots=True, init=False)
class WindowProtocol(MeanProtocol):
    """A protocol whose outputs lie in a window around the true place more often than outside of it.

    **Guarantee**: that of its `WindowLaw`. Proof: proofs/local/means/windows.md.
    """

    @property
    @abstractmethod
    def law(self) -> WindowLaw:
        """The distribution of outputs."""

    @property
    def outputs(self) -> int:
        """T + w."""
        return self.law.outputs

    @property
    def event(self) -> FiniteEvent:
        """Of the two bounds."""
        return self.law.event

    def draw(self, places: Places) -> Places:
        """An output of the window, or another one."""
        return self.law.draw(places)

    def probabilities(self, place: int) -> list[Fraction]:
        """R/(wR + T) in the window, and 1/(wR + T) elsewhere."""
        return self.law.probabilities(place)

    def numbers(self) -> Floats:
        """A linear function of the output."""
        return self.law.numbers()

    def squares(self) -> tuple[Fraction, Fraction]:
        """Those of the window."""
        return self.law.squares()


@dataclass(frozen=True, slots=True, init=False)
class PiecewiseMean(WindowProtocol):
    """Reports an output in a window around the true place R times as often as one outside of it.

    The window has w = max(1, round(T/√R)) of T + w outputs, which has the least variance at the bounds. An output
    stands for a number linear in it. R and √R are the rationals just below e^ε and e^(ε/2). Best for large ε.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its number, with e^realized = R. Proof:
    proofs/local/means/mean.md.

    Example:
        >>> round(PiecewiseMean(-1, 1, epsilon=2).variance(), 3)
        1.228

    References:
        [WXYZHSSY19] Section III, which has it for real numbers.
    """

    kind: ClassVar[str] = "piecewise_mean"

    @property
    def law(self) -> WindowLaw:
        """The distribution of outputs."""
        width = max(1, round(self.steps / odds(self.epsilon / 2)))
        return WindowLaw(self.steps, width, odds(self.epsilon))


@dataclass(frozen=True, slots=True, init=False)
class HybridMean(MeanProtocol):
    """Takes `PiecewiseMean` with probability 1 − 1/√R and `DuchiMean` otherwise; up to ε = 0.61 `DuchiMean` alone.

    The mixture does not depend on the number. Its worst variance is the least of the three at every ε.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its number, with e^realized = R. Proof:
    proofs/local/means/mean.md.

    The outputs of `PiecewiseMean` come first, those of `DuchiMean` last.

    Example:
        >>> [round(HybridMean(-1, 1, epsilon=epsilon).variance(scaled=0), 3) for epsilon in ("0.5", 1, 2, 4)]
        [16.671, 4.289, 1.042, 0.219]

    References:
        [WXYZHSSY19] Section III-C.
    """

    kind: ClassVar[str] = "hybrid_mean"

    @property
    def outputs(self) -> int:
        """Those of both, or the two of `DuchiMean`."""
        return self._windows.outputs + 2 if self._windowed else 2

    @property
    def event(self) -> FiniteEvent:
        """Of the two bounds, under both."""
        share, two = self._windowed, self._two.event
        outcomes = [((1 - share) * p, (1 - share) * q) for p, q in zip(two.p, two.q, strict=True)]
        if share:
            window = self._windows.event
            outcomes += [(share * p, share * q) for p, q in zip(window.p, window.q, strict=True)]
        return event_of(outcomes)

    def draw(self, places: Places) -> Places:
        """By the one or the other, as a coin says."""
        first = self.outputs - 2
        is_window = bernoulli(self._windowed, len(places))
        windowed, rest = np.flatnonzero(is_window), np.flatnonzero(~is_window)
        outputs = np.empty(len(places), dtype=np.int64)
        if len(windowed):
            outputs[windowed] = self._windows.draw(places[windowed])
        outputs[rest] = first + self._two.draw(places[rest])
        return outputs

    def probabilities(self, place: int) -> list[Fraction]:
        """Those of both, by the mixture."""
        share = self._windowed
        windowed = [share * mass for mass in self._windows.probabilities(place)] if share else []
        return windowed + [(1 - share) * mass for mass in self._two.probabilities(place)]

    def numbers(self) -> Floats:
        """Those of both."""
        windowed = self._windows.numbers() if self._windowed else np.empty(0)
        return np.concatenate((windowed, self._two.numbers()))

    def squares(self) -> tuple[Fraction, Fraction]:
        """Those of both, by the mixture."""
        share = self._windowed
        (slope, intercept), (_, other) = self._windows.squares(), self._two.squares()
        return share * slope, share * intercept + (1 - share) * other

    @property
    def _windowed(self) -> Fraction:
        """How often the window is taken."""
        return 1 - 1 / odds(self.epsilon / 2) if self.epsilon > _MIXED_FROM else Fraction(0)

    @property
    def _windows(self) -> PiecewiseMean:
        return PiecewiseMean(self.low, self.high, epsilon=self.epsilon, steps=self.steps)

    @property
    def _two(self) -> DuchiMean:
        return DuchiMean(self.low, self.high, epsilon=self.epsilon, steps=self.steps)
