"""The k best candidates in order, by noisy scores, and by how much each came before the next."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Exact, half_width, integers, opened
from sfumato.mechanisms.lattice import as_resolution, lattice_linf_sensitivity, lattice_steps
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import Integers, add, drawable
from sfumato.numeric.distributions import discrete_laplace_half_width, failure_probability
from sfumato.numeric.rationals import Number, flag, nonnegative, positive, positive_integer, set_fields
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

Gap: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class TopK:
    """The best candidates, and their leads.

    Attributes:
        indexes: Of the winners, best first.
        leads: How much each winner could have lost and still come before the next one; the last winner's is over the
            best of the others, and is missing if there are none. Ints, or Fractions on the lattice; 0 or more.
    """

    indexes: tuple[int, ...]
    leads: tuple[Gap, ...]


@dataclass(frozen=True, slots=True, init=False)
class NoisyTopK:
    """The indexes of the k largest noisy scores, in order, and the leads between them at no further cost.

    Each score gets discrete Laplace noise of scale 2kΔ/ε, or kΔ/ε if monotonic. The larger noisy score comes first, of
    equal ones the one of the smaller index. The lead of winner i over the next candidate j is yᵢ − yⱼ for noisy scores
    y, less one step if j < i, because j would win a tie. (The plain difference, which is safe for continuous noise
    [DWZK19], may cost twice ε on a lattice, where ties happen: see the proof.)

    **Guarantee**: ε-differential privacy, for indexes and leads together, if for its relation one unit changes each
    score by at most Δ; if `monotonic`, for scores that all rise or all fall with a unit, such as counts of rows under
    add or remove. Proof: proofs/mechanisms/selection/noisy_top_k.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    epsilon = 0                         the first k indexes, all leads 0
    as many candidates as k             no last lead
    fewer candidates than k             ParameterError; their number is public
    a scale outside [1/1000, 2^50]      ParameterError when constructed
    NaN, None, with a resolution        as 0
    ±∞, beyond 2^62 steps               as ±2^62 steps
    ==================================  ======================================================

    Args:
        k: How many winners, at least 1.
        epsilon: 0 or more, for all winners and leads together.
        utility_sensitivity: Δ, the most by which one unit changes the score of any one candidate, above 0.
        monotonic: Whether one unit changes all scores in the same direction, if at all.
        resolution: The width of a lattice step, above 0; None where the scores are integers.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> patients = [5_000_000, 20, 9_000_000, 1_000_000]
        >>> top = NoisyTopK(k=2, epsilon=1, utility_sensitivity=1, monotonic=True).release(patients)
        >>> top.indexes, [round(lead, -6) for lead in top.leads]
        ((2, 0), [4000000, 4000000])

    References:
        [DWZK19] Algorithm 1.
    """

    k: int
    epsilon: Fraction
    utility_sensitivity: Fraction
    monotonic: bool
    resolution: Fraction | None

    def __init__(
        self,
        *,
        k: int,
        epsilon: Number,
        utility_sensitivity: Number,
        monotonic: bool = False,
        resolution: Number | None = None,
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            k=positive_integer(k, "k"),
            epsilon=nonnegative(epsilon, "epsilon"),
            utility_sensitivity=positive(utility_sensitivity, "utility_sensitivity"),
            monotonic=flag(monotonic, "monotonic"),
            resolution=step,
        )
        if self.epsilon:
            drawable(self.scale, "scale")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each score in lattice steps; 0 where none is drawn, at ε = 0."""
        steps = lattice_linf_sensitivity(self.utility_sensitivity, self.resolution)
        return self.k * steps * (1 if self.monotonic else 2) / self.epsilon if self.epsilon else Fraction(0)

    @property
    def event(self) -> PureEvent:
        """The event of one release, for accountants."""
        return PureEvent(self.epsilon)

    def release(self, scores: Exact | Secret[Exact]) -> TopK:
        """The winners and their leads.

        Args:
            scores: A sequence of numbers, one for each candidate.

        Raises:
            ParameterError: There are fewer candidates than k, or a score is no number.
        """
        values = opened(scores)
        steps = integers(values) if self.resolution is None else lattice_steps(values, self.resolution)
        if len(steps) < self.k:
            raise ParameterError("scores", f"{len(steps)} candidates", f"must be of at least k = {self.k} candidates")
        if self.epsilon == 0:
            return self._ranked(np.zeros(len(steps), dtype=np.int64))
        return self._ranked(add(steps, discrete_laplace(self.scale, len(steps))))

    def accuracy(self, confidence: Number = "0.95", *, candidates: int) -> Fraction | float:
        """How far, at most, the j-th winner's score lies below the j-th largest one, for all j, with this confidence.

        Twice the t that no noise of all candidates exceeds, by the union bound; infinite at ε = 0.
        """
        failure = failure_probability(confidence) / positive_integer(candidates, "candidates")
        if not self.epsilon:
            return inf
        return Fraction(2 * half_width(discrete_laplace_half_width(self.scale, 1 - failure), self.resolution))

    def _ranked(self, noisy: Integers) -> TopK:
        kept = min(self.k + 1, len(noisy))
        able = np.flatnonzero(noisy >= np.partition(noisy, -kept)[-kept])  # so that few are left to be sorted
        order = able[np.argsort(~noisy[able], kind="stable")[:kept]]  # ~y = −y − 1 falls as y rises, without overflow
        ranks = list(zip(order.tolist(), noisy[order].tolist(), strict=True))
        leads = [best - next_best - (rival < index) for (index, best), (rival, next_best) in pairwise(ranks)]
        winners = tuple(index for index, _ in ranks[: self.k])
        return TopK(winners, tuple(leads if self.resolution is None else (lead * self.resolution for lead in leads)))
