"""Keys by a noisy count that must reach a threshold, and histograms that show the count with the key."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import Gaussian
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.mechanisms.base import Vector, integers, opened
from sfumato.mechanisms.partitions.keys import Key, KeyCounts, canonical_counts, key_rank
from sfumato.mechanisms.partitions.partition_selection import Mask, PartitionSelection, delta_per_key
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.distributions import discrete_gaussian_cdf, discrete_laplace_cdf, failure_probability
from sfumato.numeric.rationals import Number, positive_integer, set_fields, sqrt_up
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation
from sfumato.privacy.secret import Secret


class NoisyCounts(NamedTuple):
    """Noisy counts of all keys of the data, in their order, and which of them may be shown."""

    kept: Mask
    noisy: Integers


@dataclass(frozen=True, slots=True, init=False)
class NoisyThreshold(PartitionSelection):
    """What both thresholds share: a key is kept if its count is not 0 and count + noise ≥ `threshold`.

    Counts may be of units, or of rows if a unit has at most `max_rows_per_group_per_unit` of them in each key.
    Every key of the data draws noise before any is dropped, as in every strategy: time and memory grow with the number
    of keys, and no guarantee covers those who can measure these.
    """

    max_rows_per_group_per_unit: int
    noise: Laplace | Gaussian
    """The mechanism of the noisy counts, calibrated for the counts of all keys together."""
    threshold: int
    """The smallest τ, or one more, that a key of one unit alone reaches with probability at most δ per key."""

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        max_groups_per_unit: int,
        max_rows_per_group_per_unit: int,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        rows = positive_integer(max_rows_per_group_per_unit, "max_rows_per_group_per_unit")
        set_fields(self, max_rows_per_group_per_unit=rows)  # before the rest, which is calibrated for it
        PartitionSelection.__init__(
            self,
            epsilon=epsilon,
            delta=delta,
            max_groups_per_unit=max_groups_per_unit,
            neighboring_relation=neighboring_relation,
        )

    def noisy_counts(self, counts: Vector | Secret[Vector]) -> Secret[NoisyCounts]:
        """The noisy count of each key, and whether it may be shown: a secret, for keys that stay hidden are among them.

        Raises:
            ParameterError: A count is no integer.
        """
        exact_counts = integers(opened(counts))
        noisy: Integers = self.noise.release(exact_counts)
        return Secret(NoisyCounts((exact_counts > 0) & (noisy >= self.threshold), noisy))

    def kept(self, counts: Vector | Secret[Vector]) -> Secret[Mask]:
        """Which keys may be shown: those of which the noisy count reaches the threshold."""
        return Secret(self.noisy_counts(counts).open_for_noise().kept)

    def keep_probability(self, count: int) -> float:
        """P(count + noise ≥ threshold), as precise as a float; 0 up to a count of 0."""
        return _noise_cdf(self.noise, count - self.threshold) if count > 0 else 0.0

    def reliable_count(self, confidence: Number = "0.95") -> int:
        """The smallest count of at least the threshold with which a key is kept with this confidence, or one more."""
        return self.threshold + _upper_width(self.noise, failure_probability(confidence))

    def _set_threshold(self, noise: Laplace | Gaussian, delta: Fraction) -> None:
        """Such that no more than `delta` is left to keys that one database has and its neighbor has not."""
        width = _upper_width(noise, delta_per_key(delta, self.changed_keys))
        set_fields(self, noise=noise, threshold=self.max_rows_per_group_per_unit + 1 + width)


@dataclass(frozen=True, slots=True, init=False)
class LaplaceThreshold(NoisyThreshold):
    """Keeps a key if its count plus discrete Laplace noise of scale k·c/ε reaches τ.

    A unit has at most c rows in each of at most l₀ keys; k = l₀ keys differ between neighbors, 2·l₀ under replacement.
    τ is the smallest integer with P(c + noise ≥ τ) ≤ δ₀, where k keys with δ₀ each have δ together.

    **Guarantee**: (ε, δ)-differential privacy for `neighboring_relation`, also if the noisy counts of the kept keys are
    released with them. The noise has ε without any δ; δ is the probability to see a key of one unit alone.
    Proof: proofs/mechanisms/partitions/thresholds.md.

    =========================================  ===========================================
    Edge case                                  What happens
    =========================================  ===========================================
    count of 0, or below                       the key is never shown, whatever the noise
    no key at all                              nothing is shown
    epsilon = 0                                ParameterError when constructed
    delta per key of 1/2 or more               τ = c + 1, which is enough but not smallest
    scale below 1/1000 or above 2^50           ParameterError when constructed
    =========================================  ===========================================

    Args:
        epsilon: Above 0, for all keys together.
        delta: At least 2^-1000 and below 1, for all keys together.
        max_groups_per_unit: l₀, in how many keys one unit is counted, at most.
        max_rows_per_group_per_unit: c, how much one unit adds to a count, at most; 1 for counts of units.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> selection = LaplaceThreshold(
        ...     epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1
        ... )
        >>> selection.threshold, selection.reliable_count(0.95), selection.release({"flu": 10_000})
        (15, 17, ('flu',))

    References:
        [KKMN09]; [BNS16] for the histogram.
    """

    def _calibrate(self) -> None:
        if self.epsilon == 0:
            raise ParameterError("epsilon", self.epsilon, "must be above 0; at 0 a Gaussian threshold lives on δ alone")
        distance = self.changed_keys * self.max_rows_per_group_per_unit
        self._set_threshold(Laplace(l1_sensitivity=distance, epsilon=self.epsilon), self.delta)


@dataclass(frozen=True, slots=True, init=False)
class GaussianThreshold(NoisyThreshold):
    """Keeps a key if its count plus discrete Gaussian noise of parameter σ reaches τ.

    σ is calibrated for (ε, δ₁) and counts that move by c·√k in L2, and τ is the smallest integer, or one more, with
    P(c + noise ≥ τ) ≤ δ₀, where k keys with δ₀ each have δ₂ together; c and k are those of `LaplaceThreshold`.
    δ₁ = δ₂ = δ/2; both are δ where only one key differs, for it is either new or not.
    For units in many keys σ grows like √k only, and the noise of `LaplaceThreshold` like k.

    **Guarantee**: (ε, δ)-differential privacy for `neighboring_relation`, also if the noisy counts of the kept keys are
    released with them. Proof: proofs/mechanisms/partitions/thresholds.md.

    =========================================  ===========================================
    Edge case                                  What happens
    =========================================  ===========================================
    count of 0, or below                       the key is never shown, whatever the noise
    no key at all                              nothing is shown
    epsilon = 0                                with noise: δ alone allows it
    delta per key of 1/2 or more               τ = c + 1, which is enough but not smallest
    stddev below 1/1000 or above 2^50          ParameterError when constructed
    =========================================  ===========================================

    Args:
        epsilon: 0 or more, for all keys together.
        delta: At least 2^-1000 and below 1, for all keys together.
        max_groups_per_unit: l₀, in how many keys one unit is counted, at most.
        max_rows_per_group_per_unit: c, how much one unit adds to a count, at most; 1 for counts of units.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> bounds = {"max_groups_per_unit": 20, "max_rows_per_group_per_unit": 1}
        >>> selection = GaussianThreshold(epsilon=1, delta="1e-6", **bounds)
        >>> laplace = LaplaceThreshold(epsilon=1, delta="1e-6", **bounds)
        >>> selection.threshold, laplace.threshold
        (108, 324)

    References:
        [CKS20] for the noise; [WKZK24], which also prices the sum of both δ exactly.
    """

    def _calibrate(self) -> None:
        rows, keys = self.max_rows_per_group_per_unit, self.changed_keys
        share = self.delta if keys == 1 else self.delta / 2
        distance = sqrt_up(Fraction(keys * rows**2))
        noise = Gaussian(l2_sensitivity=distance, epsilon=self.epsilon, delta=share, l0_sensitivity=keys)
        self._set_threshold(noise, share)


@dataclass(frozen=True, slots=True)
class StableHistogram:
    """Releases the keys that a threshold lets through, each with the noisy count that let it through.

    {key: count + noise, for each key with count > 0 and count + noise ≥ τ}

    A key that no row has costs nothing and is never drawn, so the domain may be infinite: words, addresses, pages.

    **Guarantee**: (ε, δ)-differential privacy with the parameters and the neighboring relation of `selection`. No
    count below τ is ever shown. Proof: proofs/mechanisms/partitions/thresholds.md.

    ==============================  ======================================================================
    Edge case                       Answer
    ==============================  ======================================================================
    count of 0, or below            the key never appears
    no key, or none reaches τ       an empty dict
    keys that are equal             shown as one, by `canonical_key`: 1 for True, 1.0 and Decimal("1.00")
    keys of several types           sorted all the same, by `key_rank`
    NaN                             the key never appears: it equals nothing, not even itself
    counts beyond 2^63              Python integers, never wrapped
    ==============================  ======================================================================

    Args:
        selection: A `LaplaceThreshold` or a `GaussianThreshold`; its bounds are those of the counts.

    Example:
        >>> one_key_each = LaplaceThreshold(
        ...     epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1
        ... )
        >>> histogram = StableHistogram(one_key_each)
        >>> list(histogram.release({"tea": 2000, "coffee": 3000, "absinthe": 0})), histogram.accuracy(0.95)
        (['coffee', 'tea'], 3)

    References:
        [KKMN09]; [BNS16]; [Vad17] Theorem 3.5.
    """

    selection: NoisyThreshold

    @property
    def event(self) -> ApproxEvent:
        """The event of one release, for accountants."""
        return self.selection.event

    def release(self, counts: KeyCounts | Secret[KeyCounts]) -> dict[Key, int]:
        """Keys as `canonical_key` has them and their noisy counts, sorted by key: only the counts depend on the rows.

        Raises:
            ParameterError: A count is no integer, or the type of a key is not one of those of `canonical_key`.
        """
        exact = canonical_counts(opened(counts))
        kept, noisy = self.selection.noisy_counts(list(exact.values())).open_for_noise()
        shown = {key: int(noisy[i]) for i, key in enumerate(exact) if kept[i]}
        return {key: shown[key] for key in sorted(shown, key=key_rank)}

    def accuracy(self, confidence: Number = "0.95") -> int | Fraction | float:
        """A t such that a key is shown with a count more than t off with probability at most 1 − confidence.

        Counts that are shown are high rather than low where they lie near τ: those that were low are not shown.
        """
        return self.selection.noise.accuracy(confidence)


def _upper_width(noise: Laplace | Gaussian, failure: Fraction) -> int:
    """The smallest t ≥ 0 with P(noise > t) ≤ failure, or one more: half of what lies beyond ±t."""
    return int(noise.accuracy(1 - 2 * failure)) if failure < Fraction(1, 2) else 0


def _noise_cdf(noise: Laplace | Gaussian, k: int) -> float:
    """P(noise ≤ k), which is P(noise ≥ −k)."""
    if isinstance(noise, Laplace):
        return discrete_laplace_cdf(noise.scale, k)
    return discrete_gaussian_cdf(noise.stddev, k)
