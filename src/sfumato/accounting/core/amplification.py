"""Amplification: what a guarantee becomes on a random sample of the people, or after reports were shuffled.

Sampling amplifies one mechanism on one fresh sample. Several releases on the same sample are first composed and then
amplified: ten of ε = 1 on one sample of probability 1/1000 cost ln(1 + (e^10 − 1)/1000) = 3.14, not ten times 0.00172.
"""

import math
from fractions import Fraction
from typing import Final

from sfumato.accounting.core.conversions import group, promise
from sfumato.errors import ParameterError
from sfumato.numeric.binomial import SUBNORMAL, any_success
from sfumato.numeric.rationals import Number, nonnegative, open_probability, positive_integer, sqrt_up
from sfumato.numeric.rationals import probability as as_probability
from sfumato.numeric.rounding import exp_up, float_up, inflated, log_up
from sfumato.privacy.guarantees import Guarantee, NoGuarantee, as_guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation

_LARGEST_EXPONENT: Final = 700  # beyond it e^ε leaves the range of floats
_TINY: Final = Fraction(1, 10**15)
_LARGEST_SHUFFLED_EPSILON: Final = 30  # no number of reports that fits a machine amplifies more


def amplified_by_poisson_sampling(
    guarantee: Guarantee,
    *,
    sampling_probability: Number,
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
) -> Guarantee:
    """The guarantee of a mechanism on a fresh sample that holds each unit independently with probability q.

    (ln(1 + q(e^ε − 1)), qδ); a replaced unit is one removed and one added, the same for a group of two.

    **Guarantee**: for `neighboring_relation`, if the mechanism has its guarantee for adding or removing one unit, and
    the sample stays secret and is used once. e^ε and ln are rounded up.

    Edge cases: an exact answer about a sample is (0, q); at q = 1 nothing is amplified.

    Args:
        guarantee: Of everything that is released about the sample, for adding or removing one of its units.
        sampling_probability: q.
        neighboring_relation: Of the result.

    Raises:
        ParameterError: q does not lie between 0 and 1.

    Example:
        >>> from sfumato.privacy.guarantees import PureDP
        >>> float(amplified_by_poisson_sampling(PureDP(10), sampling_probability="0.001").epsilon)
        3.1366008118967...

    References:
        [LQS12] Theorem 1; [BBG18] Theorem 8.
    """
    single = amplified(guarantee, as_probability(sampling_probability, "sampling_probability"))
    return group(single, 2) if as_relation(neighboring_relation) is REPLACE_ONE else single


def amplified_by_sampling_without_replacement(guarantee: Guarantee, *, sample_size: int, source_size: int) -> Guarantee:
    """The guarantee of a mechanism on a fresh uniform subset of m of at least n units.

    (ln(1 + q(e^ε − 1)), qδ) with q = m/n.

    **Guarantee**: for both neighboring relations, if the mechanism has its guarantee for replacing one unit of the
    subset, and the subset stays secret and is used once. e^ε and ln are rounded up.

    Args:
        guarantee: Of everything that is released about the subset, for replacing one of its units.
        sample_size: m.
        source_size: n, at least m; it may be smaller than the number of units.

    Raises:
        ParameterError: A size is no positive integer, or the sample is larger than its source.

    Example:
        >>> from sfumato.privacy.guarantees import PureDP
        >>> float(amplified_by_sampling_without_replacement(PureDP(1), sample_size=1, source_size=100).epsilon)
        0.0170368632...

    References:
        [BBG18] Theorem 9.
    """
    size, source = positive_integer(sample_size, "sample_size"), positive_integer(source_size, "source_size")
    if size > source:
        raise ParameterError("sample_size", sample_size, f"must be at most source_size, {source_size}")
    return amplified(guarantee, Fraction(size, source))


def amplified_by_shuffling(*, epsilon_local: Number, reports: int, delta: Number) -> Fraction:
    """ε at δ of n reports, each made by its own person with local privacy ε₀, that were shuffled at random.

    ε = ln(1 + (e^ε₀ − 1)/(e^ε₀ + 1) · (8√(e^ε₀ ln(4/δ)/n) + 8e^ε₀/n)) if ε₀ ≤ ln(n/(16 ln(4/δ))).

    **Guarantee**: (ε, δ) for replacing one person, whose reports may depend on the reports before; rounded up. Never
    above ε₀, which is what is returned where the condition fails.

    Edge cases: it is a closed form, and above the optimum by a factor of a few.

    Args:
        epsilon_local: ε₀ of each report, 0 or more.
        reports: n.
        delta: Between 0 and 1, both excluded.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> round(float(amplified_by_shuffling(epsilon_local=1, reports=100_000, delta="1e-6")), 4)
        0.0726

    References:
        [FMT21] Theorem 3.1.
    """
    local, count = nonnegative(epsilon_local, "epsilon_local"), positive_integer(reports, "reports")
    logarithm = log_up(4 / open_probability(delta, "delta"))
    if local > _LARGEST_SHUFFLED_EPSILON:
        return local
    odds = Fraction(exp_up(local))
    if odds * 16 * logarithm > count:
        return local
    closeness = 8 * sqrt_up(odds * logarithm / count) + 8 * odds / count
    return min(local, log_up(1 + (odds - 1) / (odds + 1) * closeness))


def amplified(guarantee: Guarantee, probability: Fraction) -> Guarantee:
    """What (ε, δ) becomes where, but with this probability, the distribution of the answer is the same: rounded up.

    (ln(1 + q(e^ε − 1)), qδ), by the convexity of the divergence between the two distributions.

    References:
        [BBG18] Theorem 2.
    """
    as_guarantee(guarantee)
    if probability == 1:
        return guarantee
    if probability == 0 or isinstance(guarantee, NoGuarantee):
        return promise(Fraction(0), probability)
    return promise(_amplified_epsilon_up(guarantee.epsilon, probability), probability * guarantee.delta)


def any_sampled_up(probability: Fraction, size: int) -> Fraction:
    """1 − (1 − q)^size, rounded up: that one at least of some units is in a sample."""
    if size == 1:
        return probability
    expected = size * probability
    if expected < SUBNORMAL:
        return expected
    return min(Fraction(inflated(any_success([(probability, size)]))), expected, Fraction(1))


def _amplified_epsilon_up(epsilon: Fraction, probability: Fraction) -> Fraction:
    """ln(1 + q(e^ε − 1)); for large ε as ε + ln(q + (1 − q)e^−ε), for tiny ε with e^ε − 1 ≤ ε + ε²; never above ε."""
    if epsilon > _LARGEST_EXPONENT:
        return epsilon + min(log_up(probability + (1 - probability) * Fraction(exp_up(-epsilon))), Fraction(0))
    growth = epsilon + epsilon**2 if epsilon < _TINY else Fraction(inflated(math.expm1(float_up(epsilon))))
    return min(log_up(1 + probability * growth), epsilon)
