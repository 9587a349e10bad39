"""Report noisy max: which count or score is the largest, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import half_width, integers, opened
from sfumato.mechanisms.lattice import as_resolution, lattice_linf_sensitivity, lattice_steps
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import add_noise, drawable
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.distributions import discrete_laplace_half_width, failure_probability
from sfumato.numeric.rationals import Number, flag, nonnegative, positive, positive_integer, set_fields
from sfumato.privacy.events import PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

Counts: TypeAlias = Sequence[Any] | NDArray[Any]
"""How many units each candidate has, or its score: numbers, in the order of the candidates."""


@dataclass(frozen=True, slots=True, init=False)
class NoisyMax:
    """The index of the largest score after discrete Laplace noise on each; the first of several that tie.

    The scores are counts of units unless other ones are stated: an added unit changes each by at most Δ, all upward or
    all downward if `monotonic`. The scale is Δ/ε lattice steps where a unit is added or removed, twice that where it is
    replaced, and twice that again where scores may move in both directions. The cost does not grow with the number of
    scores that one unit takes part in, so a patient with seven symptoms costs as much as one with a single one.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, if an added unit changes the scores as stated.
    Only the index may be released, never the noisy scores; by how much it won is told by `NoisyTopK`, at no further
    cost. Proof, ties included: proofs/mechanisms/selection/noisy_max.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    epsilon = 0                         any index, each as likely
    a single score                      0
    scores of any size                  no sum wraps
    no score                            ParameterError; their number is public
    a scale outside [1/1000, 2^50]      ParameterError when constructed
    NaN, None, with a resolution        as 0
    ±∞, beyond 2^62 steps               as ±2^62 steps
    ==================================  ======================================================

    Args:
        epsilon: The privacy parameter of one release, 0 or more.
        neighboring_relation: How a database may differ from its neighbor.
        utility_sensitivity: Δ, the most by which adding or removing one unit changes any one score, above 0: 1 for
            counts.
        monotonic: Whether a unit that is added or removed changes all scores in the same direction, if at all, as
            counts.
        resolution: The width of a lattice step, above 0; None where the scores are integers.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> NoisyMax(epsilon=1).release([1000, 0, 3])
        0
        >>> hours = NoisyMax(epsilon=1, utility_sensitivity=24, resolution="0.5")
        >>> hours.scale, hours.release([0.5, 80_000.25, 4_000])
        (Fraction(48, 1), 1)

    References:
        [DR14] Claim 3.9.
    """

    epsilon: Fraction
    neighboring_relation: NeighboringRelation
    utility_sensitivity: Fraction
    monotonic: bool
    resolution: Fraction | None

    def __init__(
        self,
        *,
        epsilon: Number,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
        utility_sensitivity: Number = 1,
        monotonic: bool = True,
        resolution: Number | None = None,
    ) -> None:
        step = None if resolution is None else as_resolution(resolution)
        set_fields(
            self,
            epsilon=nonnegative(epsilon, "epsilon"),
            utility_sensitivity=positive(utility_sensitivity, "utility_sensitivity"),
            monotonic=flag(monotonic, "monotonic"),
            resolution=step,
            neighboring_relation=as_relation(neighboring_relation),
        )
        if self.epsilon:
            drawable(self.scale, "scale")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each score in lattice steps; 0 where none is drawn, at ε = 0."""
        of_one_unit = lattice_linf_sensitivity(self.utility_sensitivity, self.resolution)
        units = 2 if self.neighboring_relation is REPLACE_ONE else 1
        directions = 1 if self.monotonic else 2
        return units * directions * of_one_unit / self.epsilon if self.epsilon else Fraction(0)

    @property
    def event(self) -> PureEvent:
        """The event of one release, for accountants."""
        return PureEvent(self.epsilon)

    def release(self, counts: Counts | Secret[Counts]) -> int:
        """The index of the largest noisy score.

        Raises:
            ParameterError: There is no candidate, or a score is no integer; with a resolution, no number.
        """
        values = opened(counts)
        steps = integers(values) if self.resolution is None else lattice_steps(values, self.resolution)
        if len(steps) == 0:
            raise ParameterError("counts", "an empty sequence", "must hold at least one candidate")
        if self.epsilon == 0:
            return int(uniform_below(len(steps), 1)[0])
        return int(np.argmax(add_noise(steps, discrete_laplace(self.scale, len(steps)))))

    def accuracy(self, confidence: Number = "0.95", *, candidates: int) -> Fraction | float:
        """How far, at most, the score of the choice lies below the largest, with this confidence.

        Twice the t that no noise of all candidates exceeds, by the union bound; infinite at ε = 0.
        """
        failure = failure_probability(confidence) / positive_integer(candidates, "candidates")
        if not self.epsilon:
            return inf
        return 2 * half_width(discrete_laplace_half_width(self.scale, 1 - failure), self.resolution)
