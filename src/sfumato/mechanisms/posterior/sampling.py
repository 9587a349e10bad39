"""Posterior sampling: one draw of a parameter, given the data, is private by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.posterior.models import LogDensity, PosteriorModel
from sfumato.noise.choice.enclosed_choice import enclosed_choice
from sfumato.numeric.rationals import Number, nonnegative, set_fields
from sfumato.numeric.rounding import exp_bounds
from sfumato.privacy.events import ExponentialEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

Observations: TypeAlias = Sequence[Any] | NDArray[Any]
"""One number for each unit."""


@dataclass(frozen=True, slots=True, init=False)
class PosteriorSampling:
    """Releases one θ of the model's grid with P(θ | x₁, …, x_n) ∝ prior(θ) · Π likelihood(x_i | θ)^power.

    Without an ε the power is 1: a draw of the posterior itself, at the cost that the model has. With an ε below that
    price the likelihood is tempered by power = ε/price, which flattens the posterior as much as the promise needs.

    **Guarantee**: ε-differential privacy under `neighboring_relation`, for one observation per unit. The cost is the
    exact range of one unit's log-likelihood, rounded up, with no factor 2 for the normalizer; the draw is exact, though
    the weights are irrational. Proof: proofs/mechanisms/posterior/sampling.md.

    ====================================  ===========================================================
    Edge case                             Behavior
    ====================================  ===========================================================
    no observation                        a draw of the prior
    epsilon = 0                           a draw of the prior, ExponentialEvent(0)
    epsilon above the model's cost        power 1; the event and `epsilon` have the smaller cost
    low = 0, high = 1 or infinite         NotPrivateError when the model is constructed
    an observation off the lattice        rounded, halves upward; NaN and None as 0
    an observation beyond the extremes    counts as they do
    ====================================  ===========================================================

    It has no accuracy of its own: how far the draw lies from the truth depends on how many observations there are.

    Args:
        model: Prior, likelihood and grid, all public.
        epsilon: The most that one draw may cost, 0 or more; None for the cost of the posterior itself.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> from sfumato.mechanisms.posterior.models import BetaBernoulli
        >>> coin = PosteriorSampling(BetaBernoulli(low="0.1", high="0.9", points=9), epsilon=1)
        >>> round(float(coin.power), 3), float(coin.release([1] * 1000))
        (0.455, 0.9)

    References:
        [DNMR14]; [WFS15] for the tempered one; [MT07] for the same weights as an exponential mechanism.
    """

    model: PosteriorModel
    epsilon: Fraction
    neighboring_relation: NeighboringRelation
    power: Fraction
    """What the likelihood is raised to, between 0 and 1."""

    def __init__(
        self,
        model: PosteriorModel,
        *,
        epsilon: Number | None = None,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        relation = as_relation(neighboring_relation)
        if isinstance(model, type) or not callable(getattr(model, "epsilon", None)):
            raise ParameterError("model", model, "must be a posterior model, such as BetaBernoulli(low=0.1, high=0.9)")
        price = model.epsilon(relation)
        affordable = price if epsilon is None else min(price, nonnegative(epsilon, "epsilon"))
        set_fields(self, model=model, epsilon=affordable, neighboring_relation=relation, power=affordable / price)

    @property
    def event(self) -> ExponentialEvent:
        """The event of one draw, for accountants: a choice whose log-ratios span at most ε."""
        return ExponentialEvent(self.epsilon)

    def release(self, observations: Observations | Secret[Observations]) -> Fraction:
        """One θ of the grid.

        Raises:
            ParameterError: An observation is no number at all.
        """
        posterior = self.model.posterior(opened(observations), self.power)
        return self.model.grid[int(enclosed_choice(partial(self._weights, posterior), 1)[0])]

    def _weights(self, posterior: LogDensity, bits: int) -> list[tuple[int, int]]:
        """Bounds of 2^bits · density, relative to the largest one."""
        densities = [posterior(parameter, bits) for parameter in self.model.grid]
        largest = max(upper for _, upper in densities)
        return [
            (exp_bounds(largest - lower, bits)[0], exp_bounds(largest - upper, bits)[1]) for lower, upper in densities
        ]
