"""The properties of every sound accountant: each gives checks, and a check gives a counterexample in words or None.

The true cost of a few programs of releases, in closed form, is derived here once more in plain floats. It shares no
code with `sfumato.accounting`, which it audits.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Final, Protocol, Self, TypeAlias

import numpy as np
from scipy.special import gammaln, ndtr, xlogy

from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    SelfComposedEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation

_ROUNDING: Final = 1e-9  # relative, of the closed forms in floats
_FINER: Final = 1e-12  # absolute
_FEW: Final = 8  # releases, which are composed one by one
_FRACTION: Final = re.compile(r"Fraction\((\d+), (\d+)\)")
_TENTH: Final = Fraction(1, 10)
_NOISIER: Final[tuple[tuple[Event, Event], ...]] = (
    (GaussianEvent(Fraction(2)), GaussianEvent(Fraction(1))),
    (LaplaceEvent(Fraction(2)), LaplaceEvent(Fraction(1))),
    (PureEvent(_TENTH), PureEvent(2 * _TENTH)),
    (ApproxEvent(_TENTH, _TENTH**4), ApproxEvent(_TENTH, _TENTH**3)),
)
_GROUPED: Final = (GroupEvent(GaussianEvent(Fraction(3)), 2), GroupEvent(LaplaceEvent(Fraction(3)), 2))
Seen: TypeAlias = tuple[tuple[Event, int], ...]

Profile: TypeAlias = Callable[[float], float]
"""δ at each ε ≥ 0."""


class Account(Protocol):
    """An accountant to be audited: a value that has seen events and bounds their total cost."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """A new account that has also seen the event, `count` times; this one does not change.

        Raises:
            UnsupportedEventError: The account cannot bound the cost of the event.
        """
        ...

    def epsilon(self, delta: Any = 0) -> Any:
        """The ε that the account proves at δ."""
        ...

    def delta(self, epsilon: Any) -> Any:
        """The δ that the account proves at ε."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An empty account, and the events, counts, δ and ε for which its answers are compared."""

    empty: Account
    events: tuple[Event, ...]
    counts: tuple[int, ...]
    deltas: tuple[float, ...]
    epsilons: tuple[float, ...]
    tolerance: float
    relation: NeighboringRelation

    def after(self, *seen: tuple[Event, int]) -> Account:
        """The account after some events."""
        account = self.empty
        for event, count in seen:
            account = account.compose(event, count=count)
        return account


Check: TypeAlias = Callable[[], str | None]
Property: TypeAlias = Callable[[Trial], Iterator[Check]]


def _counted(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        for count in trial.counts:
            at_once: Seen = ((event, count),)
            yield partial(_alike, trial, at_once, ((SelfComposedEvent(event, count), 1),))
            yield partial(
                _alike, trial, at_once, ((event, 1),) * count if count <= _FEW else ((event, count - 1), (event, 1))
            )


def _in_any_order(trial: Trial) -> Iterator[Check]:
    for first, second in pairwise(trial.events):
        yield partial(_alike, trial, ((first, 2), (second, 1)), ((second, 1), (first, 2)))


def _post_processed(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        yield partial(_alike, trial, ((event, 1),), ((ComposedEvent((event, ComposedEvent(()))), 1),))


def _more_costs_more(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        for fewer, more in pairwise((*trial.counts, 2 * trial.counts[-1])):
            yield partial(_at_most, trial, ((event, fewer),), ((event, more),))


def _more_noise_costs_less(trial: Trial) -> Iterator[Check]:
    for noisier, clearer in _NOISIER:
        for count in trial.counts:
            yield partial(_at_most, trial, ((noisier, count),), ((clearer, count),))


def _a_group_costs_more(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        yield partial(_at_most, trial, ((event, 1),), ((GroupEvent(event, 2), 1),))
        yield partial(_alike, trial, ((event, 2),), ((GroupEvent(event, 1), 2),))


def _sampled(trial: Trial) -> Iterator[Check]:
    """Only for adding or removing a unit: of two replaced units, one may be in the sample and the other not."""
    if trial.relation is not ADD_OR_REMOVE_ONE:
        return
    for event in trial.events:
        yield partial(_alike, trial, ((event, 1),), ((PoissonSampledEvent(Fraction(1), event), 1),))
        yield partial(_at_most, trial, ((PoissonSampledEvent(_TENTH, event), 1),), ((event, 1),))


def _falling(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        for count in trial.counts:
            yield partial(_falls, trial, event, count)


def _one_curve(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        for delta in trial.deltas:
            yield partial(_returns, trial, event, delta)


def _finite(trial: Trial) -> Iterator[Check]:
    for event in trial.events:
        for count in trial.counts:
            yield partial(_in_range, trial, event, count)


def _true(trial: Trial) -> Iterator[Check]:
    for event in (*trial.events, *_GROUPED):
        for count in trial.counts:
            if true_profile(event, count, relation=trial.relation) is not None:
                yield partial(_not_below, trial, event, count)


PROPERTIES: Final[dict[str, Property]] = {
    "composing an event k times costs what composing it with count k does": _counted,
    "the order of events does not matter": _in_any_order,
    "post-processing costs nothing": _post_processed,
    "more releases cost at least as much": _more_costs_more,
    "more noise costs at most as much": _more_noise_costs_less,
    "a group costs at least as much as one of its units": _a_group_costs_more,
    "a sample of everybody costs what no sample does, and a smaller sample no more": _sampled,
    "ε falls as δ grows, and δ as ε grows": _falling,
    "ε at δ and δ at ε are one curve": _one_curve,
    "what is finite has a finite ε, and a δ between 0 and 1": _finite,
    "no cost lies below its exact value in closed form": _true,
}
"""By the name that reports show."""


def _alike(trial: Trial, one: Seen, other: Seen) -> str | None:
    first, second = trial.after(*one), trial.after(*other)
    for delta in trial.deltas:
        here, there = float(first.epsilon(delta)), float(second.epsilon(delta))
        if not (here == there or abs(here - there) <= trial.tolerance * max(here, there) + _FINER):
            return f"ε = {here:.6g} for {_words(one)}, {there:.6g} for {_words(other)} at δ = {delta:g}"
    return None


def _at_most(trial: Trial, less: Seen, more: Seen) -> str | None:
    first, second = trial.after(*less), trial.after(*more)
    for delta in trial.deltas:
        small, large = float(first.epsilon(delta)), float(second.epsilon(delta))
        if not small <= large * (1 + trial.tolerance) + _FINER:
            return f"ε = {small:.6g} for {_words(less)}, but {large:.6g} for {_words(more)} at δ = {delta:g}"
    return None


def _falls(trial: Trial, event: Event, count: int) -> str | None:
    account = trial.after((event, count))
    for ask, names, places in ((account.epsilon, "εδ", trial.deltas), (account.delta, "δε", trial.epsilons)):
        answers = [float(ask(place)) for place in sorted(places)]
        for place, (before, after) in zip(sorted(places)[1:], pairwise(answers), strict=True):
            if not after <= before * (1 + trial.tolerance) + _FINER:
                words = _words(((event, count),))
                return f"{names[0]} grows from {before:.6g} to {after:.6g} at {names[1]} = {place:g} for {words}"
    return None


def _returns(trial: Trial, event: Event, delta: float) -> str | None:
    account = trial.after((event, 3))
    epsilon = float(account.epsilon(delta))
    if math.isinf(epsilon):
        return None
    back = float(account.delta(epsilon * (1 + trial.tolerance) + trial.tolerance))
    if back <= delta * (1 + trial.tolerance) + _FINER:
        return None
    return f"ε = {epsilon:.6g} at δ = {delta:g}, but δ = {back:.3g} at that ε for {_words(((event, 3),))}"


def _in_range(trial: Trial, event: Event, count: int) -> str | None:
    account, words = trial.after((event, count)), _words(((event, count),))
    for delta in trial.deltas:
        epsilon = float(account.epsilon(delta))
        is_owed = not (isinstance(event, ApproxEvent) and 2 * float(event.delta) * count > delta)
        if not epsilon >= 0 or (is_owed and math.isinf(epsilon)):
            return f"ε = {epsilon} at δ = {delta:g} for {words}"
    for epsilon in trial.epsilons:
        if not 0 <= (delta := float(account.delta(epsilon))) <= 1:
            return f"δ = {delta} at ε = {epsilon:g} for {words}"
    return None


def _not_below(trial: Trial, event: Event, count: int) -> str | None:
    """Compare with the closed form: at the account's own ε for each δ, and at each ε."""
    profile = true_profile(event, count, relation=trial.relation)
    account, words = trial.after((event, count)), _words(((event, count),))
    if profile is None:
        return None
    for delta in trial.deltas:
        epsilon = float(account.epsilon(delta))
        if math.isfinite(epsilon) and profile(epsilon * (1 + _ROUNDING)) * (1 - _ROUNDING) > delta + _FINER * delta:
            return f"ε = {epsilon:.6g} at δ = {delta:g} for {words}, where δ is exactly {profile(epsilon):.6g}"
    for epsilon in trial.epsilons:
        said, truth = float(account.delta(epsilon)), profile(epsilon)
        if said < truth * (1 - _ROUNDING) - _FINER:
            return f"δ = {said:.6g} at ε = {epsilon:g} for {words}, where it is exactly {truth:.6g}"
    return None


def _words(seen: Seen) -> str:
    return " and ".join(f"{count} × {_FRACTION.sub(_plain, str(event))}" for event, count in seen)


def _plain(fraction: re.Match[str]) -> str:
    numerator, denominator = fraction.groups()
    return numerator if denominator == "1" else f"{numerator}/{denominator}"


def true_profile(event: Event, count: int, *, relation: NeighboringRelation) -> Profile | None:
    """The exact δ(ε) of an event composed `count` times, in its worst case; None without a closed form here.

    Gaussian noise: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with μ² = count/σ². One answer with Laplace noise of scale b:
    1 − exp((ε − 1/b)/2). Pure and approximate guarantees, discrete Laplace noise and binary randomized response:
    optimal composition. Groups of k: the same noise with k times the sensitivity.

    Args:
        event: The release.
        count: How often it is composed.
        relation: Randomized response has a closed form for replaced units only.

    Example:
        >>> laplace = true_profile(LaplaceEvent(1), 1, relation=REPLACE_ONE)
        >>> round(laplace(0.5), 6), laplace(1.0)
        (0.221199, 0.0)

    References:
        [BW18] for Gaussian noise; [KOV15] Theorem 3.3.
    """
    match event:
        case GroupEvent(GaussianEvent(noise), size):
            return _gaussian(math.sqrt(count) * size / float(noise))
        case GroupEvent(LaplaceEvent(noise), size) if count == 1:
            return _laplace(size / float(noise))
        case GaussianEvent(noise):
            return _gaussian(math.sqrt(count) / float(noise))
        case LaplaceEvent(noise) if count == 1:
            return _laplace(1 / float(noise))
        case PureEvent(epsilon):
            return _optimal(float(epsilon), 0.0, count)
        case ApproxEvent(epsilon, delta):
            return _optimal(float(epsilon), float(delta), count)
        case DiscreteLaplaceEvent(scale, sensitivity) if sensitivity == 1:
            return _optimal(1 / float(scale), 0.0, count)
        case RandomizedResponseEvent(kept, categories) if categories == 2 and relation is REPLACE_ONE:  # noqa: PLR2004
            return _optimal(math.log((1 + float(kept)) / (1 - float(kept))), 0.0, count) if kept < 1 else None
        case _:
            return None


def _gaussian(mu: float) -> Profile:
    return lambda epsilon: float(
        ndtr(mu / 2 - epsilon / mu) - math.exp(min(epsilon, 700)) * ndtr(-mu / 2 - epsilon / mu)
    )


def _laplace(loss: float) -> Profile:
    return lambda epsilon: -math.expm1((epsilon - loss) / 2) if epsilon < loss else 0.0


def _optimal(epsilon: float, delta: float, count: int) -> Profile:
    """1 − (1 − δ)^k·(1 − E[max(1 − e^(ε′ − L), 0)]), with L the loss of k randomized responses."""
    heads = np.arange(count + 1)
    losses = (2 * heads - count) * epsilon
    log_mass = gammaln(count + 1) - gammaln(heads + 1) - gammaln(count - heads + 1)
    log_mass -= count * np.logaddexp(0, epsilon) - heads * epsilon
    mass = np.exp(log_mass)
    log_kept = float(xlogy(count, 1 - delta)) if delta < 1 else -math.inf

    def profile(at: float) -> float:
        beyond = float(mass @ -np.expm1(np.minimum(at - losses, 0)))
        return beyond if delta == 0 else 1 - math.exp(log_kept) * (1 - beyond)

    return profile
