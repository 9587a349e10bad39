"""The sparse vector technique: which answers of a long sequence lie above a threshold, paying for those above alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, sqrt
from typing import Final

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Answer, half_width
from sfumato.mechanisms.lattice import as_resolution, lattice_linf_sensitivity
from sfumato.mechanisms.selection.sparse_vector_session import Answers, SparseVectorSession
from sfumato.noise.uniform.integers import drawable
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.distributions import discrete_laplace_half_width, discrete_laplace_variance, failure_probability
from sfumato.numeric.rationals import (
    Number,
    exact,
    flag,
    nonnegative,
    positive,
    positive_integer,
    probability,
    set_fields,
)
from sfumato.privacy.events import PureEvent

_RATIO_DENOMINATOR: Final = 1000  # the best ratio of the budgets is irrational; three decimals of it lose nothing


@dataclass(frozen=True, slots=True, init=False)
class SparseVector:
    """Says of one answer after the other whether it lies at or above a threshold, until `cutoff` of them did.

    ρ is drawn once, νᵢ for each answer; it says True if exactᵢ + νᵢ ≥ threshold + ρ, with discrete Laplace noise:

        scale of ρ: Δ/ε₁     scale of νᵢ: 2cΔ/ε₂, or cΔ/ε₂ if monotonic     with c = `cutoff`.

    However many answers lie below, they cost nothing more. With `answer_share` > 0 an answer that was said to lie above
    may also be told, with fresh noise of scale cΔ/ε₃, where ε₃ = answer_share·ε and ε₁ + ε₂ = ε − ε₃. The ratio ε₂/ε₁
    is (2c)^(2/3), or c^(2/3) if monotonic, to three decimals: the one that makes the error of comparisons smallest.
    With a cutoff of 1 it is known as AboveThreshold.

    How far a noisy answer lies above the noisy threshold, exactᵢ + νᵢ − (threshold + ρ), costs nothing more than that
    it does: see `release_with_gaps`. Gap plus threshold estimates the answer; `gap_stddev` is its standard deviation.

    **Guarantee**: one release, or one session from `start` to its halt, is ε-differentially private for the relation of
    `linf_sensitivity`, also for answers chosen in the light of earlier replies. Proof:
    proofs/mechanisms/selection/sparse_vector.md.

    ==================================  ======================================================
    Edge case                           What is said
    ==================================  ======================================================
    epsilon = 0                         False throughout
    after `cutoff` times True           nothing: `release` ends there, a session refuses
    no answers                          an empty tuple
    a scale outside [1/1000, 2^50]      ParameterError when constructed
    NaN, None, with a resolution        as of 0
    ±∞, beyond 2^62 steps               as of ±2^62 steps
    ==================================  ======================================================

    Args:
        epsilon: 0 or more, for a whole release or session.
        cutoff: After how many times True it halts, at least 1.
        linf_sensitivity: Δ, the most by which one unit changes any single answer, above 0.
        monotonic: Whether one unit changes all answers in the same direction, if at all, as counts under add or remove.
        resolution: The width of a lattice step, above 0; None where the exact answers are integers.
        answer_share: The part of ε kept for values of answers above, from 0 (none are told) to below 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> cases_per_day = [3, 10, 4_000_000, 7, 5_000_000, 2]
        >>> alarm = SparseVector(epsilon=1, cutoff=2, linf_sensitivity=1, monotonic=True)
        >>> alarm.release(cases_per_day, threshold=1_000_000)
        (False, False, True, False, True)

    References:
        [LSL17] Algorithm 7 and Section 4.2; [DR14] Section 3.6; [DWZK19] for the gaps.
    """

    epsilon: Fraction
    cutoff: int
    linf_sensitivity: Fraction
    monotonic: bool
    resolution: Fraction | None
    answer_share: Fraction

    def __init__(
        self,
        *,
        epsilon: Number,
        cutoff: int = 1,
        linf_sensitivity: Number,
        monotonic: bool = False,
        resolution: Number | None = None,
        answer_share: Number = 0,
    ) -> None:
        share = probability(answer_share, "answer_share")
        if share == 1:
            raise ParameterError("answer_share", answer_share, "must be below 1, because comparisons need a share too")
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            epsilon=nonnegative(epsilon, "epsilon"),
            cutoff=positive_integer(cutoff, "cutoff"),
            linf_sensitivity=positive(linf_sensitivity, "linf_sensitivity"),
            monotonic=flag(monotonic, "monotonic"),
            resolution=step,
            answer_share=share,
        )
        for name in ("threshold_scale", "comparison_scale", "answer_scale"):
            if getattr(self, name):
                drawable(getattr(self, name), name)

    @property
    def threshold_epsilon(self) -> Fraction:
        """ε₁, for the noise of the threshold."""
        squared = (self.cutoff if self.monotonic else 2 * self.cutoff) ** 2
        ratio = Fraction(_cube_root(squared * _RATIO_DENOMINATOR**3), _RATIO_DENOMINATOR)
        return (self.epsilon - self.answer_epsilon) / (1 + ratio)

    @property
    def comparison_epsilon(self) -> Fraction:
        """ε₂, for the noise of the comparisons."""
        return self.epsilon - self.answer_epsilon - self.threshold_epsilon

    @property
    def answer_epsilon(self) -> Fraction:
        """ε₃, for the noise of the values."""
        return self.answer_share * self.epsilon

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of ρ in lattice steps; 0 at ε = 0, where nothing is compared."""
        return self._steps_moved / self.threshold_epsilon if self.epsilon else Fraction(0)

    @property
    def comparison_scale(self) -> Fraction:
        """The scale of each νᵢ in lattice steps; 0 at ε = 0."""
        steps = self.cutoff * self._steps_moved * (1 if self.monotonic else 2)
        return steps / self.comparison_epsilon if self.epsilon else Fraction(0)

    @property
    def answer_scale(self) -> Fraction:
        """The scale of the noise of a value in lattice steps; 0 where none is told."""
        return self.cutoff * self._steps_moved / self.answer_epsilon if self.answer_epsilon else Fraction(0)

    @property
    def event(self) -> PureEvent:
        """The event of one release, or of one session to its halt, for accountants."""
        return PureEvent(self.epsilon)

    def release(self, answers: Answers, threshold: Number = 0) -> tuple[bool, ...]:
        """Which answers lie above, up to and including the one at which it halts.

        Args:
            answers: A sequence of exact answers; its length is public.
            threshold: Public, in the unit of the answers.

        Raises:
            ParameterError: An answer or the threshold is no number.
        """
        return self.start(threshold).each_above(answers)

    def release_with_values(self, answers: Answers, threshold: Number = 0) -> tuple[Answer | None, ...]:
        """As `release`, with a noisy value for each True and None for each False.

        Raises:
            ParameterError: `answer_share` is 0; an answer or the threshold is no number.
        """
        return self.start(threshold).each_value(answers)

    def release_with_gaps(self, answers: Answers, threshold: Number = 0) -> tuple[int | Fraction | None, ...]:
        """As `release`, with the gap above the threshold for each True, 0 or more, and None for each False.

        On a lattice a gap is that above the first lattice point at or above the threshold, in the unit of the answers.

        Raises:
            ParameterError: An answer or the threshold is no number.

        Example:
            >>> alarm = SparseVector(epsilon=1, linf_sensitivity=1, monotonic=True)
            >>> below, gap = alarm.release_with_gaps([3, 5_000_000], threshold=1_000_000)
            >>> below, round(gap, -5)
            (None, 4000000)
        """
        return self.start(threshold).each_gap(answers)

    def start(self, threshold: Number = 0) -> SparseVectorSession:
        """A session that is asked one answer at a time; it costs the event once, however long it lasts.

        Raises:
            ParameterError: The threshold is no number.
        """
        steps = ceil(exact(threshold, "threshold") / (self.resolution or 1))  # whole answers reach both alike
        return self._session(steps, self.cutoff)

    def restored(self, saved: Mapping[str, int]) -> SparseVectorSession:
        """The session whose `saved` gave this, with the noise that its threshold had; it costs nothing more.

        Raises:
            ParameterError: It is nothing that a session of this mechanism saved.
        """
        content = dict(of_kind(saved, "saved", Mapping, "what a session saved"))
        noisy, remaining = content.get("noisy_threshold"), content.get("remaining")
        if type(noisy) is not int or type(remaining) is not int or not 0 <= remaining <= self.cutoff:
            raise ParameterError("saved", "a session", "must be what a session of this mechanism saved")
        return self._session(0, remaining, noisy_threshold=noisy)

    def _session(self, steps: int, cutoff: int, *, noisy_threshold: int | None = None) -> SparseVectorSession:
        return SparseVectorSession(
            threshold_steps=steps,
            threshold_scale=self.threshold_scale,
            comparison_scale=self.comparison_scale,
            answer_scale=self.answer_scale if self.answer_share else None,
            cutoff=cutoff,
            resolution=self.resolution,
            noisy_threshold=noisy_threshold,
        )

    def accuracy(self, confidence: Number = "0.95", *, queries: int) -> int | Fraction | float:
        """The α such that, with this confidence, none of `queries` replies is wrong by more than α.

        That is, True is said of exact answers ≥ threshold − α only, and False of those < threshold + α. By the union
        bound over all noises, with half of the failures for ρ; infinite at ε = 0.
        """
        if not self.epsilon:
            return inf
        failure = failure_probability(confidence) / 2
        of_each = failure / positive_integer(queries, "queries")
        steps = discrete_laplace_half_width(self.threshold_scale, 1 - failure)
        steps += discrete_laplace_half_width(self.comparison_scale, 1 - of_each)
        return half_width(steps, self.resolution)

    @property
    def gap_stddev(self) -> float:
        """The standard deviation of νᵢ − ρ, in the unit of the answers; infinite at ε = 0, where no gap is told.

        That is before it is known that the gap is 0 or more: near the threshold gaps that are told are larger.
        """
        if not self.epsilon:
            return inf
        variance = discrete_laplace_variance(self.threshold_scale) + discrete_laplace_variance(self.comparison_scale)
        return sqrt(variance) * float(self.resolution or 1)

    @property
    def _steps_moved(self) -> Fraction:
        return lattice_linf_sensitivity(self.linf_sensitivity, self.resolution)


def _cube_root(number: int) -> int:
    """⌊∛number⌋ for a whole number above 0, of any size, by Newton's method from above."""
    root = 1 << -(-number.bit_length() // 3)
    while root**3 > number:
        root = (2 * root + number // root**2) // 3
    return root
