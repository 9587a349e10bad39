"""The stable histogram: counts of keys that nobody listed beforehand."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.mechanisms.base import opened
from sfumato.mechanisms.partitions.keys import Key, KeyCounts, canonical_counts, key_rank
from sfumato.mechanisms.partitions.thresholds import NoisyThreshold
from sfumato.numeric.rationals import Number
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.secret import Secret


@dataclass(frozen=True, slots=True)
class StableHistogram:
    """Releases the keys that a threshold lets through, each with the noisy count that let it through.

    {key: count + noise, for each key with count > 0 and count + noise ≥ τ}

    A key that no row has costs nothing and is never drawn, so the domain may be infinite: words, addresses, pages.

    **Guarantee**: (ε, δ)-differential privacy with the parameters and the neighbouring relation of `selection`. No
    count below τ is ever shown. Proof: proofs/mechanisms/partitions/stable_histogram.md.

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
        >>> from sfumato.mechanisms.partitions.thresholds import LaplaceThreshold
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
        """What one release tells of the data."""
        return self.selection.event

    def release(self, counts: KeyCounts | Secret[KeyCounts]) -> dict[Key, int]:
        """Keys as `canonical_key` has them and their noisy counts, sorted by key: nothing but counts tells of the rows.

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
