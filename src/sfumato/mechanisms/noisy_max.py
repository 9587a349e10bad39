"""Report noisy max: which count is the largest, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import integers
from sfumato.mechanisms.base import opened
from sfumato.noise.discrete_laplace import discrete_laplace
from sfumato.noise.domain import drawable
from sfumato.noise.integers import add
from sfumato.noise.uniform import uniform_below
from sfumato.numeric.distributions import discrete_laplace_half_width, failure_probability
from sfumato.numeric.rationals import Number, nonnegative, positive_integer
from sfumato.privacy.events import PureEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

Counts: TypeAlias = Sequence[Any] | NDArray[Any]
"""How many units each candidate has: integers, in the order of the candidates."""


@dataclass(frozen=True, slots=True, init=False)
class NoisyMax:
    """The index of the largest count after discrete Laplace noise on each; the first of several that tie.

    The scale is 1/ε where a unit is added or removed, 2/ε where it is replaced. The price does not grow with the number
    of counts that one unit takes part in, so a patient with seven symptoms costs as much as one with a single one.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, if an added unit raises each count by 0 or 1.
    Only the index may be released, never the noisy counts; by how much it won is told by `NoisyTopK`, at no further
    cost. Proof, ties included: proofs/mechanisms/noisy_max.md.

    ==================================  ======================================================
    Edge case                           Answer
    ==================================  ======================================================
    epsilon = 0                         any index, each as likely
    a single count                      0
    counts of any size                  no sum wraps
    no count                            ParameterError; their number is public
    a scale outside [1/1000, 2^50]      ParameterError when constructed
    ==================================  ======================================================

    Args:
        epsilon: 0 or more.
        neighboring_relation: How a database may differ from its neighbour.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> NoisyMax(epsilon=1).release([1000, 0, 3])
        0

    References:
        [DR14] Claim 3.9.
    """

    epsilon: Fraction
    neighboring_relation: NeighboringRelation

    def __init__(self, *, epsilon: Number, neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE) -> None:
        object.__setattr__(self, "epsilon", nonnegative(epsilon, "epsilon"))
        object.__setattr__(self, "neighboring_relation", as_relation(neighboring_relation))
        if self.epsilon:
            drawable(self.scale, "scale")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each count; 0 where none is drawn, at ε = 0."""
        steps = 2 if self.neighboring_relation is REPLACE_ONE else 1
        return steps / self.epsilon if self.epsilon else Fraction(0)

    @property
    def event(self) -> PureEvent:
        """What one release tells of the data."""
        return PureEvent(self.epsilon)

    def release(self, counts: Counts | Secret[Counts]) -> int:
        """The index of the largest noisy count.

        Raises:
            ParameterError: There is no candidate, or a count is no integer.
        """
        exact_counts = integers(opened(counts))
        if len(exact_counts) == 0:
            raise ParameterError("counts", "an empty sequence", "must hold at least one candidate")
        if self.epsilon == 0:
            return int(uniform_below(len(exact_counts), 1)[0])
        return int(np.argmax(add(exact_counts, discrete_laplace(self.scale, len(exact_counts)))))

    def accuracy(self, confidence: Number = "0.95", *, candidates: int) -> float:
        """How far, at most, the count of the choice lies below the largest, with this confidence.

        Twice the t that no noise of all candidates exceeds, by the union bound; infinite at ε = 0.
        """
        failure = failure_probability(confidence) / positive_integer(candidates, "candidates")
        return 2 * discrete_laplace_half_width(self.scale, 1 - failure) if self.epsilon else inf
