"""Noise for a sensitivity that was sampled and not proved: random differential privacy, never charged as DP."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, e, log, sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import lambertw

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Answer, half_width, integers, opened
from sfumato.mechanisms.lattice import as_resolution, is_vector, lattice_floats, lattice_steps
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import Integers, add_noise, drawable, short_scale
from sfumato.numeric.arguments import listed, result
from sfumato.numeric.distributions import discrete_laplace_half_width
from sfumato.numeric.rationals import Number, open_probability, positive, positive_integer, set_fields
from sfumato.numeric.rounding import inflated
from sfumato.privacy.promises import RandomDP
from sfumato.privacy.secret import Secret

_MOST_RECORDS: Final = 1 << 24
_MOST_SAMPLES: Final = 1 << 24


class SamplePlan(NamedTuple):
    """How many pairs are sampled, which of them counts in ascending order, and the chance ρ that this misleads."""

    samples: int
    rank: int
    rho: float


@dataclass(frozen=True, slots=True, init=False, eq=False)
class SampledSensitivity:
    """Adds Laplace noise for a sensitivity that is the k-th smallest of m sampled ones.

    Each sample draws n + 1 records from a public distribution, and compares the statistic of the first n with that of
    the others, where the last one takes the place of the n-th. `plan` has m and k for γ.

    **Guarantee**: `RandomDP(epsilon, 0, gamma)`, and no more: with probability 1 − γ over the draws of the samples and
    of two neighbors from the same distribution, ε bounds what the answer tells them apart by. It is **not**
    differential privacy. A person unlike the distribution may be revealed, so no account takes it. Proof:
    proofs/mechanisms/stable/sampled_sensitivity.md.

    Edge cases: a sampled sensitivity of 0 becomes one step of the lattice; a database of another length than `records`
    is answered, though nothing is promised for it.

    Args:
        statistic: A function of a list of records that gives an integer, or a number or a vector with a resolution.
        draw: A function of n that gives n records, drawn independently from a distribution that is public. It must not
            draw from the data.
        records: n, the number of records of the database.
        epsilon: Above 0.
        gamma: γ, above 0 and below 1.
        resolution: The width of a lattice step; None for integers.

    Raises:
        ParameterError: A parameter is out of range, `draw` gives another number of records, or the statistic no number.

    Example:
        >>> ages = iter(range(10**9))
        >>> draw = lambda count: [30 + next(ages) % 40 for _ in range(count)]
        >>> mean_age = SampledSensitivity(sum, draw, records=20, epsilon=1, gamma="0.2")
        >>> mean_age.l1_sensitivity <= 40, str(mean_age.guarantee)
        (True, 'ε 1, δ 0 for typical data, not worst-case: fails with probability up to 0.2')
        >>> answer = mean_age.release(draw(20))

    References:
        [HRW12] for random differential privacy; [RA17] for the sampler.
    """

    statistic: Callable[[Any], Any]
    epsilon: Fraction
    gamma: Fraction
    records: int
    resolution: Fraction | None
    plan: SamplePlan
    l1_sensitivity: Fraction

    def __init__(
        self,
        statistic: Callable[[Any], Any],
        draw: Callable[[int], Any],
        *,
        records: int,
        epsilon: Number,
        gamma: Number,
        resolution: Number | None = None,
    ) -> None:
        for function, name in ((statistic, "statistic"), (draw, "draw")):
            if not callable(function):
                raise ParameterError(name, function, "must be a function")
        set_fields(
            self,
            statistic=statistic,
            epsilon=positive(epsilon, "epsilon"),
            gamma=open_probability(gamma, "gamma"),
            records=positive_integer(records, "records", most=_MOST_RECORDS),
            resolution=None if resolution is None else as_resolution(resolution),
            plan=sample_plan(gamma),
        )
        distances = sorted(self._distance(draw) for _ in range(self.plan.samples))
        set_fields(self, l1_sensitivity=max(1, distances[self.plan.rank - 1]) * (self.resolution or Fraction(1)))
        drawable(self.scale, "scale")

    @property
    def guarantee(self) -> RandomDP:
        """The label of an answer: typical data, not the worst case."""
        return RandomDP(self.epsilon, 0, self.gamma)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in lattice steps. Samples were compared on the lattice, so rounding adds nothing."""
        return short_scale(self.l1_sensitivity / (self.resolution or 1) / self.epsilon)

    def release(self, exact: Any | Secret[Any]) -> Answer:
        """The statistic of a database, with noise.

        Raises:
            ParameterError: The statistic gives no number.
        """
        found = self.statistic(opened(exact))
        steps = self._steps(found)
        noisy = add_noise(steps, discrete_laplace(self.scale, len(steps)))
        if is_vector(found):
            return noisy if self.resolution is None else lattice_floats(noisy, self.resolution)
        return int(noisy[0]) * (1 if self.resolution is None else self.resolution)

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction:
        """How far an answer may lie from the truth, with this confidence for each number."""
        return half_width(discrete_laplace_half_width(self.scale, confidence), self.resolution)

    def _distance(self, draw: Callable[[int], Any]) -> int:
        """‖f(D) − f(D′)‖₁ in steps of the lattice, of one pair of neighbors."""
        drawn = listed(result(draw, "draw", self.records + 1), "draw", of="records")
        if len(drawn) != self.records + 1:
            raise ParameterError("draw", f"{len(drawn)} records", f"must give as many as asked for, {self.records + 1}")
        neighbors = [*drawn[:-1]], [*drawn[:-2], drawn[-1]]
        first, second = (self._steps(result(self.statistic, "statistic", one)) for one in neighbors)
        if len(first) != len(second):
            raise ParameterError("statistic", "vectors of unlike lengths", "must give vectors of one length")
        return int(np.abs(first.astype(object) - second.astype(object)).sum())

    def _steps(self, found: Any) -> Integers:
        """A statistic in steps of the lattice."""
        values = found if is_vector(found) else [found]
        return integers(values) if self.resolution is None else lattice_steps(values, self.resolution)


def sample_plan(gamma: Number) -> SamplePlan:
    """The fewest samples for a γ, and which of them bounds the sensitivity with probability 1 − γ.

    ρ = exp(W₋₁(−γ/(2√e)) + ½), which solves γ = ρ·(1 − 2·ln ρ); m = ⌈ln(1/ρ)/(2(γ − ρ)²)⌉ and
    k = ⌈m·(1 − γ + ρ + √(ln(1/ρ)/(2m)))⌉.

    Args:
        gamma: Above 0 and below 1.

    Raises:
        ParameterError: γ is out of range, or would take more than 2^24 samples.

    Example:
        >>> plan = sample_plan("0.05")
        >>> plan.samples, plan.rank, round(plan.rho, 6)
        (1305, 1305, 0.004183)

    References:
        [RA17]
    """
    level = float(open_probability(gamma, "gamma"))
    rho = float(np.exp(lambertw(-level / (2 * sqrt(e)), -1).real + 0.5))
    if not 0 < rho < level or log(1 / rho) / (2 * (level - rho) ** 2) > _MOST_SAMPLES:
        raise ParameterError("gamma", gamma, "is too small: it would take more than 2^24 samples")
    samples = ceil(inflated(log(1 / rho) / (2 * (level - rho) ** 2)))
    rank = ceil(inflated(samples * (1 - level + rho + sqrt(log(1 / rho) / (2 * samples)))))
    return SamplePlan(samples, min(rank, samples), rho)
