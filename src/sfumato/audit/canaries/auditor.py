"""One training run, many canaries: records made up for the audit, each included by a coin of its own.

Whoever sees what was trained guesses which were included. If that succeeds too often, the claimed ε is false.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import Final, TypeAlias, TypeVar

import numpy as np

from sfumato.accounting.gaussian.gaussian import GaussianBound, epsilon_down
from sfumato.audit.canaries.error_rates import independent_canaries, mu_of_error_rates
from sfumato.audit.canaries.gaussian import mu_of_separation, refuted_mu
from sfumato.audit.canaries.guesses import (
    Booleans,
    Floats,
    Guesses,
    Scored,
    exact_p_value,
    refuted_epsilon,
    steinke_p_value,
)
from sfumato.audit.canaries.report import (
    GAUSSIAN_CURVE,
    GAUSSIAN_RATES,
    GAUSSIAN_SCORES,
    INDEPENDENCE,
    NOTHING,
    CanaryFinding,
    CanaryReport,
)
from sfumato.errors import ParameterError
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.numeric.arguments import called, column, listed, real, share
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import ApproxDP

Canary = TypeVar("Canary")
Train: TypeAlias = Callable[[Sequence[Canary]], Sequence[float] | Floats]
"""Trains once with these canaries among the data, and scores every canary that there is from the outcome alone."""

_SIGNIFICANCE: Final = 0.05


def audit_in_one_run(
    train: Train[Canary],
    canaries: Sequence[Canary],
    *,
    epsilon: Number,
    delta: Number = 0,
    significance: float = _SIGNIFICANCE,
) -> CanaryReport:
    """Try to refute a claimed (ε, δ) by training once, with about half of the canaries.

    A fair coin decides for each canary whether it is included. A score may be anything that tends to be higher for
    canaries that were, such as minus the loss; it must come from what the mechanism releases.

    **Guarantee**: if the claim holds for each canary, `is_refuted` is true with probability at most `significance`. The
    other groups of findings need what they say that they assume. Proof: proofs/audit/canaries/guesses.md.

    Args:
        train: Called once, with the included canaries in their order; it gives a score for each of all canaries.
        canaries: Records that stand out, two or more; a thousand show much, a hundred little.
        epsilon: The claimed ε for one canary more or less.
        delta: The claimed δ.
        significance: The probability that a true claim is called false, of each finding.

    Raises:
        ParameterError: There are too few canaries, or not a score for each, or a parameter is out of range.

    Example:
        >>> from sfumato.mechanisms import Laplace
        >>> noise = Laplace(l1_sensitivity=1, epsilon=1)
        >>> def train(included):
        ...     return noise.release(np.isin(range(2000), included).astype(int))
        >>> print(audit_in_one_run(train, range(2000), epsilon="0.1").verdict)
        privacy violation
        >>> print(audit_in_one_run(train, range(2000), epsilon=1, significance=1e-6).verdict)
        nothing found

    References:
        [SNJ23].
    """
    wanted = "a function of the included canaries, which returns a score for each of all canaries"
    called(train, "train", wanted, may_be_class=False)
    share(significance, "significance")  # before anything is trained
    _claim(epsilon, delta)
    every: Sequence[Canary] = canaries
    if not isinstance(canaries, str):  # in which each letter is one
        every = listed(canaries, "canaries", of="records")
    included: Booleans = bernoulli(Fraction(1, 2), len(every))
    scores = column(train([canary for canary, coin in zip(every, included, strict=True) if coin]), "what train gives")
    return audit_scores(scores, included, epsilon=epsilon, delta=delta, significance=significance)


def audit_scores(
    scores: Sequence[float] | Floats,
    included: Sequence[bool] | Booleans,
    *,
    epsilon: Number,
    delta: Number = 0,
    significance: float = _SIGNIFICANCE,
) -> CanaryReport:
    """As `audit_in_one_run`, of a run that is over.

    **Guarantee**: as `audit_in_one_run`, if each canary was included by a fair coin of its own, apart from all else.

    Args:
        scores: One for each canary, higher where it looks included.
        included: Whether it was.
        epsilon: The claimed ε for one canary more or less.
        delta: The claimed δ.
        significance: The probability that a true claim is called false, of each finding.

    Raises:
        ParameterError: Lengths differ, a score is NaN, or a parameter is out of range.

    Example:
        >>> coins = [True, False] * 50
        >>> print(audit_scores([float(coin) for coin in coins], coins, epsilon=1).verdict)
        privacy violation
    """
    significance, claim = share(significance, "significance"), _claim(epsilon, delta)
    seen = Scored(scores=column(scores, "scores"), included=_coins(included))

    def found(auditor: str, assumes: str, words: object, bound: float) -> CanaryFinding:
        return CanaryFinding(
            auditor=auditor, assumes=assumes, seen=str(words), epsilon_lower_bound=bound, claim=claim,
            significance=significance,
        )  # fmt: skip

    exact, published = (
        best_guesses(seen, p_value, delta=claim.delta, significance=significance)
        for p_value in (exact_p_value, steinke_p_value)
    )
    rates = independent_canaries(seen, delta=claim.delta, significance=significance)
    return CanaryReport(
        claim=claim,
        canaries=len(seen),
        significance=significance,
        assumption_free=(
            found("guesses, exact", NOTHING, *exact),
            found("guesses, as published", NOTHING, published[0], min(published[1], exact[1])),
        ),
        assumes_independence=(
            found(
                "rates, Clopper-Pearson", INDEPENDENCE, rates, max(0.0, rates.epsilon_lower_bound(delta=claim.delta))
            ),
        ),
        assumes_gaussian=tuple(  # Gaussian noise has no ε without a δ
            found(auditor, assumes, f"μ ≥ {mu:.3f}", epsilon_of_mu(mu, delta=claim.delta))
            for auditor, assumes, mu in (_mus(seen, significance) if claim.delta > 0 else ())
        ),
    )


def _claim(epsilon: Number, delta: Number) -> ApproxDP:
    real(epsilon, "epsilon", is_finite=True)
    return ApproxDP(epsilon, delta)


def _coins(included: Sequence[bool] | Booleans) -> Booleans:
    found = column(included, "included")
    if not np.isin(found, (0, 1)).all():
        raise ParameterError("included", included, "must be True or False for each canary")
    return found.astype(bool)


def epsilon_of_mu(mu: float, *, delta: Fraction) -> float:
    """The ε that Gaussian noise of μ has at δ, rounded down; 0 where μ is not above 0.

    Example:
        >>> round(epsilon_of_mu(1.0, delta=Fraction(1, 10**6)), 4)
        4.8866
    """
    if not (isfinite(mu) and mu > 0):
        return 0.0
    return float(epsilon_down([GaussianBound(Fraction(mu) ** 2)], delta))


def best_guesses(
    seen: Scored, p_value: Callable[..., float], *, delta: Fraction, significance: float
) -> tuple[Guesses, float]:
    """The guesses that say most, each with an even share of the significance, and the largest ε that they refute.

    Args:
        seen: Scores, and who was included.
        p_value: `exact_p_value`, or `steinke_p_value`.
        delta: The claimed δ.
        significance: The probability that the true ε is refuted, by all guesses together.

    Example:
        >>> seen = Scored(scores=np.arange(100.0), included=np.arange(100) >= 50)
        >>> found, bound = best_guesses(seen, exact_p_value, delta=Fraction(0), significance=0.05)
        >>> print(found, bound > 2)
        100 of 100 guesses about 100 canaries right True
    """
    tries = seen.tries()
    best, bound = tries[0], 0.0
    for guesses in tries:
        p_value_of = partial(p_value, guesses, delta=delta)
        found = refuted_epsilon(p_value_of, significance=significance / len(tries), above=bound)
        best, bound = (guesses, found) if found > bound else (best, bound)
    return best, bound


def _mus(seen: Scored, significance: float) -> tuple[tuple[str, str, float], ...]:
    tries = seen.tries()
    of_guesses = 0.0
    for guesses in tries:
        of_guesses = refuted_mu(guesses, significance=significance / len(tries), above=of_guesses)
    return (
        ("guesses against a Gaussian curve", GAUSSIAN_CURVE, of_guesses),
        ("rates, Gaussian", GAUSSIAN_RATES, mu_of_error_rates(seen, significance=significance)),
        ("separation of scores", GAUSSIAN_SCORES, mu_of_separation(seen, significance=significance)),
    )
