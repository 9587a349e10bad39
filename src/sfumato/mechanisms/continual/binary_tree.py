"""Binary trees of partial sums: a counter with a logarithmic number of noises in each release."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.base import LARGEST_HORIZON, ROUNDED, ContinualMechanism, RunningNoise, checked_step
from sfumato.mechanisms.continual.contribution import COUNT, Contribution
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, RunningTotal, SlidingWindow
from sfumato.mechanisms.continual.tree_noise import TreeNoise, Weights, online_bits, variance, weights
from sfumato.noise.uniform.integers import drawable, short_scale
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.many_noises import half_width_of_repeated
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.rationals import Number, flag, positive, positive_integer, set_fields, sqrt_up
from sfumato.numeric.rounding import RELATIVE_MARGIN, dyadic_up
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, Event, PureEvent, ZCDPEvent

_MOST_CROSSINGS: Final = 1 << 12


@dataclass(frozen=True, slots=True, init=False)
class BinaryTree(ContinualMechanism):
    """Releases the sum up to each tick from noisy sums of 1, 2, 4, … ticks, of which each release adds a few.

    A tree over the horizon has L = ⌊log₂ horizon⌋ + 1 levels, and each tick lies below one node of each. All nodes are
    measured with independent discrete noise: Laplace of scale k·L·Δ₁/ε for an ε, Gaussian for a ρ, whose variance is
    L·Δ₂²/(2ρ) for a single event. The total at t has one node for each set bit of t.

    With `online` a node is estimated from the nodes below it too [Hon15], as far as they are known when it ends. That
    costs nothing, and takes a quarter of the standard deviation off.

    **Guarantee**: ε-differential privacy, or ρ-zero-concentrated differential privacy, of all releases together, for
    the privacy unit of `participation`: neighboring streams differ in what it adds, within `contribution`, at its
    ticks. The stream may depend on earlier releases. Proof: proofs/mechanisms/continual/binary_tree.md.

    ==============================  ==================================================
    Edge case                       Behavior
    ==============================  ==================================================
    an empty tick                   releases all the same: it has noise of its own
    behind the horizon              ParameterError, and nothing is drawn
    both of epsilon, rho, or none   ParameterError when constructed
    a DecayingSum                   ParameterError; the square root has it
    ==============================  ==================================================

    Args:
        horizon: The last tick, at most 2^30.
        epsilon: ε of all releases together, above 0; or
        rho: ρ of all releases together, above 0.
        contribution: What one event may add at its tick.
        participation: How often the privacy unit has an event.
        online: Whether nodes are estimated from those below as well.
        sums: What is released: RunningTotal() or a SlidingWindow, as the difference of two totals.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> daily = BinaryTree(horizon=365, epsilon=1)
        >>> daily.noise.scale, round(daily.largest_stddev, 1), round(daily.half_width(365), 1)
        (Fraction(9, 1), 36.0, 62.3)

    References:
        [DNPR10], [CSS11] for the tree; [Hon15] for the online estimate.
    """

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    contribution: Contribution
    participation: Participation
    online: bool
    sums: RunningTotal | SlidingWindow
    noise: IntegerNoise
    """The noise of each node."""
    event: Event = field(repr=False, compare=False)
    """The event of all releases of the horizon together, for accountants."""

    def __init__(
        self,
        *,
        horizon: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        contribution: Contribution = COUNT,
        participation: Participation = ONCE,
        online: bool = False,
        sums: RunningTotal | SlidingWindow = RUNNING_TOTAL,
    ) -> None:
        bound = of_kind(contribution, "contribution", Contribution, "a Contribution")
        times = of_kind(participation, "participation", Participation, "a Participation")
        last = positive_integer(horizon, "horizon", most=LARGEST_HORIZON)
        pure, concentrated = one_budget(epsilon, rho)
        totals = of_kind(sums, "sums", (RunningTotal, SlidingWindow), "a RunningTotal or a SlidingWindow for a tree")
        noise, event = tree_noise(last, pure, concentrated, bound, times)
        set_fields(
            self,
            horizon=last,
            epsilon=pure,
            rho=concentrated,
            contribution=bound,
            participation=times,
            online=flag(online, "online"),
            sums=totals,
            noise=noise,
            event=event,
        )

    @property
    def memory(self) -> int:
        """The numbers that a running counter keeps for each number that it releases."""
        return self.horizon.bit_length() + 1 + (self.sums.width if isinstance(self.sums, SlidingWindow) else 0)

    @property
    def largest_stddev(self) -> float:
        """The largest standard deviation of a release; of windows of over 4,096 ticks, over that many of them."""
        return max(self.stddev(step) for step in self._worst_steps())

    def stddev(self, step: int) -> float:
        """The standard deviation of the noise on each number that is released at a tick, in units of the data."""
        rounded = ROUNDED if self._is_rounded else 0.0
        return sqrt(self._weights(step).squared * variance(self.noise) + rounded)

    def half_width(self, step: int, confidence: Number = "0.95") -> float:
        """How far a number that is released at a tick may lie from the exact sum, with this confidence for each."""
        return tree_half_width([(self.noise, self._weights(step))], confidence, is_rounded=self._is_rounded)

    def _noise(self, numbers: int) -> RunningNoise:
        return TreeNoise(numbers, self.noise, online=self.online)

    @property
    def _is_rounded(self) -> bool:
        return self.online and online_bits(self.noise) > 0

    def _weights(self, step: int) -> Weights:
        last = checked_step(step, self.horizon)
        width = self.sums.width if isinstance(self.sums, SlidingWindow) else last
        return weights(last, max(0, last - width), online=self.online)

    def _worst_steps(self) -> list[int]:
        """The horizon itself or, of totals, with a bit of it cleared and all below set; of windows, around its top."""
        if isinstance(self.sums, RunningTotal) or self.sums.width >= self.horizon:
            bits = [bit for bit in range(self.horizon.bit_length()) if self.horizon >> bit & 1]
            cleared = [(self.horizon >> bit << bit) - 1 for bit in bits]
            return [step for step in (self.horizon, *cleared) if step]
        top = 1 << self.horizon.bit_length() - 1  # behind it, or behind its half, a window has most nodes
        found = set[int]()
        for power in (top, top // 2 or 1):
            last = min(self.horizon, power + self.sums.width)
            found.update(np.linspace(power, last, _MOST_CROSSINGS // 2).astype(np.int64).tolist())
        return sorted(found)


def one_budget(epsilon: Number | None, rho: Number | None) -> tuple[Fraction | None, Fraction | None]:
    """ε and ρ, of which one is given.

    Raises:
        ParameterError: Both are, or none; or it is not above 0.
    """
    if (epsilon is None) == (rho is None):
        raise ParameterError("epsilon", epsilon, "must be given, or rho, and not both")
    return (
        None if epsilon is None else positive(epsilon, "epsilon"),
        None if rho is None else positive(rho, "rho"),
    )


def tree_noise(
    horizon: int,
    epsilon: Fraction | None,
    rho: Fraction | None,
    contribution: Contribution,
    participation: Participation,
) -> tuple[IntegerNoise, Event]:
    """The noise of each node of a tree over a horizon, and the event of all of them.

    Where a unit is in several ticks, what it adds later may depend on earlier releases, so the event is what is
    guaranteed, and not a noise on a fixed vector.
    """
    levels, times = horizon.bit_length(), participation.within(horizon)
    if epsilon is not None:
        moved = contribution.l1_sensitivity * levels * times
        scale = short_scale(drawable(moved / epsilon, "scale"))
        return IntegerNoise("laplace", scale), DiscreteLaplaceEvent(scale, moved) if times == 1 else PureEvent(epsilon)
    budget = positive(rho if rho is not None else 0, "rho")
    distance = contribution.l2_sensitivity * sqrt_up(Fraction(participation.nodes_squared(levels, horizon)))
    stddev = gaussian_stddev(distance, budget)
    moved_nodes = levels * contribution.l0_sensitivity
    event = DiscreteGaussianEvent(stddev, distance, moved_nodes) if times == 1 else ZCDPEvent(budget)
    return IntegerNoise("gaussian", stddev), event


def gaussian_stddev(l2_sensitivity: Fraction, rho: Fraction) -> Fraction:
    """The least stddev of 24 binary digits with l2_sensitivity²/(2·stddev²) ≤ ρ.

    Raises:
        ParameterError: It cannot be drawn with.

    Example:
        >>> gaussian_stddev(Fraction(1), Fraction(1, 2))
        Fraction(1, 1)
    """
    return drawable(dyadic_up(l2_sensitivity * sqrt_up(1 / (2 * rho)), bits=24), "stddev")


def tree_half_width(parts: list[tuple[IntegerNoise, Weights]], confidence: Number, *, is_rounded: bool) -> float:
    """What the sum of several trees' noises exceeds with at most the rest of the probability."""
    listed = [(noise, made.sizes, made.times) for noise, made in parts]
    found = half_width_of_repeated(listed, failure_probability(confidence)) * (1 + RELATIVE_MARGIN)
    return found + 1 if is_rounded else found
