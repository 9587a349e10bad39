"""Mechanisms with one seeded bug each, as people have shipped them, and right ones, all vectorised over runs.

They are made of NumPy noise, which is insecure and fast. Real noise lies on a grid of 2^-20, drawn as integers, so that
only the one mechanism whose bug is floating point leaks by its bits: no other bug is found by that accident.
Every mechanism claims ε = 1; neighbors are the worst case, chosen by hand.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf
from typing import Any

import numpy as np
from scipy.special import ndtr

from sfumato.accounting.gaussian.gaussian import analytic_stddev
from sfumato.audit.core.roles import AuditedMechanism, NeighborPair
from sfumato.audit.distributions import Cdf, DeclaredLaw
from sfumato.privacy.guarantees import ApproxDP

EPSILON = 1
STEPS = 1 << 20
RNG = np.random.default_rng(1729)


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A mechanism, the neighbors to try it on, what it claims, and the law it declares where its noise is additive."""

    name: str
    mechanism: AuditedMechanism
    pair: tuple[Any, Any]
    delta: str = "0"
    law: DeclaredLaw | None = None

    @property
    def claim(self) -> ApproxDP:
        return ApproxDP(EPSILON, self.delta)

    @property
    def neighbors(self) -> NeighborPair:
        return NeighborPair(*self.pair, self.name)


def laplace_steps(scale, size):
    """Discrete Laplace noise of this scale in steps, as the difference of two geometric variables."""
    chance = -np.expm1(-1 / scale)
    return RNG.geometric(chance, size) - RNG.geometric(chance, size)


def laplace(scale, size):
    return laplace_steps(scale * STEPS, size) / STEPS


def gaussian_steps(stddev, size):
    return np.rint(RNG.normal(0, stddev, size)).astype(np.int64)


def laplace_cdf(scale) -> Cdf:
    def cdf(k):
        q = exp(-1 / scale)
        return 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)

    return cdf


def additive(name, *, drawn, declared, distance=1, delta="0") -> Specimen:
    """One number with Laplace noise of a scale on the grid, declared as another."""
    return Specimen(
        name=name,
        mechanism=lambda exact, n: exact + laplace(drawn, n),
        pair=(0, distance),
        delta=delta,
        law=DeclaredLaw(name, lambda n: laplace_steps(drawn * STEPS, n), laplace_cdf(declared * STEPS)),
    )


def normal(name, *, factor, delta) -> Specimen:
    """One number with Gaussian noise of `factor` times the stddev that ε = 1 needs at this δ."""
    stddev = float(analytic_stddev(l2_sensitivity=Fraction(1), epsilon=Fraction(1), delta=Fraction(delta)))

    def noise(n):
        return gaussian_steps(factor * stddev * STEPS, n)

    law = DeclaredLaw(name, noise, lambda k: float(ndtr((k + 0.5) / (stddev * STEPS))))
    return Specimen(name=name, mechanism=lambda exact, n: exact + noise(n) / STEPS, pair=(0, 1), delta=delta, law=law)


def sparse_vector(*, cutoff, threshold_scale, query_scale, stops=True, gives_values=False) -> AuditedMechanism:
    """Which queries lie above a noisy threshold of 0, until `cutoff` of them did; NaN after that."""

    def mechanism(exact, n):
        queries = np.asarray(exact, dtype=float)
        noisy = queries + (RNG.laplace(0, query_scale, (n, len(queries))) if query_scale else 0.0)
        threshold = RNG.laplace(0, threshold_scale, (n, 1)) if threshold_scale else 0.0
        above = np.broadcast_to(noisy >= threshold, (n, len(queries)))
        answers = np.where(above, noisy, np.nan) if gives_values else above.astype(float)
        done = np.cumsum(above, axis=1) - above >= cutoff
        return np.where(done & stops, np.nan, answers)

    return mechanism


def noisy_max(scale, *, gives_value=False) -> AuditedMechanism:
    def mechanism(exact, n):
        noisy = np.asarray(exact) + laplace_steps(scale, (n, len(exact)))
        return noisy.max(axis=1) if gives_value else noisy.argmax(axis=1)

    return mechanism


def released_keys(threshold) -> AuditedMechanism:
    """Noisy counts of the keys that somebody has, if they reach a threshold; NaN for others."""

    def mechanism(exact, n):
        noisy = np.asarray(exact) + laplace_steps(1, (n, len(exact)))
        return np.where((np.asarray(exact) > 0) & (noisy >= threshold), noisy, np.nan)

    return mechanism


def threshold_for(delta):
    """The smallest threshold that a count of 1 with discrete Laplace noise of scale 1 reaches with chance ≤ delta."""
    return 1 + next(k for k in range(100) if exp(-k) / (1 + exp(-1)) <= delta)


def two_counts(scale, *, shared=False) -> AuditedMechanism:
    def mechanism(exact, n):
        noise = np.repeat(laplace(scale, (n, 1)), 2, axis=1) if shared else laplace(scale, (n, 2))
        return np.asarray(exact) + noise

    return mechanism


def two_counts_law(name, *, drawn, declared) -> DeclaredLaw:
    return DeclaredLaw(name, lambda n: laplace_steps(drawn * STEPS, n), laplace_cdf(declared * STEPS))


def truncated_geometric(bound) -> AuditedMechanism:
    return lambda exact, n: exact + np.clip(laplace_steps(1, n), -bound, bound)


def constant(exact, n):
    return np.full(n, float(exact))


def float_laplace(exact, n):
    return RNG.laplace(exact, 1.0, n)


SEEDED: tuple[Specimen, ...] = (
    additive("Laplace, scale / 2", drawn=0.5, declared=1),
    additive("Laplace, scale × 0.8", drawn=0.8, declared=1),
    additive("Laplace, scale × 0.9", drawn=0.9, declared=1),
    additive("Laplace, scale × 0.95", drawn=0.95, declared=1),
    Specimen(
        name="discrete Laplace, scale × 0.9",
        mechanism=lambda exact, n: exact + laplace_steps(0.9, n),
        pair=(0, 1),
        law=DeclaredLaw("discrete Laplace, scale × 0.9", lambda n: laplace_steps(0.9, n), laplace_cdf(1)),
    ),
    additive("no clipping (sensitivity 3)", drawn=1, declared=1, distance=3),
    additive("no clipping (sensitivity 2)", drawn=1, declared=1, distance=2),
    normal("Gaussian, σ × 0.5, δ = 1e-3", factor=0.5, delta="1e-3"),
    normal("Gaussian, σ × 0.5, δ = 1e-5", factor=0.5, delta="1e-5"),
    normal("Gaussian, σ × 0.9, δ = 1e-3", factor=0.9, delta="1e-3"),
    Specimen(
        name="sparse vector, no threshold noise",
        mechanism=sparse_vector(cutoff=1, threshold_scale=0, query_scale=2),
        pair=([-1] * 20, [0] * 20),
    ),
    Specimen(
        name="sparse vector, no query noise",
        mechanism=sparse_vector(cutoff=2, threshold_scale=2, query_scale=0),
        pair=([0, 1], [1, 0]),
    ),
    Specimen(
        name="sparse vector, noise not scaled by the cutoff",
        mechanism=sparse_vector(cutoff=5, threshold_scale=2, query_scale=2),
        pair=([0] * 10, [0] * 5 + [-1] * 5),
    ),
    Specimen(
        name="sparse vector, no cutoff",
        mechanism=sparse_vector(cutoff=1, threshold_scale=2, query_scale=4, stops=False),
        pair=([0] * 10 + [1] * 10, [1] * 10 + [0] * 10),
    ),
    Specimen(name="noisy max, half the noise it needs", mechanism=noisy_max(1.0), pair=([0, 1, 1, 1], [1, 0, 0, 0])),
    Specimen(name="noisy max, gives the value", mechanism=noisy_max(1.0, gives_value=True), pair=([0] * 5, [1] * 5)),
    Specimen(name="keys without a threshold", mechanism=released_keys(-inf), pair=([9, 0], [9, 1]), delta="1e-5"),
    Specimen(
        name="keys, threshold for δ = 1e-3 instead of 1e-5",
        mechanism=released_keys(threshold_for(1e-3)),
        pair=([9, 0], [9, 1]),
        delta="1e-5",
    ),
    Specimen(
        name="two counts, budget not split",
        mechanism=two_counts(1),
        pair=([0, 0], [1, 1]),
        law=two_counts_law("two counts, budget not split", drawn=1, declared=2),
    ),
    Specimen(
        name="two counts, the same noise on both",
        mechanism=two_counts(2, shared=True),
        pair=([0, 0], [1, 0]),
        law=two_counts_law("two counts, the same noise on both", drawn=2, declared=2),
    ),
    Specimen(
        name="no noise",
        mechanism=constant,
        pair=(0, 1),
        law=DeclaredLaw("no noise", lambda n: np.zeros(n, dtype=np.int64), laplace_cdf(STEPS)),
    ),
    Specimen(name="truncated geometric", mechanism=truncated_geometric(4), pair=(0, 1)),
    Specimen(name="floating-point Laplace", mechanism=float_laplace, pair=(0, 1)),
)

# The algorithms of Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy" (VLDB 2017),
# by their numbers, at ε₁ = ε₂ = ½ where not said otherwise; and the noise that counts need, on queries that are none.
BROKEN_SPARSE_VECTORS: tuple[Specimen, ...] = (
    Specimen(
        name="sparse vector 3: the compared value is released",
        mechanism=sparse_vector(cutoff=1, threshold_scale=2, query_scale=2, gives_values=True),
        pair=([0] * 6 + [1], [1] * 6 + [0]),
    ),
    Specimen(
        name="sparse vector 4: noise without the cutoff",
        mechanism=sparse_vector(cutoff=5, threshold_scale=4, query_scale=4 / 3),
        pair=([0] * 10, [0] * 5 + [-1] * 5),
    ),
    Specimen(
        name="sparse vector 5: exact queries",
        mechanism=sparse_vector(cutoff=inf, threshold_scale=2, query_scale=0),
        pair=([0, 1], [1, 0]),
    ),
    Specimen(
        name="sparse vector 6: no cutoff",
        mechanism=sparse_vector(cutoff=inf, threshold_scale=2, query_scale=2),
        pair=([0] * 5 + [1] * 5, [1] * 5 + [0] * 5),
    ),
    Specimen(
        name="sparse vector, noise for counts on other queries",
        mechanism=sparse_vector(cutoff=1, threshold_scale=5, query_scale=1 / 0.8),
        pair=([-1] * 5 + [1], [0] * 5 + [0]),
    ),
)

RIGHT: tuple[Specimen, ...] = (
    additive("Laplace", drawn=1, declared=1),
    Specimen(
        name="discrete Laplace",
        mechanism=lambda exact, n: exact + laplace_steps(1, n),
        pair=(0, 1),
        law=DeclaredLaw("discrete Laplace", lambda n: laplace_steps(1, n), laplace_cdf(1)),
    ),
    normal("Gaussian, δ = 1e-3", factor=1, delta="1e-3"),
    normal("Gaussian, δ = 1e-5", factor=1, delta="1e-5"),
    Specimen(
        name="sparse vector",
        mechanism=sparse_vector(cutoff=2, threshold_scale=2, query_scale=8),
        pair=([-1] * 5 + [1] * 2, [0] * 7),
    ),
    Specimen(
        name="sparse vector on counts",
        mechanism=sparse_vector(cutoff=2, threshold_scale=2, query_scale=4),
        pair=([0] * 10, [0] * 5 + [-1] * 5),
    ),
    Specimen(name="noisy max", mechanism=noisy_max(2.0), pair=([0, 1, 1, 1], [1, 0, 0, 0])),
    Specimen(name="noisy max on counts", mechanism=noisy_max(1.0), pair=([0, 0, 0, 0], [1, 1, 1, 0])),
    Specimen(
        name="keys above a threshold",
        mechanism=released_keys(threshold_for(1e-5)),
        pair=([9, 0], [9, 1]),
        delta="1e-5",
    ),
    Specimen(
        name="two counts",
        mechanism=two_counts(2),
        pair=([0, 0], [1, 1]),
        law=two_counts_law("two counts", drawn=2, declared=2),
    ),
)
