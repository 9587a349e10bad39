"""The laws themselves: each gives checks, and a check gives a counterexample in words or none."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Final, Protocol, Self, TypeAlias

from sfumato.audit.accountants.truths import true_profile
from sfumato.privacy.events import (
    ApproxEvent,
    ComposedEvent,
    Event,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    PureEvent,
    SelfComposedEvent,
)
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

_ROUNDING: Final = 1e-9  # relative, of the closed forms in floats
_FINER: Final = 1e-12  # absolute
_TENTH: Final = Fraction(1, 10)
_NOISIER: Final[tuple[tuple[Event, Event], ...]] = (
    (GaussianEvent(Fraction(2)), GaussianEvent(Fraction(1))),
    (LaplaceEvent(Fraction(2)), LaplaceEvent(Fraction(1))),
    (PureEvent(_TENTH), PureEvent(2 * _TENTH)),
    (ApproxEvent(_TENTH, _TENTH**4), ApproxEvent(_TENTH, _TENTH**3)),
)
_GROUPED: Final = (GroupEvent(GaussianEvent(Fraction(3)), 2), GroupEvent(LaplaceEvent(Fraction(3)), 2))


class Account(Protocol):
    """What is audited: a value that has seen events, and says what they cost."""

    def compose(self, event: Event, *, count: int = 1) -> Self:
        """Another one that has also seen the event, `count` times; this one stays as it was.

        Raises:
            UnsupportedEventError: It has no price for the event.
        """
        ...

    def epsilon(self, delta: Any = 0) -> Any:
        """The ε that it proves at δ."""
        ...

    def delta(self, epsilon: Any) -> Any:
        """The δ that it proves at ε."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An account that has seen nothing, and what it is to be asked."""

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
Law: TypeAlias = Callable[[Trial], Iterator[Check]]
Seen: TypeAlias = tuple[tuple[Event, int], ...]


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
    """Only where one unit more is one unit more in the sample: replaced ones may come and go."""
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


LAWS: Final[dict[str, Law]] = {
    "composing an event k times costs what composing it with count k does": _counted,
    "the order of events does not matter": _in_any_order,
    "post-processing costs nothing": _post_processed,
    "more releases cost at least as much": _more_costs_more,
    "more noise costs at most as much": _more_noise_costs_less,
    "a group costs at least as much as one of its units": _a_group_costs_more,
    "a sample of everybody costs what no sample does, and a smaller one no more": _sampled,
    "ε falls as δ grows, and δ as ε grows": _falling,
    "ε at δ and δ at ε are one curve": _one_curve,
    "what is finite has a finite ε, and a δ between 0 and 1": _finite,
    "no cost lies below the truth of a closed form": _true,
}
"""In words, as reports name them."""

_FEW: Final = 8
_FRACTION: Final = re.compile(r"Fraction\((\d+), (\d+)\)")


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
    """Against the closed form at an ε that is said to be enough, and at each ε."""
    profile = true_profile(event, count, relation=trial.relation)
    account, words = trial.after((event, count)), _words(((event, count),))
    if profile is None:
        return None
    for delta in trial.deltas:
        epsilon = float(account.epsilon(delta))
        if math.isfinite(epsilon) and profile(epsilon * (1 + _ROUNDING)) * (1 - _ROUNDING) > delta + _FINER * delta:
            return f"ε = {epsilon:.6g} at δ = {delta:g} for {words}, where δ is truly {profile(epsilon):.6g}"
    for epsilon in trial.epsilons:
        said, truth = float(account.delta(epsilon)), profile(epsilon)
        if said < truth * (1 - _ROUNDING) - _FINER:
            return f"δ = {said:.6g} at ε = {epsilon:g} for {words}, where it is truly {truth:.6g}"
    return None


def _words(seen: Seen) -> str:
    return " and ".join(f"{count} × {_FRACTION.sub(_plain, str(event))}" for event, count in seen)


def _plain(fraction: re.Match[str]) -> str:
    top, bottom = fraction.groups()
    return top if bottom == "1" else f"{top}/{bottom}"
